// SPDX-License-Identifier: Apache-2.0
//! Emits the removal of multiples of q_0 from numbers t, with x = t / K in [-1, 1].
//!
//! A Chebyshev series gives cos(2 pi (K x - 1/4) / 2^r), and r double angles give y = sin(2 pi t). The result y + y^3 / 6 is
//! the arcsine of a small y up to its fifth power.

use ringmill_isa::Level;
use ringmill_math::chebyshev::divided;

use super::bounds::Bounds;
use super::code::{Code, Value};
use super::cosine::{Series, largest};
use crate::ckks::{CkksError, Params};

/// The length of the series that are sums of multiples of Chebyshev polynomials. Longer ones are split.
const LEAF: usize = 8;

/// What is known of the numbers t of which integers are removed.
pub(super) struct Removal {
    /// The K by which t is divided in the operand.
    pub range: f64,
    pub log_length: u32,
    pub doublings: u32,
    /// A bound on the error of the operand.
    pub error: f64,
    /// A bound on 2 pi times the distance of t to an integer.
    pub small: f64,
    /// The factor by which the result exceeds the arcsine: it is the message.
    pub factor: f64,
    /// The scale of the result.
    pub scale: f64,
}

/// A value in an evaluation, with a bound on its error.
#[derive(Clone, Copy)]
struct Known {
    at: Value,
    error: f64,
}

struct Evaluation<'a> {
    code: &'a mut Code,
    bounds: &'a mut Bounds,
    params: &'a Params,
    /// The Chebyshev polynomials of the operand, by their degrees: all below [`LEAF`], then powers of two.
    known: std::collections::BTreeMap<usize, Known>,
}

fn shallow() -> CkksError {
    CkksError::NotBootstrapped {
        reason: "the removal of multiples of q_0 has no level left".into(),
    }
}

/// Emits the removal. Returns the message, and a bound on its error.
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
                error: 0.0,
            },
        )]
        .into(),
    };
    let (top, scale) = (operand.level, operand.scale);
    e.polynomials(length)?;
    let last = Level(top.0.checked_sub(of.log_length - 1).ok_or_else(shallow)?);
    let product = scale * e.prime(last)? as f64;
    let sum = e.series(&series.coefficients, last, product)?;
    let mut y = e.rescaled(sum)?;
    y.error += series.error;
    for _ in 0..of.doublings {
        let square = e.product(y, y, 1.0)?;
        y = e.doubled(square, 1.0)?;
    }
    // y (6 + y^2) is 6 times the arcsine.
    let square = e.product(y, y, of.small)?;
    let square = Known {
        at: e.code.add_constant(square.at, 6.0),
        ..square
    };
    let factor = e.rescaled(square)?;
    let (own, other) = (y.error * 6.1, factor.error * (of.small + y.error));
    let cube = e.code.mul(y.at, factor.at);
    let switch = e.bounds.switch(cube.level, cube.scale);
    let six = e.rescaled(Known {
        at: cube,
        error: own + other + switch,
    })?;
    // The error of the operand: the derivative of sin(2 pi K x) is 2 pi K at most, and that of the arcsine about 1.
    let slope = 2.0 * std::f64::consts::PI * of.range * of.error * 1.02;
    // The arcsine's next term is 3 y^5 / 40, and those behind it are smaller together for y below 1 / 4.
    let series = 0.1 * of.small.powi(5);
    let sine = six.error / 6.0 + slope + series;
    let prime = e.prime(six.at.level)? as f64;
    let by = of.scale * prime / six.at.scale;
    let landed = e.code.mul_constant(six.at, of.factor / 6.0, by);
    let landed = e.rescaled(Known {
        at: landed,
        error: sine * of.factor + of.small * of.factor / by,
    })?;
    Ok((landed.at, landed.error))
}

impl Evaluation<'_> {
    fn prime(&self, level: Level) -> Result<u64, CkksError> {
        let prime = self.params.cipher_moduli().get(level.index());
        prime.copied().ok_or_else(shallow)
    }

    fn known(&self, degree: usize) -> Result<Known, CkksError> {
        self.known.get(&degree).copied().ok_or_else(shallow)
    }

    fn rescaled(&mut self, a: Known) -> Result<Known, CkksError> {
        if a.at.level == Level::LOWEST {
            return Err(shallow());
        }
        let prime = self.prime(a.at.level)?;
        let at = self.code.rescale(a.at, prime);
        let error = a.error + self.bounds.rescale(at.scale);
        Ok(Known { at, error })
    }

    /// Emits a product of values of which `magnitude` bounds each, not rescaled.
    fn product(&mut self, a: Known, b: Known, magnitude: f64) -> Result<Known, CkksError> {
        let at = self.code.mul(a.at, b.at);
        let errors = magnitude * (a.error + b.error) + a.error * b.error;
        let error = errors + self.bounds.switch(at.level, at.scale);
        Ok(Known { at, error })
    }

    /// Emits 2 `square` - `one`, rescaled.
    fn doubled(&mut self, square: Known, one: f64) -> Result<Known, CkksError> {
        let twice = self.code.add(square.at, square.at);
        let at = self.code.add_constant(twice, -one);
        self.rescaled(Known {
            at,
            error: 2.0 * square.error,
        })
    }

    /// Emits a value times `factor` at a level and a scale, with the error of the rounded factor.
    fn lifted(&mut self, a: Known, factor: f64, level: Level, scale: f64) -> Known {
        let at = self.code.at(a.at, level);
        let by = scale / at.scale;
        Known {
            at: self.code.mul_constant(at, factor, by),
            error: a.error * factor.abs() + (1.0 + a.error) / by,
        }
    }

    /// Emits the Chebyshev polynomials that series of this length need: T_(a+b) = 2 T_a T_b - T_(a-b).
    fn polynomials(&mut self, length: usize) -> Result<(), CkksError> {
        let small = 2..LEAF.min(length);
        let powers = (LEAF.trailing_zeros()..usize::BITS).map(|log| 1 << log);
        let powers = powers.take_while(|&power| power < length);
        for degree in small.chain(powers) {
            let (a, b) = (degree.div_ceil(2), degree / 2);
            let product = self.product(self.known(a)?, self.known(b)?, 1.0)?;
            let made = if a == b {
                self.doubled(product, 1.0)?
            } else {
                let twice = self.code.add(product.at, product.at);
                let one = self.known(a - b)?;
                let one = self.lifted(one, 1.0, twice.level, twice.scale);
                let at = self.code.sub(twice, one.at);
                self.rescaled(Known {
                    at,
                    error: 2.0 * product.error + one.error,
                })?
            };
            self.known.insert(degree, made);
        }
        Ok(())
    }

    /// Emits a series at a level and a scale, not rescaled.
    fn series(&mut self, of: &[f64], level: Level, scale: f64) -> Result<Known, CkksError> {
        let length = of.len();
        let highest = self.known.get(&(length - 1)).map(|known| known.at.level);
        if length <= LEAF && highest.is_some_and(|highest| highest >= level) {
            return self.leaf(of, level, scale);
        }
        let m = length / 2;
        if m == 0 {
            return Err(shallow());
        }
        let (quotient, remainder) = divided(of, m);
        let power = self.known(m)?;
        let above = level.above(1);
        let own = scale / power.at.scale * self.prime(above)? as f64;
        let size = largest(&quotient);
        let quotient = self.series(&quotient, above, own)?;
        let quotient = self.rescaled(quotient)?;
        let at = self.code.mul(quotient.at, power.at);
        let error = quotient.error * (1.0 + power.error)
            + size * power.error
            + self.bounds.switch(at.level, at.scale);
        let remainder = self.series(&remainder, level, scale)?;
        Ok(Known {
            at: self.code.add(at, remainder.at),
            error: error + remainder.error,
        })
    }

    /// Emits the sum of multiples of Chebyshev polynomials, not rescaled.
    fn leaf(&mut self, of: &[f64], level: Level, scale: f64) -> Result<Known, CkksError> {
        let mut sum: Option<Known> = None;
        for (degree, &coefficient) in of.iter().enumerate().skip(1) {
            let known = self.known(degree)?;
            let term = self.lifted(known, coefficient, level, scale);
            sum = Some(match sum {
                None => term,
                Some(sum) => Known {
                    at: self.code.add(sum.at, term.at),
                    error: sum.error + term.error,
                },
            });
        }
        let sum = sum.ok_or_else(shallow)?;
        let constant = of.first().copied().unwrap_or(0.0);
        Ok(Known {
            at: self.code.add_constant(sum.at, constant),
            ..sum
        })
    }
}
