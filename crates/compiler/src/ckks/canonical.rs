//! The canonical scales: one for each level, so that any two values of a level can be added.
//!
//! `D_top` is the parameters' default scale and `D_(l-1) = D_l^2 / q_l`: the product of two values at `D_l`, rescaled, is
//! at `D_(l-1)` exactly. All scales of a managed program are copied from this table, never computed again.

use ringmill_isa::Level;

use crate::error::CompileError;

/// How far (as a factor) a canonical scale may drift from the default scale before parameters are refused.
const MAX_DRIFT: f64 = 16.0;

/// Canonical scales of all levels.
#[derive(Clone, PartialEq, Debug)]
pub struct CanonicalScales {
    normal: Vec<f64>,
    product: Vec<f64>,
}

impl CanonicalScales {
    /// `primes`: the ciphertext primes in order; `default_scale`: the scale of the top level.
    ///
    /// # Errors
    /// [`CompileError::ScaleDrift`] when the primes are so far from the scale that the scale would not keep its size.
    pub fn new(primes: &[u64], default_scale: f64) -> Result<Self, CompileError> {
        let drift = |level: usize| CompileError::ScaleDrift {
            level: Level(level as u32),
            log_scale: default_scale.log2(),
        };
        if primes.is_empty() || !default_scale.is_finite() || default_scale < 2.0 {
            return Err(drift(0));
        }
        let mut normal = vec![default_scale; primes.len()];
        for level in (1..primes.len()).rev() {
            let below = normal[level] * normal[level] / primes[level] as f64;
            if !(default_scale / MAX_DRIFT..=default_scale * MAX_DRIFT).contains(&below) {
                return Err(drift(level - 1));
            }
            normal[level - 1] = below;
        }
        let product = normal.iter().map(|d| d * d).collect();
        Ok(Self { normal, product })
    }

    /// The highest level.
    pub fn top(&self) -> Level {
        Level(self.normal.len() as u32 - 1)
    }

    /// `D_level`.
    pub fn normal(&self, level: Level) -> f64 {
        self.normal[level.index()]
    }

    /// `D_level^2`: the scale of products before rescaling.
    pub fn product(&self, level: Level) -> f64 {
        self.product[level.index()]
    }

    /// What a factor is scaled by so that a value at `D_from` times it is at `product(to)`.
    pub fn factor(&self, from: Level, to: Level) -> f64 {
        if from == to {
            self.normal(to)
        } else {
            self.product(to) / self.normal(from)
        }
    }
}
