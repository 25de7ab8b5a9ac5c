//! BGV programs in the run time.

use ringmill_compiler::CompiledInput;
use ringmill_compiler::bgv::Compiled;
use ringmill_schemes::bgv::{Bgv, BgvError, KeyHolder, Operator};

use super::scheme::Runs;
use super::{RuntimeError, exact};
use crate::device::Outcome;
use crate::report::{KeyReport, RunReport};

impl Runs for Bgv {
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
    ) -> Result<(), RuntimeError<BgvError>> {
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
