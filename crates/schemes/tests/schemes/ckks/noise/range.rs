// SPDX-License-Identifier: Apache-2.0
//! Tests bounds on the ranges of polynomials and powers.

use num_complex::Complex64;
use proptest::prelude::*;
use ringmill_schemes::ckks::{Ball, Slots};
use ringmill_schemes::internals::range::{of_polynomial, power};

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
