// SPDX-License-Identifier: Apache-2.0
//! The butterfly stages, of two or three terms each, of the transform between the coefficients of powers of u = x^(N/l)
//! and their values. l is the number of slots.

use super::terms::{Shift, Terms, Values};
use crate::slots::galois_ring::Gaussian;
use crate::slots::{SlotEncoder, Split};

/// The points and stages of the transform of polynomials w in u = x^(N/l), for l slots. The n = l /
/// 2 points are the powers xi^j of a root xi of order 2l, with j = 5^k or -5^k and k < n. Before
/// stage 0, point j holds w_i + xi^(n j) w_(i + n) for the coefficients w_i and w_(i + n) of u^i
/// and u^(i + n), with i = bitrev(k). After the last stage it holds w(xi^j).
pub(super) struct Butterflies<'a> {
    encoder: &'a SlotEncoder,
    /// The base-2 logarithm of the number n = l / 2 of points, where l is the number of slots.
    pub log_n_points: u32,
    /// The exponent s for which xi, the transform's root of unity of order 2l, is zeta^s. l is the number of slots, and
    /// zeta the root of unity of order 2c of the core ring, the polynomials in y = x^(N/c).
    step: usize,
    half: u64,
}

impl<'a> Butterflies<'a> {
    pub fn new(encoder: &'a SlotEncoder) -> Self {
        let structure = encoder.structure();
        let q = encoder.modulus();
        Self {
            encoder,
            log_n_points: structure.slots().trailing_zeros() - 1,
            step: structure.core_degree() / structure.slots(),
            half: q.value().div_ceil(2), // 1 / 2 modulo an odd number
        }
    }

    pub fn half(&self) -> Gaussian {
        self.encoder.ring().integer(self.half)
    }

    /// Returns xi^exponent for the transform's root of unity xi, which has order 2l for l slots.
    fn xi(&self, exponent: u64) -> Gaussian {
        let order = 2 * self.encoder.structure().slots() as u64;
        self.encoder
            .zeta_power((exponent % order) as usize * self.step)
    }

    /// Returns xi^n, a square root of -1, for the root xi of order 2l and n = l / 2.
    pub fn i(&self) -> Gaussian {
        self.xi(1 << self.log_n_points)
    }

    /// Returns the exponent k of the transform's point xi^j, j = 5^k or -5^k, at which a slot lies.
    pub fn power(&self, slot: usize) -> usize {
        let structure = self.encoder.structure();
        let n = 1usize << self.log_n_points;
        match structure.split() {
            Split::Trinomials => slot % n,
            Split::Binomials => {
                // Columns are powers of 3, and -3 is 5^k for some odd k. So g or -g is a power of 5, and its exponent
                // is found bit by bit.
                let modulus = 2 * structure.slots() as u64;
                let g = structure.representative(slot) % modulus;
                let g = if g % 4 == 1 { g } else { modulus - g };
                let step = |k: usize, bit: u32| {
                    let power = Shift::by(k as i64).galois(modulus);
                    let differs = (power ^ g) & ((8 << bit) - 1) != 0;
                    k | usize::from(differs) << bit
                };
                (0..self.log_n_points).fold(0, step)
            }
        }
    }

    /// Returns butterfly stage s of the transform. It combines two points xi^j, j = 5^k or -5^k,
    /// whose exponents k differ in bit s alone.
    pub fn stage(&self, s: u32) -> Terms {
        let one = self.encoder.ring().integer(1);
        let twiddle = 1u64 << (self.log_n_points - 1 - s);
        self.of_pairs(s, |j, upper| {
            let w = self.xi(twiddle * j);
            if upper { (w, one) } else { (one, w) }
        })
    }

    /// Returns the inverse of butterfly stage s ([`Butterflies::stage`]).
    pub fn inverse_stage(&self, s: u32) -> Terms {
        let ring = self.encoder.ring();
        let twiddle = 1u64 << (self.log_n_points - 1 - s);
        let order = 2 * self.encoder.structure().slots() as u64;
        self.of_pairs(s, |j, upper| {
            if upper {
                let w = ring.mul(self.xi(order - twiddle * j % order), self.half());
                (w, ring.neg(w))
            } else {
                (self.half(), self.half())
            }
        })
    }

    /// Returns a stage that combines pairs of points xi^j whose exponents k
    /// ([`Butterflies::power`]) differ in bit s. `factors(j, bit)` returns two factors for a point:
    /// that of its own value, and that of the other point's value. `bit` is bit s of the point's k.
    fn of_pairs(&self, s: u32, factors: impl Fn(u64, bool) -> (Gaussian, Gaussian)) -> Terms {
        let structure = self.encoder.structure();
        let slots = structure.slots();
        let mut own = vec![Gaussian::default(); slots];
        let (mut up, mut down) = (own.clone(), own.clone());
        for slot in 0..slots {
            let j = structure.representative(slot) % (2 * slots as u64);
            let upper = self.power(slot) >> s & 1 == 1;
            let (a, b) = factors(j, upper);
            own[slot] = a;
            *(if upper {
                &mut down[slot]
            } else {
                &mut up[slot]
            }) = b;
        }
        let distance = 1i64 << s;
        let mut terms = Terms::from([(Shift::by(0), own)]);
        if s + 1 == self.log_n_points {
            // Up and down are one automorphism of Z[u].
            let ring = self.encoder.ring();
            let both: Values = up
                .iter()
                .zip(&down)
                .map(|(&a, &b)| ring.add(a, b))
                .collect();
            terms.insert(Shift::by(distance), both);
        } else {
            terms.insert(Shift::by(distance), up);
            terms.insert(Shift::by(-distance), down);
        }
        terms
    }
}
