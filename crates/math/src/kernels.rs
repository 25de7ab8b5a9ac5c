// SPDX-License-Identifier: Apache-2.0
//! Kernels: loops over whole limbs, with which devices compute on residues.
//!
//! Every function on several limbs checks that their lengths fit. Then it runs the fastest path that the processor has
//! and the environment allows: scalar, AVX2, AVX-512 or AVX-512 with IFMA (see [`Backend`]). All paths compute the same
//! bits. The caller ensures that inputs are residues below their modulus; then so are outputs. A larger input gives a
//! wrong residue, never a fault.

mod ahead;
mod auto;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
pub(crate) mod backend;
#[cfg(target_arch = "x86_64")]
pub(crate) mod conversion;
mod elementwise;
mod fused;
#[cfg(target_arch = "x86_64")]
mod fused_ifma;
#[cfg(target_arch = "x86_64")]
mod fused_short;
mod held;
#[cfg(target_arch = "x86_64")]
mod held_avx2;
#[cfg(target_arch = "x86_64")]
mod held_ifma;
#[cfg(target_arch = "x86_64")]
mod held_loops;
#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma;
#[cfg(target_arch = "x86_64")]
mod loops;
mod matrix;
#[cfg(target_arch = "x86_64")]
mod matrix_ifma;
#[cfg(target_arch = "x86_64")]
pub(crate) mod narrow;
#[cfg(target_arch = "x86_64")]
mod permute;
#[cfg(target_arch = "x86_64")]
mod short;
mod simd;
mod split;
mod sums;
pub mod words;

pub use ahead::{FAR, ahead};
pub use auto::{AutoEvalPlan, auto_coeff, auto_eval, auto_eval_halves};
pub use backend::{Backend, available_backends, with_backend};
pub(crate) use backend::{best_backend, forced_backend};
pub(crate) use elementwise::mul_constant;
pub use elementwise::{
    add, add_assign, add_scalar, add_scalar_assign, conv, conv_assign, mac, mac_assign, mul,
    mul_assign, mul_scalar, mul_scalar_assign, neg, neg_assign, sub, sub_assign,
};
pub use fused::{
    PairTerm, Store, add_stored, conv_add, dot_pair, mul_stored, sub_scale, sub_scale_assign,
    tensor,
};
pub use held::{add_short, mul_short, narrow, sub_scale_short, sub_short, widen};
pub use matrix::{fill_blocks, mat_vec};
pub use split::{join, split};
pub use sums::{dot, dot_scalars};

use crate::MathError;

/// Refuses a slice whose length `got` is not `expected`. `what` names the slice in the error.
pub(crate) fn check_len(what: &'static str, expected: usize, got: usize) -> Result<(), MathError> {
    if expected == got {
        Ok(())
    } else {
        Err(MathError::Length {
            what,
            expected,
            got,
        })
    }
}
