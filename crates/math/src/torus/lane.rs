// SPDX-License-Identifier: Apache-2.0
//! A prime with its transforms, in words of 64 bits, or of 32 bits if that is faster.

use std::sync::Arc;

use super::monomial::Monomials;
use crate::{Backend, MathError, Modulus, Ntt32, NttPlan, Ring};

/// The longest polynomials that are packed into words of 32 bits: what lies on the stack.
const MOST: usize = 2048;

/// One prime with its transforms.
pub(super) struct Lane {
    pub(super) p: Modulus,
    pub(super) monomials: Monomials,
    plan: Arc<NttPlan>,
    /// For primes whose lazy residues fit 32 bits.
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

    /// [`NttPlan::forward`].
    pub(super) fn forward(&self, x: &mut [u64]) -> Result<(), MathError> {
        match self.narrow(x.len()) {
            Some(plan) => packed(x, |words| plan.forward(words)),
            None => self.plan.forward(x),
        }
    }

    /// [`NttPlan::inverse`].
    pub(super) fn inverse(&self, x: &mut [u64]) -> Result<(), MathError> {
        match self.narrow(x.len()) {
            Some(plan) => packed(x, |words| plan.inverse(words)),
            None => self.plan.inverse(x),
        }
    }

    /// Twice the lanes are worth the packing where 64-bit words have no 52-bit multiplication of integers. A polynomial of
    /// another length is left to the plan that refuses it.
    fn narrow(&self, len: usize) -> Option<&Ntt32> {
        match Backend::current() {
            Backend::Avx2 | Backend::Avx512 => {
                (self.narrow.as_deref()).filter(|plan| plan.ring().len() == len)
            }
            Backend::Scalar | Backend::Avx512Ifma => None,
        }
    }
}

/// Runs on the words of a polynomial of residues below 2^32 with at most [`MOST`] coefficients.
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
