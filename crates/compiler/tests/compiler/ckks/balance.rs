// SPDX-License-Identifier: Apache-2.0
//! Powers of two between values and their ciphertexts, so that no product multiplies an error.

use num_complex::Complex64;
use proptest::prelude::*;
use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::ckks::reference::evaluate;
use ringmill_compiler::ckks::{Compiled, InputRange, Options};
use ringmill_compiler::{CompileError, compile};
use ringmill_isa::macros::{MacroOp, MacroProgram, Visibility};

use crate::random::{numbers, vector};
use crate::run::{errors, run, twenty_bits};

const SLOTS: u32 = 8;
/// A fit of the sigmoid on [-10, 10].
const SIGMOID: [f64; 8] = [0.5, 0.1968, 0.0, -5.437e-3, 0.0, 7.485e-5, 0.0, -3.566e-7];

fn within(size: f64) -> InputRange {
    InputRange::Real {
        lowest: -size,
        highest: size,
    }
}

fn compiled(program: MacroProgram, sizes: &[f64]) -> Result<Compiled, CompileError> {
    let ranges = sizes.iter().map(|&size| Some(within(size)));
    let options = Options {
        ranges: ranges.collect(),
        ..twenty_bits()
    };
    compile(program, &options)
}

/// Returns vectors of real numbers, one for each size, which is the largest absolute value.
fn inputs(seed: u64, sizes: &[f64]) -> Vec<Vec<Complex64>> {
    let mut next = numbers(seed);
    let mut vector = |size: &f64| {
        let mut slots: Vec<_> = (0..SLOTS)
            .map(|_| Complex64::new(next() * size, 0.0))
            .collect();
        (slots[0], slots[1]) = (Complex64::new(*size, 0.0), Complex64::new(-size, 0.0));
        slots
    };
    sizes.iter().map(&mut vector).collect()
}

/// Runs a compiled program, and checks that no error exceeds the predicted one, and that each output has 20 bits by
/// prediction.
fn check(compiled: &Compiled, inputs: &[Vec<Complex64>]) -> Result<(), TestCaseError> {
    let expected = evaluate(&compiled.source, inputs).unwrap();
    let got = run(compiled, inputs);
    for (error, predicted) in errors(&got, &expected).iter().zip(&compiled.predicted) {
        prop_assert!(*error <= predicted.error, "{error:e} {predicted:?}");
        prop_assert!(predicted.bits() >= 20.0, "{predicted:?}");
    }
    Ok(())
}

/// Returns whether a ciphertext of the program holds another number than its value: whether a scale is further from the
/// default one, and from its square, than primes differ from each other.
fn is_balanced(compiled: &Compiled) -> bool {
    let default = compiled.params.default_scale().log2();
    let scales = compiled
        .managed
        .types
        .iter()
        .filter_map(|ty| match ty.polys() {
            Some(_) => ty.at()?.scaled(),
            None => None,
        });
    let mut logs = scales.map(|at| at.scale.log2());
    logs.any(|log| (log - default).abs() > 0.5 && (log - 2.0 * default).abs() > 0.5)
}

fn of_one(size: f64, f: impl Fn(&mut TraceBuilder, Traced) -> Traced) -> Compiled {
    let mut t = TraceBuilder::new("balance", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = f(&mut t, x);
    t.output("y", y, None).unwrap();
    let compiled = compiled(t.finish(), &[size]).unwrap();
    check(&compiled, &inputs(1, &[size])).unwrap();
    compiled
}

#[test]
fn a_polynomial_of_a_wide_argument_needs_no_large_scale() {
    let wide = of_one(10.0, |t, x| t.polynomial(x, &SIGMOID, None).unwrap());
    assert!(is_balanced(&wide));
    let powers = SIGMOID.iter().enumerate();
    let narrow: Vec<f64> = powers.map(|(k, c)| c * 10f64.powi(k as i32)).collect();
    let narrow = of_one(1.0, |t, x| t.polynomial(x, &narrow, None).unwrap());
    assert!(!is_balanced(&narrow));
    let bits = |compiled: &Compiled| compiled.params.default_scale().log2();
    assert!(
        bits(&wide) <= bits(&narrow) + 4.0,
        "{} {}",
        bits(&wide),
        bits(&narrow)
    );
}

#[test]
fn an_argument_that_is_an_output_too_keeps_its_value() {
    let mut t = TraceBuilder::new("balance", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = t.polynomial(x, &SIGMOID, None).unwrap();
    t.output("x", x, None).unwrap();
    t.output("y", y, None).unwrap();
    let compiled = compiled(t.finish(), &[10.0]).unwrap();
    check(&compiled, &inputs(2, &[10.0])).unwrap();
    let outputs = compiled
        .managed
        .instrs
        .iter()
        .filter(|i| i.op == MacroOp::Output);
    assert_eq!(outputs.count(), 2);
}

/// Adds a random step to a program: returns another value of about the size of its operands' product or sum.
fn step(
    t: &mut TraceBuilder,
    values: &[Traced],
    (kind, a, b): (u8, u16, u16),
    next: &mut impl FnMut() -> f64,
) -> Traced {
    let pick = |choice: u16| values[choice as usize % values.len()];
    let (a, b) = (pick(a), pick(b));
    match kind % 7 {
        0 => t.add(a, b, None).unwrap(),
        1 => t.sub(a, b, None).unwrap(),
        2 => t.rotate(a, 1 + i64::from(kind) % 7, None).unwrap(),
        3 => {
            let mask = t.vector(vector(next), None).unwrap();
            t.mul(a, mask, None).unwrap()
        }
        4 => {
            let factor = t.scalar(next() * 0.1, None).unwrap();
            t.mul(a, factor, None).unwrap()
        }
        5 => {
            let term = t.scalar(next() * 20.0, None).unwrap();
            t.add(a, term, None).unwrap()
        }
        _ => t.mul(a, b, None).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    /// Polynomials of arguments of any size, beside masks, rotations, sums, products and plain inputs.
    #[test]
    fn random_programs_of_values_of_any_size(
        size in 1.0..40.0f64,
        degree in 2..8usize,
        steps in prop::collection::vec(any::<(u8, u16, u16)>(), 0..6),
        seed in any::<u64>(),
    ) {
        let mut next = numbers(seed);
        let mut t = TraceBuilder::new("balance", SLOTS).unwrap();
        let x = t.input("x", Visibility::Encrypted, None).unwrap();
        let y = t.input("y", Visibility::Encrypted, None).unwrap();
        let z = t.input("z", Visibility::Plain, None).unwrap();
        let sizes = [size, 1.0 / size, 1.0];
        let shifted = t.add(x, y, None).unwrap();
        let mut values = vec![x, y, shifted];
        values.push(t.mul(y, z, None).unwrap());
        let c: Vec<f64> = (0..=degree as i32).map(|k| next() / size.powi(k)).collect();
        values.push(t.polynomial(shifted, &c, None).unwrap());
        let depth = |t: &mut TraceBuilder, values: &mut Vec<Traced>, s, next: &mut _| {
            let value = step(t, values, s, next);
            values.push(value);
        };
        for s in steps {
            depth(&mut t, &mut values, s, &mut next);
        }
        for (number, &value) in values.iter().rev().take(2).enumerate() {
            t.output(&format!("out{number}"), value, None).unwrap();
        }
        match compiled(t.finish(), &sizes) {
            Ok(compiled) => check(&compiled, &inputs(seed, &sizes))?,
            Err(
                CompileError::Transparent { .. }
                | CompileError::TooPrecise { .. }
                | CompileError::TooLarge { .. }
                | CompileError::NoParameters { .. },
            ) => {}
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
    }
}

#[test]
fn values_that_are_zero_have_no_size() {
    let mut t = TraceBuilder::new("zero", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let wide = t.polynomial(x, &SIGMOID, None).unwrap();
    t.output("wide", wide, None).unwrap();
    let y = t.input("y", Visibility::Encrypted, None).unwrap();
    let square = t.square(y, None).unwrap();
    let sum = t.add(square, wide, None).unwrap();
    t.output("sum", sum, None).unwrap();
    let compiled = compiled(t.finish(), &[10.0, 0.0]).unwrap();
    check(&compiled, &inputs(3, &[10.0, 0.0])).unwrap();
}

#[test]
fn values_without_a_bound_have_no_size() {
    let mut t = TraceBuilder::new("growing", SLOTS).unwrap();
    let mut x = t.input("x", Visibility::Encrypted, None).unwrap();
    let factor = t.scalar(0.75, None).unwrap();
    for _ in 0..12 {
        let square = t.square(x, None).unwrap();
        x = t.mul(square, factor, None).unwrap();
    }
    t.output("x", x, None).unwrap();
    assert!(compiled(t.finish(), &[10.0]).is_err());
}
