// SPDX-License-Identifier: Apache-2.0
//! The integration tests of this crate, in one binary: what they share is compiled once.

mod basext;
mod common;
mod extremes;
mod fpga;
mod needs;
mod polymul;
mod ring;
mod ring_descriptions;
mod ring_figures;
mod ring_function;
mod ring_help;
mod ring_programs;
mod ring_random;
mod ring_stream;
mod sessions;
mod torus;
mod variant;
mod vector;
