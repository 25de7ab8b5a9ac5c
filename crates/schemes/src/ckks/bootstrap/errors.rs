// SPDX-License-Identifier: Apache-2.0
//! Bounds on the error of a value as a sum over independent sources of error.
//!
//! A rounding or a key switch is a source. Values that are computed from one another share sources: a source's
//! contributions to one value add up, and the contributions of different sources are added as squares.

use super::bounds::root;

/// A bound on the error of a value.
#[derive(Clone, Default, Debug)]
pub(super) struct Errors {
    /// The part of the error that is bounded without regard to its distribution.
    pub fixed: f64,
    /// The bound of each source's contribution, by the number of the source.
    parts: Vec<f64>,
}

impl Errors {
    /// Adds the contribution of the source with this number.
    pub fn add_source(&mut self, source: usize, bound: f64) {
        if self.parts.len() <= source {
            self.parts.resize(source + 1, 0.0);
        }
        if let Some(part) = self.parts.get_mut(source) {
            *part += bound;
        }
    }

    /// Adds the error of another value, times a factor that is not negative.
    pub fn add(&mut self, other: &Self, factor: f64) {
        self.fixed += factor * other.fixed;
        for (source, part) in other.parts.iter().enumerate() {
            self.add_source(source, factor * part);
        }
    }

    /// Returns the bound on the error.
    pub fn bound(&self) -> f64 {
        self.fixed + root(self.parts.iter().copied())
    }
}
