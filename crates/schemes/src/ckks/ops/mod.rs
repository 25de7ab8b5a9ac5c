//! Homomorphic operations as mid-level procedures, each made once per (operation, level) and cached.

mod arithmetic;
mod emit;
mod keyswitch;
mod scaling;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ringmill_isa::mid::Procedure;
use sha2::{Digest, Sha256};

use super::error::CkksError;
use super::params::Params;
use emit::Emit;
pub(super) use scaling::rounding_offset;

/// A homomorphic operation with everything that changes its code.
///
/// Operands: ciphertexts are args 0 and 1; a plaintext follows them; then the key-switching key, or for
/// [`OpKey::HoistedRotate`] one key a Galois element, in order. With `seeded`, the key's part-1 limbs are no parameters
/// but `PRNG` instructions on a seed parameter. Results are result ciphertext 0, or one a Galois element.
///
/// A polynomial that an operation leaves as it is (all but c_0 in the plaintext and scalar additions, the third of a
/// larger addend) is neither parameter nor result: [`OpKey::passes_through`] says which operand's polynomial it is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum OpKey {
    Add {
        level: u32,
        size_a: u32,
        size_b: u32,
    },
    Sub {
        level: u32,
        size_a: u32,
        size_b: u32,
    },
    Neg {
        level: u32,
        size: u32,
    },
    AddPlain {
        level: u32,
        size: u32,
    },
    SubPlain {
        level: u32,
        size: u32,
    },
    MulPlain {
        level: u32,
        size: u32,
    },
    /// Adds an integer constant to the constant coefficient, given by its residues modulo q_0 ..= q_level.
    AddScalar {
        level: u32,
        size: u32,
        residues: Vec<u64>,
    },
    /// Multiplies by an integer constant, given by its residues.
    MulScalar {
        level: u32,
        size: u32,
        residues: Vec<u64>,
    },
    /// Ring paper, Algorithm 2: two times two polynomials to three.
    Mul {
        level: u32,
    },
    Square {
        level: u32,
    },
    /// Ring paper, Algorithm 5.
    Relin {
        level: u32,
        seeded: bool,
    },
    MulRelin {
        level: u32,
        seeded: bool,
    },
    SquareRelin {
        level: u32,
        seeded: bool,
    },
    /// Ring paper, Algorithm 4, rounding: to level - 1.
    Rescale {
        level: u32,
        size: u32,
    },
    /// Ring paper, Algorithm 3, rounding: from q_0 ..= q_level and the special primes to q_0 ..= q_level.
    ModDown {
        level: u32,
        size: u32,
    },
    /// a(x^galois), switched back to the key; galois 2N - 1 conjugates.
    Rotate {
        level: u32,
        galois: u32,
        seeded: bool,
    },
    /// Several rotations of one ciphertext that share its decomposition. Not the bits of [`OpKey::Rotate`]: the digits
    /// are permuted after their extension instead of before, so the key-switching errors differ.
    HoistedRotate {
        level: u32,
        galois: Vec<u32>,
        seeded: bool,
    },
}

impl OpKey {
    /// The level of the operands.
    pub fn level(&self) -> u32 {
        match *self {
            Self::Add { level, .. }
            | Self::Sub { level, .. }
            | Self::Neg { level, .. }
            | Self::AddPlain { level, .. }
            | Self::SubPlain { level, .. }
            | Self::MulPlain { level, .. }
            | Self::AddScalar { level, .. }
            | Self::MulScalar { level, .. }
            | Self::Mul { level }
            | Self::Square { level }
            | Self::Relin { level, .. }
            | Self::MulRelin { level, .. }
            | Self::SquareRelin { level, .. }
            | Self::Rescale { level, .. }
            | Self::ModDown { level, .. }
            | Self::Rotate { level, .. }
            | Self::HoistedRotate { level, .. } => level,
        }
    }

    /// The operand whose polynomial `poly` is, unchanged, polynomial `poly` of the result; `None` when the procedure
    /// computes that polynomial (or the result has none).
    pub fn passes_through(&self, poly: u32) -> Option<u16> {
        match *self {
            Self::Add { size_a, size_b, .. } if poly >= size_b && poly < size_a => Some(0),
            Self::Add { size_a, size_b, .. } if poly >= size_a && poly < size_b => Some(1),
            Self::Sub { size_a, size_b, .. } if poly >= size_b && poly < size_a => Some(0),
            Self::AddPlain { size, .. }
            | Self::SubPlain { size, .. }
            | Self::AddScalar { size, .. }
                if poly >= 1 && poly < size =>
            {
                Some(0)
            }
            _ => None,
        }
    }

    /// Number of polynomials of a result ciphertext.
    pub fn result_size(&self) -> u32 {
        match *self {
            Self::Add { size_a, size_b, .. } | Self::Sub { size_a, size_b, .. } => {
                size_a.max(size_b)
            }
            Self::Neg { size, .. }
            | Self::AddPlain { size, .. }
            | Self::SubPlain { size, .. }
            | Self::MulPlain { size, .. }
            | Self::AddScalar { size, .. }
            | Self::MulScalar { size, .. }
            | Self::Rescale { size, .. }
            | Self::ModDown { size, .. } => size,
            Self::Mul { .. } | Self::Square { .. } => 3,
            Self::Relin { .. }
            | Self::MulRelin { .. }
            | Self::SquareRelin { .. }
            | Self::Rotate { .. }
            | Self::HoistedRotate { .. } => 2,
        }
    }

    /// The procedure's name: unique within one parameter set.
    pub fn name(&self) -> String {
        let form = |seeded: bool| if seeded { ".seeded" } else { "" };
        match self {
            Self::Add {
                level,
                size_a,
                size_b,
            } => format!("ckks.add.L{level}.{size_a}-{size_b}"),
            Self::Sub {
                level,
                size_a,
                size_b,
            } => format!("ckks.sub.L{level}.{size_a}-{size_b}"),
            Self::Neg { level, size } => format!("ckks.neg.L{level}.{size}"),
            Self::AddPlain { level, size } => format!("ckks.add_plain.L{level}.{size}"),
            Self::SubPlain { level, size } => format!("ckks.sub_plain.L{level}.{size}"),
            Self::MulPlain { level, size } => format!("ckks.mul_plain.L{level}.{size}"),
            Self::AddScalar {
                level,
                size,
                residues,
            } => {
                format!(
                    "ckks.add_scalar.L{level}.{size}.{}",
                    digest(residues.iter().copied())
                )
            }
            Self::MulScalar {
                level,
                size,
                residues,
            } => {
                format!(
                    "ckks.mul_scalar.L{level}.{size}.{}",
                    digest(residues.iter().copied())
                )
            }
            Self::Mul { level } => format!("ckks.mul.L{level}"),
            Self::Square { level } => format!("ckks.square.L{level}"),
            Self::Relin { level, seeded } => format!("ckks.relin.L{level}{}", form(*seeded)),
            Self::MulRelin { level, seeded } => format!("ckks.mul_relin.L{level}{}", form(*seeded)),
            Self::SquareRelin { level, seeded } => {
                format!("ckks.square_relin.L{level}{}", form(*seeded))
            }
            Self::Rescale { level, size } => format!("ckks.rescale.L{level}.{size}"),
            Self::ModDown { level, size } => format!("ckks.mod_down.L{level}.{size}"),
            Self::Rotate {
                level,
                galois,
                seeded,
            } => format!("ckks.rotate.L{level}.g{galois}{}", form(*seeded)),
            Self::HoistedRotate {
                level,
                galois,
                seeded,
            } => {
                let elements = digest(galois.iter().map(|&g| u64::from(g)));
                format!(
                    "ckks.hoisted_rotate.L{level}.{}.{elements}{}",
                    galois.len(),
                    form(*seeded)
                )
            }
        }
    }

    /// Makes the procedure; [`ProcCache::get`] makes each once.
    pub fn build(&self, params: &Params) -> Result<Procedure, CkksError> {
        let level = self.level();
        params.check_level(level)?;
        let mut e = Emit::new(params, self.name(), level)?;
        match self {
            Self::Add { size_a, size_b, .. } => arithmetic::add(&mut e, *size_a, *size_b)?,
            Self::Sub { size_a, size_b, .. } => arithmetic::sub(&mut e, *size_a, *size_b)?,
            Self::Neg { size, .. } => arithmetic::neg(&mut e, *size)?,
            Self::AddPlain { size, .. } => arithmetic::add_plain(&mut e, *size)?,
            Self::SubPlain { size, .. } => arithmetic::sub_plain(&mut e, *size)?,
            Self::MulPlain { size, .. } => arithmetic::mul_plain(&mut e, *size)?,
            Self::AddScalar { size, residues, .. } => {
                arithmetic::add_scalar(&mut e, *size, residues)?
            }
            Self::MulScalar { size, residues, .. } => {
                arithmetic::mul_scalar(&mut e, *size, residues)?
            }
            Self::Mul { .. } => arithmetic::mul(&mut e)?,
            Self::Square { .. } => arithmetic::square(&mut e)?,
            Self::Relin { seeded, .. } => keyswitch::relin(&mut e, *seeded)?,
            Self::MulRelin { seeded, .. } => keyswitch::mul_relin(&mut e, *seeded)?,
            Self::SquareRelin { seeded, .. } => keyswitch::square_relin(&mut e, *seeded)?,
            Self::Rescale { size, .. } => scaling::rescale(&mut e, *size)?,
            Self::ModDown { size, .. } => scaling::mod_down_all(&mut e, *size)?,
            Self::Rotate { galois, seeded, .. } => keyswitch::rotate(&mut e, *galois, *seeded)?,
            Self::HoistedRotate { galois, seeded, .. } => {
                keyswitch::hoisted_rotate(&mut e, galois, *seeded)?
            }
        }
        e.finish()
    }
}

fn digest(words: impl Iterator<Item = u64>) -> String {
    let mut hash = Sha256::new();
    for w in words {
        hash.update(w.to_le_bytes());
    }
    hash.finalize()
        .iter()
        .take(8)
        .map(|b| format!("{b:02x}"))
        .collect()
}

/// The procedures of one parameter set, made on first use.
#[derive(Debug)]
pub struct ProcCache {
    params: Arc<Params>,
    made: Mutex<HashMap<OpKey, Arc<Procedure>>>,
}

impl ProcCache {
    pub fn new(params: Arc<Params>) -> Self {
        Self {
            params,
            made: Mutex::default(),
        }
    }

    pub fn params(&self) -> &Arc<Params> {
        &self.params
    }

    /// The verified procedure of an operation. Fails on a level the parameters lack, sizes out of range, residues not
    /// below their modulus, an even Galois element, or a rescale at level 0.
    pub fn get(&self, key: &OpKey) -> Result<Arc<Procedure>, CkksError> {
        if let Some(found) = self
            .made
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(key)
        {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(key.build(&self.params)?);
        let mut map = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(map.entry(key.clone()).or_insert(made)))
    }
}
