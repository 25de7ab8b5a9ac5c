// SPDX-License-Identifier: Apache-2.0
//! The correction factor of a BGV ciphertext, by which its message is multiplied modulo the plaintext modulus t.

use std::fmt;
use std::iter::successors;

use ringmill_isa::Level;
use ringmill_isa::macros::Note;
use ringmill_math::Modulus;

use super::error::BgvError;
use crate::exact::noise::log2_sum;
use crate::file::{FileError, Reader, Writer};
use crate::rlwe::{Annotation, Params, RlweError};

/// The correction factor of a ciphertext: a unit modulo the plaintext modulus t, from 1 to t - 1. A fresh ciphertext
/// has 1. A product has the product of the factors, and a division by a prime divides the factor by the prime.
///
/// The type also holds the index of the plaintext modulus t in the parameters' list of plaintext moduli. Index 0 is
/// the modulus of messages, the others are for bootstrapping.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Factor {
    value: u64,
    plain: u8,
}

impl Factor {
    pub const ONE: Self = Self { value: 1, plain: 0 };
    /// The number of bits that hold the factor's value in files and programs. The bits above them hold the index of
    /// its plaintext modulus.
    const VALUE_BITS: u32 = 60;
    /// The highest index that a plaintext modulus can have in the parameters' list.
    pub const MAX_PLAIN: u8 = 15;

    /// Makes the correction factor `factor` of messages modulo t, the first plaintext modulus of the parameters.
    ///
    /// # Errors
    /// [`BgvError::Factor`] unless 1 <= `factor` < t and the two are coprime.
    pub fn new(factor: u64, t: Modulus) -> Result<Self, BgvError> {
        if factor < t.value() && t.inv(factor).is_ok() {
            return Ok(Self::unchecked(factor));
        }
        Err(BgvError::Factor {
            got: factor,
            modulus: t.value(),
        })
    }

    /// Makes a factor without checking it. The construction of a ciphertext checks it against the parameters.
    pub fn unchecked(factor: u64) -> Self {
        Self {
            value: factor,
            plain: 0,
        }
    }

    /// Returns the correction factor 1 for messages modulo the plaintext modulus of index `plain`.
    pub fn one_modulo(plain: u8) -> Self {
        Self { value: 1, plain }
    }

    /// Returns the factor's value, reduced modulo `t`, as a correction factor for the plaintext modulus `t` of index
    /// `plain`. The caller ensures that the ciphertext's message is a residue modulo `t`.
    pub fn modulo(self, plain: u8, t: Modulus) -> Self {
        let value = t.reduce(self.value);
        Self { value, plain }
    }

    pub fn value(self) -> u64 {
        self.value
    }

    /// Returns the index, in the parameters' list, of the plaintext modulus to which the factor belongs.
    pub fn plain(self) -> u8 {
        self.plain
    }

    /// Packs the factor's value and the index of its plaintext modulus into one word, the form in files.
    fn packed(self) -> u64 {
        self.value | u64::from(self.plain) << Self::VALUE_BITS
    }

    /// Returns the factor that a word of [`Factor::packed`] stands for. Its value and index are not checked yet.
    fn unpacked(word: u64) -> Self {
        Self {
            value: word & ((1 << Self::VALUE_BITS) - 1),
            plain: (word >> Self::VALUE_BITS) as u8,
        }
    }

    /// Returns the correction factor of the product of two ciphertexts of one plaintext modulus, `t`.
    pub fn times(self, other: Self, t: Modulus) -> Self {
        Self {
            value: t.mul(self.value, other.value),
            ..self
        }
    }

    /// Returns the correction factor of a ciphertext after its division by a prime.
    ///
    /// # Errors
    /// Fails for a prime that is not coprime to the plaintext modulus `t`.
    pub fn over(self, prime: u64, t: Modulus) -> Result<Self, RlweError> {
        let value = t.mul(self.value, t.inv(t.reduce(prime))?);
        Ok(Self { value, ..self })
    }

    /// Returns the inverse of the correction factor f modulo the plaintext modulus `t`, by which f m becomes the
    /// message m.
    ///
    /// # Errors
    /// Fails for a factor that has no inverse modulo `t`, as one of other parameters may.
    pub fn inverse(self, t: Modulus) -> Result<u64, RlweError> {
        Ok(t.inv(self.value)?)
    }

    /// Returns integers x and y such that ciphertexts with correction factors `a` and `b`, times x and y, have one
    /// factor. They are SEAL's choice. The extended Euclidean algorithm passes pairs (x, y) with x a = y b modulo
    /// the plaintext modulus t. The choice is the first pair with the least |x| + |y|, for x and y nearest to 0. As
    /// in SEAL, the returned integers are in [0, t).
    ///
    /// # Errors
    /// Fails for an `a` that has no inverse modulo `t`.
    pub fn balance(a: Self, b: Self, t: Modulus) -> Result<Balance, RlweError> {
        let sum = |&[x, y]: &[u64; 2]| about_zero(x, t) + about_zero(y, t);
        let ratio = t.mul(a.inverse(t)?, b.value);
        let best = pairs(ratio, t).min_by_key(sum).unwrap_or([ratio, 1]);
        Ok(Balance::new(best, a, t))
    }

    /// Returns integers by which two ciphertexts are multiplied to have one correction factor, as
    /// [`Factor::balance`] does. The phases of the ciphertexts are up to 2^`log2[0]` and 2^`log2[1]`. Of the pairs
    /// among which `balance` chooses, it takes that with the smallest bound on the phase of the sum, with integers
    /// nearest to 0. If one phase is much smaller than the other, only that one is multiplied.
    ///
    /// # Errors
    /// Fails for an `a` that has no inverse modulo `t`.
    pub fn balance_phases(
        a: Self,
        b: Self,
        t: Modulus,
        log2: [f64; 2],
    ) -> Result<Balance, RlweError> {
        let bound = |&[x, y]: &[u64; 2]| {
            let [x, y] = [x, y].map(|x| (about_zero(x, t) as f64).log2());
            let [a, b] = log2;
            log2_sum(a + x, b + y)
        };
        let ratio = t.mul(a.inverse(t)?, b.value);
        let bounded = pairs(ratio, t).map(|pair| (bound(&pair), pair));
        let best = bounded.min_by(|(a, _), (b, _)| a.total_cmp(b));
        Ok(Balance::new(
            best.map_or([ratio, 1], |(_, pair)| pair),
            a,
            t,
        ))
    }
}

/// Returns the absolute value of the integer nearest to 0 that is `x` modulo the plaintext modulus `t`.
fn about_zero(x: u64, t: Modulus) -> u64 {
    x.min(t.neg(x))
}

/// Returns the pairs (x, y) of units with x = y `ratio` modulo the plaintext modulus `t` that occur in the extended
/// Euclidean algorithm.
fn pairs(ratio: u64, t: Modulus) -> impl Iterator<Item = [u64; 2]> {
    // Invariant: x = y ratio modulo t, for both pairs. The remainders x fall from t to 0.
    let first = ([t.value(), 0], [ratio, 1]);
    let steps = successors(Some(first), move |&(before, now)| {
        let quotient = before[0].checked_div(now[0])?;
        let y = t.sub(before[1], t.mul(t.reduce(quotient), now[1]));
        Some((now, [before[0] % now[0], y]))
    });
    let pairs = steps.map(|(_, pair)| pair);
    pairs.filter(move |&[x, _]| t.inv(x).is_ok())
}

/// The integers by which two ciphertexts are multiplied so that their correction factors are equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Balance {
    /// The integer by which each of the two ciphertexts is multiplied.
    pub by: [u64; 2],
    /// The correction factor that both ciphertexts have after the products with the integers `by`.
    pub factor: Factor,
}

impl Balance {
    /// Makes the balance of two ciphertexts. The first one has the correction factor `a` and is multiplied by the
    /// first integer of `by`, the second one by the second.
    fn new(by: [u64; 2], a: Factor, t: Modulus) -> Self {
        let [x, _] = by;
        let factor = a.times(Factor::unchecked(x), t);
        Self { by, factor }
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.plain {
            0 => self.value.fmt(f),
            plain => write!(f, "{} modulo plaintext modulus {plain}", self.value),
        }
    }
}

impl Annotation for Factor {
    type Error = BgvError;
    const FILE_BYTES: usize = 8;

    fn check(&self, params: &Params, _: Level) -> Result<(), BgvError> {
        let t = low(params, 0)?;
        match low(params, self.plain) {
            Ok(t) => Self::new(self.value, t).map(drop),
            Err(_) => Err(BgvError::Factor {
                got: self.packed(),
                modulus: t.value(),
            }),
        }
    }

    fn low(&self, params: &Params) -> Result<Option<Modulus>, RlweError> {
        low(params, self.plain).map(Some)
    }

    fn note(&self) -> Note {
        Note::Factor(self.packed())
    }

    fn of_note(note: Note) -> Option<Self> {
        match note {
            Note::Factor(word) => Some(Self::unpacked(word)),
            Note::Bare | Note::Scale(_) => None,
        }
    }

    fn write(&self, to: &mut Writer) {
        to.residues(&[self.packed()]);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, FileError> {
        Ok(Self::unpacked(from.u64()?))
    }
}

/// Returns the parameters' plaintext modulus of index `plain`. Index 0 is the modulus t of messages, the others are
/// those of bootstrapping.
fn low(params: &Params, plain: u8) -> Result<Modulus, RlweError> {
    let found = params.low_moduli().get(usize::from(plain)).copied();
    found.ok_or_else(|| RlweError::Parameter {
        what: "plaintext modulus of a value with a correction factor",
        expected: format!(
            "one of the {} that these parameters have",
            params.low_moduli().len()
        ),
        got: format!("number {plain}"),
    })
}
