//! BGV programs in the run time.

use ringmill_compiler::CompiledInput;
use ringmill_compiler::bgv::Compiled;
use ringmill_schemes::bgv::{Bgv, BgvError, KeyHolder, Operator};
use ringmill_schemes::rlwe::{EvaluationKeys, KeyRequest};
use ringmill_schemes::roles::KeyHolder as _;

use super::scheme::Runs;
use super::{RuntimeError, exact};
use crate::device::Outcome;
use crate::report::{KeyReport, RunReport};

impl Runs for Bgv {
    type Holder = KeyHolder;
    type Operator = Operator;
    type Report = RunReport;

    /// Of a program that bootstraps, bootstrapping's keys and what it takes beside them.
    fn evaluation_keys(
        compiled: &Compiled,
        holder: &KeyHolder,
    ) -> Result<EvaluationKeys, BgvError> {
        let own = |name: &KeyRequest| *name == KeyRequest::Encapsulation;
        let bootstraps = compiled.keys.iter().any(own);
        let Some(procedure) = compiled.bootstrapping.as_ref().filter(|_| bootstraps) else {
            return holder.evaluation_keys(&compiled.keys, compiled.seeded);
        };
        let mut keys = procedure.keys(holder.generator()).map_err(BgvError::from)?;
        let there = procedure.key_names();
        let others = compiled.keys.iter().filter(|name| !there.contains(name));
        let others: Vec<KeyRequest> = others.copied().collect();
        let others = holder.evaluation_keys(&others, compiled.seeded)?;
        for (g, key) in others.galois.iter() {
            keys.galois.insert(g, key.clone());
        }
        Ok(keys)
    }

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
