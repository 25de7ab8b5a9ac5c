// SPDX-License-Identifier: Apache-2.0
//! The modulus of TFHE ciphertexts, a power of two or a prime, and arithmetic on their coefficients.

use crate::modulus::above;
use crate::{AnyModulus, MathError, Modulus, WordModulus};

/// The modulus q of TFHE ciphertexts. It is 2^32 or 2^64, so that residues are torus elements in
/// fixed point, as in the TFHE library and the paper of Kong and Li. Or it is a prime. Transforms
/// then run modulo q itself, and products need no larger modulus.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Coefficients {
    Word(WordModulus),
    Prime(Modulus),
}

/// Addition and subtraction modulo q, and the representatives of residues from which a
/// decomposition into digits starts. The methods are inlined into loops over polynomials.
pub(super) trait Sums: Copy + Sync {
    fn add(self, a: u64, b: u64) -> u64;
    fn sub(self, a: u64, b: u64) -> u64;
    /// Returns the representative of the residue x that is nearest to 0, plus `offset`. The sum is taken modulo q if q
    /// is a power of two, otherwise modulo 2^64. A decomposition cuts its digits from this word.
    fn centred_plus(self, x: u64, offset: u64) -> u64;
}

/// Addition and representatives modulo a power of two, 2^32 or 2^64.
#[derive(Clone, Copy)]
pub(super) struct WordSums {
    mask: u64,
}

/// Addition and representatives modulo a prime q.
#[derive(Clone, Copy)]
pub(super) struct PrimeSums {
    q: u64,
    half: u64,
}

impl Sums for WordSums {
    #[inline(always)]
    fn add(self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b) & self.mask
    }

    #[inline(always)]
    fn sub(self, a: u64, b: u64) -> u64 {
        a.wrapping_sub(b) & self.mask
    }

    #[inline(always)]
    fn centred_plus(self, x: u64, offset: u64) -> u64 {
        x.wrapping_add(offset) & self.mask
    }
}

impl Sums for PrimeSums {
    #[inline(always)]
    fn add(self, a: u64, b: u64) -> u64 {
        let sum = a.wrapping_add(b);
        sum.min(sum.wrapping_sub(self.q))
    }

    #[inline(always)]
    fn sub(self, a: u64, b: u64) -> u64 {
        let difference = a.wrapping_sub(b);
        difference.min(difference.wrapping_add(self.q))
    }

    #[inline(always)]
    fn centred_plus(self, x: u64, offset: u64) -> u64 {
        x.wrapping_add(offset)
            .wrapping_sub(self.q & above(x, self.half))
    }
}

/// Evaluates an expression with the [`Sums`] of a TFHE modulus: those of a power of two or those of
/// a prime.
macro_rules! with_sums {
    ($coefficients:expr, $sums:ident => $body:expr) => {
        match $coefficients {
            $crate::torus::Coefficients::Word(q) => {
                let $sums = $crate::torus::coefficients::word_sums(q);
                $body
            }
            $crate::torus::Coefficients::Prime(q) => {
                let $sums = $crate::torus::coefficients::prime_sums(q);
                $body
            }
        }
    };
}
pub(super) use with_sums;

pub(super) fn word_sums(q: WordModulus) -> WordSums {
    WordSums { mask: q.mask() }
}

pub(super) fn prime_sums(q: Modulus) -> PrimeSums {
    PrimeSums {
        q: q.value(),
        half: q.value() / 2,
    }
}

/// Makes the modulus of TFHE ciphertexts from a modulus of either kind. The caller ensures that it is 2^32, 2^64 or a
/// prime.
impl From<AnyModulus> for Coefficients {
    fn from(q: AnyModulus) -> Self {
        match q {
            AnyModulus::Below61(q) => Self::Prime(q),
            AnyModulus::Word(q) => Self::Word(q),
        }
    }
}

impl Coefficients {
    /// Returns the modulus 2^`bits`, for 32 or 64 bits.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for another number of bits.
    pub fn word(bits: u32) -> Result<Self, MathError> {
        if bits != 32 && bits != 64 {
            return Err(MathError::OutOfRange {
                what: "bits of a torus word",
                expected: "32 or 64",
                got: bits.to_string(),
            });
        }
        Ok(Self::Word(WordModulus::new(bits)?))
    }

    /// Returns the number of bits of residues, which is that of q - 1.
    pub fn bits(self) -> u32 {
        match self {
            Self::Word(q) => q.bits(),
            Self::Prime(q) => q.bits(),
        }
    }

    /// Returns the modulus q.
    pub fn modulus(self) -> u128 {
        match self {
            Self::Word(q) => u128::from(q.mask()) + 1,
            Self::Prime(q) => q.value().into(),
        }
    }

    /// Returns whether x is a residue, that is, below q.
    pub fn holds(self, x: u64) -> bool {
        u128::from(x) < self.modulus()
    }

    pub fn add(self, a: u64, b: u64) -> u64 {
        with_sums!(self, sums => sums.add(a, b))
    }

    pub fn sub(self, a: u64, b: u64) -> u64 {
        with_sums!(self, sums => sums.sub(a, b))
    }

    pub fn neg(self, a: u64) -> u64 {
        self.sub(0, a)
    }

    pub fn mul(self, a: u64, b: u64) -> u64 {
        match self {
            Self::Word(q) => a.wrapping_mul(b) & q.mask(),
            Self::Prime(q) => q.mul(a, b),
        }
    }

    /// Returns the residue of a signed integer, without branching on it.
    pub fn from_i64(self, x: i64) -> u64 {
        match self {
            Self::Word(q) => x as u64 & q.mask(),
            Self::Prime(q) => q.from_i64(x),
        }
    }

    /// Returns the integer in [-q/2, q/2) that is congruent to x modulo q, in constant time.
    pub fn centred(self, x: u64) -> i64 {
        match self {
            Self::Word(q) => {
                let spare = u64::BITS - q.bits();
                (x << spare) as i64 >> spare
            }
            Self::Prime(q) => q.centred(x),
        }
    }

    /// Returns the integer nearest to x 2^`log` / q, modulo 2^`log`; halves are rounded upwards. This is modulus
    /// switching from q to 2^`log`, for `log` of at most 31, in constant time.
    pub fn switch(self, x: u64, log: u32) -> u64 {
        match self {
            Self::Word(q) => {
                let shift = q.bits() - log;
                ((x >> (shift - 1)).wrapping_add(1) >> 1) & ((1 << log) - 1)
            }
            Self::Prime(q) => {
                let scaled = (u128::from(x) << log).wrapping_add(u128::from(q.value() / 2));
                q.divide_wide(scaled) & ((1 << log) - 1)
            }
        }
    }

    /// Returns the residue modulo q nearest to q `numerator` / 2^`log`; halves are rounded upwards.
    /// Numerators are up to 2^`log`, and `log` is at most 63. It takes constant time.
    pub fn fraction(self, numerator: u64, log: u32) -> u64 {
        let scaled = self.modulus().wrapping_mul(u128::from(numerator));
        let scaled = scaled.wrapping_add((1u128 << log) >> 1);
        let nearest = scaled >> log;
        match self {
            Self::Word(q) => nearest as u64 & q.mask(),
            Self::Prime(q) => q.reduce_wide(nearest),
        }
    }

    /// Adds b to a, coefficient by coefficient modulo q.
    ///
    /// # Errors
    /// [`MathError::Length`] if the lengths differ.
    pub fn add_assign(self, a: &mut [u64], b: &[u64]) -> Result<(), MathError> {
        crate::kernels::check_len("b", a.len(), b.len())?;
        with_sums!(self, sums => add_all(sums, a, b));
        Ok(())
    }

    /// Subtracts b from a, coefficient by coefficient modulo q.
    ///
    /// # Errors
    /// [`MathError::Length`] if the lengths differ.
    pub fn sub_assign(self, a: &mut [u64], b: &[u64]) -> Result<(), MathError> {
        crate::kernels::check_len("b", a.len(), b.len())?;
        with_sums!(self, sums => sub_all(sums, a, b));
        Ok(())
    }
}

super::levels! {
    fn add_all<S: Sums>(sums: S, a: &mut [u64], b: &[u64]) {
        for (a, &b) in a.iter_mut().zip(b) {
            *a = sums.add(*a, b);
        }
    }
}

super::levels! {
    fn sub_all<S: Sums>(sums: S, a: &mut [u64], b: &[u64]) {
        for (a, &b) in a.iter_mut().zip(b) {
            *a = sums.sub(*a, b);
        }
    }
}
