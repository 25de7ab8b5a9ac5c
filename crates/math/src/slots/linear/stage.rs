// SPDX-License-Identifier: Apache-2.0
//! A linear map on polynomials as a list of stages, and its evaluation on plain polynomials.

use crate::Modulus;
use crate::kernels::auto_coeff;
use crate::slots::{CorePoly, SlotError};

/// Stages, applied in order. Constants are modulo the p^e of the encoder that the map was made with; a device may lift them
/// as it likes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinearMap {
    pub stages: Vec<Stage>,
}

/// The sum over giants G of sigma_G(sum over its terms of factor * sigma_baby(input)): baby-step giant-step. All babies move
/// the same input, so that one decomposition serves them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stage {
    /// Galois elements; 1 is among them and first.
    pub babies: Vec<u64>,
    pub giants: Vec<Giant>,
}

/// A partial sum and the Galois element that moves it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Giant {
    /// 1 for the one giant that stays in place, which is first where there is one.
    pub galois: u64,
    pub terms: Vec<Term>,
}

/// `factor` times the input moved by a baby.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Term {
    /// Index into the stage's babies.
    pub baby: usize,
    pub factor: Factor,
}

/// The factor of a moved input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Factor {
    /// The factor 1: no product, no depth.
    One,
    Constant(CorePoly),
}

/// The number of operations of a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Automorphisms that share a decomposition with another of their stage.
    pub hoisted: usize,
    /// Automorphisms of values of their own.
    pub switched: usize,
    /// Products with a constant polynomial.
    pub products: usize,
    /// Products in sequence.
    pub depth: usize,
}

impl Count {
    /// Automorphisms, each of which takes a key switch.
    pub fn automorphisms(self) -> usize {
        self.hoisted + self.switched
    }
}

impl LinearMap {
    pub fn count(&self) -> Count {
        let sum = |a: Count, b: Count| Count {
            hoisted: a.hoisted + b.hoisted,
            switched: a.switched + b.switched,
            products: a.products + b.products,
            depth: a.depth + b.depth,
        };
        let counts = self.stages.iter().map(Stage::count);
        counts.fold(Count::default(), sum)
    }

    /// All Galois elements but 1 that the map needs keys for, in increasing order.
    pub fn galois_elements(&self) -> Vec<u64> {
        let of_stage = |s: &Stage| {
            let giants = s.giants.iter().map(|g| g.galois);
            s.babies.iter().copied().chain(giants).collect::<Vec<_>>()
        };
        let mut all: Vec<u64> = self.stages.iter().flat_map(of_stage).collect();
        all.sort_unstable();
        all.dedup();
        all.retain(|&g| g != 1);
        all
    }

    /// The map's value at a polynomial of N coefficients below q, by definition.
    ///
    /// # Errors
    /// A number of coefficients that is not that of the ring the map was made for.
    pub fn apply(&self, q: Modulus, polynomial: &[u64]) -> Result<Vec<u64>, SlotError> {
        let mut value = polynomial.to_vec();
        for stage in &self.stages {
            value = stage.apply(q, &value)?;
        }
        Ok(value)
    }
}

impl Stage {
    pub fn count(&self) -> Count {
        let babies = self.babies.iter().filter(|&&g| g != 1).count();
        let terms = self.giants.iter().flat_map(|g| &g.terms);
        let products = terms
            .filter(|t| matches!(t.factor, Factor::Constant(_)))
            .count();
        let giants = self.giants.iter().filter(|g| g.galois != 1).count();
        let alone = usize::from(babies == 1);
        Count {
            hoisted: babies - alone,
            switched: giants + alone,
            products,
            depth: products.min(1),
        }
    }

    /// Returns the stage's value at a polynomial; see [`LinearMap::apply`].
    ///
    /// # Errors
    /// The errors of [`LinearMap::apply`].
    pub fn apply(&self, q: Modulus, polynomial: &[u64]) -> Result<Vec<u64>, SlotError> {
        let n = polynomial.len();
        let moved = self.babies.iter().map(|&g| {
            let mut out = vec![0; n];
            auto_coeff(q, g, &mut out, polynomial).map(|()| out)
        });
        let moved = moved.collect::<Result<Vec<_>, _>>()?;
        let mut total = vec![0; n];
        for giant in &self.giants {
            let mut sum = vec![0; n];
            for term in &giant.terms {
                let input = &moved[term.baby];
                match &term.factor {
                    Factor::One => add(q, &mut sum, input),
                    Factor::Constant(c) => c.multiply_add(q, input, &mut sum)?,
                }
            }
            let mut out = vec![0; n];
            auto_coeff(q, giant.galois, &mut out, &sum)?;
            add(q, &mut total, &out);
        }
        Ok(total)
    }
}

fn add(q: Modulus, sum: &mut [u64], a: &[u64]) {
    for (s, &x) in sum.iter_mut().zip(a) {
        *s = q.add(*s, x);
    }
}
