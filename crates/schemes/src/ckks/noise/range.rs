// SPDX-License-Identifier: Apache-2.0
//! Bounds the values of a polynomial closely for arguments in a ball. A bound term by term would give x^2 - x on
//! [0, 1] a range from -1 to 1.
//!
//! Let a real trigonometric polynomial T of degree d have the largest value |T|. At a distance t from the place of
//! this value, T is |T| cos(d t) or more (Bernstein and Szego: T'^2 + d^2 T^2 <= d^2 |T|^2). So if some point lies
//! within t of every angle, T reaches |T| cos(d t) at one of the points. On a circle, a polynomial of degree d is
//! such a T of the angle, and its largest value on the disc lies on the circle. For real arguments x between -1 and
//! 1 it is one by x = cos(angle). For complex values, T is the component in the direction of the largest value.

use std::f64::consts::PI;

use num_complex::Complex64;

use super::ball::Ball;
use super::slots::Slots;

/// The number of points in half a turn at which a polynomial is evaluated, divided by its degree plus one. The
/// largest value is then found up to a factor of 1 / cos(pi / 8), or 8 per cent.
const DENSITY: usize = 4;
/// The relative error of a polynomial's computed values, as a fraction of the sum of its terms' absolute values. It
/// allows for hundreds of roundings of doubles.
const ROUNDING: f64 = 1e-13;

/// Returns a ball that holds the values of a polynomial for all arguments in the ball `at`, or only for the real
/// ones if `real` is true. The coefficient of the lowest degree comes first. Returns `None` if `at` differs between
/// slots.
pub fn of_polynomial(coefficients: &[Complex64], at: &Ball, real: bool) -> Option<Ball> {
    let (centre, radius) = at.uniform()?;
    let degree = coefficients.len().saturating_sub(1);
    let value = |x: Complex64| {
        let terms = coefficients.iter().rev();
        terms.fold(Complex64::default(), |sum, c| sum * x + c)
    };
    let points = DENSITY * (degree + 1);
    let values: Vec<Complex64> = if real {
        let angle = |k: usize| PI * (k as f64 + 0.5) / points as f64;
        let at = |k| value((centre.re + radius * angle(k).cos()).into());
        (0..points).map(at).collect()
    } else {
        let angle = |k: usize| PI * k as f64 / points as f64;
        let at = |k| value(centre + Complex64::from_polar(radius, angle(k)));
        (0..2 * points).map(at).collect()
    };
    // The values at real arguments often lie on one side of zero; the values on a disc hardly ever do.
    let middle = if real {
        middle(&values)
    } else {
        Complex64::default()
    };
    let apart = values
        .iter()
        .map(|z| (z - middle).norm())
        .fold(0.0, f64::max);
    let closeness = (PI * degree as f64 / (2 * points) as f64).cos();
    let terms = coefficients.iter().rev();
    let sizes = terms.fold(0.0, |sum, c| sum * (centre.norm() + radius) + c.norm());
    let radius = apart / closeness + ROUNDING * sizes;
    Some(Ball::constants(&[(middle.re, middle.im)]).widened(&Slots::All(radius)))
}

/// Returns the centre of the smallest rectangle in the complex plane, parallel to the axes, that contains all
/// `values`.
fn middle(values: &[Complex64]) -> Complex64 {
    let between = |part: fn(&Complex64) -> f64| {
        let parts = || values.iter().map(part);
        let (low, high) = (parts().reduce(f64::min), parts().reduce(f64::max));
        (low.unwrap_or(0.0) + high.unwrap_or(0.0)) / 2.0
    };
    Complex64::new(between(|z| z.re), between(|z| z.im))
}

/// Returns a ball that holds x^`exponent` for all numbers x in the ball `of`, or only for the real ones if `real` is
/// true. Even powers of real numbers are not negative. The exponent is 1 or more.
pub fn power(of: &Ball, real: bool, exponent: usize) -> Ball {
    let whole = of.uniform().filter(|_| exponent > 1 && real);
    if let Some((centre, radius)) = whole {
        let exponent = exponent as i32;
        let [a, b] = [centre.re - radius, centre.re + radius].map(|x| x.powi(exponent));
        let (low, high) = (a.min(b), a.max(b));
        let crosses = centre.re.abs() <= radius && exponent % 2 == 0;
        let low = if crosses { 0.0 } else { low };
        return Ball::real(&Slots::All(low), &Slots::All(high));
    }
    (1..exponent).fold(of.clone(), |power, _| power.times(of))
}
