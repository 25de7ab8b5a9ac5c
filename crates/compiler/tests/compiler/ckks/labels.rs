// SPDX-License-Identifier: Apache-2.0
//! Products with constants that only change scales take no level, and the results are right.

use num_complex::Complex64;
use proptest::prelude::*;
use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::ckks::reference::evaluate;
use ringmill_compiler::ckks::{Compiled, InputRange, Options};
use ringmill_compiler::{CompileError, compile};
use ringmill_isa::macros::{MacroProgram, Visibility};

use crate::random::cases;
use crate::run::{errors, run, small_params, twenty_bits};

const SLOTS: u32 = 8;

/// Returns the program that begins with y = x and computes `y = step(x, y)` `times` times.
fn iterated(
    times: u32,
    step: impl Fn(&mut TraceBuilder, Traced, Traced) -> Traced,
) -> MacroProgram {
    let mut t = TraceBuilder::new("iterated", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let mut y = x;
    for _ in 0..times {
        y = step(&mut t, x, y);
    }
    t.output("y", y, None).unwrap();
    t.finish()
}

fn times(t: &mut TraceBuilder, a: Traced, by: f64) -> Traced {
    let by = t.scalar(by, None).unwrap();
    t.mul(a, by, None).unwrap()
}

/// Computes `y * y * 0.5 + x * 0.1`.
fn quadratic(t: &mut TraceBuilder, x: Traced, y: Traced) -> Traced {
    let square = t.mul(y, y, None).unwrap();
    let (a, b) = (times(t, square, 0.5), times(t, x, 0.1));
    t.add(a, b, None).unwrap()
}

fn chosen(program: MacroProgram) -> Result<Compiled, CompileError> {
    let range = InputRange::Real {
        lowest: -1.0,
        highest: 1.0,
    };
    let options = Options {
        ranges: vec![Some(range); program.inputs.len()],
        ..twenty_bits()
    };
    compile(program, &options)
}

fn inputs(seed: u64, number: usize) -> Vec<Vec<Complex64>> {
    let mut next = crate::random::numbers(seed);
    let mut vector = || (0..SLOTS).map(|_| Complex64::new(next(), 0.0)).collect();
    (0..number).map(|_| vector()).collect()
}

/// Runs a compiled program, and asserts that no error exceeds the predicted one.
fn check(compiled: &Compiled, inputs: &[Vec<Complex64>]) {
    let expected = evaluate(&compiled.source, inputs).unwrap();
    let got = run(compiled, inputs);
    for (error, predicted) in errors(&got, &expected).iter().zip(&compiled.predicted) {
        assert!(*error <= predicted.error, "{error:e} {predicted:?}");
    }
}

#[test]
fn ten_products_with_constants_take_ten_levels() {
    let compiled = chosen(iterated(10, quadratic)).unwrap();
    assert_eq!(compiled.params.cipher_count(), 11);
    check(&compiled, &inputs(1, 1));
}

#[test]
fn a_label_that_no_power_of_two_is() {
    let step = |t: &mut TraceBuilder, _, y| {
        let square = t.mul(y, y, None).unwrap();
        times(t, square, 0.3)
    };
    let compiled = chosen(iterated(9, step)).unwrap();
    assert_eq!(compiled.params.cipher_count(), 10);
    check(&compiled, &inputs(2, 1));
}

#[test]
fn a_constant_far_from_one_takes_a_level() {
    let by = |constant: f64| {
        let step = |t: &mut TraceBuilder, _, y| times(t, y, constant);
        let compiled = chosen(iterated(1, step)).unwrap();
        check(&compiled, &inputs(3, 1));
        compiled.params.cipher_count()
    };
    assert_eq!([0.7, 1.9, 15.5, 1.0 / 15.0].map(by), [1; 4]);
    assert_eq!([0.01, 33.3].map(by), [2; 2]);
}

#[test]
fn operands_of_one_level_with_other_labels_take_a_level() {
    let sum = |a: f64, b: f64| {
        let mut t = TraceBuilder::new("sum", SLOTS).unwrap();
        let x = t.input("x", Visibility::Encrypted, None).unwrap();
        let y = t.input("y", Visibility::Encrypted, None).unwrap();
        let (x, y) = (times(&mut t, x, a), times(&mut t, y, b));
        let sum = t.add(x, y, None).unwrap();
        t.output("sum", sum, None).unwrap();
        let compiled = chosen(t.finish()).unwrap();
        check(&compiled, &inputs(4, 2));
        compiled.params.cipher_count()
    };
    assert_eq!(sum(0.3, 0.7), 2);
    // One operand is multiplied by an integer.
    assert_eq!(sum(0.25, 0.75), 1);
    assert_eq!(sum(0.3, -0.3), 1);
    assert_eq!(sum(1.0, -0.5), 1);
}

/// Compiles for parameters whose rescaling primes are all as large as the scale. Labels grow there until a product with
/// a constant takes a level.
#[test]
fn given_primes_hold_labels_for_some_levels() {
    let program = iterated(4, quadratic);
    let options = Options {
        input_bound: 1.0,
        ..Options::given(small_params())
    };
    let compiled = compile(program, &options).unwrap();
    check(&compiled, &inputs(5, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Compiles random programs with constants for parameters that the compiler chooses, and checks their errors.
    #[test]
    fn random_programs_at_chosen_parameters(case in cases(8..40)) {
        let options = Options::default();
        match compile(case.program.clone(), &options) {
            Err(CompileError::Transparent { .. }) => {}
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
            Ok(compiled) => check(&compiled, &case.inputs),
        }
    }
}
