// SPDX-License-Identifier: Apache-2.0
//! Random programs and their inputs, for the tests across the crates.

pub mod inputs;
pub mod numbers;
pub mod programs;
pub mod worst;
