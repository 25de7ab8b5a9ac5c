// SPDX-License-Identifier: Apache-2.0
//! Times the homomorphic operations of both parameter sets of the Medha paper, on our machines and on the CPU.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_cpu::Cpu;
use ringmill_isa::mid::Verified;
use ringmill_machines::ring::seen::seen;
use ringmill_runtime::shown::Parts;
use ringmill_schemes::ckks::{OpKey, Params, ProcCache};

use super::Named;
use crate::error::PaperError;
use crate::how::How;
use crate::scope::{Record, Scope, fields, record};
use crate::single::{self, measure, simulate};
use crate::value;

/// The number of timed operations, over both parameter sets.
pub const COUNT: usize = 2 * 3;

/// Returns the program of the homomorphic operation that the current row of `data/ring.toml` names (`key`), at the
/// highest level of these parameters.
///
/// # Errors
/// Returns [`PaperError::Tables`] if the row names another operation.
pub fn program(at: &Scope<'_>, params: &Arc<Params>) -> Result<Verified, PaperError> {
    let level = params.max_level();
    let key = match at.text("key")?.as_str() {
        "add" => OpKey::add(level, 2, 2),
        "mult_relin" => OpKey::mul_relin(level, true),
        "rescale" => OpKey::rescale(level, 2),
        key => return Err(PaperError::Tables(format!("no operation `{key}`"))),
    };
    single::program(ProcCache::new(Arc::clone(params)).get(&key)?)
}

/// The operations that were timed on our machines, by machine, parameter set and operation.
#[derive(Default)]
pub struct Operations(BTreeMap<[String; 3], Record>);

impl Operations {
    /// Returns the report of the operation, parameter set (`id`) and machine that the current row of `data/ring.toml`
    /// names. The RTL has run those operations whose cycles `seen` lists.
    ///
    /// # Errors
    /// Fails if the row names no such machine, parameter set or operation, or if the machine refuses the operation.
    pub fn simulated(
        &mut self,
        at: &Scope<'_>,
        machines: &[Named],
        parts: &mut Parts<'_>,
    ) -> Result<Vec<Record>, PaperError> {
        let names = [at.text("machine")?, at.text("id")?, at.text("key")?];
        if let Some(found) = self.0.get(&names) {
            return Ok(vec![found.clone()]);
        }
        let [machine, id, key] = &names;
        let device = machines.iter().find(|(name, _)| name == machine);
        let no_machine = || PaperError::Tables(format!("no machine `{machine}`"));
        let (_, device) = device.ok_or_else(no_machine)?;
        let report = simulate(device.as_ref(), &program(at, &Params::named(id)?)?)?;
        parts.done();
        let name = if key == "mult_relin" { MULTIPLY } else { key };
        let in_rtl = seen(machine).is_some_and(|seen| seen.has(id, name, report.cycles));
        let how = if in_rtl { How::Lockstep } else { How::Model };
        let mut found = fields(&BTreeMap::from([("run", &report)]))?;
        found.insert("how".to_owned(), how.name().into());
        self.0.insert(names, found.clone());
        Ok(vec![found])
    }
}

/// The name of Set-1's and Set-2's product in the list of operations that the RTL has run.
const MULTIPLY: &str = "multiply + relinearise";

/// Times the operation and parameter set that the current row of `data/ring.toml` names on this computer's CPU.
///
/// # Errors
/// Fails if the row names no such parameter set or operation, or if the operation does not run.
pub fn measured(
    at: &Scope<'_>,
    cpu: &Cpu,
    parts: &mut Parts<'_>,
) -> Result<Vec<Record>, PaperError> {
    let params = Params::named(&at.text("id")?)?;
    let us = measure(cpu, &program(at, &params)?)? * 1e6;
    parts.done();
    Ok(vec![record([("us", value::measured(us))])])
}
