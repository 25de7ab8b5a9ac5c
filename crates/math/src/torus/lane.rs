// SPDX-License-Identifier: Apache-2.0
//! A prime of TFHE products, with transforms modulo this prime in words of 64 bits, or of 32 bits
//! if that is faster.

use std::sync::Arc;

use super::monomial::Monomials;
use crate::{Backend, MathError, Modulus, Ntt32, NttPlan, Ring};

/// The most coefficients of a polynomial whose residues are packed into words of 32 bits for a
/// transform. The packed words lie on the stack.
const MOST: usize = 2048;

/// One prime modulo which products of TFHE polynomials are computed, with the NTT modulo this
/// prime.
pub(super) struct Lane {
    pub(super) p: Modulus,
    pub(super) monomials: Monomials,
    plan: Arc<NttPlan>,
    /// The transforms in words of 32 bits. It is there for primes p whose numbers between stages,
    /// up to 4p, fit such words, and for polynomials that are not too long.
    narrow: Option<Arc<Ntt32>>,
}

impl Lane {
    pub(super) fn new(p: Modulus, ring: Ring) -> Result<Self, MathError> {
        let plan = NttPlan::shared(p, ring)?;
        let packs = p.bits() <= 30 && ring.len() <= MOST;
        Ok(Self {
            p,
            monomials: Monomials::new(&plan),
            plan,
            narrow: packs.then(|| Ntt32::shared(p, ring)).transpose()?,
        })
    }

    /// Computes the forward NTT of a polynomial modulo the prime, as [`NttPlan::forward`] does.
    pub(super) fn forward(&self, x: &mut [u64]) -> Result<(), MathError> {
        match self.narrow(x.len()) {
            Some(plan) => packed(x, |words| plan.forward(words)),
            None => self.plan.forward(x),
        }
    }

    /// Computes the inverse NTT of a polynomial modulo the prime, as [`NttPlan::inverse`] does.
    pub(super) fn inverse(&self, x: &mut [u64]) -> Result<(), MathError> {
        match self.narrow(x.len()) {
            Some(plan) => packed(x, |words| plan.inverse(words)),
            None => self.plan.inverse(x),
        }
    }

    /// Returns the transform in words of 32 bits, if there is one and it is faster. It is faster with the backends AVX2
    /// and AVX-512, which have no 52-bit multiplication of integers: twice as many words in a vector then outweigh the
    /// conversion. For a polynomial of another length than the ring's it returns `None`, so that the plan for 64-bit
    /// words refuses the polynomial.
    fn narrow(&self, len: usize) -> Option<&Ntt32> {
        match Backend::current() {
            Backend::Avx2 | Backend::Avx512 => {
                (self.narrow.as_deref()).filter(|plan| plan.ring().len() == len)
            }
            Backend::Scalar | Backend::Avx512Ifma => None,
        }
    }
}

/// Calls `run` on the residues of a polynomial, packed into words of 32 bits, and unpacks the
/// result. The polynomial has at most [`MOST`] residues, all below 2^32.
fn packed(
    x: &mut [u64],
    run: impl FnOnce(&mut [u32]) -> Result<(), MathError>,
) -> Result<(), MathError> {
    let mut room = [0; MOST];
    let words = &mut room[..x.len()];
    pack(words, x);
    run(words)?;
    unpack(x, words);
    // The polynomial may be of a secret.
    words.fill(0);
    std::hint::black_box(words);
    Ok(())
}

super::levels! {
    fn pack(out: &mut [u32], x: &[u64]) {
        for (out, &x) in out.iter_mut().zip(x) {
            *out = x as u32;
        }
    }
}

super::levels! {
    fn unpack(out: &mut [u64], x: &[u32]) {
        for (out, &x) in out.iter_mut().zip(x) {
            *out = u64::from(x);
        }
    }
}
