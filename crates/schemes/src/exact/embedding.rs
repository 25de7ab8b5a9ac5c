// SPDX-License-Identifier: Apache-2.0
//! The form that a message has inside a ciphertext. Code outside of procedures, such as encryption, computes it
//! here.

use ringmill_math::{Modulus, kernels};
use zeroize::Zeroizing;

use super::plaintext::Plaintext;
use crate::rlwe::RlweError;

/// The form of messages in the polynomial c_0 of a ciphertext, given by constants f, h, w_i and c_i. Modulo each
/// prime q_i, a coefficient m of a message becomes w_i r + c_i with r = f m + h mod t, for the plaintext modulus t.
pub struct Embedding {
    t: Modulus,
    /// The constants f and h modulo the plaintext modulus t, of r = f m + h mod t for a coefficient m of a message.
    inner: [u64; 2],
    /// For each prime q_i, the constants w_i and c_i by which r becomes w_i r + c_i modulo q_i.
    outer: Vec<[u64; 2]>,
}

impl Embedding {
    /// Makes an embedding. `inner` has the constants f and h by which a coefficient m of a message becomes r = f m + h
    /// modulo the plaintext modulus `t`. The function `outer` returns the constants w and c of a prime, by which r
    /// becomes w r + c modulo the prime. `primes` has q_0, q_1, ... in order.
    ///
    /// # Errors
    /// The errors of `outer`.
    pub fn new(
        t: Modulus,
        inner: [u64; 2],
        primes: &[Modulus],
        outer: impl Fn(Modulus) -> Result<[u64; 2], RlweError>,
    ) -> Result<Self, RlweError> {
        let outer = primes.iter().map(|&q| outer(q)).collect::<Result<_, _>>()?;
        Ok(Self { t, inner, outer })
    }

    /// Returns the plaintext modulus t of the messages that are embedded.
    pub fn modulus(&self) -> Modulus {
        self.t
    }

    /// Returns the coefficients r = f m + h modulo the plaintext modulus t, for the coefficients m of a plaintext and
    /// the embedding's constants f and h.
    pub fn source(&self, plain: &Plaintext) -> Zeroizing<Vec<u64>> {
        let mut source = Zeroizing::new(plain.residues().to_vec());
        let [factor, offset] = self.inner;
        kernels::mul_scalar_assign(self.t, &mut source, factor);
        kernels::add_scalar_assign(self.t, &mut source, offset);
        source
    }

    /// Computes coefficients of the embedded message modulo `q`, the prime of index `i`, into `limb`. `source` has the
    /// same coefficients of what [`Self::source`] returns.
    ///
    /// # Errors
    /// Fails for a prime that the embedding does not have, and if `source` and `limb` differ in length.
    pub fn limb(
        &self,
        i: usize,
        q: Modulus,
        source: &[u64],
        limb: &mut [u64],
    ) -> Result<(), RlweError> {
        let &[w, c] = self.outer.get(i).ok_or(RlweError::Length {
            what: "primes of a message",
            expected: i + 1,
            got: self.outer.len(),
        })?;
        kernels::conv(self.t, q, limb, source)?;
        if w != 1 {
            kernels::mul_scalar_assign(q, limb, w);
        }
        kernels::add_scalar_assign(q, limb, c);
        Ok(())
    }
}
