// SPDX-License-Identifier: Apache-2.0
//! What traces hold.

mod constants;
