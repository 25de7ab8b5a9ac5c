// SPDX-License-Identifier: Apache-2.0
//! The integration tests of this crate, in one binary, so that shared code is compiled once.

mod checkpoint;
mod clock;
mod common;
mod cpu;
mod estimate;
mod exact;
mod expanded;
mod fusion;
mod integers;
mod limits;
mod sessions;
mod torus_instructions;
