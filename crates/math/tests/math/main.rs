// SPDX-License-Identifier: Apache-2.0
//! The integration tests of this crate, in one binary, so that shared code is compiled once.

mod automorphism;
mod basext;
mod bits;
mod common;
mod digits;
mod fused;
mod held;
mod kernels;
mod matrix;
mod modmul;
mod modulus;
mod ntt;
mod packed;
mod plans;
mod primes;
mod random;
mod rns;
mod sample;
#[cfg(target_arch = "x86_64")]
mod simd;
mod slots;
mod torus;
mod words;
