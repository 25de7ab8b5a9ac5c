// SPDX-License-Identifier: Apache-2.0
//! The integration tests of this crate. They are one binary, so that shared code is compiled once.

mod basext;
mod bus;
mod cache;
mod common;
mod faults;
mod header;
mod keyswitch;
mod module;
mod origin;
mod polymul;
mod ring;
mod rtl;
mod synth;
mod timing;
mod top;
mod torus;
mod vector;
