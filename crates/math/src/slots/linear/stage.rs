// SPDX-License-Identifier: Apache-2.0
//! A linear map on polynomials as a list of stages, and its evaluation on plain polynomials.

use crate::Modulus;
use crate::kernels::auto_coeff;
use crate::slots::{CorePoly, SlotError};

/// A linear map on polynomials as stages that are applied in order. Its constants are modulo p^e,
/// the modulus of the encoder for which the map was made. A device may use other residues that are
/// congruent modulo p^e.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinearMap {
    pub stages: Vec<Stage>,
}

/// A stage of a linear map: the sum over giant steps G of sigma_G(the sum over the terms of G of
/// factor * sigma_b(input)). Here sigma_b is the automorphism of a term's baby step b, and sigma_G
/// that of the giant step. All baby steps are automorphisms of the same input, so one decomposition
/// serves them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stage {
    /// The Galois elements of the baby steps. The first one is 1.
    pub babies: Vec<u64>,
    pub giants: Vec<Giant>,
}

/// A giant step of a stage: a sum of terms, and the Galois element of the automorphism that is
/// applied to the sum.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Giant {
    /// The Galois element of the giant step. It is 1 if no automorphism is applied; such a giant step comes first.
    pub galois: u64,
    pub terms: Vec<Term>,
}

/// A term of a giant step's sum: `factor` times the stage's input under the automorphism of a baby
/// step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Term {
    /// The index of the term's baby step in [`Stage::babies`].
    pub baby: usize,
    pub factor: Factor,
}

/// The factor of a term in a linear map: a constant polynomial, or 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Factor {
    /// The factor 1, which takes no product and no depth.
    One,
    Constant(CorePoly),
}

/// The number of operations of each kind in a linear map.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// The number of automorphisms that share the decomposition of their operand with another
    /// automorphism of their stage.
    pub hoisted: usize,
    /// The number of automorphisms whose operand is decomposed for them alone.
    pub switched: usize,
    /// The number of products with a constant polynomial.
    pub products: usize,
    /// The largest number of products with a constant polynomial one after the other on any path of the map.
    pub depth: usize,
}

impl Count {
    /// Returns the number of automorphisms, each of which takes a key switch.
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

    /// Returns all Galois elements except 1 for which the map needs keys, in increasing order.
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

    /// Returns the image under the linear map of a polynomial with N coefficients below q. It is
    /// computed by the definition of each stage.
    ///
    /// # Errors
    /// Fails if the number of coefficients is no power of two, or at most half of a Galois element of the map. A map
    /// with constants also fails unless the polynomial has N coefficients, where N is the ring degree of the
    /// encoder.
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

    /// Returns the image under the stage of a polynomial with N coefficients below q.
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
