// SPDX-License-Identifier: Apache-2.0
//! The canonical scales: one for each level, so that any two values of a level can be added.
//!
//! `D_top` is the parameters' default scale and `D_(l-1) = r_l D_l^2 / q_l`, where q_l is the prime, or product of
//! primes, that a rescale at level l divides by. The ratio r_l is 1 unless labels ask for another one
//! ([`crate::ckks::label`]). So the product of two values at scale `D_l`, rescaled, is at `D_(l-1)` exactly if r_l is
//! 1, and otherwise has the label r_l. All scales of a program with levels come from this table.

use ringmill_isa::Level;
use ringmill_schemes::ckks::Params;

use crate::error::CompileError;

/// The largest factor by which a canonical scale may differ from the default scale. Beyond it parameters are refused.
const MAX_DRIFT: f64 = 16.0;

/// The grouping of ciphertext primes into steps. A **step** is the group of primes by which one rescale divides:
/// several if the primes are so small that several of them make a scale. Level management sees only steps. Step 0 has
/// the primes that are left at the bottom, at least one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steps {
    /// The number of ciphertext primes in step 0, by which no rescale divides.
    first: usize,
    /// The number of ciphertext primes in each other step, the group of primes by which one rescale divides.
    each: usize,
}

impl Steps {
    /// The grouping in which each step (group of primes by which one rescale divides) has one
    /// prime, so that steps are levels.
    pub const ONE: Self = Self { first: 1, each: 1 };

    /// Groups ciphertext primes into steps for a scale. One rescale divides by all primes of a step. Each step above
    /// step 0 has as many primes as it takes for their product to be about the scale, at most 8. Step 0 has the rest.
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

    /// Returns how the ciphertext primes of a parameter set are grouped into steps. One rescale
    /// divides by all primes of a step.
    pub fn of_params(params: &Params) -> Self {
        Self::of(params.cipher_moduli(), params.default_scale())
    }

    /// Returns the number of primes in each step except step 0, by which one rescale divides.
    pub fn each(self) -> usize {
        self.each
    }

    /// Returns the level, counted in primes, of a ciphertext that has all primes of this step
    /// (group of primes by which one rescale divides) and of those below it.
    pub fn level(self, step: Level) -> Level {
        Level((self.first + self.each * step.index()) as u32 - 1)
    }

    /// Returns the lowest step (group of primes by which one rescale divides) such that its primes
    /// and those of the steps below it include all primes of `level`.
    pub fn at_least(self, level: Level) -> Level {
        let above = level.primes().saturating_sub(self.first);
        Level(above.div_ceil(self.each) as u32)
    }

    /// Returns for each step (group of primes by which one rescale divides) the product of its
    /// ciphertext primes.
    fn products(self, primes: &[u64]) -> Vec<f64> {
        let (first, others) = primes.split_at(self.first.min(primes.len()));
        let product = |primes: &[u64]| primes.iter().map(|&q| q as f64).product();
        let others = others.chunks(self.each).map(product);
        std::iter::once(product(first)).chain(others).collect()
    }
}

/// A table of scales with one entry for each level l counted in steps. A step is the group of primes by which one
/// rescale divides. A rescaled value at level l with the label 1 has the canonical scale `D_l`, and a product of two
/// such values before its rescale has `D_l^2`.
#[derive(Clone, PartialEq, Debug)]
pub struct CanonicalScales {
    normal: Vec<f64>,
    product: Vec<f64>,
}

impl CanonicalScales {
    /// Computes the canonical scales of all steps (groups of primes by which one rescale divides). `primes` are the
    /// ciphertext primes in order, and `default_scale` is the scale of the top step.
    ///
    /// # Errors
    /// [`CompileError::ScaleDrift`] if the primes are so far from the scale that the scale would not keep its size, if
    /// there are no primes, or for a scale that is below 2 or not finite.
    pub fn new(primes: &[u64], default_scale: f64) -> Result<Self, CompileError> {
        Self::with_ratios(primes, default_scale, &[])
    }

    /// Computes the canonical scale `D_l` of each step l (group of primes by which one rescale divides). The rule is
    /// `D_(l-1) = r_l D_l^2 / q_l`, where q_l is the product of the primes of step l. `ratios` has the ratio r_l of
    /// each step from step 1 on, and 1 stands for ratios that it lacks.
    ///
    /// # Errors
    /// [`CompileError::ScaleDrift`] if the primes are so far from the scale that the scale would not keep its size, if
    /// there are no primes, or for a scale that is below 2 or not finite.
    pub fn with_ratios(
        primes: &[u64],
        default_scale: f64,
        ratios: &[f64],
    ) -> Result<Self, CompileError> {
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
            let ratio = ratios.get(level - 1).copied().unwrap_or(1.0);
            let below = normal[level] * normal[level] / steps[level] * ratio;
            if !(default_scale / MAX_DRIFT..=default_scale * MAX_DRIFT).contains(&below) {
                return Err(drift(level - 1));
            }
            normal[level - 1] = below;
        }
        Ok(Self::of(normal))
    }

    fn of(normal: Vec<f64>) -> Self {
        let product = normal.iter().map(|d| d * d).collect();
        Self { normal, product }
    }

    /// Returns a table of canonical scales in which the scale of every step (group of primes by which one rescale
    /// divides) from 0 to `levels` is 1. It serves trials that follow only levels and labels.
    pub fn flat(levels: u32) -> Self {
        Self::of(vec![1.0; levels as usize + 1])
    }

    /// Returns the table of scales for inputs that no instruction reads, which are encrypted all the same. It has the
    /// canonical scales of these primes, or the default scale at every level if the canonical scales drift too far.
    pub fn resting(primes: &[u64], default_scale: f64) -> Self {
        Self::new(primes, default_scale).unwrap_or_else(|_| {
            let levels = Self::top_of(primes, default_scale).index() + 1;
            Self::of(vec![default_scale; levels])
        })
    }

    /// Returns the number of the highest step (group of primes by which one rescale divides) into
    /// which a list of ciphertext primes is grouped.
    pub fn top_of(primes: &[u64], default_scale: f64) -> Level {
        let steps = Steps::of(primes, default_scale);
        Level((primes.len().saturating_sub(steps.first) / steps.each) as u32)
    }

    /// Returns the number of the highest step (group of primes by which one rescale divides) for
    /// which the table has a scale.
    pub fn top(&self) -> Level {
        Level(self.normal.len() as u32 - 1)
    }

    /// Returns the canonical scale `D_level`, which a rescaled value has at step number `level`, at most [`Self::top`].
    /// A step is a group of primes by which one rescale divides.
    pub fn normal(&self, level: Level) -> f64 {
        self.normal[level.index()]
    }

    /// Returns `D_level^2`, the scale of a product at step number `level`, at most [`Self::top`], before its rescale. A
    /// step is a group of primes by which one rescale divides.
    pub fn product(&self, level: Level) -> f64 {
        self.product[level.index()]
    }

    /// Returns the scale of a plaintext or constant that multiplies a rescaled value at step `from`
    /// (group of primes by which one rescale divides). The product then has the scale `D_to^2`, the
    /// square of the canonical scale of step `to`. If both steps are equal, the result is `D_to`.
    pub fn factor(&self, from: Level, to: Level) -> f64 {
        if from == to {
            self.normal(to)
        } else {
            self.product(to) / self.normal(from)
        }
    }
}
