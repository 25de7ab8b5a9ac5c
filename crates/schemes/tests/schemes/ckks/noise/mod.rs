// SPDX-License-Identifier: Apache-2.0
//! Tests the parts of the CKKS noise model.

mod ball;
mod paths;
mod poly;
mod random;
mod range;
mod slots;
mod sources;
mod tail;
