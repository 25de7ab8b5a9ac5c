// SPDX-License-Identifier: Apache-2.0
//! Schemes of integers in the compiler.

mod zero;
