// SPDX-License-Identifier: Apache-2.0
//! Number theory for homomorphic encryption: moduli, primes, NTT, RNS bases, base extension, automorphisms, sampling,
//! plaintext slots, digit removal and arithmetic on the torus. The crate knows no scheme.
//!
//! Conventions are SEAL's. A *limb* is a slice of residues below its modulus, one for each coefficient of its ring. In
//! a full ring of N coefficients, position i of the evaluation form of a polynomial a holds a(psi^(2 bitrev(i) + 1)),
//! where psi is the smallest primitive 2N-th root of unity. The whole-limb loops live in [`kernels`] and choose a SIMD
//! path at run time; every path gives the same bits.

#![allow(unsafe_code)] // SIMD, and the allocator of whole cache lines

mod allocator;
pub mod basext;
pub mod bits;
pub mod chebyshev;
mod declassify;
pub mod digits;
#[cfg(target_arch = "x86_64")]
mod doubles;
mod error;
#[cfg(target_arch = "x86_64")]
mod frame;
pub mod kernels;
pub mod modmul;
mod modulus;
mod ntt;
pub mod packed;
pub mod plans;
pub mod primes;
pub mod random;
mod residues;
mod ring;
mod rns;
pub mod sample;
#[cfg(target_arch = "x86_64")]
mod simd;
#[cfg(target_arch = "x86_64")]
mod simd256;
pub mod slots;
pub mod torus;
pub mod wipe;
mod word;

pub use allocator::LineAllocator;
pub use declassify::declassify;
pub use error::MathError;
pub use kernels::{AutoEvalPlan, Backend};
pub use modulus::{Modulus, Shoup};
pub use ntt::{Difference, Ntt32, NttPlan};
pub use random::{Prng, PrngSource, Seeded, expand_uniform, expand_words};
pub use residues::{Residues, ResiduesMut, is_short};
pub use ring::{Ring, RingKind};
pub use rns::{BaseConverter, RnsBasis, reduce_big};
pub use word::{AnyModulus, WordModulus};

/// Items for the crate's own tests, which are no part of the interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::kernels::backend::backends_with;
    #[cfg(target_arch = "x86_64")]
    pub use crate::ntt::avx512::{forward_from, widths};
    #[cfg(target_arch = "x86_64")]
    pub use crate::ntt::from::{at, candidates};
    pub use crate::plans::file::{read, text, write};
    pub use crate::plans::policy::{Mode, Policy, parse as parse_policy};
    #[cfg(target_arch = "x86_64")]
    pub use crate::plans::processor::x86::signature;
    pub use crate::plans::timing::{Times, above, time};
    #[cfg(target_arch = "x86_64")]
    pub use crate::simd::{
        LazyMul,
        ifma_54::Ifma54,
        least::{compares_words, lesser},
    };
}
