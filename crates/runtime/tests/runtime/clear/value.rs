// SPDX-License-Identifier: Apache-2.0
//! Values of the scheme: vectors of integers as limbs, in memory and in files.

use ringmill_device::{Limbed, ParamsId};
use ringmill_isa::Level;
use ringmill_isa::Poly;
use ringmill_math::Residues;
use ringmill_schemes::file::{self, Kind, Writer};
use ringmill_schemes::{At, Encrypted, ParameterSet, Scheme};

use super::{Clear, ClearError, Params};

/// A vector of integers as one polynomial in evaluation form. Its limb modulo each prime holds the vector's entries modulo
/// this prime.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    params_id: ParamsId,
    limbs: Vec<Vec<u64>>,
}

impl Value {
    /// Encodes a vector. The entries repeat until they fill the ring.
    pub fn encode(params: &Params, entries: &[u64]) -> Result<Self, ClearError> {
        let entries = || entries.iter().cycle().take(params.degree());
        let moduli = params.moduli().iter();
        let limbs = moduli.map(|q| entries().map(|x| x % q).collect());
        Self::new(params, limbs.collect())
    }

    /// Makes a value from its limbs, after a check of their lengths and residues.
    pub fn new(params: &Params, limbs: Vec<Vec<u64>>) -> Result<Self, ClearError> {
        let fits = |(limb, &q): (&Vec<u64>, &u64)| {
            limb.len() == params.degree() && limb.iter().all(|&x| x < q)
        };
        let moduli = params.moduli();
        if limbs.len() != moduli.len() || !limbs.iter().zip(moduli).all(fits) {
            return Err(ClearError::Value {
                what: "a value",
                expected: format!("{} limbs of {} residues", moduli.len(), params.degree()),
                got: format!("{:?}", limbs.iter().map(Vec::len).collect::<Vec<_>>()),
            });
        }
        Ok(Self {
            params_id: *params.id(),
            limbs,
        })
    }

    pub fn decode(&self, params: &Params) -> Result<Vec<u64>, ClearError> {
        match self.limbs.as_slice() {
            [a, b] => {
                let pairs = a.iter().zip(b);
                pairs.map(|(&a, &b)| params.integer([a, b])).collect()
            }
            _ => Ok(Vec::new()),
        }
    }

    pub fn write(&self, params: &Params) -> Vec<u8> {
        let mut w = Writer::new(Kind::Ciphertext, &params.origin(), 0);
        self.limbs.iter().for_each(|limb| w.residues(limb));
        w.finish()
    }

    pub fn read(bytes: &[u8], params: &Params) -> Result<Self, ClearError> {
        let (_, mut r) = file::open(bytes, Kind::Ciphertext, Clear::TAG, Some(params.id()))?;
        let count = params.moduli().len();
        r.expect_remaining(8 * (count * params.degree()) as u64)?;
        let limbs = (0..count).map(|_| r.residues(params.degree()));
        Self::new(params, limbs.collect::<Result<_, _>>()?)
    }
}

impl Limbed for Value {
    fn params_id(&self) -> &ParamsId {
        &self.params_id
    }

    fn polys(&self) -> usize {
        1
    }

    fn limb(&self, poly: Poly, modulus: usize) -> Option<Residues<'_>> {
        let limbs = (poly == Poly::FIRST).then_some(&self.limbs)?;
        limbs.get(modulus).map(|limb| Residues::Wide(limb))
    }
}

impl Encrypted<()> for Value {
    fn at(&self) -> At<()> {
        At {
            level: Level(self.limbs.len() as u32 - 1),
            annotation: (),
        }
    }

    /// Returns false, so that no output is refused. Values of the scheme hide nothing anyway.
    fn is_transparent(&self) -> bool {
        false
    }
}
