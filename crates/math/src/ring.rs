//! The polynomial rings a limb can live in.

use crate::MathError;

/// Which polynomial of degree n a limb is taken modulo (ring paper, equation 2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum RingKind {
    /// x^n + 1.
    Full,
    /// x^n - zeta, the half "p" of x^2n + 1, where zeta = psi^n and psi is the smallest primitive 4n-th root of unity.
    HalfPlus,
    /// x^n + zeta, the half "m" of x^2n + 1.
    HalfMinus,
}

/// A ring: its kind and log2 of its number of coefficients per limb (a half of degree 2^15 has `log_n` 14).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Ring {
    pub log_n: u8,
    pub kind: RingKind,
}

impl Ring {
    /// Largest supported log2 of the degree of a full ring.
    pub const MAX_LOG_N: u8 = 17;

    /// x^(2^log_n) + 1.
    pub const fn full(log_n: u8) -> Self {
        Self {
            log_n,
            kind: RingKind::Full,
        }
    }

    /// Number of coefficients of one limb. A `log_n` out of range gives 0, which no limb matches.
    #[allow(clippy::len_without_is_empty)] // a ring is never empty
    #[inline]
    pub const fn len(self) -> usize {
        if self.log_n > Self::MAX_LOG_N {
            0
        } else {
            1 << self.log_n
        }
    }

    /// log2 of the degree of the full ring this ring is, or is a half of.
    #[inline]
    pub const fn full_log_n(self) -> u32 {
        match self.kind {
            RingKind::Full => self.log_n as u32,
            RingKind::HalfPlus | RingKind::HalfMinus => self.log_n as u32 + 1,
        }
    }

    /// Refuses degrees this crate does not support: full rings of 2^1 ..= 2^17 coefficients, halves of 2^1 ..= 2^16.
    pub fn check(self) -> Result<(), MathError> {
        let max = if self.kind == RingKind::Full {
            Self::MAX_LOG_N
        } else {
            Self::MAX_LOG_N - 1
        };
        if !(1..=max).contains(&self.log_n) {
            return Err(MathError::RingDegree {
                got: u32::from(self.log_n),
                min: 1,
                max: u32::from(max),
            });
        }
        Ok(())
    }

    /// The halves (p, m) of this ring. Meaningful for a full ring; the pair shares `log_n - 1` (saturating at 0).
    pub const fn halves(self) -> (Ring, Ring) {
        let log_n = self.log_n.saturating_sub(1);
        (
            Ring {
                log_n,
                kind: RingKind::HalfPlus,
            },
            Ring {
                log_n,
                kind: RingKind::HalfMinus,
            },
        )
    }

    /// The full ring this ring is a half of (or itself).
    pub const fn parent(self) -> Ring {
        match self.kind {
            RingKind::Full => self,
            RingKind::HalfPlus | RingKind::HalfMinus => Ring::full(self.log_n.saturating_add(1)),
        }
    }
}
