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
use crate::scope::{Record, fields, record};
use crate::single::{self, measure, simulate};
use crate::value;

pub const MULTIPLY: &str = "multiply + relinearise";

/// The parameter sets of Table 1 of the Medha paper: the paper's names, and our names in [`Params::named`].
const SETS: [(&str, &str); 2] = [("Set-1", "set1"), ("Set-2", "set2")];
/// The number of timed operations, over both parameter sets.
pub const COUNT: usize = 2 * 3;

/// A program of one homomorphic operation at the highest level of a parameter set.
struct Single {
    set: &'static str,
    id: &'static str,
    params: Arc<Params>,
    name: &'static str,
    key: &'static str,
    program: Verified,
}

impl Single {
    /// Returns the names of the operation and of its parameter set.
    fn named(&self) -> Record {
        record([
            ("label", self.set.into()),
            ("id", self.id.into()),
            ("operation", self.name.into()),
            ("key", self.key.into()),
        ])
    }
}

/// Returns the homomorphic operations that the Medha paper times. Each has the paper's name, its name among the printed
/// figures (`data/paper_tables.toml`), and its key in the compiler.
pub fn keys(params: &Params) -> [(&'static str, &'static str, OpKey); 3] {
    let level = params.max_level();
    [
        ("add", "add", OpKey::add(level, 2, 2)),
        (MULTIPLY, "mult_relin", OpKey::mul_relin(level, true)),
        ("rescale", "rescale", OpKey::rescale(level, 2)),
    ]
}

fn singles() -> Result<Vec<Single>, PaperError> {
    let mut found = Vec::new();
    for (set, id) in SETS {
        let params = Params::named(id)?;
        let procs = ProcCache::new(Arc::clone(&params));
        for (name, key, op) in keys(&params) {
            found.push(Single {
                set,
                id,
                params: Arc::clone(&params),
                name,
                key,
                program: single::program(procs.get(&op)?)?,
            });
        }
    }
    Ok(found)
}

/// Times every homomorphic operation of both parameter sets on every ring machine.
pub fn simulated(machines: &[Named], parts: &mut Parts<'_>) -> Result<Vec<Record>, PaperError> {
    let mut found = Vec::new();
    for (machine, device) in machines {
        for run in singles()? {
            let report = simulate(device.as_ref(), &run.program)?;
            parts.done();
            let in_rtl = seen(machine).is_some_and(|s| s.has(run.id, run.name, report.cycles));
            let how = if in_rtl { How::Lockstep } else { How::Model };
            let limb = (8u64 << run.params.log_n()) as f64;
            let bytes = (report.link.bytes_in + report.link.bytes_out) as f64;
            let mut fields = fields(&BTreeMap::from([("run", &report)]))?;
            fields.extend(run.named());
            fields.extend(record([
                ("machine", (*machine).into()),
                ("how", how.name().into()),
                ("polynomials", (bytes / limb).into()),
            ]));
            found.push(fields);
        }
    }
    Ok(found)
}

/// Times every homomorphic operation of both parameter sets on this computer's CPU.
pub fn measured(cpu: &Cpu, parts: &mut Parts<'_>) -> Result<Vec<Record>, PaperError> {
    let runs = singles()?.into_iter().map(|run| {
        let us = measure(cpu, &run.program)? * 1e6;
        parts.done();
        let mut found = run.named();
        found.insert("us".to_owned(), value::measured(us));
        Ok(found)
    });
    runs.collect()
}
