// SPDX-License-Identifier: Apache-2.0
//! Encodes integers and slot ring elements as polynomials modulo p^e, and decodes them.

use super::core::CorePoly;
use super::element::SlotElement;
use super::error::SlotError;
use super::galois_ring::{GaloisRing, Gaussian, root_of_unity};
use super::structure::{SlotStructure, Split};
use super::transform::CoreTransform;
use crate::{Modulus, declassify};

/// Encodes integers and slot ring elements into the slots of Z_{p^e}\[x\]/(x^N + 1), and decodes them.
///
/// Let eta be a root of F, the first slot's factor of x^N + 1. Slot j of a polynomial m is
/// m(eta^{g_j}), where g_j is the slot's representative. It is an element of Z_{p^e}\[eta\] =
/// Z_{p^e}\[x\]/F(x), so one ring serves all slots. The automorphism of Galois element h brings to
/// slot j the value of slot j' under the k-th power of Frobenius, where g_j h = g_j' p^k. A
/// polynomial is *thin* if all its slots are integers.
pub struct SlotEncoder {
    structure: SlotStructure,
    exponent: u32,
    ring: GaloisRing,
    /// The 2c powers of zeta = eta^(N/c), where eta generates the slot ring and c is the degree of the core,
    /// the ring of polynomials in y = x^(N/c).
    zeta_powers: Vec<Gaussian>,
    /// The inverse modulo p^e of the imaginary part of zeta = eta^(N/c), where eta generates the slot ring and c is
    /// the degree of the core. It is 0 if that part is 0.
    zeta_im_inv: u64,
    transform: CoreTransform,
    /// For each slot, two rows of the transform of polynomials in y = x^(N/c), which are the core
    /// ring of degree c: the row with the slot's values, and the row with their conjugates.
    rows: Vec<SlotRows>,
    /// For each odd exponent k below 2c, at index (k - 1) / 2, the slot whose values, or whose values' conjugates, lie
    /// at zeta^k. Here zeta = eta^(N/c), where eta generates the slot ring and c is the degree of the core ring of
    /// polynomials in y = x^(N/c).
    slots: Vec<u32>,
}

#[derive(Clone, Copy)]
pub(super) struct SlotRows {
    pub own: usize,
    /// The row that holds, in the transform of polynomials in y = x^(N/c), the conjugates of the
    /// slot's values. If x^N + 1 splits into binomials, it is `own`, the row of the values
    /// themselves.
    pub conjugate: usize,
}

impl SlotEncoder {
    /// Makes the encoder of integers and slot ring elements modulo p^`exponent`, where the slots are those of
    /// `structure`.
    ///
    /// # Errors
    /// Fails for an exponent of 0, or p^e of 2^60 or more.
    pub fn new(structure: SlotStructure, exponent: u32) -> Result<Self, SlotError> {
        let p = structure.p();
        let power = p.checked_pow(exponent);
        let q = power
            .filter(|&q| exponent > 0 && q >> 60 == 0)
            .ok_or(SlotError::PowerOutOfRange { p, exponent })?;
        let q = Modulus::new(q)?;
        let ring = GaloisRing::new(q);
        let zeta = root_of_unity(&structure, ring, exponent)?;
        let c_inv = q.inv(structure.core_degree() as u64)?;
        let transform = CoreTransform::new(ring, zeta, structure.log_core(), c_inv);
        let two_c = 2 * structure.core_degree() as u64;
        let mut slots = vec![0; structure.core_degree()];
        let rows = (0..structure.slots()).map(|slot| {
            let own = structure.representative(slot) % two_c;
            let conjugate = own * (p % two_c) % two_c;
            slots[(own / 2) as usize] = slot as u32;
            slots[(conjugate / 2) as usize] = slot as u32;
            SlotRows {
                own: transform.row(own),
                conjugate: transform.row(conjugate),
            }
        });
        let rows = rows.collect();
        let zeta_im_inv = match structure.split() {
            Split::Binomials => 0,
            Split::Trinomials => q.inv(zeta.im)?,
        };
        let powers = std::iter::successors(Some(ring.integer(1)), |&w| Some(ring.mul(w, zeta)));
        let zeta_powers = powers.take(two_c as usize).collect();
        Ok(Self {
            rows,
            slots,
            exponent,
            ring,
            zeta_powers,
            zeta_im_inv,
            transform,
            structure,
        })
    }

    pub fn structure(&self) -> &SlotStructure {
        &self.structure
    }

    /// Returns the modulus p^e of the encoder's integers.
    pub fn modulus(&self) -> Modulus {
        self.ring.modulus()
    }

    /// Returns the exponent e of the modulus p^e.
    pub fn exponent(&self) -> u32 {
        self.exponent
    }

    pub(super) fn ring(&self) -> GaloisRing {
        self.ring
    }

    /// Returns zeta^k for k below 2c, where zeta = eta^(N/c), eta generates the slot ring, and c is the
    /// degree of the core ring of polynomials in y = x^(N/c).
    pub(super) fn zeta_power(&self, k: usize) -> Gaussian {
        self.zeta_powers[k]
    }

    pub(super) fn zeta_im_inv(&self) -> u64 {
        self.zeta_im_inv
    }

    /// Encodes one integer for each slot as a polynomial of the core, the subring of polynomials in y = x^(N/c).
    ///
    /// # Errors
    /// [`SlotError::Length`] for another number of integers, [`SlotError::Residue`] for one that is not below p^e.
    pub fn encode_core(&self, slots: &[u64]) -> Result<CorePoly, SlotError> {
        self.check_length("integers", self.structure.slots(), slots.len())?;
        self.check_residues("integer", slots)?;
        let values: Vec<Gaussian> = slots.iter().map(|&re| Gaussian { re, im: 0 }).collect();
        Ok(self.core_from_values(&values))
    }

    /// Encodes one integer for each slot as a polynomial of N coefficients.
    ///
    /// # Errors
    /// [`SlotError::Length`] for another number of integers, [`SlotError::Residue`] for one that is not below p^e.
    pub fn encode(&self, slots: &[u64]) -> Result<Vec<u64>, SlotError> {
        Ok(self.encode_core(slots)?.expand())
    }

    /// Decodes the integers, one for each slot, of a thin polynomial of N coefficients: one whose
    /// slots are all integers.
    ///
    /// # Errors
    /// [`SlotError::NotThin`] if a slot is no integer; [`SlotError::Length`] and [`SlotError::Residue`] for wrong
    /// coefficients.
    pub fn decode(&self, polynomial: &[u64]) -> Result<Vec<u64>, SlotError> {
        self.check_polynomial(polynomial)?;
        let spacing = self.structure.core_spacing();
        let integers = polynomial.iter().step_by(spacing).copied();
        let values = self.values_of_core(integers);
        let outside = polynomial.iter().enumerate();
        let outside = outside.filter(|(i, _)| i % spacing != 0).map(|(_, &c)| c);
        let rest = (outside.chain(values.iter().map(|v| v.im))).fold(0, |any, x| any | x);
        if declassify(rest != 0) {
            return Err(SlotError::NotThin);
        }
        Ok(values.into_iter().map(|v| v.re).collect())
    }

    /// Returns the slot whose values, or whose values' conjugates, lie at zeta^`exponent`, and
    /// whether they are the conjugates. zeta is the root of unity of order 2c at which polynomials
    /// in y = x^(N/c) (the core ring) have the slots' values.
    pub(super) fn slot_at(&self, exponent: u64) -> (usize, bool) {
        let exponent = exponent % (2 * self.structure.core_degree() as u64);
        let slot = self.slots[(exponent / 2) as usize] as usize;
        // For trinomials, representatives are 1 modulo 4 and p is 3 modulo 4.
        let conjugate = self.structure.split() == Split::Trinomials && exponent % 4 == 3;
        (slot, conjugate)
    }

    /// Returns the polynomial in y = x^(N/c) (of the core ring of degree c) that has these values,
    /// one for each slot, at powers of a root of unity of order 2c. At the slots' conjugate powers
    /// it has the conjugate values.
    pub(super) fn core_from_values(&self, values: &[Gaussian]) -> CorePoly {
        let mut column = vec![Gaussian::default(); self.structure.core_degree()];
        for (rows, &value) in self.rows.iter().zip(values) {
            column[rows.conjugate] = self.ring.conj(value);
            column[rows.own] = value;
        }
        self.transform.inverse(&mut column);
        let coefficients = column.into_iter().map(|c| c.re).collect();
        CorePoly::new(coefficients, self.structure.core_spacing())
    }

    /// Returns the values of a polynomial in y = x^(N/c) (of the core ring), one for each slot,
    /// from its coefficients. It is the inverse of [`SlotEncoder::core_from_values`].
    pub(super) fn values_of_core(&self, coefficients: impl Iterator<Item = u64>) -> Vec<Gaussian> {
        let mut column: Vec<_> = coefficients.map(|re| Gaussian { re, im: 0 }).collect();
        self.transform.forward(&mut column);
        self.rows.iter().map(|rows| column[rows.own]).collect()
    }

    /// Makes an element of the slot ring from at most d coefficients of 1, eta, eta^2, ..., where
    /// eta generates the slot ring and d is the degree of a slot.
    ///
    /// # Errors
    /// [`SlotError::Length`] for more coefficients, [`SlotError::Residue`] for one that is not below p^e.
    pub fn element(&self, coefficients: &[u64]) -> Result<SlotElement, SlotError> {
        let d = self.structure.degree();
        if coefficients.len() > d {
            self.check_length("coefficients of a slot ring element", d, coefficients.len())?;
        }
        self.check_residues("coefficient", coefficients)?;
        Ok(SlotElement::padded(coefficients, d))
    }

    /// Encodes one element of the slot ring for each slot as a polynomial of N coefficients. The elements come from
    /// [`SlotEncoder::element`] of an encoder of the same modulus and degree.
    ///
    /// # Errors
    /// [`SlotError::Length`] for another number of elements, or for an element of another degree.
    /// [`SlotError::Residue`] for an element with a coefficient that is not below p^e.
    pub fn encode_elements(&self, slots: &[SlotElement]) -> Result<Vec<u64>, SlotError> {
        self.check_length("elements", self.structure.slots(), slots.len())?;
        let width = self.structure.core_spacing();
        let mut matrix = vec![Gaussian::default(); self.structure.ring_degree()];
        for (slot, (rows, element)) in self.rows.iter().zip(slots).enumerate() {
            self.check_length("coefficients", self.structure.degree(), element.len())?;
            self.check_residues("coefficient", element.coefficients())?;
            let values = self.untwist(slot, element);
            for (column, value) in values.into_iter().enumerate() {
                matrix[rows.conjugate * width + column] = self.ring.conj(value);
                matrix[rows.own * width + column] = value;
            }
        }
        self.transform.inverse(&mut matrix);
        Ok(matrix.into_iter().map(|c| c.re).collect())
    }

    /// Decodes the slots of a polynomial of N coefficients, one element of the slot ring for each slot.
    ///
    /// # Errors
    /// [`SlotError::Length`] and [`SlotError::Residue`] for wrong coefficients.
    pub fn decode_elements(&self, polynomial: &[u64]) -> Result<Vec<SlotElement>, SlotError> {
        self.check_polynomial(polynomial)?;
        let width = self.structure.core_spacing();
        let mut matrix: Vec<_> = polynomial
            .iter()
            .map(|&re| Gaussian { re, im: 0 })
            .collect();
        self.transform.forward(&mut matrix);
        let elements = self.rows.iter().enumerate().map(|(slot, rows)| {
            let values = &matrix[rows.own * width..(rows.own + 1) * width];
            self.twist(slot, values)
        });
        Ok(elements.collect())
    }

    pub(super) fn check_polynomial(&self, polynomial: &[u64]) -> Result<(), SlotError> {
        let n = self.structure.ring_degree();
        self.check_length("coefficients of a polynomial", n, polynomial.len())?;
        self.check_residues("coefficient", polynomial)
    }

    pub(super) fn check_length(
        &self,
        what: &'static str,
        expected: usize,
        got: usize,
    ) -> Result<(), SlotError> {
        if expected != got {
            return Err(SlotError::Length {
                what,
                expected,
                got,
            });
        }
        Ok(())
    }

    fn check_residues(&self, what: &'static str, residues: &[u64]) -> Result<(), SlotError> {
        let modulus = self.modulus().value();
        let beyond = |r: u64| r >= modulus;
        if !declassify(residues.iter().fold(false, |any, &r| any | beyond(r))) {
            return Ok(());
        }
        let index = residues.iter().position(|&r| beyond(r)).unwrap_or_default();
        Err(SlotError::Residue {
            what,
            index,
            got: residues[index],
            modulus,
        })
    }
}
