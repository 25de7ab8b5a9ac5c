// SPDX-License-Identifier: Apache-2.0
//! The predicted error holds for every input that the program takes, whatever its sample was.

use num_complex::Complex64;
use proptest::prelude::*;
use ringmill_isa::macros::{MacroProgram, Visibility};

use crate::random::{Case, cases, line};
use crate::run::{errors, run, small_params};
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::reference::evaluate;
use ringmill_compiler::ckks::{Compiled, InputRange, Options};
use ringmill_compiler::{CompileError, compile};

/// Asserts that no error of a run is larger than predicted.
fn check(compiled: &Compiled, inputs: &[Vec<Complex64>]) -> Result<(), TestCaseError> {
    let expected = evaluate(&compiled.source, inputs).unwrap();
    let found = errors(&run(compiled, inputs), &expected);
    for (error, predicted) in found.iter().zip(&compiled.predicted) {
        prop_assert!(
            *error <= predicted.error,
            "{error:e} beyond {:e}",
            predicted.error
        );
    }
    Ok(())
}

/// Returns inputs of a program at the ends of their ranges. In a real range each slot takes the end on the side of the
/// case's slot. In a disc it lies on the circle, in the direction of the case's slot.
fn at_the_ends(compiled: &Compiled, case: &Case) -> Vec<Vec<Complex64>> {
    let end = |range: InputRange, z: &Complex64| match range {
        InputRange::Real { lowest, .. } if z.re < 0.0 => Complex64::new(lowest, 0.0),
        InputRange::Real { highest, .. } => Complex64::new(highest, 0.0),
        InputRange::Disc { radius } if z.norm() > 0.0 => z * (radius / z.norm()),
        InputRange::Disc { radius } => Complex64::new(radius, 0.0),
    };
    let inputs = compiled.inputs.iter().zip(&case.inputs);
    inputs
        .map(|(input, v)| v.iter().map(|z| end(input.range, z)).collect())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Runs random programs at the ends of the ranges that their samples declare: twice as far out as the samples, up
    /// to a power of two.
    #[test]
    fn no_input_at_the_end_of_its_range_has_a_larger_error(case in cases(4..30), real: bool) {
        let eighth = |z: &Complex64| if real { Complex64::new(z.re / 8.0, 0.0) } else { z / 8.0 };
        let sample = case.inputs.iter().map(|v| v.iter().map(eighth).collect()).collect();
        let options = Options {
            sample: Some(sample),
            ..Options::given(small_params())
        };
        let compiled = match compile(case.program.clone(), &options) {
            Err(CompileError::Transparent { .. } | CompileError::Meaningless { .. }) => return Ok(()),
            compiled => compiled.unwrap(),
        };
        check(&compiled, &at_the_ends(&compiled, &case))?;
    }
}

/// Returns the program of x^(2^squarings).
fn power(squarings: u32) -> MacroProgram {
    let mut t = TraceBuilder::new("power", 8).unwrap();
    let mut x = t.input("x", Visibility::Encrypted, line(1)).unwrap();
    for _ in 0..squarings {
        x = t.square(x, line(2)).unwrap();
    }
    t.output("y", x, line(3)).unwrap();
    t.finish()
}

/// Checks the error of x^32, compiled with a sample of ones, up to x = 2, the end of the declared range.
#[test]
fn what_a_sample_predicts_holds_at_the_end_of_its_range() {
    let ones = vec![Complex64::new(1.0, 0.0); 8];
    let bits = |options: Options| {
        let compiled = compile(power(5), &options).unwrap();
        for end in [0.0, 1.0, 2.0] {
            check(&compiled, &[vec![Complex64::new(end, 0.0); 8]]).unwrap();
        }
        assert!(!compiled.inputs[0].range.contains(2.0001, 0.0));
        compiled.predicted[0].bits()
    };
    let by_sample = bits(Options {
        sample: Some(vec![ones]),
        ..Options::given(small_params())
    });
    let declared = InputRange::Real {
        lowest: 0.0,
        highest: 2.0,
    };
    let by_range = bits(Options {
        ranges: vec![Some(declared)],
        ..Options::given(small_params())
    });
    assert_eq!(by_sample, by_range);
}
