// SPDX-License-Identifier: Apache-2.0
//! The count of shared decryptions.

mod account;
