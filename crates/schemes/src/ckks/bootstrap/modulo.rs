// SPDX-License-Identifier: Apache-2.0
//! Emits the removal of multiples of q_0 in a bootstrap. A slot holds x = t / K in [-1, 1], where t is a
//! coefficient over q_0, and the integer nearest to t is removed.
//!
//! A Chebyshev series gives cos(2 pi (K x - 1/4) / 2^r), and r double angles give y = sin(2 pi t). The result y + y^3 / 6 is
//! the arcsine of a small y up to its fifth power.
//!
//! A value times 2 at half its scale is the value itself. So the operand has twice the scale of its prime: the square of
//! such a value, divided by the prime and doubled so, has that scale again.

use ringmill_isa::Level;
use ringmill_math::chebyshev::divided;

use super::bounds::Bounds;
use super::code::{Code, Value};
use super::cosine::{Series, largest};
use super::errors::Errors;
use crate::ckks::{CkksError, Params};

/// The greatest length of a Chebyshev series that is computed as a sum of multiples of Chebyshev polynomials. A
/// longer series is split in two.
const LEAF: usize = 8;

/// The bounds and scales of a removal of integers from the numbers t in slots, each of which is a coefficient over q_0.
pub(super) struct Removal {
    /// The number K: a slot of the operand holds t / K, where t is a coefficient over q_0.
    pub range: f64,
    pub log_length: u32,
    pub doublings: u32,
    /// A bound on the error in a slot of the operand.
    pub error: f64,
    /// A bound on 2 pi times the distance of t, a coefficient over q_0, to the nearest integer.
    pub small: f64,
    /// The factor by which the arcsine is multiplied to give the message.
    pub factor: f64,
    /// The scale of the removal's result.
    pub scale: f64,
}

/// A value that the removal of integers computes, with a bound on its error.
#[derive(Clone)]
struct Known {
    at: Value,
    errors: Errors,
}

struct Evaluation<'a> {
    code: &'a mut Code,
    bounds: &'a mut Bounds,
    params: &'a Params,
    /// The Chebyshev polynomials T_d of the operand that were computed, by degree d: all below [`LEAF`], and powers
    /// of two.
    known: std::collections::BTreeMap<usize, Known>,
    /// The number of sources of error that the removal of integers has had so far.
    sources: usize,
}

fn shallow() -> CkksError {
    CkksError::NotBootstrapped {
        reason: "the removal of multiples of q_0 has no level left".into(),
    }
}

/// Emits the removal of the nearest integer from the number in every slot. Returns the message, and a bound on its
/// error.
///
/// # Errors
/// Fails for an operand without enough levels.
pub(super) fn remove(
    code: &mut Code,
    bounds: &mut Bounds,
    params: &Params,
    operand: Value,
    of: &Removal,
) -> Result<(Value, f64), CkksError> {
    let length = 1usize << of.log_length;
    let series = Series::new(of.range, of.doublings, length);
    let mut e = Evaluation {
        code,
        bounds,
        params,
        known: [(
            1,
            Known {
                at: operand,
                errors: Errors::default(),
            },
        )]
        .into(),
        sources: 0,
    };
    let top = operand.level;
    e.polynomials(length)?;
    let last = Level(top.0.checked_sub(of.log_length - 1).ok_or_else(shallow)?);
    // The scales before the steps behind the series follow from that of the result, from the last step back.
    let behind = (1..=of.doublings + 2).map(|steps| {
        let level = last.0.checked_sub(steps).ok_or_else(shallow)?;
        Ok(e.prime(Level(level))? as f64)
    });
    let behind = behind.collect::<Result<Vec<f64>, CkksError>>()?;
    let [doublings @ .., square, cube] = behind.as_slice() else {
        return Err(shallow());
    };
    let mut scale = (of.scale * of.factor / 6.0 * cube * square).cbrt();
    for prime in doublings.iter().rev() {
        scale = (2.0 * scale * prime).sqrt();
    }
    let product = scale * e.prime(last)? as f64;
    let mut y = e.series(&series.coefficients, last, product)?;
    y.errors.fixed += series.error;
    for _ in 0..of.doublings {
        let level = y.at.level;
        let square = Product::of(y.clone(), y);
        let square = e.sum(level, &[square], &[])?;
        let twice = e.twice(square);
        y = e.plus(twice, -1.0);
    }
    // y (6 + y^2) is 6 times the arcsine.
    let mut square = Product::of(y.clone(), y.clone());
    square.magnitudes = [of.small; 2];
    let square = e.sum(y.at.level, &[square], &[])?;
    let factor = e.plus(square, 6.0);
    let level = factor.at.level;
    let mut cube = Product::of(y, factor);
    cube.magnitudes = [of.small, 6.1];
    let six = e.rounded_once(level, &cube)?;
    let factor = of.factor / 6.0;
    let mut errors = Errors::default();
    errors.add(&six.errors, factor);
    // The error of the operand: the derivative of sin(2 pi K x) is 2 pi K at most, and that of the arcsine about 1.
    let slope = 2.0 * std::f64::consts::PI * of.range * of.error * 1.02;
    errors.add_source(e.source(), slope * of.factor);
    // The arcsine's next term is 3 y^5 / 40, and those behind it are smaller together for y below 1 / 4.
    errors.fixed += of.factor * 0.1 * of.small.powi(5);
    // The message is a multiple of the result, which a smaller scale says without a computation.
    let at = e.code.mul_constant(six.at, factor, 1.0 / factor);
    Ok((at, errors.bound()))
}

/// A product in a sum, with bounds on the absolute values of its factors.
#[derive(Clone)]
struct Product {
    factors: [Known; 2],
    magnitudes: [f64; 2],
}

impl Product {
    /// Returns the product of two values that are at most 1 in absolute value.
    fn of(a: Known, b: Known) -> Self {
        Self {
            factors: [a, b],
            magnitudes: [1.0; 2],
        }
    }

    /// Adds to `errors` the error that the product has because its factors have errors.
    fn add_to(&self, errors: &mut Errors) {
        let ([a, b], [x, y]) = (&self.factors, self.magnitudes);
        errors.add(&a.errors, y);
        errors.add(&b.errors, x);
        errors.fixed += a.errors.bound() * b.errors.bound();
    }
}

impl Evaluation<'_> {
    fn prime(&self, level: Level) -> Result<u64, CkksError> {
        let prime = self.params.cipher_moduli().get(level.index());
        prime.copied().ok_or_else(shallow)
    }

    fn known(&self, degree: usize) -> Result<Known, CkksError> {
        self.known.get(&degree).cloned().ok_or_else(shallow)
    }

    /// Emits a sum of terms at a level: products, and values up to 1, each times a number. One division removes the
    /// last prime of the level. Before it the sum has the scale of the first product.
    fn sum(
        &mut self,
        level: Level,
        products: &[Product],
        multiples: &[(Known, f64)],
    ) -> Result<Known, CkksError> {
        let prime = self.prime(level)?;
        let mut errors = Errors::default();
        let mut pairs = Vec::with_capacity(products.len());
        for product in products {
            product.add_to(&mut errors);
            let [a, b] = &product.factors;
            pairs.push((self.code.at(a.at, level), self.code.at(b.at, level)));
        }
        let (a, b) = *pairs.first().ok_or_else(shallow)?;
        let scale = a.scale * b.scale;
        let terms = self.terms(multiples, level);
        add_multiples(&mut errors, multiples, scale);
        let at = self.code.sum_products(&pairs, &terms, Some(prime));
        let at = at.ok_or_else(shallow)?;
        let (switch, division) = (
            self.bounds.switch(level, scale),
            self.bounds.divide(at.scale),
        );
        errors.add_source(self.source(), switch);
        errors.add_source(self.source(), division);
        Ok(Known { at, errors })
    }

    /// Emits a product at a level, divided by the special primes first and then by the last prime of the level. That
    /// takes longer than one division, and its rounding error is that of one prime.
    fn rounded_once(&mut self, level: Level, product: &Product) -> Result<Known, CkksError> {
        let prime = self.prime(level)?;
        let mut errors = Errors::default();
        product.add_to(&mut errors);
        let [a, b] = &product.factors;
        let pair = (self.code.at(a.at, level), self.code.at(b.at, level));
        let at = self.code.sum_products(&[pair], &[], None);
        let at = at.ok_or_else(shallow)?;
        let switch = self.bounds.switch(level, at.scale);
        let at = self.code.rescale(at, prime);
        let rounding = self.bounds.rescale(at.scale);
        errors.add_source(self.source(), switch);
        errors.add_source(self.source(), rounding);
        Ok(Known { at, errors })
    }

    fn terms(&mut self, multiples: &[(Known, f64)], level: Level) -> Vec<(Value, f64)> {
        let terms = multiples.iter();
        let terms = terms.map(|(a, factor)| (self.code.at(a.at, level), *factor));
        terms.collect()
    }

    /// Returns the number of a new source of error, such as one rounding.
    fn source(&mut self) -> usize {
        self.sources += 1;
        self.sources - 1
    }

    /// Emits a value times 2, at half its scale, which takes no computation.
    fn twice(&mut self, a: Known) -> Known {
        let mut errors = Errors::default();
        errors.add(&a.errors, 2.0);
        Known {
            at: self.code.mul_constant(a.at, 2.0, 0.5),
            errors,
        }
    }

    /// Emits the sum of a value and a constant.
    fn plus(&mut self, mut a: Known, constant: f64) -> Known {
        a.errors.fixed += 1.0 / a.at.scale;
        a.at = self.code.add_constant(a.at, constant);
        a
    }

    /// Emits the Chebyshev polynomials that series of this length need: T_(a+b) = 2 T_a T_b - T_(a-b).
    fn polynomials(&mut self, length: usize) -> Result<(), CkksError> {
        let small = 2..LEAF.min(length);
        let powers = (LEAF.trailing_zeros()..usize::BITS).map(|log| 1 << log);
        let powers = powers.take_while(|&power| power < length);
        for degree in small.chain(powers) {
            let (a, b) = (degree.div_ceil(2), degree / 2);
            let product = Product::of(self.known(a)?, self.known(b)?);
            let [first, second] = &product.factors;
            let level = first.at.level.min(second.at.level);
            let made = match a == b {
                true => {
                    let square = self.sum(level, &[product], &[])?;
                    let twice = self.twice(square);
                    self.plus(twice, -1.0)
                }
                false => {
                    let half = (self.known(a - b)?, -0.5);
                    let sum = self.sum(level, &[product], &[half])?;
                    self.twice(sum)
                }
            };
            self.known.insert(degree, made);
        }
        Ok(())
    }

    /// Emits the value of a Chebyshev series at a level and a scale, divided by the level's last prime. It divides the
    /// series by the Chebyshev polynomials T_m of the largest powers of two m. It evaluates the quotients first, and
    /// relinearises the sum of their products with the T_m once.
    fn series(&mut self, of: &[f64], level: Level, scale: f64) -> Result<Known, CkksError> {
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
            let size = largest(&quotient);
            let quotient = self.series(&quotient, above, own)?;
            products.push(Product {
                factors: [quotient, power],
                magnitudes: [size, 1.0],
            });
            rest = remainder;
        }
        let (constant, rest) = rest.split_first().ok_or_else(shallow)?;
        let multiples = (1..).zip(rest);
        let multiples = multiples.map(|(degree, &factor)| Ok((self.known(degree)?, factor)));
        let multiples = multiples.collect::<Result<Vec<_>, CkksError>>()?;
        let sum = match products.is_empty() {
            true => self.combined(&multiples, level, scale)?,
            false => self.sum(level, &products, &multiples)?,
        };
        Ok(self.plus(sum, *constant))
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
        let at = self
            .code
            .combine(&terms, scale, prime)
            .ok_or_else(shallow)?;
        let mut errors = Errors::default();
        add_multiples(&mut errors, multiples, scale);
        let rounding = self.bounds.rescale(at.scale);
        errors.add_source(self.source(), rounding);
        Ok(Known { at, errors })
    }
}

/// Adds to `errors` the error of a sum of values up to 1, each times a number. The numbers are rounded so that the sum
/// has the scale `scale`.
fn add_multiples(errors: &mut Errors, multiples: &[(Known, f64)], scale: f64) {
    for (a, factor) in multiples {
        let by = scale / a.at.scale;
        errors.add(&a.errors, factor.abs());
        errors.fixed += (1.0 + a.errors.bound()) / by;
    }
}
