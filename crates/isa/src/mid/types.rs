//! Types of mid-level values: what a limb is.

use std::fmt;

use ringmill_math::{AnyModulus, MathError, Modulus, Ring, WordModulus};
use serde::{Deserialize, Serialize};

/// Form of a limb: coefficients, or values at the roots of unity (DESIGN section 5 order).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Form {
    Coeff,
    Eval,
}

/// Index into the modulus table that a program and all its procedures share.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ModulusId(pub u16);

/// A modulus of that table, with its kind. Only an NTT-friendly prime has evaluation form and half rings; every kind has
/// coefficient form. (Ranges depend on the ring: the verifier checks them.)
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum TableModulus {
    /// A prime below 2^61 that is 1 mod 2N.
    Prime(u64),
    /// Any 2 <= m < 2^61: a plaintext modulus, an auxiliary one.
    Plain(u64),
    /// 2^k, 1 <= k <= 64.
    PowerOfTwo(u8),
}

impl TableModulus {
    /// A table of NTT-friendly primes.
    pub fn primes(values: &[u64]) -> Vec<Self> {
        values.iter().copied().map(Self::Prime).collect()
    }

    /// The integer itself; the largest there is for a power beyond any that a table may have.
    pub fn value(self) -> u128 {
        match self {
            Self::Prime(q) | Self::Plain(q) => q.into(),
            Self::PowerOfTwo(k) => 1u128.checked_shl(k.into()).unwrap_or(u128::MAX),
        }
    }

    /// The largest residue.
    pub fn top(self) -> u64 {
        u64::try_from(self.value().saturating_sub(1)).unwrap_or(u64::MAX)
    }

    /// The prime, where it is one that an NTT is made for.
    pub fn prime(self) -> Option<u64> {
        match self {
            Self::Prime(q) => Some(q),
            Self::Plain(_) | Self::PowerOfTwo(_) => None,
        }
    }

    /// Arithmetic on its residues.
    ///
    /// # Errors
    /// A value out of its kind's range.
    pub fn arithmetic(self) -> Result<AnyModulus, MathError> {
        match self {
            Self::Prime(q) | Self::Plain(q) => Modulus::new(q).map(AnyModulus::from),
            Self::PowerOfTwo(k) if u32::from(k) < Modulus::MAX_BITS => {
                // 2^0 is refused there.
                Modulus::new(1 << k).map(AnyModulus::from)
            }
            Self::PowerOfTwo(k) => WordModulus::new(k.into()).map(AnyModulus::from),
        }
    }
}

/// A prime, which most moduli are.
impl From<u64> for TableModulus {
    fn from(q: u64) -> Self {
        Self::Prime(q)
    }
}

/// As the text form writes it: `97`, `plain 65537`, `2^64`.
impl fmt::Display for TableModulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prime(q) => write!(f, "{q}"),
            Self::Plain(m) => write!(f, "plain {m}"),
            Self::PowerOfTwo(k) => write!(f, "2^{k}"),
        }
    }
}

/// An SSA value inside one procedure: index into [`super::Procedure::types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ValueId(pub u32);

/// Type of a limb: ring, modulus and form. `ring.log_n` counts the limb's own coefficients.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LimbType {
    pub ring: Ring,
    pub modulus: ModulusId,
    pub form: Form,
}
