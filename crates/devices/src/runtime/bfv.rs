//! BFV programs in the run time.

use ringmill_compiler::CompiledInput;
use ringmill_compiler::bfv::Compiled;
use ringmill_schemes::bfv::{Bfv, BfvError, KeyHolder, Operator};

use super::scheme::Runs;
use super::{RuntimeError, exact};
use crate::device::Outcome;
use crate::report::{KeyReport, RunReport};

impl Runs for Bfv {
    type Holder = KeyHolder;
    type Operator = Operator;
    type Report = RunReport;

    fn constant(slots: &[(f64, f64)]) -> Option<Vec<i64>> {
        exact::constant(slots)
    }

    fn check(
        input: &CompiledInput<Self>,
        slots: usize,
        values: &Vec<i64>,
    ) -> Result<(), RuntimeError<BfvError>> {
        exact::check(input, slots, values)
    }

    fn report(
        compiled: &Compiled,
        device: &str,
        outcome: &Outcome,
        keys: Option<KeyReport>,
    ) -> RunReport {
        exact::report(compiled, device, outcome, keys)
    }
}
