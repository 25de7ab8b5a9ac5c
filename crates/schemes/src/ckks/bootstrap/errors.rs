// SPDX-License-Identifier: Apache-2.0
//! Bounds on the error of a value that a function computes, as functions of the function's argument.
//!
//! A rounding or a key switch is a source of error. A source's error reaches a value times the derivative of the value
//! by the step where the error arose. The derivatives are known at points of the function's domain. There the
//! contributions of one source add up with their signs, and those of different sources are added as squares.

/// A bound on the error of a value at each point of a domain.
#[derive(Clone, Default, Debug)]
pub(super) struct Errors {
    /// The part of the error that is bounded without regard to its distribution, for all points.
    pub fixed: f64,
    /// The contribution of each source at each point, by the number of the source: a bound on the source's error, times
    /// a derivative.
    parts: Vec<Vec<f64>>,
}

impl Errors {
    /// Adds the numbers `factors`, one for each point, to the contribution of the source with the number `source`.
    pub fn add_source(&mut self, source: usize, factors: impl Iterator<Item = f64>) {
        if self.parts.len() <= source {
            self.parts.resize(source + 1, Vec::new());
        }
        if let Some(part) = self.parts.get_mut(source) {
            if part.is_empty() {
                part.extend(factors);
                return;
            }
            for (sum, factor) in part.iter_mut().zip(factors) {
                *sum += factor;
            }
        }
    }

    /// Adds the error of another value, times a factor for each point. `largest` bounds the factors' absolute values.
    pub fn add(&mut self, other: &Self, factors: impl Iterator<Item = f64> + Clone, largest: f64) {
        self.fixed += largest * other.fixed;
        for (source, part) in other.parts.iter().enumerate() {
            let products = part.iter().zip(factors.clone()).map(|(a, b)| a * b);
            if !part.is_empty() {
                self.add_source(source, products);
            }
        }
    }

    /// Multiplies the error by a factor.
    pub fn scale(&mut self, factor: f64) {
        self.fixed *= factor.abs();
        for entry in self.parts.iter_mut().flatten() {
            *entry *= factor;
        }
    }

    /// Returns a bound on the error at all points.
    pub fn bound(&self) -> f64 {
        self.fixed + self.random()
    }

    /// Returns a bound on the error at all points, but for the fixed part.
    pub fn random(&self) -> f64 {
        let points = self.parts.iter().map(Vec::len).max().unwrap_or(0);
        let mut squares = vec![0.0; points];
        for part in &self.parts {
            for (sum, entry) in squares.iter_mut().zip(part) {
                *sum += entry * entry;
            }
        }
        squares.into_iter().fold(0.0, f64::max).sqrt()
    }
}
