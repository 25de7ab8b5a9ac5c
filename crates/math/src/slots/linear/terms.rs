// SPDX-License-Identifier: Apache-2.0
//! Linear maps as sums of `constant * automorphism` on the core ring. A constant is stored as its
//! values, one for each slot.

use std::collections::BTreeMap;

use crate::slots::SlotEncoder;
use crate::slots::galois_ring::Gaussian;
use crate::slots::structure::{inverse_mod, pow_mod};

/// The automorphism x -> x^g of the ring with g = 5^`power`, or with g = -5^`power` if `negative`
/// is set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Shift {
    pub negative: bool,
    pub power: i64,
}

impl Shift {
    pub fn by(power: i64) -> Self {
        Self {
            negative: false,
            power,
        }
    }

    /// Returns the automorphism that first applies this automorphism, then `other`.
    pub fn then(self, other: Self) -> Self {
        Self {
            negative: self.negative != other.negative,
            power: self.power + other.power,
        }
    }

    /// Returns the Galois element g modulo 2N of the automorphism x -> x^g. N is half of `two_n`.
    pub fn galois(self, two_n: u64) -> u64 {
        let power = pow_mod(5, self.power.unsigned_abs(), two_n);
        let power = if self.power < 0 {
            inverse_mod(power, two_n)
        } else {
            power
        };
        if self.negative { two_n - power } else { power }
    }

    pub fn inverse(self) -> Self {
        Self {
            negative: self.negative,
            power: -self.power,
        }
    }
}

/// A constant of a linear map as its values, one for each slot.
pub(super) type Values = Vec<Gaussian>;

/// A linear map as a sum of terms. A term is a constant times an automorphism. The constant is
/// stored as its values, one for each slot.
pub(super) type Terms = BTreeMap<Shift, Values>;

impl SlotEncoder {
    /// Returns the values, one for each slot, of a constant polynomial after the automorphism
    /// `shift` is applied to it. `values` are its values before.
    pub(super) fn moved(&self, values: &[Gaussian], shift: Shift) -> Values {
        let structure = self.structure();
        let two_n = 2 * structure.ring_degree() as u64;
        let galois = shift.galois(two_n);
        let at = |slot| {
            let point = structure.representative(slot).wrapping_mul(galois);
            match self.slot_at(point) {
                (source, false) => values[source],
                (source, true) => self.ring().conj(values[source]),
            }
        };
        (0..values.len()).map(at).collect()
    }

    /// Returns the map that applies `inner`, then `outer`. `reduce` returns the standard form of an
    /// automorphism, one that acts equally on the domain of `inner`; terms with one standard form
    /// are added.
    pub(super) fn compose(
        &self,
        outer: &Terms,
        inner: &Terms,
        reduce: impl Fn(Shift) -> Shift,
    ) -> Terms {
        let ring = self.ring();
        let mut product = Terms::new();
        for (&g, a) in outer {
            for (&h, b) in inner {
                let zero = || vec![Gaussian::default(); a.len()];
                let sum = product.entry(reduce(g.then(h))).or_insert_with(zero);
                for ((s, &x), y) in sum.iter_mut().zip(a).zip(self.moved(b, g)) {
                    *s = ring.add(*s, ring.mul(x, y));
                }
            }
        }
        product
    }
}
