// SPDX-License-Identifier: Apache-2.0
//! Computes rotations of slots along one dimension of the slots.

use super::core::CorePoly;
use super::encoder::SlotEncoder;
use super::error::SlotError;
use super::structure::pow_mod;
use crate::Modulus;
use crate::kernels::auto_coeff;

/// A rotation of elements of the slot ring along one dimension of the slots: an automorphism, or a
/// sum of two automorphisms under masks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rotation {
    /// The rotation is the automorphism x -> x^g for this Galois element g.
    Automorphism(u64),
    /// The rotation is the sum of two automorphisms, each with its Galois element and times its
    /// mask. A mask is 1 in the slots whose results its automorphism gives, and 0 in the others. A
    /// dimension that is not good needs masks ([`Dimension::good`](super::Dimension::good)).
    Masked([(u64, CorePoly); 2]),
}

impl SlotEncoder {
    /// Returns the Galois element that brings to each slot the *integer* of the slot `amount` places further along a
    /// dimension.
    ///
    /// # Errors
    /// [`SlotError::NoDimension`] if the slots have no dimension with this number.
    pub fn rotate_integers(&self, dimension: usize, amount: usize) -> Result<u64, SlotError> {
        let (generator, order, _) = self.dimension(dimension)?;
        let two_n = 2 * self.structure().ring_degree() as u64;
        Ok(pow_mod(generator, (amount % order) as u64, two_n))
    }

    /// Returns the rotation that brings to each slot the *element* of the slot `amount` places further along a
    /// dimension.
    ///
    /// # Errors
    /// [`SlotError::NoDimension`] if the slots have no dimension with this number.
    pub fn rotate_elements(&self, dimension: usize, amount: usize) -> Result<Rotation, SlotError> {
        let (generator, order, good) = self.dimension(dimension)?;
        let forward = self.rotate_integers(dimension, amount)?;
        let amount = amount % order;
        if good || amount == 0 {
            return Ok(Rotation::Automorphism(forward));
        }
        // Slots whose source is beyond the last place take it from the other side, by a power that differs by `order`.
        let structure = self.structure();
        let two_n = 2 * structure.ring_degree() as u64;
        let inverse = super::structure::inverse_mod(generator, two_n);
        let backward = pow_mod(inverse, (order - amount) as u64, two_n);
        let inside = |slot: usize| u64::from(slot % structure.columns() + amount < order);
        let mask = |wanted| {
            let slots: Vec<_> = (0..structure.slots())
                .map(|slot| u64::from(inside(slot) == wanted))
                .collect();
            self.encode_core(&slots)
        };
        Ok(Rotation::Masked([
            (forward, mask(1)?),
            (backward, mask(0)?),
        ]))
    }

    fn dimension(&self, got: usize) -> Result<(u64, usize, bool), SlotError> {
        let dimensions = self.structure().dimensions();
        let found = dimensions.get(got).ok_or(SlotError::NoDimension {
            p: self.structure().p(),
            log_n: self.structure().log_n(),
            got,
            count: dimensions.len(),
        })?;
        Ok((found.generator, found.order, found.good))
    }
}

impl Rotation {
    /// Applies the rotation to a polynomial of N coefficients below q, by its definition.
    ///
    /// # Errors
    /// Fails if the number of coefficients is no power of two, or at most half of a Galois element of the rotation. A
    /// rotation with masks also fails unless the polynomial has N coefficients, where N is the ring degree of the
    /// encoder.
    pub fn apply(&self, q: Modulus, polynomial: &[u64]) -> Result<Vec<u64>, SlotError> {
        let mut moved = vec![0; polynomial.len()];
        match self {
            Self::Automorphism(g) => {
                auto_coeff(q, *g, &mut moved, polynomial)?;
                Ok(moved)
            }
            Self::Masked(parts) => {
                let mut sum = vec![0; polynomial.len()];
                for (g, mask) in parts {
                    auto_coeff(q, *g, &mut moved, polynomial)?;
                    mask.multiply_add(q, &moved, &mut sum)?;
                }
                Ok(sum)
            }
        }
    }
}
