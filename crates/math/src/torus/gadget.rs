// SPDX-License-Identifier: Apache-2.0
//! Decomposes coefficients into signed digits in a power-of-two base.

use super::Coefficients;
use super::coefficients::{Sums, with_sums};
use crate::kernels::check_len;
use crate::{MathError, Modulus};

/// A decomposition of residues modulo q into signed digits. Let W be the bits of q, b = `log_base`
/// and l = `levels`. A residue x, taken nearest to 0, is rounded to a multiple of 2^(W - l b). The
/// result is the sum of digits d_j 2^(W - (j + 1) b), j = 0 ... l - 1, with -2^(b-1) <= d_j <
/// 2^(b-1). Modulo a prime the first digit may be 2^(b-1), as nothing wraps there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Gadget {
    q: Coefficients,
    log_base: u32,
    levels: usize,
}

/// The constants of the loops that compute digits, for a [`Gadget`] and the modulus p of which
/// digits become residues.
#[derive(Clone, Copy)]
pub(super) struct Digits {
    /// The number that is added to a coefficient before its digits are cut: half a base for each
    /// digit, and half of the last digit's unit, which rounds.
    offset: u64,
    /// The bit W - b at which the first digit starts, where W is the bits of q and b those of a
    /// digit. Each next digit starts b bits lower.
    top: u32,
    log_base: u32,
    /// The mask 2^b - 1 of a digit of b bits.
    mask: u64,
    /// The number p - 2^(b-1), for digits of b bits. Added modulo p to b bits from 0 to 2^b - 1, it
    /// gives the residue of a signed digit.
    shift: u64,
    p: u64,
}

impl Gadget {
    /// Makes the decomposition of residues modulo q into `levels` signed digits of `log_base` bits each.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for digits of 0 or more than 31 bits, for no digits, or for more bits than q has.
    pub fn new(q: Coefficients, log_base: u32, levels: usize) -> Result<Self, MathError> {
        let used = u64::from(log_base).saturating_mul(levels as u64);
        if log_base == 0 || levels == 0 || log_base > 31 || used > u64::from(q.bits()) {
            return Err(MathError::OutOfRange {
                what: "log2 of the base times the levels of a decomposition",
                expected: "1 to the bits of the ciphertext modulus, with a base of at most 2^31",
                got: format!("{log_base} x {levels}"),
            });
        }
        Ok(Self {
            q,
            log_base,
            levels,
        })
    }

    pub fn coefficients(&self) -> Coefficients {
        self.q
    }

    pub fn log_base(&self) -> u32 {
        self.log_base
    }

    pub fn levels(&self) -> usize {
        self.levels
    }

    /// Returns the weight 2^(W - (j + 1) b) of digit j in the decomposition, where W is the bits of q and b the
    /// bits of a digit. j is below the number of digits.
    pub fn weight(&self, j: usize) -> u64 {
        let place = self.q.bits() - (j as u32 + 1) * self.log_base;
        1 << place
    }

    /// Returns the number that is added to a coefficient before its digits are cut: half a base for
    /// each digit, and half of the last digit's unit, which rounds.
    pub(super) fn offset(&self) -> u64 {
        let half = 1u64 << (self.log_base - 1);
        let digits = (0..self.levels).fold(0u64, |sum, j| {
            sum.wrapping_add(half.wrapping_mul(self.weight(j)))
        });
        digits.wrapping_add(self.weight(self.levels - 1) / 2)
    }

    /// Returns the signed digits of one coefficient x, a residue modulo q, the most significant
    /// first. It defines the result of [`Gadget::decompose`].
    pub fn digits(&self, x: u64) -> impl Iterator<Item = i64> {
        let y = with_sums!(self.q, sums => sums.centred_plus(x, self.offset()));
        let (bits, log_base) = (self.q.bits(), self.log_base);
        (0..self.levels as u32).map(move |j| {
            let place = y >> (bits - (j + 1) * log_base);
            let digit = if j == 0 {
                place
            } else {
                place & ((1 << log_base) - 1)
            };
            digit as i64 - (1 << (log_base - 1))
        })
    }

    /// Computes the signed digits of the coefficients of a polynomial x, as residues modulo p. `out` receives
    /// `levels` polynomials, that of the most significant digits first.
    ///
    /// # Errors
    /// [`MathError::Length`] unless `out` has `levels` times the length of x, [`MathError::OutOfRange`] for a p
    /// below the base 2^`log_base`.
    pub fn decompose(&self, p: Modulus, out: &mut [u64], x: &[u64]) -> Result<(), MathError> {
        check_len("digits", self.levels * x.len(), out.len())?;
        if p.value() >> self.log_base == 0 {
            return Err(MathError::OutOfRange {
                what: "modulus of digits",
                expected: "at least the base of the decomposition",
                got: p.value().to_string(),
            });
        }
        let digits = Digits {
            offset: self.offset(),
            top: self.q.bits() - self.log_base,
            log_base: self.log_base,
            mask: (1 << self.log_base) - 1,
            shift: p.value() - (1 << (self.log_base - 1)),
            p: p.value(),
        };
        with_sums!(self.q, sums => match self.levels {
            1 => all::<_, 1>(sums, digits, out, x),
            2 => all::<_, 2>(sums, digits, out, x),
            3 => all::<_, 3>(sums, digits, out, x),
            4 => all::<_, 4>(sums, digits, out, x),
            _ => one_by_one(sums, digits, out, x),
        });
        Ok(())
    }
}

impl Digits {
    /// Returns digit j of a coefficient as a residue modulo p. y is the coefficient plus `offset`.
    #[inline(always)]
    fn residue(self, y: u64, j: u32) -> u64 {
        let mask = if j == 0 { u64::MAX } else { self.mask };
        let digit = (y >> (self.top - j * self.log_base)) & mask;
        let x = digit.wrapping_add(self.shift);
        x.min(x.wrapping_sub(self.p))
    }
}

super::levels! {
    /// Computes all `L` digits of each coefficient of the polynomial x, a polynomial of residues
    /// modulo q, in one pass over the coefficients. `sums` adds modulo q.
    fn all<S: Sums, const L: usize>(sums: S, digits: Digits, out: &mut [u64], x: &[u64]) {
        let n = x.len();
        let mut chunks = out.chunks_exact_mut(n.max(1));
        let mut outs: [&mut [u64]; L] = std::array::from_fn(|_| chunks.next().unwrap_or_default());
        if outs.iter().any(|out| out.len() != n) {
            return;
        }
        for i in 0..n {
            let y = sums.centred_plus(x[i], digits.offset);
            for (j, out) in outs.iter_mut().enumerate() {
                out[i] = digits.residue(y, j as u32);
            }
        }
    }
}

super::levels! {
    /// Computes the digits of the coefficients of the polynomial x, in one pass over the coefficients for
    /// each digit.
    fn one_by_one<S: Sums>(sums: S, digits: Digits, out: &mut [u64], x: &[u64]) {
        for (j, out) in out.chunks_mut(x.len().max(1)).enumerate() {
            for (out, &x) in out.iter_mut().zip(x) {
                *out = digits.residue(sums.centred_plus(x, digits.offset), j as u32);
            }
        }
    }
}
