// SPDX-License-Identifier: Apache-2.0
//! Tests of the FPGAs' resources, and of the resources that memories and multipliers take.

mod memory;
mod multiplier;
mod part;
