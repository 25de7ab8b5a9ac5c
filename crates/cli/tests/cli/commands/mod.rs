// SPDX-License-Identifier: Apache-2.0
//! Tests of single commands, one file each.

mod completion;
mod program;
mod rtl;
