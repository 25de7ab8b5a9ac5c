// SPDX-License-Identifier: Apache-2.0
//! Tests of the vector machine and its leaf modules, against the software's kernels, bit for bit, and against the cycle
//! model.

mod areas;
mod arith;
mod buffer;
pub mod faults;
mod formal;
mod mac;
mod machine;
mod ntt;
mod permutation;
mod procedures;
mod queue;
mod ranks;
