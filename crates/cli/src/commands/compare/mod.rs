// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill compare`: times one program on several simulated machines and on the CPU, in one table.

mod measured;
mod suited;

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::sync::Arc;

use ringmill_compiler::Compiled;
use ringmill_limits::Watch;
use ringmill_runtime::html::of_comparison;
use ringmill_runtime::report::compared::{Comparison, Row, Which, basis};
use ringmill_runtime::report::{ParameterReport, RunReport};
use ringmill_runtime::shown::{Bar, simulate_on};
use ringmill_runtime::{Served, with_scheme};
use ringmill_sim::{Case, Devices, Sweep};

use self::measured::{Measured, ready};
use self::suited::{Made, Suited, suited};
use crate::PythonTracer;
use crate::args::compare::CompareArgs;
use crate::commands::program::{self, Read};
use crate::error::CliError;
use crate::output;

pub fn compare(
    args: &CompareArgs,
    python: Option<PythonTracer<'_>>,
    watch: &Watch,
) -> Result<(), CliError> {
    let sweeps = args.set.iter().map(|text| Sweep::parse(text));
    let sweeps = sweeps.collect::<Result<Vec<_>, _>>();
    let cases = sweeps.and_then(|sweeps| Devices::standard().cases(&args.machines, &sweeps));
    let cases = cases.map_err(ringmill_device::DeviceError::from)?;
    let read = program::read_alone(&args.program, args.json, python, watch)?;
    let name = read.program.name.clone();
    let (rows, notes) = with_scheme!(read.scheme, S => rows::<S>(args, &read, &cases, watch))?;
    let comparison = Comparison::new(&name, rows, notes);
    if let Some(path) = &args.html {
        let page = of_comparison(&comparison);
        output::whole_file(path, |out| Ok(out.write_all(page.as_bytes())?))?;
    }
    if args.json {
        return comparison.rows().iter().try_for_each(output::json);
    }
    if args.csv {
        return output::text(&csv(&comparison)?);
    }
    output::text(&comparison.to_string())
}

/// Returns the comparison as comma-separated values, the names of the columns first.
fn csv(comparison: &Comparison) -> Result<String, CliError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let fault = |fault: csv::Error| CliError::Output(fault.into());
    writer.write_record(comparison.keys()).map_err(fault)?;
    for row in comparison.values() {
        writer.write_record(row).map_err(fault)?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|fault| CliError::Output(fault.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the machine of a case and the fields of its description that the case changes, as a row of the comparison
/// names them.
fn which(case: &Case) -> Which {
    Which {
        case: case.label(),
        machine: case.machine.clone(),
        set: case.set.iter().cloned().collect(),
    }
}

/// A display that shows on a terminal which row of the comparison is in progress.
struct Steps {
    told: bool,
    done: usize,
    total: usize,
}

impl Steps {
    fn begin(&mut self, what: &str) {
        self.done += 1;
        if self.told {
            let line = format!("{} of {}: {what}", self.done, self.total);
            // The comparison does not depend on a reader.
            let _ = writeln!(std::io::stderr().lock(), "{line}");
        }
    }
}

/// Returns the rows of the comparison and the notes below their table. The CPU's rows come first, one for each
/// parameter set.
fn rows<S: Served>(
    args: &CompareArgs,
    read: &Read,
    cases: &[Case],
    watch: &Watch,
) -> Result<(Vec<Row>, Vec<String>), CliError> {
    let plan = program::plan::<S>(&args.program, read, None, args.json, watch)?;
    let Suited {
        compiled,
        cpu,
        mut notes,
    } = suited::<S>(plan, read, cases, watch)?;
    let mut steps = Steps {
        told: std::io::stderr().is_terminal(),
        done: 0,
        total: cases.len(),
    };
    let mut reports: Vec<Result<RunReport, CliError>> = Vec::new();
    for (case, compiled) in cases.iter().zip(&compiled) {
        steps.begin(&case.label());
        let report = match (&case.opened, compiled) {
            (Ok(machine), Ok(compiled)) => {
                let asked = args.counted.asked(None);
                let bar = Bar::new();
                simulate_on(&*machine.device, compiled, &asked, &bar, watch).map_err(CliError::from)
            }
            (Err(refused), _) => Err(CliError::Usage(refused.to_string())),
            (_, Err(refused)) => Err(CliError::Usage(refused.to_string())),
        };
        reports.push(refusable(report)?);
    }
    if reports.iter().all(Result::is_err) {
        return Err(none_runs(cases, reports));
    }
    let mut rows = Vec::new();
    if !args.no_cpu {
        let sets = sets(&compiled, &reports);
        steps.total += sets.len();
        for set in sets {
            steps.begin("the CPU, measured");
            let ready = ready::<S>(args, read, cpu(&set.program)?, watch)?;
            let (row, note) = ready.on_cpu(args.threads, watch)?;
            rows.push(row);
            if !notes.contains(&note) {
                notes.push(note);
            }
            for ((case, compiled), report) in cases.iter().zip(&compiled).zip(&mut reports) {
                let (Ok(machine), Ok(compiled), Ok(timed)) = (&case.opened, compiled, &*report)
                else {
                    continue;
                };
                if timed.parameters != set.parameters || !timed.leaves_a_part() {
                    continue;
                }
                let spill = !args.counted.no_spill;
                let on = |ready: &Measured<S>| ready.on_machine(&*machine.device, spill, watch);
                *report = refusable(match Arc::ptr_eq(compiled, ready.compiled()) {
                    true => on(&ready),
                    false => on(&self::ready(args, read, Arc::clone(compiled), watch)?),
                })?;
            }
        }
    }
    for (case, report) in cases.iter().zip(reports) {
        rows.push(match report {
            Ok(report) => Row::of(which(case), &report),
            Err(refused) => Row::refused(which(case), refused.to_string()),
        });
    }
    notes.extend(basis(&rows));
    Ok((rows, notes))
}

/// A parameter set at which some machines of the comparison run the program, and the program compiled for one of these
/// machines.
struct Set<S: Served> {
    parameters: ParameterReport,
    program: Arc<Compiled<S>>,
}

fn sets<S: Served>(compiled: &[Made<S>], reports: &[Result<RunReport, CliError>]) -> Vec<Set<S>> {
    let mut sets: Vec<Set<S>> = Vec::new();
    for (compiled, report) in compiled.iter().zip(reports) {
        if let (Ok(compiled), Ok(report)) = (compiled, report)
            && !sets.iter().any(|set| set.parameters == report.parameters)
        {
            sets.push(Set {
                parameters: report.parameters.clone(),
                program: Arc::clone(compiled),
            });
        }
    }
    sets
}

/// Separates a machine's refusal of the program, which becomes a row, from interruptions and wrong results, which are
/// errors.
fn refusable<T>(done: Result<T, CliError>) -> Result<Result<T, CliError>, CliError> {
    match done {
        Err(fault) if fault.is_interrupt() || fault.exit_code() == 1 => Err(fault),
        done => Ok(done),
    }
}

/// Returns the error for a comparison in which no machine can run the program. It has the reason of each machine.
fn none_runs(cases: &[Case], reports: Vec<Result<RunReport, CliError>>) -> CliError {
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (case, report) in cases.iter().zip(reports) {
        if let Err(refused) = report {
            let of = reasons.entry(refused.to_string()).or_default();
            of.push(case.label());
        }
    }
    let one = reasons.len() == 1;
    let reasons = reasons.into_iter().map(|(reason, of)| match one {
        true => reason,
        false => format!("{}: {reason}", of.join(", ")),
    });
    CliError::Usage(reasons.collect::<Vec<_>>().join("; "))
}
