// SPDX-License-Identifier: Apache-2.0
//! A modulus below 2^61 and exact arithmetic on residues.

use crate::MathError;

/// A modulus 2 <= q < 2^61 with its Barrett constant. Operands and results of every method are residues below q unless
/// said otherwise. No method branches on its operands, except [`Modulus::pow`] on the exponent, [`Modulus::inv`], and
/// [`Modulus::shoup`], which divides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Modulus {
    q: u64,
    /// The Barrett constant floor(2^128 / q), as its high and its low word.
    ratio_hi: u64,
    ratio_lo: u64,
}

/// A constant factor w with its precomputed quotient floor(w * 2^64 / q) (Shoup's trick): one high product replaces
/// the division. [`Modulus::shoup`] makes it, and it is valid for the same modulus only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shoup {
    pub value: u64,
    pub quotient: u64,
}

impl Modulus {
    /// The most bits of a modulus: moduli are below 2 to this power.
    pub const MAX_BITS: u32 = 61;

    /// Makes the modulus `q`, which need not be prime.
    ///
    /// # Errors
    /// [`MathError::ModulusOutOfRange`] unless 2 <= q < 2^61.
    pub fn new(q: u64) -> Result<Self, MathError> {
        if !(2..1 << Self::MAX_BITS).contains(&q) {
            return Err(MathError::ModulusOutOfRange { got: q });
        }
        // floor(2^128 / q) by way of floor((2^128 - 1) / q): they differ only when q divides 2^128.
        let mut ratio = u128::MAX / u128::from(q);
        if q.is_power_of_two() {
            ratio += 1;
        }
        Ok(Self {
            q,
            ratio_hi: (ratio >> 64) as u64,
            ratio_lo: ratio as u64,
        })
    }

    /// Returns the modulus q.
    #[inline]
    pub fn value(self) -> u64 {
        self.q
    }

    /// Returns the bit length of q: 2^(bits-1) <= q < 2^bits.
    #[inline]
    pub fn bits(self) -> u32 {
        64 - self.q.leading_zeros()
    }

    /// Returns x mod q for any x.
    #[inline]
    pub fn reduce(self, x: u64) -> u64 {
        let quotient = mul_high(x, self.ratio_hi);
        self.correct(x.wrapping_sub(quotient.wrapping_mul(self.q)))
    }

    /// Returns x mod q for any 128-bit x, by Barrett reduction with a 128-bit constant. The estimated quotient is at
    /// most one too small.
    #[inline]
    pub fn reduce_wide(self, x: u128) -> u64 {
        let (_, rest) = self.divide_short(x);
        self.correct(rest)
    }

    /// Returns floor(x / q) modulo 2^64 for any 128-bit x.
    #[inline]
    pub fn divide_wide(self, x: u128) -> u64 {
        let (quotient, rest) = self.divide_short(x);
        quotient.wrapping_sub(above(rest, self.q - 1))
    }

    /// Returns a quotient q' of x by the modulus q, modulo 2^64, and the remainder x - q' q. The
    /// quotient is at most one too small, so the remainder is below 2q.
    #[inline(always)]
    fn divide_short(self, x: u128) -> (u64, u64) {
        let (x_hi, x_lo) = ((x >> 64) as u64, x as u64);
        let low = u128::from(x_lo) * u128::from(self.ratio_hi)
            + u128::from(mul_high(x_lo, self.ratio_lo));
        let cross = u128::from(x_hi) * u128::from(self.ratio_lo);
        let carry = (u128::from(low as u64) + u128::from(cross as u64)) >> 64;
        let quotient = x_hi
            .wrapping_mul(self.ratio_hi)
            .wrapping_add((low >> 64) as u64)
            .wrapping_add((cross >> 64) as u64)
            .wrapping_add(carry as u64);
        let rest = x_lo.wrapping_sub(quotient.wrapping_mul(self.q));
        (quotient, rest)
    }

    /// Returns x - q if x >= q, otherwise x. The caller ensures that x is below 2q.
    #[inline]
    pub(crate) fn correct(self, x: u64) -> u64 {
        // x - q wraps to a huge number exactly when x < q, so the minimum is the residue.
        x.min(x.wrapping_sub(self.q))
    }

    /// Returns a + b mod q for residues a and b.
    #[inline]
    pub fn add(self, a: u64, b: u64) -> u64 {
        self.correct(a.wrapping_add(b))
    }

    /// Returns a - b mod q for residues a and b.
    #[inline]
    pub fn sub(self, a: u64, b: u64) -> u64 {
        let d = a.wrapping_sub(b);
        d.min(d.wrapping_add(self.q))
    }

    /// Returns -a mod q for a residue a.
    #[inline]
    pub fn neg(self, a: u64) -> u64 {
        self.sub(0, a)
    }

    /// Returns a * b mod q; the operands may be any 64-bit numbers.
    #[inline]
    pub fn mul(self, a: u64, b: u64) -> u64 {
        self.reduce_wide(u128::from(a) * u128::from(b))
    }

    /// Returns b^e mod q (0^0 = 1). Its time depends on e.
    pub fn pow(self, b: u64, mut e: u64) -> u64 {
        let mut base = self.reduce(b);
        let mut result = self.reduce(1);
        while e > 0 {
            if e & 1 == 1 {
                result = self.mul(result, base);
            }
            base = self.mul(base, base);
            e >>= 1;
        }
        result
    }

    /// Returns a^-1 mod q by the extended Euclidean algorithm, for any 64-bit a. Its time depends on a.
    ///
    /// # Errors
    /// [`MathError::NotInvertible`] if a and q have a common factor.
    pub fn inv(self, a: u64) -> Result<u64, MathError> {
        let (mut r0, mut r1) = (self.q, self.reduce(a));
        // The coefficients of a alternate in sign, and none is larger than q. So their absolute values suffice.
        let (mut t0, mut t1) = (0u64, 1u64);
        let mut negative = true;
        while r1 != 0 {
            let k = r0 / r1;
            (r0, r1) = (r1, r0 - k * r1);
            (t0, t1) = (t1, t0 + k * t1);
            negative = !negative;
        }
        if r0 != 1 {
            return Err(MathError::NotInvertible {
                value: a,
                modulus: self.q,
            });
        }
        Ok(if negative { self.neg(t0) } else { t0 })
    }

    /// Prepares the constant w for [`Modulus::mul_shoup`]. Any w will do, because it is reduced
    /// first.
    #[inline]
    pub fn shoup(self, w: u64) -> Shoup {
        let value = self.reduce(w);
        Shoup {
            value,
            quotient: ((u128::from(value) << 64) / u128::from(self.q)) as u64,
        }
    }

    /// Returns x * w mod q for any 64-bit x and a prepared constant w.
    #[inline]
    pub fn mul_shoup(self, x: u64, w: Shoup) -> u64 {
        self.correct(self.mul_shoup_lazy(x, w))
    }

    /// Returns a number below 2q that is congruent to x * w modulo q, for any 64-bit x and a
    /// prepared constant w.
    #[inline]
    pub(crate) fn mul_shoup_lazy(self, x: u64, w: Shoup) -> u64 {
        let quotient = mul_high(x, w.quotient);
        x.wrapping_mul(w.value)
            .wrapping_sub(quotient.wrapping_mul(self.q))
    }

    /// Returns the residue of a signed integer, without branching on it.
    #[inline]
    pub fn from_i64(self, x: i64) -> u64 {
        let sign = (x >> 63) as u64;
        let magnitude = self.reduce(x.unsigned_abs());
        let negated = self.sub(0, magnitude);
        (magnitude & !sign) | (negated & sign)
    }

    /// Returns the integer in (-q/2, q/2] that is congruent to x modulo q.
    #[inline]
    pub fn centred(self, x: u64) -> i64 {
        x.wrapping_sub(self.q & above(x, self.q / 2)) as i64
    }
}

/// Returns all ones if x > limit, otherwise zero. Both numbers must be below 2^63.
#[inline(always)]
pub(crate) fn above(x: u64, limit: u64) -> u64 {
    // The difference wraps, and has its highest bit set, exactly when x is the larger.
    ((limit.wrapping_sub(x) as i64) >> 63) as u64
}

/// Returns the high word of the 128-bit product of a and b.
#[inline]
pub(crate) fn mul_high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}
