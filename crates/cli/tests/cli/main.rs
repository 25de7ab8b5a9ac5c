// SPDX-License-Identifier: Apache-2.0
//! The integration tests of this crate in one binary, so that their shared code is compiled once.

mod arguments;
mod checkpoint;
mod circuit;
mod commands;
mod common;
mod compare;
mod error;
mod inputs;
mod kept;
mod limits;
mod needs;
mod numbers;
mod parts;
mod plans;
mod rtl;
mod rtl_flows;
mod tables;
mod waiting;
