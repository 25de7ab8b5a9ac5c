// SPDX-License-Identifier: Apache-2.0
//! Plaintext operands in evaluation form whose limbs consist of blocks of equal residues.
//!
//! A polynomial in y = x^(N/c) has as many values as there are points y, c of them. Evaluation points that differ only in
//! their low bits have the same y, so each value repeats through a block of N / c successive points.

use std::sync::OnceLock;

use ringmill_device::call::written_out;
use ringmill_device::{Limbed, ParamsId};
use ringmill_isa::Poly;
use ringmill_math::Residues;

/// A plaintext operand that holds one value for each block of equal residues of its limbs.
#[derive(Debug)]
pub struct Spread {
    params_id: ParamsId,
    /// The index of each limb's modulus in the parameters' table of moduli, in increasing order.
    moduli: Vec<usize>,
    /// The values of each limb, one for each block of equal residues.
    values: Vec<Vec<u64>>,
    /// The number of residues in each block.
    repeated: usize,
    /// The limbs with every repeated value written out, for callers that need all residues.
    whole: Vec<OnceLock<Vec<u64>>>,
}

impl Spread {
    /// Makes an operand of a limb for each index in `moduli`, which are those of moduli in the parameters' table, in
    /// increasing order. `values` has each limb's values, one for each block of `repeated` residues.
    pub fn new(
        params_id: ParamsId,
        moduli: Vec<usize>,
        values: Vec<Vec<u64>>,
        repeated: usize,
    ) -> Self {
        Self {
            params_id,
            whole: values.iter().map(|_| OnceLock::new()).collect(),
            moduli,
            values,
            repeated,
        }
    }

    /// Returns the number of the limb modulo the modulus of index `modulus`, if there is such a limb.
    fn place(&self, poly: Poly, modulus: usize) -> Option<usize> {
        match poly {
            Poly::FIRST => self.moduli.binary_search(&modulus).ok(),
            _ => None,
        }
    }

    fn values(&self, poly: Poly, modulus: usize) -> Option<&[u64]> {
        let place = self.place(poly, modulus)?;
        self.values.get(place).map(Vec::as_slice)
    }
}

impl Limbed for Spread {
    fn params_id(&self) -> &ParamsId {
        &self.params_id
    }

    fn polys(&self) -> usize {
        1
    }

    fn limb(&self, poly: Poly, modulus: usize) -> Option<Residues<'_>> {
        let values = self.values(poly, modulus)?;
        if self.repeated == 1 {
            return Some(Residues::Wide(values));
        }
        let len = values.len() * self.repeated;
        let place = self.place(poly, modulus)?;
        let whole = self.whole.get(place)?;
        let whole = whole.get_or_init(|| written_out(values, len));
        Some(Residues::Wide(whole))
    }

    fn spread(&self, poly: Poly, modulus: usize) -> Option<&[u64]> {
        // Blocks of one residue are a whole limb.
        self.values(poly, modulus).filter(|_| self.repeated > 1)
    }
}
