// SPDX-License-Identifier: Apache-2.0
//! Plaintexts of the schemes of exact integers: polynomials modulo the plaintext modulus t.

use std::sync::Arc;

use ringmill_isa::Poly;
use ringmill_math::{Modulus, Residues, declassify};
use zeroize::Zeroizing;

use super::error::ExactError;
use super::plain_modulus::PlainModulus;
use crate::identity::{Origin, belongs};
use crate::rlwe::{Params, RingParams, RlweError};
use ringmill_device::{Limbed, ParamsId};

/// The parameters of a scheme whose messages are polynomials modulo a plaintext modulus t.
pub trait ExactParams: Send + Sync + 'static {
    /// Returns the part of the parameters that all ring schemes share.
    fn shared_params(&self) -> &Arc<Params>;

    /// Returns the plaintext modulus t of the scheme's messages.
    fn plain_modulus(&self) -> PlainModulus;

    /// Returns the index of the plaintext modulus t in the parameters' table of moduli.
    fn plain_index(&self) -> usize;

    /// Returns the plaintext moduli: t, then further ones, which are consecutive in the table of moduli.
    fn plain_moduli(&self) -> Vec<PlainModulus> {
        vec![self.plain_modulus()]
    }
}

impl<P: ExactParams> RingParams for P {
    fn ring_params(&self) -> &Arc<Params> {
        self.shared_params()
    }
}

/// An encoded message: N coefficients modulo t, or modulo another of the parameters' plaintext moduli. It has no level;
/// operations convert it to the level of their other operand. It is wiped on drop.
#[derive(Clone, PartialEq, Debug)]
pub struct Plaintext {
    origin: Origin,
    /// The index of the plaintext's modulus in the parameters' table of moduli.
    index: usize,
    residues: Zeroizing<Vec<u64>>,
}

belongs!(Plaintext);

impl Plaintext {
    /// Makes a plaintext modulo the parameters' plaintext modulus t. It checks that there are N residues, each below t.
    ///
    /// # Errors
    /// [`RlweError::Length`] for another number of residues, [`RlweError::Residue`] for one that is not below t.
    pub fn new(params: &impl ExactParams, residues: Vec<u64>) -> Result<Self, ExactError> {
        Self::modulo(params, 0, residues)
    }

    /// Makes a plaintext modulo the parameters' plaintext modulus of index `plain`. Index 0 is the modulus t of
    /// messages.
    ///
    /// # Errors
    /// The errors of [`Plaintext::new`], and a modulus that the parameters do not have.
    pub fn modulo(
        params: &impl ExactParams,
        plain: u8,
        residues: Vec<u64>,
    ) -> Result<Self, ExactError> {
        let mut residues = Zeroizing::new(residues);
        let (expected, moduli) = (params.ring_params().degree(), params.plain_moduli());
        let t = moduli.get(usize::from(plain)).ok_or(RlweError::Length {
            what: "list of plaintext moduli",
            expected: usize::from(plain) + 1,
            got: moduli.len(),
        })?;
        if residues.len() != expected {
            return Err(ExactError::Rlwe(RlweError::Length {
                what: "plaintext",
                expected,
                got: residues.len(),
            }));
        }
        let beyond = |any, &x: &u64| any | (x >= t.value());
        if declassify(residues.iter().fold(false, beyond)) {
            return Err(ExactError::Rlwe(RlweError::Residue {
                what: "plaintext",
                modulus: t.value(),
            }));
        }
        Ok(Self {
            index: params.plain_index() + usize::from(plain),
            ..Self::trusted(params, std::mem::take(&mut *residues))
        })
    }

    pub(crate) fn trusted(params: &impl ExactParams, residues: Vec<u64>) -> Self {
        Self {
            origin: params.ring_params().origin(None),
            index: params.plain_index(),
            residues: Zeroizing::new(residues),
        }
    }

    /// Refuses a plaintext whose modulus is not the plaintext modulus `t`.
    pub(crate) fn check_modulo(
        &self,
        params: &impl ExactParams,
        t: Modulus,
    ) -> Result<(), RlweError> {
        let got = params.ring_params().any_reducer(self.index)?;
        if got.value() == t.value() {
            return Ok(());
        }
        Err(RlweError::Parameter {
            what: "modulus of the plaintext",
            expected: t.value().to_string(),
            got: got.value().to_string(),
        })
    }

    /// Returns the coefficients of the polynomial, the constant one first.
    pub fn residues(&self) -> &[u64] {
        &self.residues
    }
}

impl Limbed for Plaintext {
    fn params_id(&self) -> &ParamsId {
        self.params_id()
    }

    fn polys(&self) -> usize {
        1
    }

    fn limb(&self, poly: Poly, modulus: usize) -> Option<Residues<'_>> {
        (poly == Poly::FIRST && modulus == self.index).then_some(Residues::Wide(&self.residues))
    }
}
