// SPDX-License-Identifier: Apache-2.0
//! Tests of the RTL's leaf modules: their results, lint, synthesised resources, proofs, and faults that must be
//! noticed.

mod arith;
pub mod assertions;
mod butterfly;
pub mod faults;
mod flows;
mod formal;
mod handle;
mod library;
mod lint;
mod support;
mod synthesis;
mod wide;
