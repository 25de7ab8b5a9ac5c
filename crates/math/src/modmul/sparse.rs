// SPDX-License-Identifier: Apache-2.0
//! Models reduction modulo sparse pseudo-Mersenne numbers by recursive folding.

use super::Reduction;
use crate::primes::SparsePrime;
use crate::{MathError, Modulus};

/// A term 2^exponent or -2^exponent of a sparse modulus 2^a + (sum of terms) + 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SparseTerm {
    pub exponent: u32,
    pub negative: bool,
}

/// A reduction of x mod q for q = 2^a + (sum of ±2^b) + 1, where x has at most twice the bits of q. It takes shifts and
/// additions. The identity 2^a = -(sum of ±2^b) - 1 mod q is applied recursively (Medha paper, appendix A). The 60-bit
/// example of the Medha paper is 2^59 + 2^25 + 2^22 - 2^20 + 1.
///
/// A fold turns x = h 2^a + l, with h rounded down and 0 <= l < 2^a, into l - (sum of ±h 2^b) - h.
/// Values are signed. The constructor computes how many folds bring every input into \[-q, 2q), so
/// the pipeline has a fixed length.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SparsePseudoMersenne {
    q: Modulus,
    top: u32,
    terms: Vec<SparseTerm>,
    folds: u32,
}

impl SparsePseudoMersenne {
    /// Makes the reduction for q = 2^top + (sum of terms) + 1. The exponents of the terms fall and lie between 1 and
    /// top - 1.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for other exponents, for a top outside 1 to 60, and for terms so large that folding
    /// does not end.
    pub fn new(top: u32, terms: &[SparseTerm]) -> Result<Self, MathError> {
        let mut above = top;
        for term in terms {
            if term.exponent == 0 || term.exponent >= above {
                return Err(MathError::OutOfRange {
                    what: "exponent of a sparse modulus",
                    expected: "at least 1 and below the one before",
                    got: term.exponent.to_string(),
                });
            }
            above = term.exponent;
        }
        if !(1..Modulus::MAX_BITS).contains(&top) {
            return Err(MathError::OutOfRange {
                what: "top exponent of a sparse modulus",
                expected: "1..=60",
                got: top.to_string(),
            });
        }
        // The terms lie between 2 - 2^top and 2^top - 2 in sum, so q is at least 3 and below 2^61.
        let value = (1i128 << top) + times_rest(terms, 1);
        let q = Modulus::new(u64::try_from(value).unwrap_or(0))?;
        let mut this = Self {
            q,
            top,
            terms: terms.to_vec(),
            folds: 0,
        };
        this.folds = this.count_folds().ok_or(MathError::OutOfRange {
            what: "sparse modulus",
            expected: "terms small enough beside the top one for folding to end",
            got: q.value().to_string(),
        })?;
        Ok(this)
    }

    /// Returns the number of folds that bring every allowed input into \[-q, 2q), or `None` if some
    /// input never gets there. A fold replaces the largest power of two in q by the smaller ones.
    fn count_folds(&self) -> Option<u32> {
        let q = i128::from(self.q.value());
        let rest = times_rest(&self.terms, 1);
        let (mut low, mut high) = (0, (self.limit() - 1) as i128); // below 2^122
        for folds in 0..64 {
            if low >= -q && high < 2 * q {
                return Some(folds);
            }
            let (h_low, h_high) = (low >> self.top, high >> self.top);
            // l - h * rest, l in [0, 2^a); the sign of `rest` says at which end of h it is extreme.
            let (a, b) = (h_low.checked_mul(rest)?, h_high.checked_mul(rest)?);
            (low, high) = (-a.max(b), (1 << self.top) - 1 - a.min(b));
        }
        None
    }

    /// Returns the number of folds of a reduction modulo q = 2^a + (sum of ±2^b) + 1. A fold replaces 2^a by the
    /// smaller powers. After the last fold, q is added or subtracted once if the result is no residue.
    pub fn folds(&self) -> u32 {
        self.folds
    }

    /// Computes one fold of x modulo q = 2^a + (sum of terms) + 1: a number congruent to x with about a - b fewer bits,
    /// where 2^b is the largest of the terms.
    pub fn fold(&self, x: i128) -> i128 {
        let high = x >> self.top;
        let low = x & ((1 << self.top) - 1);
        low.wrapping_sub(times_rest(&self.terms, high))
    }

    /// Returns the results of the successive folds in the reduction modulo q of an x below [`Reduction::limit`]. The
    /// last one is in \[-q, 2q).
    pub fn stages(&self, x: u128) -> impl Iterator<Item = i128> {
        (0..self.folds).scan(x as i128, |x, _| {
            *x = self.fold(*x);
            Some(*x)
        })
    }
}

/// Returns (sum of terms + 1) * h, computed by shifts, for the terms ±2^b of a sparse modulus.
fn times_rest(terms: &[SparseTerm], h: i128) -> i128 {
    terms.iter().fold(h, |sum, term| {
        let shifted = h << term.exponent;
        if term.negative {
            sum.wrapping_sub(shifted)
        } else {
            sum.wrapping_add(shifted)
        }
    })
}

impl TryFrom<SparsePrime> for SparsePseudoMersenne {
    type Error = MathError;

    fn try_from(prime: SparsePrime) -> Result<Self, MathError> {
        let [top, b, c, d] = prime.exponents;
        let term = |exponent, positive: bool| SparseTerm {
            exponent,
            negative: !positive,
        };
        let [second, third] = prime.signs;
        Self::new(top, &[term(b, true), term(c, second), term(d, third)])
    }
}

impl Reduction for SparsePseudoMersenne {
    fn modulus(&self) -> Modulus {
        self.q
    }

    fn limit(&self) -> u128 {
        1 << (2 * self.q.bits())
    }

    fn reduce(&self, x: u128) -> u64 {
        let q = i128::from(self.q.value());
        let last = self.stages(x).last().unwrap_or(x as i128);
        if last < 0 {
            last.wrapping_add(q) as u64
        } else if last >= q {
            last.wrapping_sub(q) as u64
        } else {
            last as u64
        }
    }
}
