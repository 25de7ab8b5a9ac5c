// SPDX-License-Identifier: Apache-2.0
//! Arithmetic in the Galois ring that holds the slots' roots of unity.

use super::SlotError;
use super::structure::{SlotStructure, Split};
use crate::Modulus;

/// A number re + im i of a Galois ring, whose parts are residues modulo p^e. For p = 1 mod 4 the
/// imaginary part is always 0: the ring is Z_{p^e}. For p = 3 mod 4 no integer squares to -1 modulo
/// p, so that i generates the Galois ring of degree 2, whose Frobenius map is conjugation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Gaussian {
    pub re: u64,
    pub im: u64,
}

/// The Galois ring that holds the slots' roots of unity: Z_{p^e}, or its extension by i.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct GaloisRing {
    q: Modulus,
}

impl GaloisRing {
    pub fn new(q: Modulus) -> Self {
        Self { q }
    }

    pub fn modulus(self) -> Modulus {
        self.q
    }

    pub fn integer(self, x: u64) -> Gaussian {
        let re = self.q.reduce(x);
        Gaussian { re, im: 0 }
    }

    #[inline]
    pub fn add(self, a: Gaussian, b: Gaussian) -> Gaussian {
        Gaussian {
            re: self.q.add(a.re, b.re),
            im: self.q.add(a.im, b.im),
        }
    }

    #[inline]
    pub fn sub(self, a: Gaussian, b: Gaussian) -> Gaussian {
        Gaussian {
            re: self.q.sub(a.re, b.re),
            im: self.q.sub(a.im, b.im),
        }
    }

    pub fn neg(self, a: Gaussian) -> Gaussian {
        self.sub(Gaussian::default(), a)
    }

    /// Returns the product of a and b in the Galois ring. Products of residues below 2^60 are below
    /// 2^120, so the sum of two is reduced once.
    #[inline]
    pub fn mul(self, a: Gaussian, b: Gaussian) -> Gaussian {
        let wide = |x: u64, y: u64| u128::from(x).wrapping_mul(u128::from(y));
        let re = wide(a.re, b.re).wrapping_add(wide(self.q.neg(a.im), b.im));
        let im = wide(a.re, b.im).wrapping_add(wide(a.im, b.re));
        Gaussian {
            re: self.q.reduce_wide(re),
            im: self.q.reduce_wide(im),
        }
    }

    /// Returns the image of a under the Frobenius map of the Galois ring, which modulo p is the p-th power.
    #[inline]
    pub fn conj(self, a: Gaussian) -> Gaussian {
        let im = self.q.neg(a.im);
        Gaussian { re: a.re, im }
    }

    pub fn pow(self, mut base: Gaussian, mut exponent: u128) -> Gaussian {
        let mut result = self.integer(1);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.mul(result, base);
            }
            base = self.mul(base, base);
            exponent >>= 1;
        }
        result
    }
}

/// Returns the primitive 2c-th root of unity of the slots modulo p^`exponent`, where c is the
/// degree of the core, the ring of polynomials in y = x^(N/c). It lifts the root modulo p that is
/// smallest (by real, then imaginary part). For exponent 1 and slots of degree 1 it is SEAL's psi.
pub(crate) fn root_of_unity(
    structure: &SlotStructure,
    ring: GaloisRing,
    exponent: u32,
) -> Result<Gaussian, SlotError> {
    let p = structure.p();
    let field = GaloisRing::new(Modulus::new(p)?);
    let order = 2u128 << structure.log_core();
    let p_wide = u128::from(p);
    let (units, im) = match structure.split() {
        Split::Binomials => (p_wide - 1, 0),
        Split::Trinomials => (p_wide * p_wide - 1, 1),
    };
    let minus_one = field.neg(field.integer(1));
    // Half of the candidates give a primitive root; small fields are gone through whole.
    let any = (0..p.min(512))
        .map(|re| field.pow(Gaussian { re, im }, units / order))
        .find(|&z| field.pow(z, order / 2) == minus_one)
        .ok_or(crate::MathError::NoRootOfUnity {
            modulus: p,
            order: order as u64,
        })?;
    let square = field.mul(any, any);
    let powers = std::iter::successors(Some(any), |&z| Some(field.mul(z, square)));
    let smallest = powers.take(order as usize / 2).min().unwrap_or(any);
    // If w is congruent to the root modulo p^k, the conjugate of w^p is congruent to it modulo p^(k+1).
    let lifts = std::iter::successors(Some(smallest), |&z| Some(ring.conj(ring.pow(z, p_wide))));
    Ok(lifts.take(exponent as usize).last().unwrap_or(smallest))
}
