// SPDX-License-Identifier: Apache-2.0
//! The canonical scales: one for each level, so that any two values of a level can be added.
//!
//! `D_top` is the parameters' default scale and `D_(l-1) = D_l^2 / q_l`: the product of two values at `D_l`, rescaled, is
//! at `D_(l-1)` exactly. All scales of a managed program are copied from this table, never computed again.

use ringmill_isa::Level;
use ringmill_schemes::ckks::Params;

use crate::error::CompileError;

/// How far (as a factor) a canonical scale may drift from the default scale before parameters are refused.
const MAX_DRIFT: f64 = 16.0;

/// Where primes are so small that several of them make a scale, a **step** is that many: values are rescaled by all primes of a
/// step at once, and level management sees steps alone. Step 0 is what is left at the bottom, one prime at least.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steps {
    /// Primes that step 0 has, and each other.
    first: usize,
    each: usize,
}

impl Steps {
    /// A prime a step.
    pub const ONE: Self = Self { first: 1, each: 1 };

    /// Those of ciphertext primes and a scale: as many primes a step as have about its size.
    pub fn of(primes: &[u64], scale: f64) -> Self {
        let largest = primes.iter().copied().skip(1).max();
        let Some(bits) = largest.map(|q| (q as f64).log2()) else {
            return Self::ONE;
        };
        let each = (scale.log2() / bits).round().clamp(1.0, 8.0) as usize;
        let above = primes.len().saturating_sub(1) / each;
        Self {
            first: primes.len() - each * above,
            each,
        }
    }

    /// Those of parameters.
    pub fn of_params(params: &Params) -> Self {
        Self::of(params.cipher_moduli(), params.default_scale())
    }

    /// Primes of each but step 0.
    pub fn each(self) -> usize {
        self.each
    }

    /// The level of a value at a step, its highest.
    pub fn level(self, step: Level) -> Level {
        Level((self.first + self.each * step.index()) as u32 - 1)
    }

    /// The lowest step at or above a level.
    pub fn at_least(self, level: Level) -> Level {
        let above = level.primes().saturating_sub(self.first);
        Level(above.div_ceil(self.each) as u32)
    }

    /// The products of each step's primes.
    fn products(self, primes: &[u64]) -> Vec<f64> {
        let (first, others) = primes.split_at(self.first.min(primes.len()));
        let product = |primes: &[u64]| primes.iter().map(|&q| q as f64).product();
        let others = others.chunks(self.each).map(product);
        std::iter::once(product(first)).chain(others).collect()
    }
}

/// Canonical scales of all steps.
#[derive(Clone, PartialEq, Debug)]
pub struct CanonicalScales {
    normal: Vec<f64>,
    product: Vec<f64>,
}

impl CanonicalScales {
    /// `primes`: the ciphertext primes in order; `default_scale`: the scale of the top level. Levels here are [`Steps`].
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
        let steps = Steps::of(primes, default_scale).products(primes);
        let mut normal = vec![default_scale; steps.len()];
        for level in (1..steps.len()).rev() {
            let below = normal[level] * normal[level] / steps[level];
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
