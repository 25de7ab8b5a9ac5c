// SPDX-License-Identifier: Apache-2.0
//! The commands, one file each.

mod completion;
mod program;
mod rtl;
