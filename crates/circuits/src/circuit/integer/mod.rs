// SPDX-License-Identifier: Apache-2.0
//! Encrypted integers of 1 to 64 bits, made of small encrypted values, and the operations on them. All arithmetic is
//! modulo 2^bits. Signed integers are two's complement. An operation that treats them in another way takes a flag or
//! has a version of its own.
//!
//! An integer is a list of limbs of four bits. A limb is either one value from 0 to 15 or a pair of digits in base 4. A
//! pair becomes a whole limb without a bootstrap (4 high + low). A whole limb becomes a pair by one bootstrap: the high
//! digit is looked up, and the low digit is the difference. Sums carry from limb to limb. The sum of two limbs and a
//! carry may reach 31, twice the range of a table. The carry still takes one bootstrap, because a table of equal
//! entries gives opposite values in the two halves of the torus. Products, choices and bitwise operations work on
//! digits.

mod add;
mod bits;
mod compare;
mod divide;
mod multiply;
mod select;
mod shift;
mod table;

pub use select::Choice;
pub use shift::Shift;
pub(super) use shift::{Ends, moved};
pub use table::MAX_INDEX;

use super::error::CircuitError;
use super::small::{Lookups, Small};

/// The number of bits of a limb of an encrypted integer: two digits in base 4.
pub(super) const LIMB: u32 = 4;
pub(super) const DIGIT: u32 = 2;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Limb {
    /// The limb is one encrypted value from 0 to 15.
    Whole(Small),
    /// The limb is two digits in base 4, the low and the high one, each an encrypted value from 0 to 3.
    Pair(Small, Small),
}

/// An encrypted integer from 0 to 2^bits - 1, as a list of encrypted limbs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Int {
    bits: u32,
    /// The limbs of four bits, lowest first. The last limb has the remaining bits.
    limbs: Vec<Limb>,
}

/// Returns 2^bits - 1, the mask of an integer's bits.
pub(super) fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits.clamp(1, 64))
}

/// Returns the largest value of a field of `width` bits at bit `at` of an integer of `bits` bits.
fn largest(bits: u32, at: u32, width: u32) -> i64 {
    let left = bits.saturating_sub(at).min(width);
    (1 << left) - 1
}

impl Int {
    pub fn bits(&self) -> u32 {
        self.bits
    }

    pub fn constant(bits: u32, value: u64) -> Self {
        let value = value & mask(bits);
        let digits =
            (0..bits.div_ceil(DIGIT)).map(|i| Small::constant((value >> (DIGIT * i) & 3) as i64));
        Self::of_digits(bits, digits.collect())
    }

    /// Adds an input of the circuit for an integer of `bits` bits, with one wire for each digit in base 4.
    pub fn input(l: &mut Lookups, bits: u32) -> Self {
        let digits = (0..bits).step_by(DIGIT as usize);
        let digits = digits.map(|at| l.input(largest(bits, at, DIGIT)));
        Self::of_digits(bits, digits.collect())
    }

    /// Makes an integer of one bit from an encrypted bit.
    pub fn bit(bit: Small) -> Self {
        Self::of_digits(1, vec![bit])
    }

    /// Makes an integer from its digits in base 4, lowest first. Missing digits are 0.
    fn of_digits(bits: u32, digits: Vec<Small>) -> Self {
        let mut digits = digits.into_iter();
        let mut next = |at: u32| {
            let digit = digits.next().unwrap_or_else(|| Small::constant(0));
            digit.known_within(0, largest(bits, at, DIGIT))
        };
        let limbs = (0..bits).step_by(LIMB as usize);
        let limbs = limbs.map(|at| {
            let low = next(at);
            let high = if at + DIGIT < bits {
                next(at + DIGIT)
            } else {
                Small::constant(0)
            };
            Limb::Pair(low, high)
        });
        Self {
            bits,
            limbs: limbs.collect(),
        }
    }

    /// Makes an integer from its limbs of four bits, lowest first.
    fn of_limbs(bits: u32, limbs: Vec<Small>) -> Self {
        let limbs = limbs.into_iter().enumerate().map(|(i, limb)| {
            Limb::Whole(limb.known_within(0, largest(bits, LIMB * i as u32, LIMB)))
        });
        Self {
            bits,
            limbs: limbs.collect(),
        }
    }

    /// Returns the integer's value if it does not depend on an input, so that it is known without decryption.
    pub fn known(&self) -> Option<u64> {
        let limbs = self.limbs.iter().enumerate();
        let values = limbs.map(|(i, limb)| {
            let value = match limb {
                Limb::Whole(x) => x.known()?,
                Limb::Pair(low, high) => low.known()? + 4 * high.known()?,
            };
            Some((value as u64) << (LIMB as usize * i))
        });
        values.sum()
    }

    /// Returns each limb of the integer as one encrypted value from 0 to 15. A limb that is a pair of digits takes a
    /// bootstrap only if the noise of 4 high + low is too large.
    fn whole(&self, l: &mut Lookups) -> Result<Vec<Small>, CircuitError> {
        let limbs = self.limbs.iter().enumerate();
        limbs
            .map(|(i, limb)| match limb {
                Limb::Whole(x) => Ok(x.clone()),
                Limb::Pair(low, high) => {
                    let most = largest(self.bits, LIMB * i as u32, LIMB);
                    Ok(l.total(&[(1, low), (4, high)])?.known_within(0, most))
                }
            })
            .collect()
    }

    /// Returns the integer's digits in base 4, lowest first. Each limb that is one value takes one bootstrap.
    fn digits(&self, l: &mut Lookups) -> Result<Vec<Small>, CircuitError> {
        let mut digits = Vec::new();
        for (i, limb) in self.limbs.iter().enumerate() {
            let at = LIMB * i as u32;
            let (low, high) = match limb {
                Limb::Pair(low, high) => (low.clone(), high.clone()),
                Limb::Whole(x) => {
                    let high = l.lookup(&[(1, x)], |x| x >> DIGIT)?;
                    let low = l.total(&[(1, x), (-4, &high)])?;
                    (low.known_within(0, largest(self.bits, at, DIGIT)), high)
                }
            };
            digits.push(low);
            if at + DIGIT < self.bits {
                digits.push(high);
            }
        }
        Ok(digits)
    }

    /// Returns the integer's bits, lowest first. Each digit takes one bootstrap, and each limb that is one value takes
    /// one more.
    fn separate(&self, l: &mut Lookups) -> Result<Vec<Small>, CircuitError> {
        let mut bits = Vec::new();
        for digit in self.digits(l)? {
            let high = l.lookup(&[(1, &digit)], |x| x >> 1)?;
            bits.push(l.total(&[(1, &digit), (-2, &high)])?.known_within(0, 1));
            bits.push(high);
        }
        bits.truncate(self.bits as usize);
        Ok(bits)
    }

    /// Makes an integer from its single bits, lowest first. It takes a bootstrap only if the noise of a packed digit is
    /// too large.
    fn of_bits(l: &mut Lookups, bits: &[Small]) -> Result<Self, CircuitError> {
        let digits = bits.chunks(2).map(|pair| match pair {
            [low, high] => Ok(l.total(&[(1, low), (2, high)])?.known_within(0, 3)),
            _ => Ok(pair[0].clone()),
        });
        let digits = digits.collect::<Result<_, CircuitError>>()?;
        Ok(Self::of_digits(bits.len() as u32, digits))
    }

    /// Returns the integer with another number of bits: its lowest bits, or an extension. The extension is by zeros, or
    /// by the top bit if `signed`.
    ///
    /// # Errors
    /// [`CircuitError::Noise`] if the noise of the parameters is too large; [`CircuitError::Halt`].
    pub fn resized(&self, l: &mut Lookups, bits: u32, signed: bool) -> Result<Self, CircuitError> {
        if bits == self.bits {
            return Ok(self.clone());
        }
        if bits > self.bits && !signed {
            let mut limbs = self.limbs.clone();
            let more = bits.div_ceil(LIMB) as usize;
            limbs.resize(more, Limb::Whole(Small::constant(0)));
            return Ok(Self { bits, limbs });
        }
        if bits < self.bits && bits.is_multiple_of(LIMB) {
            let limbs = self.limbs[..(bits / LIMB) as usize].to_vec();
            return Ok(Self { bits, limbs });
        }
        let mut digits = self.digits(l)?;
        if bits > self.bits {
            let sign = self.sign(l)?;
            if self.bits % DIGIT == 1
                && let Some(top) = digits.last_mut()
            {
                *top = l.total(&[(1, top), (2, &sign)])?.known_within(0, 3);
            }
            let three = l.total(&[(3, &sign)])?;
            digits.resize(bits.div_ceil(DIGIT) as usize, three);
        }
        if bits % DIGIT == 1 {
            let last = (bits / DIGIT) as usize;
            digits[last] = l.lookup(&[(1, &digits[last])], |x| x & 1)?;
        }
        digits.truncate(bits.div_ceil(DIGIT) as usize);
        Ok(Self::of_digits(bits, digits))
    }

    /// Returns the integer's lowest limb, an encrypted value from 0 to 15. It is the whole integer if that has at most
    /// four bits.
    ///
    /// # Errors
    /// [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn low(&self, l: &mut Lookups) -> Result<Small, CircuitError> {
        let limb = self.whole(l)?.into_iter().next();
        Ok(limb.unwrap_or_else(|| Small::constant(0)))
    }

    /// Returns the top bit of the integer.
    fn sign(&self, l: &mut Lookups) -> Result<Small, CircuitError> {
        let top = self.whole(l)?.pop();
        let at = (self.bits - 1) % LIMB;
        let top = top.unwrap_or_else(|| Small::constant(0));
        l.lookup(&[(1, &top)], |x| x >> at)
    }

    /// Returns the integer as values below 16, as a circuit's output holds them. Each value comes with the position of
    /// its lowest bit in the integer. Values that are known without decryption are included.
    ///
    /// # Errors
    /// [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn outputs(&self, l: &mut Lookups) -> Result<Vec<(Small, u32)>, CircuitError> {
        let limbs = self.whole(l)?.into_iter().zip(0..);
        Ok(limbs.map(|(limb, i)| (limb, LIMB * i)).collect())
    }
}
