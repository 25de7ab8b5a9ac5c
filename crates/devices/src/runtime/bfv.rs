//! BFV programs in the run time: messages are whole numbers, and the report says what budget is left.

use ringmill_compiler::CompiledInput;
use ringmill_compiler::bfv::Compiled;
use ringmill_compiler::exact::whole;
use ringmill_schemes::bfv::{Bfv, BfvError, Ciphertext, KeyHolder, Operator};
use ringmill_schemes::exact::ExactParams;

use super::RuntimeError;
use super::client::Client;
use super::scheme::Runs;
use crate::device::Outcome;
use crate::report::{KeyReport, NoiseReport, RunReport};

impl Runs for Bfv {
    type Holder = KeyHolder;
    type Operator = Operator;
    type Report = RunReport;

    fn constant(slots: &[(f64, f64)]) -> Option<Vec<i64>> {
        slots.iter().map(|&(re, _)| whole(re)).collect()
    }

    fn check(
        input: &CompiledInput<Self>,
        slots: usize,
        values: &Vec<i64>,
    ) -> Result<(), RuntimeError<BfvError>> {
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

    fn report(
        compiled: &Compiled,
        device: &str,
        outcome: &Outcome,
        keys: Option<KeyReport>,
    ) -> RunReport {
        let mut report = RunReport::new(device, compiled, outcome);
        report.keys = keys;
        report.parameters.plain_modulus = Some(compiled.params.plain_modulus().value());
        let outputs = compiled.outputs.iter().zip(&compiled.predicted);
        let noise = outputs.map(|(output, predicted)| NoiseReport {
            output: output.name.clone(),
            predicted_bits: predicted.budget,
        });
        report.noise = noise.collect();
        report
    }
}

impl Client<Bfv> {
    /// Bits by which the noise of a ciphertext may still grow before its message is lost.
    ///
    /// # Errors
    /// Ciphertexts of other parameters or another key.
    pub fn noise_budget(&self, cipher: &Ciphertext) -> Result<u32, RuntimeError<BfvError>> {
        let budget = self.holder().noise_budget(cipher);
        budget.map_err(RuntimeError::Scheme)
    }
}
