// SPDX-License-Identifier: Apache-2.0
//! The integration tests of this crate, in one binary, so that common code is compiled once.

mod bgv_bootstrap;
mod ckks_bootstrap;
mod clear;
mod clear_scheme;
mod deep;
mod expanded_server;
#[cfg(feature = "html")]
mod html;
mod integer_programs;
mod lines;
#[path = "../../../cpu/tests/cpu/common/numbers.rs"]
mod numbers;
mod report;
mod runtime;
mod shared;
mod shown;
