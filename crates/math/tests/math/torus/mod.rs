// SPDX-License-Identifier: Apache-2.0
//! Tests of the arithmetic of the torus schemes, step by step.

mod coefficients;
mod gadget;
mod key_switch;
mod narrow;
mod ring;
mod rotate;
