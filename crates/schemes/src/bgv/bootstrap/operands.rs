// SPDX-License-Identifier: Apache-2.0
//! The ciphertexts and the integers on which a step in the plan of a polynomial works.

use ringmill_math::digits::Step as PlanStep;

use super::emit::{Emitted, Emitter};
use super::error::BootstrapError;
use super::layout::malformed;
use crate::bgv::{Factor, Noise};

/// The integers of a sum of ciphertexts times integers, modulo the plaintext modulus: one factor for each
/// ciphertext, then the constant that is added.
pub(super) type Combination = Vec<u64>;

/// The ciphertexts that a step of the plan of a polynomial reads, all at one level. Those that the step multiplies by
/// integers and adds come first, then those that it only multiplies with each other.
#[derive(Default)]
pub(super) struct Operands {
    /// For each ciphertext, the index of its value in the plan, or `None` for a ciphertext that is no value of the
    /// plan.
    indices: Vec<Option<usize>>,
    pub values: Vec<Emitted>,
}

impl Operands {
    pub fn holds(&self, index: usize) -> bool {
        self.indices.contains(&Some(index))
    }

    pub fn add(&mut self, index: usize, value: Emitted) -> u16 {
        self.indices.push(Some(index));
        self.values.push(value);
        self.values.len() as u16 - 1
    }

    /// Adds a ciphertext that is no value of the plan, and returns its index among the operands.
    pub fn add_more(&mut self, value: Emitted) -> u16 {
        self.indices.push(None);
        self.values.push(value);
        self.values.len() as u16 - 1
    }

    pub fn get(&self, index: usize) -> Result<(u16, Emitted), BootstrapError> {
        let place = self.indices.iter().position(|&i| i == Some(index));
        let place = place.ok_or_else(malformed)?;
        let value = self.values.get(place).ok_or_else(malformed)?;
        Ok((place as u16, *value))
    }

    /// Returns the integers by which the values `combined` are multiplied in the sum of a step's linear terms, so
    /// that the sum has the correction factor `factor`. Also returns the noise of the sum.
    pub fn combination(
        &self,
        emitter: &Emitter<'_>,
        combined: &[usize],
        terms: &PlanStep,
        factor: Factor,
    ) -> Result<(Combination, Noise), BootstrapError> {
        let (t, model) = (emitter.t(factor)?, emitter.model(factor)?);
        let centred = emitter.params.plain_at(factor.plain())?;
        let residue = |c: i64| i128::from(c).rem_euclid(t.value().into()) as u64;
        let mut integers = vec![0; combined.len() + 1];
        for &(c, v) in &terms.linear {
            let (place, value) = self.get(v.index())?;
            let ratio = t.mul(factor.value(), value.factor.inverse(t)?);
            let integer = integers.get_mut(usize::from(place)).ok_or_else(malformed)?;
            *integer = t.add(*integer, t.mul(ratio, residue(c)));
        }
        let mut noise: Option<Noise> = None;
        for (&integer, value) in integers.iter().zip(&self.values) {
            if integer == 0 {
                continue;
            }
            let size = centred.centred(integer).unsigned_abs();
            let term = model.mul_integer(value.noise, size);
            noise = Some(noise.map_or(term, |sum| model.add(sum, term)));
        }
        let constant = t.mul(residue(terms.constant), factor.value());
        if let Some(last) = integers.last_mut() {
            *last = constant;
        }
        let mut noise = match noise {
            Some(noise) => noise,
            None => self.values.first().ok_or_else(malformed)?.noise,
        };
        if constant != 0 {
            noise = model.add_plain(noise);
        }
        Ok((integers, noise))
    }
}
