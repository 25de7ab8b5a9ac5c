// SPDX-License-Identifier: Apache-2.0
//! Where the values of a polynomial lie, closely: term by term, x^2 - x on [0, 1] would reach from -1 to 1.
//!
//! A real trigonometric polynomial T of degree d comes to |T| cos(d t) or more at a distance t of where it comes to its
//! largest value |T| (Bernstein and Szego: T'^2 + d^2 T^2 <= d^2 |T|^2). So among points of which one is within t of any
//! place, one comes to |T| cos(d t). Polynomials of degree d are such of the angle: on a circle, where the largest value on
//! its disc is, and, of real arguments between -1 and 1, by x = cos(angle). For complex values T is the part along the
//! largest one.

use std::f64::consts::PI;

use num_complex::Complex64;

use super::ball::Ball;
use super::slots::Slots;

/// Points by degree, so that the largest value is found but for 1 / cos(pi / 8), 8 per cent: of half a turn.
const DENSITY: usize = 4;
/// What values are found but for, of the sum of the terms' sizes: hundreds of roundings of doubles.
const ROUNDING: f64 = 1e-13;

/// Where a polynomial, coefficients lowest degree first, lies for arguments within a ball, real ones if `real` says so.
/// `None` where slots differ.
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
    // Real arguments give values on one side of zero often enough; discs hardly do.
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

/// Of the box around numbers.
fn middle(values: &[Complex64]) -> Complex64 {
    let between = |part: fn(&Complex64) -> f64| {
        let parts = || values.iter().map(part);
        let (low, high) = (parts().reduce(f64::min), parts().reduce(f64::max));
        (low.unwrap_or(0.0) + high.unwrap_or(0.0)) / 2.0
    };
    Complex64::new(between(|z| z.re), between(|z| z.im))
}

/// A power of what lies in a ball, of real numbers if `real` says so: even ones are not negative.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(coefficients: &[Complex64], x: Complex64) -> Complex64 {
        let terms = coefficients.iter().rev();
        terms.fold(Complex64::default(), |sum, c| sum * x + c)
    }

    fn number() -> impl Strategy<Value = Complex64> {
        (-1.0..1.0f64, -1.0..1.0f64).prop_map(|(re, im)| Complex64::new(re, im))
    }

    proptest! {
        #[test]
        fn no_value_is_outside(
            coefficients in prop::collection::vec(number(), 1..20),
            centre in number(), radius in 0.0..1.5f64,
            inside in prop::collection::vec(number(), 50), real: bool
        ) {
            let centre = if real { centre.re.into() } else { centre };
            let disc = Ball::disc(Slots::All(radius)).plus(&Ball::constants(&[(centre.re, centre.im)]));
            let range = of_polynomial(&coefficients, &disc, real).unwrap();
            let cube = power(&disc, real, 3);
            let fourth = power(&disc, real, 4);
            for z in inside {
                let apart = if real { z.re.into() } else { z / z.norm().max(1.0) };
                let x = centre + apart * radius;
                let y = at(&coefficients, x);
                prop_assert!(range.holds(0, y.re, y.im, 1e-12), "{y} at {x} in {range:?}");
                for (ball, z) in [(&cube, x * x * x), (&fourth, x.powi(4))] {
                    prop_assert!(ball.holds(0, z.re, z.im, 1e-12));
                }
            }
        }
    }

    #[test]
    fn what_cancels_is_seen() {
        let real = Ball::real(&Slots::All(0.0), &Slots::All(1.0));
        let of = |c: &[f64], at: &Ball, real| {
            let c: Vec<Complex64> = c.iter().map(|&x| x.into()).collect();
            of_polynomial(&c, at, real).unwrap().magnitude().at(0)
        };
        // x^2 - x, between -1/4 and 0.
        assert!((0.25..0.27).contains(&of(&[0.0, -1.0, 1.0], &real, true)));
        // |1 + w - w^2|, w = z^7 on the unit circle, is at most |1 + 2 i sin(angle)|.
        let mut c = [0.0; 15];
        (c[0], c[7], c[14]) = (1.0, 1.0, -1.0);
        let found = of(&c, &Ball::disc(Slots::All(1.0)), false);
        assert!(
            (5f64.sqrt()..1.09 * 5f64.sqrt()).contains(&found),
            "{found}"
        );
    }
}
