// SPDX-License-Identifier: Apache-2.0
//! Computes blind rotations modulo a prime of at most 30 bits, in words of 32 bits from the accumulator to the key. A
//! vector holds twice as many words as in [`TorusRing`](super::TorusRing), and polynomials take half the memory.
//!
//! The steps are those of [`TorusRing`](super::TorusRing), except that the last two products of an unrolled step are
//! one. The sums of products of each gadget ciphertext are multiplied by their weight, the transform of X^a - 1, while
//! they are in registers ([`NarrowRing::accumulate`]).
//!
//! Sums of products have 64 bits and are reduced once, by Montgomery's method, which divides by 2^32. So the words of a
//! key are multiplied by 2^32 when they are stored.

mod digits;
mod key;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
mod loops;
mod products;
mod weights;

use key::BLOCK;
pub use key::{NarrowKey, NarrowStep};
use weights::Weights;

use std::sync::Arc;

use super::{Coefficients, Gadget, KeyShape};
use crate::kernels::check_len;
use crate::{MathError, Modulus, Ntt32, Ring};

/// The ring of polynomials modulo X^N + 1 with residues modulo a prime of at most 30 bits. It has the tables to
/// multiply gadget ciphertexts of one shape by polynomials.
pub struct NarrowRing {
    q: Modulus,
    shape: KeyShape,
    plan: Arc<Ntt32>,
    weights: Weights,
}

impl NarrowRing {
    /// The most bits of the prime modulo which [`NarrowRing`] computes.
    const MOST_BITS: u32 = 30;
    /// The most rows of a gadget ciphertext. Sums of twelve products of residues, with the addend
    /// of their reduction, are below 2^64.
    const MOST_ROWS: usize = 12;
    /// The most columns of a gadget ciphertext. The sums of four columns fit into registers.
    const MOST_COLS: usize = 4;

    /// Returns the ring for polynomials and gadget ciphertexts of this shape, or `None` if they do
    /// not suit words of 32 bits. They do if q is an odd prime of at most 30 bits, N is at least
    /// 16, and there are at most 12 rows and 2 to 4 columns.
    ///
    /// # Errors
    /// The errors of [`Ntt32::shared`], for instance if the modulus has no root of unity of the needed order.
    pub fn serving(q: Coefficients, shape: KeyShape) -> Result<Option<Self>, MathError> {
        let fits = q.bits() <= Self::MOST_BITS
            && shape.n() >= BLOCK
            && shape.rows() <= Self::MOST_ROWS
            && (2..=Self::MOST_COLS).contains(&shape.cols());
        let q = match q {
            Coefficients::Prime(q) if fits && q.value() % 2 == 1 => q,
            _ => return Ok(None),
        };
        let ring = Ring::full(shape.n().trailing_zeros() as u8);
        let plan = Ntt32::shared(q, ring)?;
        Ok(Some(Self {
            q,
            shape,
            weights: Weights::new(q, plan.psi().into(), u32::from(ring.log_n)),
            plan,
        }))
    }

    /// Returns the ring degree N.
    pub fn degree(&self) -> usize {
        self.shape.n()
    }

    /// Returns the number of words of a weight, the transform of X^a - 1
    /// ([`NarrowRing::monomial`]): two for each position.
    pub fn weight_words(&self) -> usize {
        2 * self.degree()
    }

    /// Computes out = (X^a - 1) p modulo X^N + 1, for any a, which counts modulo 2N.
    ///
    /// # Errors
    /// [`MathError::Length`] unless both polynomials have N coefficients.
    pub fn rotate_sub(&self, out: &mut [u32], p: &[u32], a: usize) -> Result<(), MathError> {
        let n = self.degree();
        check_len("polynomial", n, p.len())?;
        check_len("polynomial", n, out.len())?;
        let (negative, shift) = (a / n % 2 == 1, a % n);
        let (low, high) = out.split_at_mut(shift);
        let (kept, wrapped) = p.split_at(n - shift);
        let (below, above) = p.split_at(shift);
        let q = self.q.value() as u32;
        differences(q, low, wrapped, below, !negative);
        differences(q, high, kept, above, negative);
        Ok(())
    }

    /// Computes the signed digits of the coefficients of a polynomial x, as residues modulo the ring's prime
    /// ([`Gadget::decompose`]).
    ///
    /// # Errors
    /// [`MathError::Length`] unless `out` has a polynomial for each digit, [`MathError::OutOfRange`] for a gadget of
    /// another modulus.
    pub fn decompose(&self, gadget: &Gadget, out: &mut [u32], x: &[u32]) -> Result<(), MathError> {
        digits::decompose(gadget, self.q, out, x)
    }

    /// Transforms several polynomials in place. They lie one after the other in memory.
    ///
    /// # Errors
    /// [`MathError::Length`] unless all polynomials have N coefficients.
    pub fn forward(&self, polynomials: &mut [u32]) -> Result<(), MathError> {
        let mut each = polynomials.chunks_mut(self.degree());
        each.try_for_each(|x| self.plan.forward(x))
    }

    /// Computes the transform of X^a - 1 as a weight for [`NarrowRing::accumulate`]. The exponent a may be any number
    /// and counts modulo 2N.
    ///
    /// # Errors
    /// [`MathError::Length`] unless `out` has [`NarrowRing::weight_words`] words.
    pub fn monomial(&self, a: usize, out: &mut [u32]) -> Result<(), MathError> {
        check_len("transform of a monomial", self.weight_words(), out.len())?;
        self.weights.of(a, out);
        Ok(())
    }

    /// Computes, in transform form, out(c) = the sum over patterns u of weights(u) times the sum over rows r of
    /// digits(r) key(u, r, c), for each column c. A pattern is a value other than 0 of those bits of the secret key
    /// that the step of a blind rotation takes. It has one gadget ciphertext, and a weight: the transform of X^a - 1
    /// with an exponent a of its own. If `weights` is empty, the step has one pattern, without a weight.
    ///
    /// # Errors
    /// [`MathError::Length`] if a length does not fit the shape, the ring and the step.
    pub fn accumulate(
        &self,
        step: NarrowStep<'_>,
        digits: &[u32],
        weights: &[u32],
        out: &mut [u32],
    ) -> Result<(), MathError> {
        let (n, shape) = (self.degree(), self.shape);
        let weighed = match weights.len() {
            0 => 1,
            _ => step.patterns(),
        };
        check_len("patterns of a step", weighed, step.patterns())?;
        check_len(
            "words of the key",
            step.patterns() * shape.words(),
            step.words().len(),
        )?;
        check_len("digits", shape.rows() * n, digits.len())?;
        check_len("sums", shape.cols() * n, out.len())?;
        if !weights.is_empty() {
            check_len(
                "weights",
                step.patterns() * self.weight_words(),
                weights.len(),
            )?;
        }
        products::accumulate(self.q, shape, step, digits, weights, out);
        Ok(())
    }

    /// Adds to acc, modulo the ring's prime, the polynomial whose transform is x. The call overwrites x.
    ///
    /// # Errors
    /// [`MathError::Length`] unless both have N words.
    pub fn inverse_add(&self, x: &mut [u32], acc: &mut [u32]) -> Result<(), MathError> {
        check_len("accumulator", self.degree(), acc.len())?;
        self.plan.inverse(x)?;
        add_all(self.q.value() as u32, acc, x);
        Ok(())
    }

    /// Returns a key with room for `count` gadget ciphertexts. Each step of a blind rotation has `patterns` of them;
    /// the last step may have fewer.
    ///
    /// # Errors
    /// [`MathError::Halt`] if there is no memory for the key.
    pub fn key(&self, patterns: usize, count: usize) -> Result<NarrowKey, MathError> {
        NarrowKey::zeroed(self.shape, patterns, count)
    }

    /// Transforms one polynomial of residues and writes it to its place in a key: row and column `place` of gadget
    /// ciphertext number `at`. This ring must have made the key ([`NarrowRing::key`]).
    ///
    /// # Errors
    /// [`MathError::Length`] unless x has N coefficients.
    ///
    /// # Panics
    /// If the place is beyond the end of the key. A row or a column outside the key's shape may be the place of another
    /// polynomial, so the caller must check both.
    pub fn put(
        &self,
        key: &mut NarrowKey,
        at: usize,
        place: [usize; 2],
        x: &[u64],
    ) -> Result<(), MathError> {
        check_len("row of a key", self.degree(), x.len())?;
        let scale = self.q.shoup(self.q.reduce(1 << 32));
        let mut evaluations: Vec<u32> = (x.iter())
            .map(|&x| self.q.mul_shoup(self.q.reduce(x), scale) as u32)
            .collect();
        self.plan.forward(&mut evaluations)?;
        key.put(at, place, &evaluations);
        Ok(())
    }
}

/// Computes out = p - r modulo q for polynomials p and r, or out = -p - r if `negative` is set.
fn differences(q: u32, out: &mut [u32], p: &[u32], r: &[u32], negative: bool) {
    if negative {
        negated_difference(q, out, p, r);
    } else {
        difference(q, out, p, r);
    }
}

/// Returns a - b modulo q for residues a and b.
#[inline(always)]
fn sub(q: u32, a: u32, b: u32) -> u32 {
    let difference = a.wrapping_sub(b);
    difference.min(difference.wrapping_add(q))
}

super::levels! {
    fn difference(q: u32, out: &mut [u32], p: &[u32], r: &[u32]) {
        for ((out, &p), &r) in out.iter_mut().zip(p).zip(r) {
            *out = sub(q, p, r);
        }
    }
}

super::levels! {
    fn negated_difference(q: u32, out: &mut [u32], p: &[u32], r: &[u32]) {
        for ((out, &p), &r) in out.iter_mut().zip(p).zip(r) {
            *out = sub(q, sub(q, 0, p), r);
        }
    }
}

super::levels! {
    fn add_all(q: u32, a: &mut [u32], b: &[u32]) {
        for (a, &b) in a.iter_mut().zip(b) {
            let sum = a.wrapping_add(b);
            *a = sum.min(sum.wrapping_sub(q));
        }
    }
}
