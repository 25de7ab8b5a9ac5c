// SPDX-License-Identifier: Apache-2.0
//! Outputs have the digits or bits that the user demands, or the program is refused.

use num_complex::Complex64;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::reference::evaluate;
use ringmill_compiler::ckks::{Compiled, InputRange, Options, Reference, Wanted};
use ringmill_compiler::{Accuracy, CompileError, ParamsChoice, compile};
use ringmill_isa::macros::{MacroProgram, Visibility};

use crate::run::{errors, run};

const SLOTS: u32 = 8;

/// Returns a program with the outputs `x * x` and `x * 0.001`.
fn two_sizes() -> MacroProgram {
    let mut t = TraceBuilder::new("two_sizes", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let square = t.mul(x, x, None).unwrap();
    let by = t.scalar(0.001, None).unwrap();
    let small = t.mul(x, by, None).unwrap();
    t.output("square", square, None).unwrap();
    t.output("small", small, None).unwrap();
    t.finish()
}

fn options(accuracy: Accuracy, largest: f64) -> Options {
    let range = InputRange::Real {
        lowest: -largest,
        highest: largest,
    };
    Options {
        params: ParamsChoice::Choose(Wanted {
            accuracy,
            ..Wanted::default()
        }),
        ranges: vec![Some(range)],
        ..Options::default()
    }
}

fn chosen(accuracy: Accuracy, largest: f64) -> Compiled {
    compile(two_sizes(), &options(accuracy, largest)).unwrap()
}

#[test]
fn six_digits_are_the_default() {
    assert_eq!(Wanted::default().accuracy, Accuracy::Digits(6));
}

#[test]
fn digits_are_relative_to_each_outputs_own_bound() {
    for largest in [1.0, 1e5] {
        let compiled = chosen(Accuracy::Digits(6), largest);
        let bounds = [largest * largest, largest * 0.001];
        for (output, bound) in compiled.predicted.iter().zip(bounds) {
            let Reference::Bound(reference) = output.reference() else {
                panic!("{output:?}");
            };
            assert!((reference / bound - 1.0).abs() < 1e-9, "{output:?}");
            assert!(output.digits() >= 6.0, "{output:?}");
            assert!(output.error <= bound * 1e-6, "{output:?}");
        }
    }
}

#[test]
fn six_digits_of_large_values_take_a_smaller_modulus_than_twenty_bits_after_the_point() {
    let qp_bits = |accuracy| chosen(accuracy, 1000.0).params.security().qp_bits;
    assert!(qp_bits(Accuracy::Digits(3)) < qp_bits(Accuracy::Digits(6)));
    assert!(qp_bits(Accuracy::Digits(6)) < qp_bits(Accuracy::Bits(20)));
}

#[test]
fn digits_are_relative_to_the_largest_value_on_the_sample() {
    let sample = |x: f64| Options {
        sample: Some(vec![vec![Complex64::new(x, 0.0); SLOTS as usize]]),
        ..options(Accuracy::Digits(5), 100.0)
    };
    let compiled = compile(two_sizes(), &sample(3.0)).unwrap();
    for (output, largest) in compiled.predicted.iter().zip([8.0, 1.0 / 512.0]) {
        let Reference::Sample(reference) = output.reference() else {
            panic!("{output:?}");
        };
        assert!((reference / largest - 1.0).abs() < 1e-9, "{output:?}");
        assert!(output.digits() >= 5.0);
        assert!(output.error_like_sample.unwrap() <= largest * 1e-5);
    }
    // A sample on which an output is zero, up to the rounding of doubles, says nothing of the output's size.
    for zero in [0.0, 1e-11] {
        let compiled = compile(two_sizes(), &sample(zero)).unwrap();
        let reference = compiled.predicted[0].reference();
        assert!(matches!(reference, Reference::Bound(_)), "{reference:?}");
    }
}

#[test]
fn results_have_the_digits() {
    for largest in [1.0, 5000.0] {
        let compiled = chosen(Accuracy::Digits(6), largest);
        let inputs = vec![
            (0..SLOTS)
                .map(|slot| Complex64::new(largest * (f64::from(slot) - 3.5) / 3.5, 0.0))
                .collect(),
        ];
        let expected = evaluate(&compiled.source, &inputs).unwrap();
        let found = errors(&run(&compiled, &inputs), &expected);
        for (error, output) in found.into_iter().zip(&compiled.predicted) {
            assert!(error <= output.error && output.error <= output.magnitude * 1e-6);
        }
    }
}

#[test]
fn too_many_digits_are_refused_with_those_that_can_be_had() {
    let refused = compile(two_sizes(), &options(Accuracy::Digits(16), 1.0)).unwrap_err();
    let CompileError::TooPrecise {
        reachable: Accuracy::Digits(digits),
        ..
    } = refused
    else {
        panic!("{refused}");
    };
    let said = refused.to_string();
    assert!(said.starts_with("16 digits cannot be reached"), "{said}");
    assert!(said.contains(&format!("ask for {digits} digits")), "{said}");
    compile(two_sizes(), &options(Accuracy::Digits(digits), 1.0)).unwrap();
    assert!(compile(two_sizes(), &options(Accuracy::Digits(digits + 1), 1.0)).is_err());
}
