// SPDX-License-Identifier: Apache-2.0
//! Converts messages and ranges of whole numbers between the schemes of integers and front ends.

use ringmill_isa::macros::MacroProgram;

use super::IntegerRange;
use super::reference::evaluate;
use crate::numbers::{Ends, Values};
use crate::reference::EvaluateError;

pub(crate) fn message(values: Values) -> Option<Vec<i64>> {
    match values {
        Values::Whole(values) => Some(values),
        Values::Complex(_) => None,
    }
}

pub(crate) fn declared(ends: Ends) -> Option<IntegerRange> {
    match ends {
        Ends::Whole(low, high) => IntegerRange::new(low, high),
        Ends::Real(..) | Ends::Disc(_) => None,
    }
}

/// Evaluates a program's outputs without encryption, in 64 bits as decrypted outputs have.
pub(crate) fn outputs(
    program: &MacroProgram,
    inputs: &[Vec<i64>],
) -> Result<Vec<Vec<i64>>, EvaluateError> {
    let widened = inputs.iter();
    let widened: Vec<Vec<i128>> = widened
        .map(|vector| vector.iter().map(|&x| x.into()).collect())
        .collect();
    let outputs = evaluate(program, &widened)?;
    let narrow = |(vector, name): (Vec<i128>, &String)| {
        let one = |(slot, value): (usize, i128)| {
            let beyond = |_| EvaluateError::Beyond {
                slot,
                name: name.clone(),
                value,
            };
            i64::try_from(value).map_err(beyond)
        };
        vector.into_iter().enumerate().map(one).collect()
    };
    outputs
        .into_iter()
        .zip(&program.outputs)
        .map(narrow)
        .collect()
}

/// Implements the functions of [`Compiles`](crate::Compiles) that are the same for all schemes of integers.
macro_rules! of_integers {
    () => {
        const NUMBERS: $crate::Numbers = $crate::Numbers::Whole;

        fn message(values: $crate::Values) -> Option<Vec<i64>> {
            $crate::exact::messages::message(values)
        }

        fn values(message: Vec<i64>) -> $crate::Values {
            $crate::Values::Whole(message)
        }

        fn declared(ends: $crate::Ends) -> Option<$crate::exact::IntegerRange> {
            $crate::exact::messages::declared(ends)
        }

        fn ends(range: &$crate::exact::IntegerRange) -> $crate::Ends {
            $crate::Ends::Whole(range.low(), range.high())
        }

        fn sampled(sample: &Vec<i64>, margin: f64) -> $crate::exact::IntegerRange {
            let largest = $crate::exact::range::as_large(sample, margin);
            $crate::exact::IntegerRange::up_to(largest)
        }

        fn narrowed(range: &$crate::exact::IntegerRange) -> $crate::exact::IntegerRange {
            range.narrowed()
        }

        fn evaluate(
            program: &ringmill_isa::macros::MacroProgram,
            inputs: &[Vec<i64>],
        ) -> Result<Vec<Vec<i64>>, $crate::EvaluateError> {
            $crate::exact::messages::outputs(program, inputs)
        }

        fn simplified(
            program: ringmill_isa::macros::MacroProgram,
            passes: $crate::Passes,
        ) -> ringmill_isa::macros::MacroProgram {
            match passes.fold {
                true => $crate::exact::simplify::run(program),
                false => program,
            }
        }

        fn ranges(
            options: &$crate::Options<Self>,
            inputs: &[ringmill_isa::macros::MacroInput],
        ) -> Result<Vec<$crate::exact::IntegerRange>, $crate::scheme::ErrorOf<Self>> {
            $crate::exact::range::of_inputs(options, inputs)
        }
    };
}
pub(crate) use of_integers;
