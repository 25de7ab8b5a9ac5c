// SPDX-License-Identifier: Apache-2.0
//! Whether secrets stay secret: what the processor's time and the process's memory tell of them.

pub mod memory;
pub mod operations;
pub mod race;
pub mod telling;
pub mod valgrind;
