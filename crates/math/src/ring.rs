// SPDX-License-Identifier: Apache-2.0
//! Polynomial rings of limbs: x^n + 1, its halves and their parts.

use crate::MathError;

/// The kind of polynomial of degree n modulo which a limb is taken (Medha paper, equation 2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum RingKind {
    /// The limb is taken modulo the polynomial x^n + 1.
    Full,
    /// The limb is taken modulo x^n - zeta, the half "p" of the full ring x^2n + 1. Here zeta =
    /// psi^n, and psi is the smallest primitive 4n-th root of unity.
    HalfPlus,
    /// The limb is taken modulo x^n + zeta, the half "m" of the full ring x^2n + 1. Here zeta =
    /// psi^n, and psi is the smallest primitive 4n-th root of unity.
    HalfMinus,
    /// A part that results from splitting the halves again (Medha paper, section 3.2:
    /// "recursively"), by its number. Number 1 is the full ring, and 2 and 3 are its halves p and
    /// m. A ring modulo x^2n - w^2 with number k has the halves x^n - w and x^n + w, with numbers
    /// 2k and 2k + 1. So quarters are 4 to 7; a number below 4 is no `Part`. In the evaluation form
    /// of the full ring, the parts of one size lie one after the other, in the order of their
    /// numbers.
    Part(u8),
}

impl RingKind {
    /// Returns the kind of the ring with this number, or `None` for 0.
    pub const fn of_number(number: u8) -> Option<Self> {
        match number {
            0 => None,
            1 => Some(Self::Full),
            2 => Some(Self::HalfPlus),
            3 => Some(Self::HalfMinus),
            _ => Some(Self::Part(number)),
        }
    }

    /// Returns the number of this kind among the parts of its full ring: 1 for the full ring, 2 and 3 for its halves, 4
    /// and more for their parts.
    pub const fn number(self) -> u8 {
        match self {
            Self::Full => 1,
            Self::HalfPlus => 2,
            Self::HalfMinus => 3,
            Self::Part(number) => number,
        }
    }

    /// Returns how many times the full ring was halved to get this kind.
    pub const fn depth(self) -> u32 {
        match self.number().checked_ilog2() {
            Some(depth) => depth,
            None => 0,
        }
    }
}

/// A ring: its kind, and the base-2 logarithm `log_n` of the number of coefficients of its limbs. For example, a half with
/// 2^14 coefficients has `log_n` 14.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Ring {
    pub log_n: u8,
    pub kind: RingKind,
}

impl Ring {
    /// The largest base-2 logarithm of the degree of a full ring.
    pub const MAX_LOG_N: u8 = 17;

    /// Returns the full ring modulo x^(2^log_n) + 1.
    pub const fn full(log_n: u8) -> Self {
        Self {
            log_n,
            kind: RingKind::Full,
        }
    }

    /// Returns the number of coefficients of one limb. A `log_n` above [`Ring::MAX_LOG_N`] gives 0, which no limb
    /// matches.
    #[allow(clippy::len_without_is_empty)] // a ring is never empty
    #[inline]
    pub const fn len(self) -> usize {
        if self.log_n > Self::MAX_LOG_N {
            0
        } else {
            1 << self.log_n
        }
    }

    /// Returns the base-2 logarithm of the degree of the full ring that this ring is, or is a part of.
    #[inline]
    pub const fn full_log_n(self) -> u32 {
        self.log_n as u32 + self.kind.depth()
    }

    /// Returns the position in the full ring's evaluation form at which the evaluation form of this
    /// ring, one of its parts, begins.
    pub const fn first(self) -> usize {
        let before = (self.kind.number() as usize).saturating_sub(1 << self.kind.depth());
        before * self.len()
    }

    /// Refuses rings that this crate does not support. It supports full rings of 2^1 to 2^17 coefficients, halves of
    /// 2^1 to 2^16, quarters of 2^1 to 2^15, and so on. It also refuses a [`RingKind::Part`] with a number below 4.
    ///
    /// # Errors
    /// [`MathError::RingDegree`] for another number of coefficients, [`MathError::WrongRing`] for such a part.
    pub fn check(self) -> Result<(), MathError> {
        if matches!(self.kind, RingKind::Part(0..4)) {
            return Err(MathError::WrongRing {
                expected: "a part of number 4 or more",
                got: self.kind,
                log_n: self.log_n,
            });
        }
        let max = Self::MAX_LOG_N - self.kind.depth() as u8;
        if !(1..=max).contains(&self.log_n) {
            return Err(MathError::RingDegree {
                got: u32::from(self.log_n),
                min: 1,
                max: u32::from(max),
            });
        }
        Ok(())
    }

    /// Returns the halves (p, m) of this ring. Their `log_n` is this ring's minus 1, but not
    /// below 0. A part with number 128 or more has no valid halves, and [`Ring::check`] refuses
    /// those that are returned.
    pub const fn halves(self) -> (Ring, Ring) {
        (self.half(0), self.half(1))
    }

    const fn half(self, which: u8) -> Ring {
        let number = match self.kind.number() {
            number @ 1..128 => 2 * number + which,
            0 | 128.. => 0,
        };
        let kind = match RingKind::of_number(number) {
            Some(kind) => kind,
            None => RingKind::Part(0),
        };
        Ring {
            log_n: self.log_n.saturating_sub(1),
            kind,
        }
    }

    /// Returns the full ring that this ring is, or is a part of.
    pub const fn parent(self) -> Ring {
        Ring::full(self.log_n.saturating_add(self.kind.depth() as u8))
    }
}
