// SPDX-License-Identifier: Apache-2.0
//! Tests factors of the CKKS noise model that are polynomials of a program's values.

use num_complex::Complex64;
use proptest::prelude::*;
use ringmill_schemes::ckks::{Ball, Domain, Factor, Polynomial, Slots};
use ringmill_schemes::internals::Values;

const SLOTS: usize = 4;

/// A number in each slot, and the factor that the noise model knows for these numbers.
#[derive(Clone, Debug)]
struct Both {
    slots: Vec<Complex64>,
    factor: Factor,
}

fn is_zero(both: &Both) -> bool {
    both.factor.magnitude().largest(usize::MAX) == 0.0
}

/// Returns the ranges of two values: value 0 is real and between 0 and 1, value 1 complex and at most 1 in absolute
/// value.
fn values() -> Values {
    let mut values = Values::new(SLOTS);
    let half = Slots::All(0.5);
    let ball = Ball::exact(0.5).widened(&half);
    values.know(0, Domain { ball, real: true });
    let ball = Ball::disc(Slots::All(1.0));
    values.know(1, Domain { ball, real: false });
    values
}

fn own(value: u32, slots: &[Complex64], values: &Values) -> Both {
    let ball = values.get(value).unwrap().ball;
    Both {
        slots: slots.to_vec(),
        factor: Factor::new(ball, Some(Polynomial::own(value))),
    }
}

/// Applies the operation of number `number` to the numbers of `a` and `b`, and to their factors.
fn step(a: &Both, b: &Both, number: u8, values: &mut Values) -> Both {
    let zip = |f: fn(Complex64, Complex64) -> Complex64| -> Vec<Complex64> {
        a.slots
            .iter()
            .zip(&b.slots)
            .map(|(&x, &y)| f(x, y))
            .collect()
    };
    let (slots, factor) = match number % 6 {
        0 => (zip(|x, y| x + y), a.factor.plus(&b.factor, values)),
        1 => {
            let negated = b.factor.scaled(-1.0);
            (zip(|x, y| x - y), a.factor.plus(&negated, values))
        }
        2 => (zip(|x, y| x * y), a.factor.times(&b.factor, values)),
        3 => (zip(|x, _| x.conj()), a.factor.conjugated(values)),
        4 => {
            let mut slots = a.slots.clone();
            slots.rotate_left(1);
            (slots, a.factor.rotated(1, values))
        }
        _ => {
            let by = Slots::All(0.01);
            (zip(|x, _| x + 0.01), a.factor.widened(&by))
        }
    };
    Both { slots, factor }
}

proptest! {
    #[test]
    fn what_is_computed_lies_in_its_factor(
        real in prop::collection::vec(0.0..1.0f64, SLOTS),
        complex in prop::collection::vec((0.0..1.0f64, 0.0..7.0f64), SLOTS),
        steps in prop::collection::vec((any::<u8>(), any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..12)
    ) {
        let mut values = values();
        let real: Vec<Complex64> = real.into_iter().map(Complex64::from).collect();
        let complex: Vec<Complex64> = complex.into_iter().map(|(r, t)| Complex64::from_polar(r, t)).collect();
        let constant = Ball::constants(&[(0.5, 0.0), (-1.0, 0.25)]);
        let constants = [0, 1, 0, 1].map(|i| [Complex64::new(0.5, 0.0), Complex64::new(-1.0, 0.25)][i]);
        let mut known = vec![
            own(0, &real, &values),
            own(1, &complex, &values),
            Both { slots: constants.to_vec(), factor: constant.into() },
        ];
        for (number, a, b) in steps {
            let next = step(a.get(&known), b.get(&known), number, &mut values);
            for (slot, z) in next.slots.iter().enumerate() {
                let room = 1e-9 * (1.0 + z.norm());
                prop_assert!(next.factor.ball().holds(slot, z.re, z.im, room), "{z} in {next:?}");
            }
            if next.slots.iter().all(|z| z.norm() < 1e6) {
                known.push(next);
            }
        }
    }
}

#[test]
fn what_meets_with_the_opposite_sign_is_gone() {
    let mut values = values();
    let ones = [Complex64::new(1.0, 0.0); SLOTS];
    let (x, p) = (own(0, &ones, &values), own(1, &ones, &values));
    let mut run = |number, a: &Both, b: &Both| step(a, b, number, &mut values);
    // x (x + p) - x p is x^2, and x^2 - x is at most 1/4 in absolute value.
    let sum = run(0, &x, &p);
    let (product, mixed) = (run(2, &x, &sum), run(2, &x, &p));
    let square = run(1, &product, &mixed);
    assert!(square.factor.magnitude().at(0) < 1.01);
    let below = run(1, &square, &x);
    assert!(below.factor.magnitude().at(0) < 0.27);
    // p is the same after rotations through all slots and two conjugations. After one conjugation, only a real number
    // is.
    let turned = (0..SLOTS).fold(p.clone(), |p, _| run(4, &p, &p));
    let conjugate = run(3, &turned, &turned);
    let back = run(3, &conjugate, &conjugate);
    assert!(is_zero(&run(1, &back, &p)));
    assert!(!is_zero(&run(1, &conjugate, &p)));
    let conjugate = run(3, &x, &x);
    assert!(is_zero(&run(1, &conjugate, &x)));
    let turned = run(4, &x, &x);
    assert!(!is_zero(&run(1, &turned, &x)));
}

#[test]
fn past_the_room_balls_are_left() {
    let mut values = values();
    values.room = 0;
    let x = own(0, &[Complex64::new(1.0, 0.0); SLOTS], &values);
    let none = step(&x, &x, 1, &mut values);
    assert_eq!(none.factor.magnitude().at(0), 1.0);
}

/// A polynomial of a value is bounded in each slot by the value's range in that slot. The polynomial bounds x - x / 2
/// more closely than the difference of two balls.
#[test]
fn a_slots_bound_is_of_the_values_own_slot() {
    let mut values = Values::new(SLOTS);
    let numbers = [1.0, 2.0, 3.0, 4.0];
    let ball = Ball::constants(&numbers.map(|x| (x, 0.0))).widened(&Slots::All(0.1));
    values.know(0, Domain { ball, real: true });
    let x = own(0, &numbers.map(Complex64::from), &values).factor;
    let half = x.plus(&x.scaled(-0.5), &mut values);
    for (slot, number) in numbers.into_iter().enumerate() {
        assert!(half.ball().holds(slot, number / 2.0, 0.0, 0.06));
        assert!(!half.ball().holds(slot, number / 2.0 + 0.2, 0.0, 0.06));
    }
}
