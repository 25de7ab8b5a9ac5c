// SPDX-License-Identifier: Apache-2.0
//! The integration tests of this crate, in one binary, so that shared code is compiled once.

mod another_scheme;
mod bfv;
mod bgv;
mod bgv_bootstrap;
mod ckks;
mod ckks_bootstrap;
mod common;
mod exact;
mod file;
mod files;
mod noise;
mod operations;
mod procedures;
mod randomness;
mod rlwe;
mod rounding;
mod seal;
mod tables;
