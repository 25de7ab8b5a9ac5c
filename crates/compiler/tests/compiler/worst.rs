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

/// No error is larger than predicted.
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

/// Inputs of a program at the ends of their ranges, by slot at either end or on the whole circle as in a case's inputs.
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

    /// Random programs at the corners of what their samples declare, twice as far out and up to a power of two.
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

/// x^32 with a sample of ones was once off by far more than predicted at x = 2, which it takes.
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
