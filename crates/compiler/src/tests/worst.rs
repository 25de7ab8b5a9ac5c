//! The bound that shared decryptions rest on: it holds for every input that the program takes, whatever its sample was.

use std::sync::Arc;

use num_complex::Complex64;
use proptest::prelude::*;
use ringmill_isa::macros::{MacroProgram, Visibility};
use ringmill_schemes::ckks::Params;

use super::random::{Case, cases, line};
use super::run::{errors, run, small_params};
use crate::builder::TraceBuilder;
use crate::ckks::reference::evaluate;
use crate::ckks::{Compiled, InputRange, Options, Worst};
use crate::{CompileError, compile};

/// Larger errors than the sample predicts, and none beyond the bound for all inputs.
fn check(compiled: &Compiled, inputs: &[Vec<Complex64>]) -> Result<usize, TestCaseError> {
    let expected = evaluate(&compiled.source, inputs).unwrap();
    let found = errors(&run(compiled, inputs), &expected);
    let mut beyond = 0;
    for (error, predicted) in found.iter().zip(&compiled.predicted) {
        if let Worst::Bound(bound) = predicted.worst {
            prop_assert!(*error <= bound, "{error:e} beyond {bound:e}");
            // What a sample predicts is rounded up to an eighth of a bit.
            prop_assert!(predicted.error <= bound * 0.126f64.exp2());
        }
        beyond += usize::from(*error > predicted.error);
    }
    Ok(beyond)
}

/// The inputs of a case as far out as a radius of 1 allows, by slot turned or not.
fn at_the_end(case: &Case, turned: bool) -> Vec<Vec<Complex64>> {
    let unit = |z: &Complex64| match turned && z.norm() > 0.0 {
        true => z / z.norm(),
        false => Complex64::new(1.0, 0.0),
    };
    let inputs = case.inputs.iter();
    inputs.map(|v| v.iter().map(unit).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Random programs with samples of an eighth of what they take.
    #[test]
    fn no_input_at_the_end_of_its_range_has_a_larger_error(case in cases(4..30), turned: bool, real: bool) {
        let eighth = |v: &Vec<Complex64>| vec![Complex64::new(0.125, 0.0); v.len()];
        let one = InputRange::Real { lowest: -1.0, highest: 1.0 };
        let options = Options {
            sample: Some(case.inputs.iter().map(eighth).collect()),
            margin: 8.0,
            ranges: if real { vec![Some(one); case.inputs.len()] } else { Vec::new() },
            ..Options::given(small_params())
        };
        let compiled = match compile(case.program.clone(), &options) {
            Err(CompileError::Transparent { .. } | CompileError::Meaningless { .. }) => return Ok(()),
            compiled => compiled.unwrap(),
        };
        let bounded = compiled.predicted.iter().all(|p| matches!(p.worst, Worst::Bound(_)));
        prop_assert!(bounded, "every value of these fits: {:?}", compiled.predicted);
        check(&compiled, &at_the_end(&case, turned && !real))?;
    }
}

/// x^(2^squarings).
fn power(squarings: u32) -> MacroProgram {
    let mut t = TraceBuilder::new("power", 8).unwrap();
    let mut x = t.input("x", Visibility::Encrypted, line(1)).unwrap();
    for _ in 0..squarings {
        x = t.square(x, line(2)).unwrap();
    }
    t.output("y", x, line(3)).unwrap();
    t.finish()
}

fn with_sample(squarings: u32, sample: f64, margin: f64) -> Compiled {
    let options = Options {
        sample: Some(vec![vec![Complex64::new(sample, 0.0); 8]]),
        margin,
        ..Options::given(small_params())
    };
    compile(power(squarings), &options).unwrap()
}

/// x^32 with a sample of ones is off by far more than predicted at x = 2, which it takes.
#[test]
fn a_sample_says_nothing_of_the_inputs_at_the_end() {
    let compiled = with_sample(5, 1.0, 2.0);
    let two = vec![vec![Complex64::new(2.0, 0.0); 8]];
    assert!(compiled.inputs[0].range.contains(2.0, 0.0));
    assert_eq!(check(&compiled, &two).unwrap(), 1);
    let Worst::Bound(bound) = compiled.predicted[0].worst else {
        panic!("{:?}", compiled.predicted);
    };
    assert!(bound > 1e4 * compiled.predicted[0].error);
}

#[test]
fn without_a_sample_the_bound_is_the_prediction() {
    let compiled = compile(power(3), &Options::given(small_params())).unwrap();
    let predicted = compiled.predicted[0];
    assert_eq!(predicted.worst, Worst::Bound(predicted.error));
}

/// With the error that a sample predicts every value fits; with that of other inputs some value may not.
#[test]
fn where_a_value_with_its_error_may_outgrow_its_level_there_is_no_bound() {
    let builder = Params::builder(8).prime_bits(&[30, 22, 22], &[30]);
    let builder = builder.default_scale(22f64.exp2());
    let params = builder.allow_insecure_parameters_for_tests_only();
    let params = params.build().unwrap();
    let compiled = |largest: f64| {
        let options = Options {
            sample: Some(vec![vec![Complex64::new(largest / 64.0, 0.0); 8]]),
            margin: 1.0,
            // Declared, as what a sample says is rounded up.
            ranges: vec![Some(InputRange::Disc { radius: largest })],
            ..Options::given(Arc::clone(&params))
        };
        compile(power(2), &options)
    };
    // As large as the program takes its input, by what the sample says of errors.
    let (mut fits, mut large) = (1.0, 1e6);
    for _ in 0..60 {
        let middle = f64::midpoint(fits, large);
        match compiled(middle) {
            Ok(_) => fits = middle,
            Err(_) => large = middle,
        }
    }
    let bound = |largest| compiled(largest).unwrap().predicted[0].worst;
    assert_eq!(bound(fits), Worst::Overflow);
    assert!(matches!(bound(fits / 2.0), Worst::Bound(_)));
}
