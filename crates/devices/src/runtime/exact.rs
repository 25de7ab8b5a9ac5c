//! Programs of exact integers in the run time, for all their schemes alike: messages are whole numbers, and the report says
//! what budget is left.

use ringmill_compiler::exact::{IntegerRange, Prediction, whole};
use ringmill_compiler::{Compiled, CompiledInput, Compiles};
use ringmill_schemes::Scheme;
use ringmill_schemes::exact::{ExactError, ExactParams, ExactScheme, KeyHolder};
use ringmill_schemes::rlwe::{Annotation, RlweError};

use super::RuntimeError;
use super::client::Client;
use super::scheme::Runs;
use crate::device::Outcome;
use crate::report::{KeyReport, NoiseReport, RunReport};

/// A constant vector as a message; `None` where a slot is no whole number.
pub(super) fn constant(slots: &[(f64, f64)]) -> Option<Vec<i64>> {
    slots.iter().map(|&(re, _)| whole(re)).collect()
}

/// Refuses a message of another length, or with a value that the input was not compiled for.
pub(super) fn check<S>(
    input: &CompiledInput<S>,
    slots: usize,
    values: &[i64],
) -> Result<(), RuntimeError<S::Error>>
where
    S: Compiles<Range = IntegerRange>,
{
    if values.len() != slots {
        return Err(RuntimeError::VectorLength {
            name: input.name.clone(),
            expected: slots,
            got: values.len(),
        });
    }
    let outside = |&x: &i64| !input.range.contains(x.into());
    match values.iter().position(outside) {
        None => Ok(()),
        Some(slot) => Err(RuntimeError::IntegerOutOfRange {
            name: input.name.clone(),
            slot,
            value: values.get(slot).copied().unwrap_or_default(),
            range: Box::new(input.range),
        }),
    }
}

/// The report of a run, with the budget that is predicted of each output.
pub(super) fn report<S>(
    compiled: &Compiled<S>,
    device: &str,
    outcome: &Outcome,
    keys: Option<KeyReport>,
) -> RunReport
where
    S: Compiles<Prediction = Prediction, Params: ExactParams>,
{
    let mut report = RunReport::new(device, compiled, outcome);
    report.keys = keys;
    report.parameters.plain_modulus = Some(compiled.params.plain_modulus().value());
    let outputs = compiled.outputs.iter().zip(&compiled.predicted);
    let noise = outputs.map(|(output, predicted)| NoiseReport {
        output: output.name.clone(),
        predicted_bits: predicted.budget,
        measured_bits: None,
    });
    report.noise = noise.collect();
    report
}

impl<S, A> Client<S>
where
    S: Runs<Holder = KeyHolder<S>> + ExactScheme + Scheme<Annotation = A>,
    S::Params: ExactParams,
    S::Error: From<RlweError> + From<ExactError>,
    A: Annotation,
{
    /// Bits by which the noise of a ciphertext may still grow before its message is lost.
    ///
    /// # Errors
    /// Ciphertexts of other parameters or another key.
    pub fn noise_budget(&self, cipher: &S::Ciphertext) -> Result<u32, RuntimeError<S::Error>> {
        let budget = self.holder().noise_budget(cipher);
        budget.map_err(RuntimeError::Scheme)
    }
}
