// SPDX-License-Identifier: Apache-2.0
//! The integration tests of this crate, in one binary: what they share is compiled once.

mod basext;
mod bus;
mod common;
mod keyswitch;
mod polymul;
mod ring;
mod rtl;
mod timing;
mod torus;
mod vector;
