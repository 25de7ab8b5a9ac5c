// SPDX-License-Identifier: Apache-2.0
//! The RTL's leaves against golden values, their lint, synthesis counts, proofs, and faults that must be caught.

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
