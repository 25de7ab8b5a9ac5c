// SPDX-License-Identifier: Apache-2.0
//! Elements of the slot ring: the values of slots that are more than integers.

use super::encoder::SlotEncoder;
use super::galois_ring::Gaussian;
use super::structure::{Split, pow_mod};

/// An element of the slot ring Z_{p^e}\[eta\], where eta is a root of the first slot's factor of
/// x^N + 1. It consists of its d coefficients of 1, eta, ..., eta^(d-1), where d is the degree of a
/// slot. [`SlotEncoder::element`] makes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlotElement(Vec<u64>);

impl SlotElement {
    pub(super) fn padded(coefficients: &[u64], d: usize) -> Self {
        let mut all = coefficients.to_vec();
        all.resize(d, 0);
        Self(all)
    }

    pub fn coefficients(&self) -> &[u64] {
        &self.0
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Arithmetic on elements of the slot ring, which eta generates. Let c be the degree of the core
/// and w = N / c, so that zeta = eta^w is the core's root of unity. An element is a sum of w powers
/// of eta with factors in the Galois ring that holds zeta. A polynomial is a sum of m_r(y) x^r for
/// r < w, with y = x^w. So its slot with representative g is the sum of m_r(zeta^g) eta^(r g).
impl SlotEncoder {
    /// Returns the element of a slot from the values m_r(zeta^g) of a polynomial's parts m_r. The
    /// polynomial is the sum of m_r(y) x^r for r < N / c, where c is the degree of the core and y =
    /// x^(N/c). g is the slot's representative, and zeta = eta^(N/c), where eta generates the slot
    /// ring.
    pub(super) fn twist(&self, slot: usize, values: &[Gaussian]) -> SlotElement {
        let mut factors = vec![Gaussian::default(); values.len()];
        let powers = self.powers(self.structure().representative(slot));
        for (&value, (place, turns)) in values.iter().zip(powers) {
            factors[place] = self.ring().mul(value, self.zeta_power(turns));
        }
        self.element_of_factors(&factors)
    }

    /// Returns the values m_r(zeta^g) of a polynomial's parts m_r from the element of a slot with
    /// representative g: the inverse of [`SlotEncoder::twist`].
    pub(super) fn untwist(&self, slot: usize, element: &SlotElement) -> Vec<Gaussian> {
        let factors = self.galois_factors(element);
        let all_turns = 2 * self.structure().core_degree();
        let powers = self.powers(self.structure().representative(slot));
        let values = powers.map(|(place, turns)| {
            let inverse = self.zeta_power((all_turns - turns) % all_turns);
            self.ring().mul(factors[place], inverse)
        });
        values.collect()
    }

    /// Applies the Frobenius map of the slot ring `times` times to an element. The map takes eta,
    /// which generates the ring, to eta^p.
    pub fn frobenius(&self, element: &SlotElement, times: usize) -> SlotElement {
        let two_n = 2 * self.structure().ring_degree() as u64;
        let power = pow_mod(self.structure().p() % two_n, times as u64, two_n);
        let ring = self.ring();
        let from = self.galois_factors(element);
        let mut factors = vec![Gaussian::default(); from.len()];
        for (&value, (place, turns)) in from.iter().zip(self.powers(power)) {
            let value = if times % 2 == 1 {
                ring.conj(value)
            } else {
                value
            };
            factors[place] = ring.mul(value, self.zeta_power(turns));
        }
        self.element_of_factors(&factors)
    }

    /// Returns the product of two elements of the slot ring, by its definition. It is for masks of
    /// one slot and for tests, and not fast.
    pub fn multiply_elements(&self, a: &SlotElement, b: &SlotElement) -> SlotElement {
        let (a, b) = (self.galois_factors(a), self.galois_factors(b));
        let (ring, w) = (self.ring(), a.len());
        let mut product = vec![Gaussian::default(); w];
        for (i, &x) in a.iter().enumerate() {
            for (j, &y) in b.iter().enumerate() {
                let term = ring.mul(x, y);
                let term = if i + j < w {
                    term
                } else {
                    ring.mul(term, self.zeta_power(1))
                };
                product[(i + j) % w] = ring.add(product[(i + j) % w], term);
            }
        }
        self.element_of_factors(&product)
    }

    /// Returns, for r = 0, 1, ..., w - 1, the pair (place, turns) with eta^(r g) = zeta^turns
    /// eta^place and place < w. Here eta generates the slot ring, zeta is eta^w, w = N / c, and c
    /// is the degree of the core, the ring of polynomials in y = x^(N/c).
    fn powers(&self, g: u64) -> impl Iterator<Item = (usize, usize)> {
        let w = self.structure().core_spacing();
        let two_n = 2 * self.structure().ring_degree() as u64;
        (0..w as u64).map(move |r| {
            let power = (r * g % two_n) as usize;
            (power % w, power / w)
        })
    }

    fn galois_factors(&self, element: &SlotElement) -> Vec<Gaussian> {
        let (ring, w) = (self.ring(), self.structure().core_spacing());
        let (low, high) = element.0.split_at(w.min(element.0.len()));
        let factor = |(r, &s): (usize, &u64)| {
            let t = high.get(r).copied().unwrap_or(0);
            ring.add(
                ring.integer(s),
                ring.mul(ring.integer(t), self.zeta_power(1)),
            )
        };
        low.iter().enumerate().map(factor).collect()
    }

    fn element_of_factors(&self, factors: &[Gaussian]) -> SlotElement {
        let (q, zeta) = (self.modulus(), self.zeta_power(1));
        match self.structure().split() {
            Split::Binomials => SlotElement(factors.iter().map(|f| f.re).collect()),
            Split::Trinomials => {
                // f = s + t zeta.
                let t = factors.iter().map(|f| q.mul(f.im, self.zeta_im_inv()));
                let high: Vec<u64> = t.collect();
                let low = factors.iter().zip(&high);
                let low = low.map(|(f, &t)| q.sub(f.re, q.mul(t, zeta.re)));
                SlotElement(low.chain(high.iter().copied()).collect())
            }
        }
    }
}
