// SPDX-License-Identifier: Apache-2.0
//! Parts of FPGAs and what memories and multipliers take of them.

mod memory;
mod multiplier;
mod part;
