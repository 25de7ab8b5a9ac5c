// SPDX-License-Identifier: Apache-2.0
//! Tests that secrets stay secret: that neither the time of the processor nor the memory of the process reveals them.

pub mod memory;
pub mod operations;
pub mod race;
pub mod telling;
pub mod valgrind;
