// SPDX-License-Identifier: Apache-2.0
//! The parts that the noise model is made of.

mod ball;
mod paths;
mod poly;
mod range;
mod slots;
mod sources;
mod tail;
