// SPDX-License-Identifier: Apache-2.0
//! Computes the factors of x^N + 1 modulo p^e, one for each slot.

use super::encoder::SlotEncoder;
use super::structure::Split;

/// A factor x^d + `middle` x^(d/2) + `constant` of x^N + 1 modulo p^e, where d is the degree of a
/// slot. Modulo p the factor is irreducible.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Factor {
    pub degree: usize,
    /// The coefficient of x^(d/2) in the factor. It is 0 if the factor is a binomial.
    pub middle: u64,
    pub constant: u64,
}

impl SlotEncoder {
    /// Returns the factor of x^N + 1 that belongs to each slot: the least polynomial of eta^g,
    /// where g is the slot's representative and eta generates the slot ring. The coefficients come
    /// from zeta = eta^(N/c) modulo p^e, where c is the degree of the core ring of polynomials in
    /// x^(N/c). So no polynomial is factored, and only one number is lifted.
    pub fn factors(&self) -> Vec<Factor> {
        let (ring, structure) = (self.ring(), self.structure());
        let two_c = 2 * structure.core_degree() as u64;
        let factor = |slot| {
            let zeta = self.zeta_power((structure.representative(slot) % two_c) as usize);
            let (middle, constant) = match structure.split() {
                Split::Binomials => (0, ring.neg(zeta).re),
                Split::Trinomials => {
                    let conjugate = ring.conj(zeta);
                    let sum = ring.add(zeta, conjugate);
                    (ring.neg(sum).re, ring.mul(zeta, conjugate).re)
                }
            };
            Factor {
                degree: structure.degree(),
                middle,
                constant,
            }
        };
        (0..structure.slots()).map(factor).collect()
    }
}
