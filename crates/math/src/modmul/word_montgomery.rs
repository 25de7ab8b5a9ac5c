// SPDX-License-Identifier: Apache-2.0
//! Models word-level Montgomery reduction for NTT-friendly moduli in hardware.

use std::ops::RangeInclusive;

use super::{Reduction, subtract_once};
use crate::{MathError, Modulus};

/// A reduction of C to C / 2^(w L) mod q for q = q_H 2^w + 1 and C < q 2^(w L). It takes L steps
/// that each remove w bits (Mert, Öztürk and Savaş, Algorithm 4; Kırbıyık's thesis, Algorithm 7).
/// As -q^-1 = -1 mod 2^w, the multiple of q to add in a step is the two's complement of the low
/// word. So a step costs one product of q_H by w bits. The carry into the next word, which both
/// papers compute as the OR of two top bits, is 1 unless the low word is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WordMontgomery {
    q: Modulus,
    word_bits: u32,
    iterations: u32,
    /// The factor 2^-(w L) mod q by which the reduction multiplies.
    factor: u64,
}

/// The values of one step of a word-level Montgomery reduction modulo q = q_H 2^w + 1. The names
/// are those of Mert, Öztürk and Savaş's Algorithm 4; T1 is the number before the step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WordStep {
    /// The high part T1 >> w of the number T1 before the step, for words of w bits.
    pub t1_high: u128,
    /// The low word T1 mod 2^w of the number T1 before the step, for words of w bits.
    pub t1_low: u64,
    /// The two's complement of the low word: -t1_low mod 2^w, for words of w bits.
    pub t2: u64,
    /// The carry of t1_low + t2 into the next word: 1 unless t1_low is 0.
    pub carry: bool,
    /// The number after the step, (T1 + t2 q) / 2^w, for the number T1 before the step. It is
    /// computed as t1_high + q_H t2 + carry, for q = q_H 2^w + 1.
    pub t1: u128,
}

/// A parameter set of the polynomial multiplier: ring degree, word size w, iterations L, and the bits K of its moduli
/// (Mert, Öztürk and Savaş, Table 1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParameterSet {
    pub log_n: u32,
    /// The bits w of a word, which are log2(2n) for ring degree n.
    pub word_bits: u32,
    /// The number L of iterations of the reduction pipeline, which is set at run time.
    pub iterations: u32,
    /// The numbers of bits of those moduli that L iterations of w bits reduce and L - 1 would not.
    pub modulus_bits: RangeInclusive<u32>,
}

const fn set(log_n: u32, iterations: u32) -> ParameterSet {
    let word_bits = log_n + 1;
    ParameterSet {
        log_n,
        word_bits,
        iterations,
        modulus_bits: (iterations - 1) * word_bits + 1..=iterations * word_bits,
    }
}

/// The six parameter sets of Table 1 of the paper of Mert, Öztürk and Savaş.
pub const PARAMETER_SETS: [ParameterSet; 6] = [
    set(8, 2),
    set(9, 2),
    set(10, 2),
    set(10, 3),
    set(11, 3),
    set(12, 3),
];

impl WordMontgomery {
    /// Makes a reduction modulo a K-bit q in L = ceil(K / w) iterations, where w is `word_bits`.
    ///
    /// # Errors
    /// The errors of [`WordMontgomery::with_iterations`].
    pub fn new(q: Modulus, word_bits: u32) -> Result<Self, MathError> {
        // An impossible word size is refused below, whatever the count.
        Self::with_iterations(q, word_bits, q.bits().div_ceil(word_bits.max(1)))
    }

    /// Makes a reduction modulo a K-bit q with the iterations of a pipeline, at least ceil(K / w), where w is
    /// `word_bits`.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for a word of 0 bits, a q that is not 1 mod 2^w, or iterations times w below K or
    /// above 64.
    pub fn with_iterations(q: Modulus, word_bits: u32, iterations: u32) -> Result<Self, MathError> {
        let low_bits = (q.value() - 1).trailing_zeros();
        if word_bits == 0 || word_bits > low_bits {
            return Err(MathError::OutOfRange {
                what: "word size in bits",
                expected: "at least 1, and the modulus 1 mod 2^word size",
                got: format!("{word_bits} for {}", q.value()),
            });
        }
        let total = word_bits.saturating_mul(iterations);
        if !(q.bits()..=64).contains(&total) {
            return Err(MathError::OutOfRange {
                what: "bits taken off by all iterations",
                expected: "from the bits of the modulus to 64",
                got: total.to_string(),
            });
        }
        Ok(Self {
            q,
            word_bits,
            iterations,
            factor: q.inv(q.reduce_wide(1 << total))?,
        })
    }

    /// Returns w, the bits of a word that each step removes.
    pub fn word_bits(&self) -> u32 {
        self.word_bits
    }

    /// Returns L, the number of steps of a reduction.
    pub fn iterations(&self) -> u32 {
        self.iterations
    }

    /// Returns q_H, where the modulus is q = q_H 2^w + 1.
    pub fn q_high(&self) -> u64 {
        self.q.value() >> self.word_bits
    }

    /// Computes one step of the reduction, lines 3 to 7 of Algorithm 4 of Mert, Öztürk and Savaş.
    pub fn step(&self, t1: u128) -> WordStep {
        let mask = (1u64 << self.word_bits) - 1; // w < 61
        let t1_high = t1 >> self.word_bits;
        let t1_low = t1 as u64 & mask;
        let t2 = t1_low.wrapping_neg() & mask;
        let carry = t1_low != 0;
        let product = u128::from(self.q_high()) * u128::from(t2);
        WordStep {
            t1_high,
            t1_low,
            t2,
            carry,
            t1: t1_high.wrapping_add(product).wrapping_add(carry.into()),
        }
    }

    /// Returns the values of the L steps of the reduction of C, which is below [`Reduction::limit`]. The last `t1` is
    /// below 2q.
    pub fn steps(&self, c: u128) -> impl Iterator<Item = WordStep> {
        let this = *self;
        (0..self.iterations).scan(c, move |t1, _| {
            let step = this.step(*t1);
            *t1 = step.t1;
            Some(step)
        })
    }

    /// Returns the form a 2^(w L) mod q of a residue a, in which constants are stored.
    pub fn to_form(&self, a: u64) -> u64 {
        self.q
            .reduce_wide(u128::from(self.q.reduce(a)) << (self.word_bits * self.iterations))
    }

    /// Returns the residue a from its form a 2^(w L) mod q.
    pub fn from_form(&self, a: u64) -> u64 {
        self.reduce(a.into())
    }
}

impl Reduction for WordMontgomery {
    fn modulus(&self) -> Modulus {
        self.q
    }

    fn factor(&self) -> u64 {
        self.factor
    }

    fn limit(&self) -> u128 {
        u128::from(self.q.value()) << (self.word_bits * self.iterations)
    }

    fn reduce(&self, x: u128) -> u64 {
        let last = self.steps(x).last().map_or(x, |step| step.t1);
        subtract_once(last, self.q) as u64
    }
}
