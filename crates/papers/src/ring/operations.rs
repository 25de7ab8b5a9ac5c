// SPDX-License-Identifier: Apache-2.0
//! Times the homomorphic operations of both parameter sets of the Medha paper, on our machines and on the CPU.

use std::sync::Arc;

use ringmill_cpu::Cpu;
use ringmill_device::report::MachineReport;
use ringmill_isa::mid::Verified;
use ringmill_machines::ring::seen::seen;
use ringmill_runtime::shown::Parts;
use ringmill_schemes::ckks::{OpKey, Params, ProcCache};

use super::Named;
use crate::error::PaperError;
use crate::figure::How;
use crate::row::Ours;
use crate::scope::{Record, record};
use crate::single::{self, measure, own, simulate};
use crate::value::{self, Value, model};

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

/// The times of one homomorphic operation of a parameter set on one of our ring machines.
pub struct Operation {
    pub machine: &'static str,
    pub multipliers: u64,
    id: &'static str,
    key: &'static str,
    seconds: f64,
    /// The microseconds of the operation with operands and result over the link, and the number of polynomials that
    /// cross the link.
    over_the_link: (f64, f64),
    fields: Record,
}

/// Times every homomorphic operation of both parameter sets on every ring machine.
pub fn simulated(machines: &[Named], parts: &mut Parts<'_>) -> Result<Vec<Operation>, PaperError> {
    let mut found = Vec::new();
    for (machine, device) in machines {
        for run in singles()? {
            let report = simulate(device.as_ref(), &run.program)?;
            parts.done();
            let in_rtl = seen(machine).is_some_and(|s| s.has(run.id, run.name, report.cycles));
            let how = if in_rtl { How::Lockstep } else { How::Model };
            let is = |value: f64| Value::from(Ours::Is(value, how));
            // The machine splits large rings itself, so words of these kinds appear only inside an operation on the
            // larger ring.
            let word = |kind| match cycles_a_word(&report, kind).filter(|_| run.name == MULTIPLY) {
                Some(cycles) => is(cycles),
                None => Value::None,
            };
            let limb = (8u64 << run.params.log_n()) as f64;
            let bytes = (report.link.bytes_in + report.link.bytes_out) as f64;
            found.push(Operation {
                machine,
                multipliers: own(&report)?.multipliers_per_rpau as u64,
                id: run.id,
                key: run.key,
                seconds: report.seconds,
                over_the_link: (report.end_to_end.seconds * 1e6, bytes / limb),
                fields: record([
                    ("set", run.set.into()),
                    ("id", run.id.into()),
                    ("operation", run.name.into()),
                    ("key", run.key.into()),
                    ("cycles", is(report.cycles as f64)),
                    ("seconds", is(report.seconds)),
                    ("split", word("SPLIT")),
                    ("join", word("JOIN")),
                ]),
            });
        }
    }
    Ok(found)
}

/// Returns the mean cycles from the start to the end of one instruction word of a kind, or `None` if the run had no
/// such word.
fn cycles_a_word(report: &MachineReport, kind: &str) -> Option<f64> {
    let words = report.instructions_by_kind.get(kind);
    let words = words.filter(|words| **words > 0)?;
    Some((*report.cycles_by_kind.get(kind)? as f64 / *words as f64).round())
}

/// Returns the times of one machine's operations as records for the tables.
pub fn of(operations: &[Operation], machine: &str) -> Vec<Record> {
    let own = operations.iter().filter(|run| run.machine == machine);
    own.map(|run| run.fields.clone()).collect()
}

/// Returns for each ring machine the microseconds of each homomorphic operation, and of Set-1's multiplication with
/// transfers over the link.
pub fn latencies(operations: &[Operation]) -> Vec<Record> {
    let of_one = |runs: &[Operation]| {
        let mut found = Record::new();
        for run in runs {
            let name = format!("ours.{}.{}", run.id, run.key);
            found.insert(name, model(run.seconds * 1e6));
            if (run.id, run.key) == ("set1", "mult_relin") {
                let (us, polynomials) = run.over_the_link;
                found.insert("over_the_link".to_owned(), model(us));
                found.insert("polynomials".to_owned(), polynomials.into());
                found.insert("machine".to_owned(), run.machine.into());
            }
        }
        found
    };
    let machines = operations.chunk_by(|a, b| a.machine == b.machine);
    machines.map(of_one).collect()
}

/// Times on this computer's CPU each homomorphic operation that the Medha paper times, with each of the paper's two
/// parameter sets.
pub fn measured(cpu: &Cpu, parts: &mut Parts<'_>) -> Result<Vec<Record>, PaperError> {
    let runs = singles()?.into_iter().map(|run| {
        let us = measure(cpu, &run.program)? * 1e6;
        parts.done();
        Ok(record([
            ("set", run.set.into()),
            ("id", run.id.into()),
            ("operation", run.name.into()),
            ("key", run.key.into()),
            ("us", value::measured(us)),
        ]))
    });
    runs.collect()
}
