// SPDX-License-Identifier: Apache-2.0
//! Bounds an error in each slot, from the variance of its random part and a bound on the rest.

use super::random::Variances;
use super::slots::Slots;
use super::tail;

/// An error in each slot, without its sources.
#[derive(Clone, Debug)]
pub struct Bounds {
    pub variance: Variances,
    /// A bound on the part of the error that is not random.
    pub fixed: Slots,
}

impl Bounds {
    /// Returns the number of slots after which the error repeats.
    pub fn period(&self) -> usize {
        let parts = self.variance.iter().chain([&self.fixed]);
        parts.map(Slots::period).max().unwrap_or(1)
    }

    /// Returns a bound on the error in a slot. `exponent` is the number L of [`tail`] that belongs to the failure
    /// probability.
    pub fn at(&self, slot: usize, exponent: f64) -> f64 {
        let variance = self.variance.each_ref().map(|v| v.at(slot));
        tail::bound(variance, exponent) + self.fixed.at(slot)
    }

    /// Returns a bound on the error in the first `slots` slots.
    pub fn largest(&self, slots: usize, exponent: f64) -> f64 {
        let slots = 0..self.period().min(slots);
        slots
            .map(|slot| self.at(slot, exponent))
            .fold(0.0, f64::max)
    }
}
