// SPDX-License-Identifier: Apache-2.0
//! Tests arithmetic on balls of complex numbers.

use proptest::prelude::*;
use ringmill_schemes::ckks::{Ball, Slots};

fn ball() -> impl Strategy<Value = (Ball, [f64; 2])> {
    let at = -1.0..1.0f64;
    (at.clone(), at.clone(), 0.0..2.0f64, 0.0..1.0f64, at).prop_map(|(re, im, r, part, turn)| {
        let ball = Ball::constants(&[(re, im)]).plus(&Ball::disc(Slots::All(r)));
        let (sin, cos) = (turn * std::f64::consts::PI).sin_cos();
        (ball, [re + r * part * cos, im + r * part * sin])
    })
}

fn holds(ball: &Ball, [re, im]: [f64; 2]) -> bool {
    ball.holds(0, re, im, 1e-12) && re.hypot(im) <= ball.magnitude().at(0) + 1e-12
}

proptest! {
    #[test]
    fn what_is_computed_with_numbers_lies_in_what_is_computed_with_balls(
        (a, [p, q]) in ball(), (b, [r, s]) in ball(), factor in -2.0..2.0f64
    ) {
        prop_assert!(holds(&a.plus(&b), [p + r, q + s]));
        prop_assert!(holds(&a.times(&b), [p * r - q * s, p * s + q * r]));
        prop_assert!(holds(&a.scaled(factor), [p * factor, q * factor]));
        prop_assert!(holds(&a.conjugated(), [p, -q]));
        prop_assert!(holds(&a.widened(&Slots::All(0.5)), [p - 0.3, q + 0.4]));
    }
}

#[test]
fn intervals_and_constants() {
    let range = Ball::real(&Slots::All(-1.0), &Slots::each(vec![3.0, 5.0]));
    assert_eq!(range.magnitude(), Slots::each(vec![3.0, 5.0]));
    let z = Ball::constants(&[(3.0, -4.0), (0.0, 2.0)]);
    assert_eq!(z.magnitude(), Slots::each(vec![5.0, 2.0]));
    assert_eq!(z.rotated(1).magnitude().at(0), 2.0);
    let zero = z.plus(&z.scaled(-1.0)).magnitude();
    assert_eq!(zero.largest(usize::MAX), 0.0);
    assert_eq!(Ball::disc(Slots::All(2.0)).magnitude(), Slots::All(2.0));
}
