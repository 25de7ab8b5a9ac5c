// SPDX-License-Identifier: Apache-2.0
//! The spans of a program's values hold every slot that the program computes.

use num_complex::Complex64;
use proptest::prelude::*;
use ringmill_compiler::ckks::InputRange;
use ringmill_compiler::ckks::reference::evaluate_observed;
use ringmill_compiler::internals::{Span, Spans};
use ringmill_schemes::ckks::Slots;

use crate::random::cases;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Checks that every value that a program computes from inputs within the ranges lies in its span.
    #[test]
    fn no_value_leaves_its_span(case in cases(4..40), real: bool, by_slot: bool, shift in -1.0..1.0f64) {
        let clip = |z: Complex64| if real { Complex64::new(z.re + shift, 0.0) } else { z };
        let inputs: Vec<Vec<Complex64>> =
            case.inputs.iter().map(|v| v.iter().map(|&z| clip(z)).collect()).collect();
        let range = |v: &Vec<Complex64>| {
            let bound = |f: fn(f64, f64) -> f64, part: fn(&Complex64) -> f64, start: f64|
                v.iter().map(part).fold(start, f);
            if real {
                InputRange::Real {
                    lowest: bound(f64::min, |z| z.re, f64::INFINITY),
                    highest: bound(f64::max, |z| z.re, f64::NEG_INFINITY),
                }
            } else {
                InputRange::Disc { radius: bound(f64::max, |z| z.norm(), 0.0) }
            }
        };
        let ranges: Vec<InputRange> = inputs.iter().map(range).collect();
        prop_assert!(inputs.iter().zip(&ranges).all(|(v, r)| v.iter().all(|z| r.contains(z.re, z.im))));
        let mut spans = Spans::new(&case.program, &ranges, by_slot);
        for instr in &case.program.instrs {
            spans.step(instr).unwrap();
        }
        let mut outside = None;
        evaluate_observed(&case.program, &inputs, &mut |value, slots| {
            let room = |x: f64| x.abs() * 1e-12 + 1e-12;
            let span = spans.get(value);
            let inside = slots.iter().enumerate().all(|(i, z)| match &span {
                Span::Real { lowest, highest } => {
                    let (l, h) = (lowest.at(i), highest.at(i));
                    (l - room(l)..=h + room(h)).contains(&z.re) && z.im.abs() < 1e-12
                }
                Span::Complex(ball) => ball.holds(i, z.re, z.im, room(ball.magnitude().at(i))),
            });
            if !inside {
                outside = Some((value, span));
            }
        }).unwrap();
        prop_assert!(outside.is_none(), "{outside:?}");
    }
}

#[test]
fn constants_are_exact_and_squares_have_a_sign() {
    let real = |l, h| Span::Real {
        lowest: Slots::All(l),
        highest: Slots::All(h),
    };
    assert_eq!(real(-3.0, 2.0).squared(), real(0.0, 9.0));
    assert_eq!(real(-3.0, -2.0).squared(), real(4.0, 9.0));
    assert_eq!(real(-3.0, 2.0).times(&real(-1.0, 5.0)), real(-15.0, 10.0));
    assert_eq!(real(-3.0, 2.0).scaled(-2.0), real(-4.0, 6.0));
    let masked = real(-3.0, 2.0).times(&Span::constant(&[(1.0, 0.0), (0.0, 0.0)]));
    assert_eq!(masked.magnitude(), Slots::each(vec![3.0, 0.0]));
    let range = InputRange::Real {
        lowest: 0.0,
        highest: 1.0,
    };
    assert!(range.contains(1.0, 0.0) && !range.contains(1.0, 1e-9) && !range.contains(-1e-9, 0.0));
    assert!(!range.contains(f64::NAN, 0.0));
    assert!(!InputRange::Disc { radius: f64::NAN }.is_valid());
}
