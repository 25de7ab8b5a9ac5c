// SPDX-License-Identifier: Apache-2.0
//! The types of mid-level values: limbs, LWE vectors, tables of LWE vectors, and exponents.

use std::fmt;

use ringmill_math::torus::Coefficients;
use ringmill_math::{AnyModulus, MathError, Modulus, Ring, WordModulus};
use serde::{Deserialize, Serialize};

/// The form of a limb: the coefficients of its polynomial, or the polynomial's values at the roots
/// of unity, in bit-reversed order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Form {
    Coeff,
    Eval,
}

/// The index of a modulus in the table that a program and all its procedures share.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ModulusId(pub u16);

/// A modulus of a program's table, with its kind. Only limbs modulo an NTT-friendly prime can be in
/// evaluation form or on half rings. The range of each kind depends on the ring, and the verifier
/// checks it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum TableModulus {
    /// An NTT-friendly prime: below 2^61 and 1 modulo 2N.
    Prime(u64),
    /// Any number m with 2 <= m < 2^61, such as a plaintext modulus or an auxiliary modulus.
    Plain(u64),
    /// The power of two 2^k for the number k in the variant, from 1 to 64.
    PowerOfTwo(u8),
}

impl TableModulus {
    /// Returns a table of moduli whose values are NTT-friendly primes.
    pub fn primes(values: &[u64]) -> Vec<Self> {
        values.iter().copied().map(Self::Prime).collect()
    }

    /// Returns the modulus as an integer. A power of two above 2^127 gives the largest integer of the type.
    pub fn value(self) -> u128 {
        match self {
            Self::Prime(q) | Self::Plain(q) => q.into(),
            Self::PowerOfTwo(k) => 1u128.checked_shl(k.into()).unwrap_or(u128::MAX),
        }
    }

    /// Returns the largest residue of this modulus, which is the modulus less one.
    pub fn top(self) -> u64 {
        u64::try_from(self.value().saturating_sub(1)).unwrap_or(u64::MAX)
    }

    /// Returns the modulus if it is an NTT-friendly prime, otherwise `None`.
    pub fn prime(self) -> Option<u64> {
        match self {
            Self::Prime(q) => Some(q),
            Self::Plain(_) | Self::PowerOfTwo(_) => None,
        }
    }

    /// Returns the arithmetic on residues of this modulus.
    ///
    /// # Errors
    /// Fails if the modulus is out of the range of its kind. Whether a number is prime is not checked.
    pub fn arithmetic(self) -> Result<AnyModulus, MathError> {
        match self {
            Self::Prime(q) | Self::Plain(q) => Modulus::new(q).map(AnyModulus::from),
            Self::PowerOfTwo(k) if u32::from(k) < Modulus::MAX_BITS => {
                // `Modulus::new` refuses 2^0.
                Modulus::new(1 << k).map(AnyModulus::from)
            }
            Self::PowerOfTwo(k) => WordModulus::new(k.into()).map(AnyModulus::from),
        }
    }
}

/// Converts the modulus of TFHE ciphertext coefficients to a modulus of a table.
impl From<Coefficients> for TableModulus {
    fn from(q: Coefficients) -> Self {
        match q {
            // A word has at most 64 bits.
            Coefficients::Word(q) => Self::PowerOfTwo(q.bits() as u8),
            Coefficients::Prime(q) => Self::Prime(q.value()),
        }
    }
}

/// Converts a modulus of a table to the modulus of coefficients that are cut into gadget digits:
/// 2^32, 2^64 or an NTT-friendly prime.
impl TryFrom<TableModulus> for Coefficients {
    /// The kinds of modulus that were expected, as text.
    type Error = &'static str;

    fn try_from(modulus: TableModulus) -> Result<Self, Self::Error> {
        let of = match modulus {
            TableModulus::PowerOfTwo(bits) => Self::word(bits.into()).ok(),
            TableModulus::Prime(q) => Modulus::new(q).ok().map(Self::Prime),
            TableModulus::Plain(_) => None,
        };
        of.ok_or("2^32, 2^64 or an NTT-friendly prime")
    }
}

/// Converts a number to a modulus of the kind that most have: an NTT-friendly prime.
impl From<u64> for TableModulus {
    fn from(q: u64) -> Self {
        Self::Prime(q)
    }
}

/// Writes the modulus as the text form does: `97`, `plain 65537`, `2^64`.
impl fmt::Display for TableModulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prime(q) => write!(f, "{q}"),
            Self::Plain(m) => write!(f, "plain {m}"),
            Self::PowerOfTwo(k) => write!(f, "2^{k}"),
        }
    }
}

/// A value of one procedure, defined once (SSA): its index in [`super::Procedure::types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ValueId(pub u32);

/// The type of a limb: ring, modulus and form. `ring.log_n` is log2 of the limb's number of
/// coefficients, also on a half ring, which has half of the full ring's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LimbType {
    pub ring: Ring,
    pub modulus: ModulusId,
    pub form: Form,
}

/// The dimension of an LWE secret: its number of coefficients. An LWE vector has one word more, its body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LweDimension(pub u32);

impl LweDimension {
    /// Returns the number of words of an LWE vector: those of the mask, and one for the body.
    pub const fn words(self) -> usize {
        self.0 as usize + 1
    }
}

impl fmt::Display for LweDimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The type of an LWE vector: its dimension and its modulus, of any kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LweType {
    pub dimension: LweDimension,
    pub modulus: ModulusId,
}

/// The type of a table of LWE vectors (`rows` of the type `row`), which is a key-switching key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LweTableType {
    pub row: LweType,
    pub rows: u32,
}

/// The type of a mid-level value: a limb, an LWE vector, a table of LWE vectors or an exponent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum ValueType {
    Limb(LimbType),
    Lwe(LweType),
    LweTable(LweTableType),
    /// A public exponent a of x^a: an integer from 0 to 2N - 1, where N is the degree of the full ring.
    Exponent,
}

impl ValueType {
    /// Returns this type if it is that of a limb, or `None` for another kind of value.
    pub fn limb(self) -> Option<LimbType> {
        match self {
            Self::Limb(ty) => Some(ty),
            Self::Lwe(_) | Self::LweTable(_) | Self::Exponent => None,
        }
    }

    /// Returns the index of the value's modulus in the program's table, or `None` for an exponent,
    /// which has none.
    pub fn modulus(self) -> Option<ModulusId> {
        match self {
            Self::Limb(ty) => Some(ty.modulus),
            Self::Lwe(ty) => Some(ty.modulus),
            Self::LweTable(ty) => Some(ty.row.modulus),
            Self::Exponent => None,
        }
    }

    /// Returns the number of words of one value of this type: the residues of a limb, the masks and
    /// bodies of LWE vectors, or one for an exponent.
    pub fn words(self) -> usize {
        match self {
            Self::Limb(ty) => ty.ring.len(),
            Self::Lwe(ty) => ty.dimension.words(),
            Self::LweTable(ty) => (ty.rows as usize).saturating_mul(ty.row.dimension.words()),
            Self::Exponent => 1,
        }
    }

    /// Returns the name of the kind of value, such as "a limb", for error messages.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Limb(_) => "a limb",
            Self::Lwe(_) => "an LWE vector",
            Self::LweTable(_) => "a table of LWE vectors",
            Self::Exponent => "a public exponent",
        }
    }

    /// Returns the type with only what tells two values of one role apart: a limb's ring and
    /// modulus, or the modulus of an LWE vector or a table. The rest is set to fixed values.
    pub(crate) fn part(self) -> Self {
        match self {
            Self::Limb(ty) => Self::Limb(LimbType {
                form: Form::Coeff,
                ..ty
            }),
            Self::Lwe(LweType { modulus, .. }) => Self::Lwe(LweType {
                dimension: LweDimension(0),
                modulus,
            }),
            Self::LweTable(ty) => Self::LweTable(LweTableType {
                row: LweType {
                    dimension: LweDimension(0),
                    modulus: ty.row.modulus,
                },
                rows: 0,
            }),
            Self::Exponent => Self::Exponent,
        }
    }
}

impl From<LweType> for ValueType {
    fn from(ty: LweType) -> Self {
        Self::Lwe(ty)
    }
}

impl From<LimbType> for ValueType {
    fn from(ty: LimbType) -> Self {
        Self::Limb(ty)
    }
}
