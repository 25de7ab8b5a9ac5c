// SPDX-License-Identifier: Apache-2.0
//! Tests the count of shared decryptions.

mod account;
