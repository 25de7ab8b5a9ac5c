// SPDX-License-Identifier: Apache-2.0
//! The integration tests of this crate, in one binary: what they share is compiled once.

mod basext;
mod card;
mod cases;
#[path = "../../../cpu/tests/cpu/common/mod.rs"]
mod common;
mod described;
mod negacyclic;
mod offload;
mod ring_rtl;
mod sim;
mod target;
mod vector;
