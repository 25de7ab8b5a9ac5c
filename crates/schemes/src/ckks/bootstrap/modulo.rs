// SPDX-License-Identifier: Apache-2.0
//! Emits the removal of multiples of q_0 in a bootstrap. A slot holds x = t / K in [-1, 1], where t is a
//! coefficient over q_0, and the integer nearest to t is removed by a Chebyshev series ([`super::sawtooth`]).
//!
//! A value times 2 at half its scale is the value itself. So the operand has twice the scale of its prime: the square
//! of such a value, divided by the prime and doubled so, has that scale again.

use std::collections::BTreeMap;
use std::iter::repeat_n;

use ringmill_isa::Level;
use ringmill_math::chebyshev::divided;

use super::bounds::{Bounds, root};
use super::code::{Code, Value};
use super::errors::Errors;
use super::sawtooth::{BETWEEN, NearIntegers, Series};
use crate::ckks::{CkksError, Params};

/// The greatest length of a Chebyshev series that is computed as a sum of multiples of Chebyshev polynomials. A
/// longer series is split in two.
const LEAF: usize = 8;

/// The largest degree of the Chebyshev polynomials that are rounded once ([`Rounding::Once`]). The derivatives of the
/// result by the polynomials of low degree are the largest, so their rounding errors matter most.
const ROUNDED_ONCE: usize = 4;

/// The largest integer that stands for a coefficient of the series.
const LARGEST_INTEGER: f64 = (1u64 << 60) as f64;

/// The bounds and scales of a removal of integers from the numbers t in slots, each of which is a coefficient over q_0.
pub(super) struct Removal {
    /// The numbers t. A slot of the operand holds t / K, for the K of the domain.
    pub domain: NearIntegers,
    pub log_length: u32,
    /// A bound on the error in a slot of the operand.
    pub error: f64,
    /// The factor by which the distance of t to its integer is multiplied to give the message.
    pub factor: f64,
    /// The scale of the message after the division by the last prime of the result's level.
    pub scale: f64,
}

/// The result of a removal of integers. It is the message, before its division by the last prime of the level.
pub(super) struct Removed {
    pub value: Value,
    /// A bound on the sum of the independent errors of the message in a slot.
    pub random: f64,
    /// A bound on the other errors of the message in a slot.
    pub fixed: f64,
}

impl Removed {
    /// Returns a bound on the error of the message in a slot, where `more` bounds another independent error.
    pub fn error(&self, more: f64) -> f64 {
        root([self.random, more]) + self.fixed
    }
}

/// A value that the removal of integers computes. Its numbers are functions of the operand, which are known at points
/// of the domain.
#[derive(Clone)]
struct Known {
    at: Value,
    numbers: Vec<f64>,
    errors: Errors,
}

impl Known {
    /// Returns a bound on the absolute values of the numbers at the points.
    fn largest(&self) -> f64 {
        BETWEEN * self.numbers.iter().fold(0f64, |a, b| a.max(b.abs()))
    }
}

struct Evaluation<'a> {
    code: &'a mut Code,
    bounds: &'a mut Bounds,
    params: &'a Params,
    /// The Chebyshev polynomials T_d of the operand that were computed, by degree d.
    known: BTreeMap<usize, Known>,
    /// The number of points of the domain at which the numbers of values are known.
    points: usize,
    /// The number of sources of error that the removal of integers has had so far.
    sources: usize,
}

fn shallow() -> CkksError {
    CkksError::NotBootstrapped {
        reason: "the removal of multiples of q_0 has no level left".into(),
    }
}

/// Emits the removal of the nearest integer from the number in every slot. The result is the message.
///
/// # Errors
/// Fails for an operand without enough levels.
pub(super) fn remove(
    code: &mut Code,
    bounds: &mut Bounds,
    params: &Params,
    operand: Value,
    of: &Removal,
) -> Result<Removed, CkksError> {
    let length = 1usize << of.log_length;
    let noise = bounds.divide(operand.scale);
    let series = Series::best(of.domain, length, noise).ok_or_else(shallow)?;
    let numbers: Vec<f64> = of.domain.arguments().collect();
    let points = numbers.len();
    let errors = Errors::default();
    let operand = Known {
        at: operand,
        numbers,
        errors,
    };
    let top = operand.at.level;
    let mut e = Evaluation {
        code,
        bounds,
        params,
        known: [(1, operand)].into(),
        points,
        sources: 0,
    };
    e.polynomials(length)?;
    let below = |levels: u32| top.0.checked_sub(levels).map(Level).ok_or_else(shallow);
    let [last, end] = [below(of.log_length - 1)?, below(of.log_length)?];
    // The sum has a scale near the others. Its two divisions lead to that of the result.
    let [first, second] = [e.prime(last)?, e.prime(end)?].map(|prime| prime as f64);
    let product = of.scale * of.factor * first * second;
    // Numbers multiply Chebyshev polynomials as integers of 64 bits. A sum at a larger scale is multiplied afterwards
    // by a power of two, which is exact.
    let most = e.known(1)?.at.scale * LARGEST_INTEGER;
    let larger = (product / most).log2().ceil().max(0.0).exp2();
    let distance = e.series(&series.coefficients, last, product / larger, Rounding::Once)?;
    // The message is a multiple of the result, which a smaller scale says without a computation.
    let at = e
        .code
        .mul_constant(distance.at, of.factor, larger / of.factor);
    // The derivative of the series in t is about 1 close to the integers.
    let slope = of.domain.range() * of.error * 1.02;
    let own = BETWEEN * distance.errors.random();
    Ok(Removed {
        value: at,
        random: root([own * of.factor, slope * of.factor]),
        fixed: (distance.errors.fixed + series.error) * of.factor,
    })
}

/// How a sum of products is divided by the special primes and the last prime of its level.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rounding {
    /// By all of them at once. The rounding error has a term for each prime.
    Fused,
    /// By the special primes first. That takes longer, and the rounding error is that of one prime.
    Once,
}

impl Evaluation<'_> {
    fn prime(&self, level: Level) -> Result<u64, CkksError> {
        let prime = self.params.cipher_moduli().get(level.index());
        prime.copied().ok_or_else(shallow)
    }

    fn known(&self, degree: usize) -> Result<Known, CkksError> {
        self.known.get(&degree).cloned().ok_or_else(shallow)
    }

    /// Emits a sum of terms at a level: products, and values times numbers. The sum is divided by the last prime of
    /// the level. Before it the sum has the scale of the first product.
    fn sum(
        &mut self,
        level: Level,
        products: &[[Known; 2]],
        multiples: &[(Known, f64)],
        rounding: Rounding,
    ) -> Result<Known, CkksError> {
        let prime = self.prime(level)?;
        let mut pairs = Vec::with_capacity(products.len());
        for [a, b] in products {
            pairs.push((self.code.at(a.at, level), self.code.at(b.at, level)));
        }
        let (a, b) = *pairs.first().ok_or_else(shallow)?;
        let scale = a.scale * b.scale;
        let (mut numbers, mut errors) = self.multiples(multiples, scale);
        for [a, b] in products {
            errors.add(&a.errors, b.numbers.iter().copied(), b.largest());
            errors.add(&b.errors, a.numbers.iter().copied(), a.largest());
            errors.fixed += a.errors.bound() * b.errors.bound() * BETWEEN * BETWEEN;
            let products = a.numbers.iter().zip(&b.numbers);
            for (sum, (a, b)) in numbers.iter_mut().zip(products) {
                *sum += a * b;
            }
        }
        let terms = self.terms(multiples, level);
        let switch = self.bounds.switch(level, scale);
        self.source(&mut errors, switch);
        let fused = (rounding == Rounding::Fused).then_some(prime);
        let at = self.code.sum_products(&pairs, &terms, fused);
        let at = at.ok_or_else(shallow)?;
        let (at, division) = match rounding {
            Rounding::Fused => (at, self.bounds.divide(at.scale)),
            Rounding::Once => {
                let at = self.code.rescale(at, prime);
                (at, self.bounds.rescale(at.scale))
            }
        };
        self.source(&mut errors, division);
        Ok(Known {
            at,
            numbers,
            errors,
        })
    }

    fn terms(&mut self, multiples: &[(Known, f64)], level: Level) -> Vec<(Value, f64)> {
        let terms = multiples.iter();
        let terms = terms.map(|(a, factor)| (self.code.at(a.at, level), *factor));
        terms.collect()
    }

    /// Adds a new source of error, such as one rounding.
    fn source(&mut self, errors: &mut Errors, bound: f64) {
        errors.add_source(self.sources, repeat_n(bound, self.points));
        self.sources += 1;
    }

    /// Returns the numbers of a sum of values times numbers, and its error. The factors are rounded so that the sum has
    /// the scale `scale`.
    fn multiples(&self, multiples: &[(Known, f64)], scale: f64) -> (Vec<f64>, Errors) {
        let mut numbers = vec![0.0; self.points];
        let mut errors = Errors::default();
        for (a, factor) in multiples {
            errors.add(&a.errors, repeat_n(*factor, self.points), factor.abs());
            let by = scale / a.at.scale;
            errors.fixed += (a.largest() + a.errors.bound()) / by;
            for (sum, number) in numbers.iter_mut().zip(&a.numbers) {
                *sum += factor * number;
            }
        }
        (numbers, errors)
    }

    /// Emits a value times 2, at half its scale, which takes no computation.
    fn twice(&mut self, mut a: Known) -> Known {
        a.errors.scale(2.0);
        a.numbers.iter_mut().for_each(|number| *number *= 2.0);
        a.at = self.code.mul_constant(a.at, 2.0, 0.5);
        a
    }

    /// Emits the sum of a value and a constant.
    fn plus(&mut self, mut a: Known, constant: f64) -> Known {
        a.errors.fixed += 1.0 / a.at.scale;
        a.numbers.iter_mut().for_each(|number| *number += constant);
        a.at = self.code.add_constant(a.at, constant);
        a
    }

    /// Emits the Chebyshev polynomials that odd series of this length need: T_(a+b) = 2 T_a T_b - T_(a-b). These are
    /// the ones of odd degree below [`LEAF`], and of powers of two.
    fn polynomials(&mut self, length: usize) -> Result<(), CkksError> {
        let needed = |&degree: &usize| degree % 2 == 1 && degree < LEAF || degree.is_power_of_two();
        for degree in (2..length).filter(needed) {
            let a = 1 << (degree - 1).ilog2();
            let b = degree - a;
            let product = [self.known(a)?, self.known(b)?];
            let [first, second] = &product;
            let level = first.at.level.min(second.at.level);
            let rounding = match degree <= ROUNDED_ONCE {
                true => Rounding::Once,
                false => Rounding::Fused,
            };
            let made = match a == b {
                true => {
                    let square = self.sum(level, &[product], &[], rounding)?;
                    let twice = self.twice(square);
                    self.plus(twice, -1.0)
                }
                false => {
                    let half = (self.known(a - b)?, -0.5);
                    let sum = self.sum(level, &[product], &[half], rounding)?;
                    self.twice(sum)
                }
            };
            self.known.insert(degree, made);
        }
        Ok(())
    }

    /// Emits the value of an odd Chebyshev series at a level and a scale, divided by the level's last prime. It divides
    /// the series by the Chebyshev polynomials T_m of the largest powers of two m. It evaluates the quotients first,
    /// and relinearises the sum of their products with the T_m once.
    fn series(
        &mut self,
        of: &[f64],
        level: Level,
        scale: f64,
        rounding: Rounding,
    ) -> Result<Known, CkksError> {
        let mut rest = of.to_vec();
        let mut products = Vec::new();
        while !self.is_leaf(&rest, level) {
            let m = rest.len() / 2;
            if m == 0 {
                return Err(shallow());
            }
            let (quotient, remainder) = divided(&rest, m);
            let power = self.known(m)?;
            let above = level.above(1);
            let own = scale / power.at.scale * self.prime(above)? as f64;
            let quotient = self.series(&quotient, above, own, Rounding::Fused)?;
            products.push([quotient, power]);
            rest = remainder;
        }
        let multiples = (0..).zip(&rest).filter(|&(_, &factor)| factor != 0.0);
        let multiples = multiples.map(|(degree, &factor)| Ok((self.known(degree)?, factor)));
        let multiples = multiples.collect::<Result<Vec<_>, CkksError>>()?;
        match products.is_empty() {
            true => self.combined(&multiples, level, scale),
            false => self.sum(level, &products, &multiples, rounding),
        }
    }

    /// Returns whether a series is a sum of multiples of Chebyshev polynomials that are known at a level.
    fn is_leaf(&self, of: &[f64], level: Level) -> bool {
        let highest = of.len().checked_sub(1);
        let highest = highest.and_then(|degree| self.known.get(&degree));
        of.len() <= LEAF && highest.is_some_and(|highest| highest.at.level >= level)
    }

    /// Emits a sum of values at a level, each times a number, divided by the level's last prime. Before the division
    /// the sum has the scale `scale`.
    fn combined(
        &mut self,
        multiples: &[(Known, f64)],
        level: Level,
        scale: f64,
    ) -> Result<Known, CkksError> {
        let prime = self.prime(level)?;
        let terms = self.terms(multiples, level);
        let (numbers, mut errors) = self.multiples(multiples, scale);
        let at = self.code.combine(&terms, scale, prime);
        let at = at.ok_or_else(shallow)?;
        let rounding = self.bounds.rescale(at.scale);
        self.source(&mut errors, rounding);
        Ok(Known {
            at,
            numbers,
            errors,
        })
    }
}
