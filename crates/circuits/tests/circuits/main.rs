// SPDX-License-Identifier: Apache-2.0
//! The integration tests of this crate, in one binary, so that common code is compiled once.

mod bootstrap;
mod circuit;
mod engine;
mod run;
mod tfhe;
