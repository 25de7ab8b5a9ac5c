// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill sim`: times a program on a machine's cycle model, without data.

use std::fmt::Write;

use ringmill_device::Device;
use ringmill_device::report::MachineReport;
use ringmill_isa::macros::MacroOp;
use ringmill_limits::Watch;
use ringmill_machines::vector::VectorUse;
use ringmill_runtime::Served;
use ringmill_runtime::html::{Along, of_runs};
use ringmill_runtime::report::LineReport;
use ringmill_runtime::shown::{Bar, Simulated, simulate_on};
use ringmill_runtime::with_scheme;
use serde::Serialize;

use crate::PythonTracer;
use crate::args::{ByLevel, SimArgs};
use crate::commands::cure;
use crate::commands::pages;
use crate::commands::program::{self, Read};
use crate::error::CliError;
use crate::output;

pub fn sim(
    args: &SimArgs,
    python: Option<PythonTracer<'_>>,
    watch: &Watch,
) -> Result<(), CliError> {
    let device = ringmill_sim::open(&format!("sim:{}", args.machine))?;
    let read = program::read_alone(&args.program, args.json, python, watch)?;
    with_scheme!(read.scheme, S => timed::<S>(args, read, &*device, watch))
}

fn timed<S: Served>(
    args: &SimArgs,
    read: Read,
    device: &dyn Device,
    watch: &Watch,
) -> Result<(), CliError> {
    let scheme = read.report();
    let (compiled, options) = program::compile::<S>(&args.program, read, None, args.json, watch)?;
    let asked = Simulated {
        timeline: args.html.is_some(),
        ..args.counted.asked(args.trace.as_deref())
    };
    let report = simulate_on(device, &compiled, &asked, &Bar::new(), watch);
    let mut report = report
        .map_err(|refused| cure::of_refusal(refused.into(), &args.machine, &compiled, &options))?;
    report.scheme = scheme;
    let sources = pages::sources(&args.program.program);
    if let Some(path) = &args.html {
        let along = Along::of(&compiled.managed, &*compiled.params);
        let title = format!("{} on {}", compiled.source.name, args.machine);
        let sections = of_runs(&[&report], Some(&along), &sources);
        pages::write(path, &title, &sections)?;
    }
    if let Some(level) = args.by {
        let stands_for = compiled.macros_of_procedures();
        let stands_for = |name: &str| stands_for.get(name).copied().unwrap_or_default();
        let machine = report.machine.as_ref();
        let text = machine.and_then(|m| parts(m, level, stands_for));
        let refused = || {
            let machine = &args.machine;
            CliError::Usage(format!(
                "--by: {machine} does not tell what its operations take; `vector` machines do"
            ))
        };
        return output::text(&text.ok_or_else(refused)?);
    }
    match &report.machine {
        Some(machine) if args.json => output::json(&OfMachine {
            machine,
            by_line: &report.by_line,
        }),
        None if args.json => output::json(&report),
        Some(_) | None => {
            match args.detail {
                true => output::text(&format!("{}\n", report.detail()))?,
                false => output::text(&format!("{report}\n"))?,
            }
            match args.profile {
                true => output::text(&format!("{}\n", report.profile(&sources))),
                false => Ok(()),
            }
        }
    }
}

/// A machine's report, and the source lines of the program to which its cycles belong.
#[derive(Serialize)]
struct OfMachine<'r> {
    #[serde(flatten)]
    machine: &'r MachineReport,
    by_line: &'r [LineReport],
}

/// Returns as text the time of a vector machine's operations at the macro, mid or micro level, by kind. The longest
/// time comes first, and the sum of all last. Returns `None` if the machine is no vector machine.
fn parts<'a>(
    machine: &MachineReport,
    level: ByLevel,
    stands_for: impl Fn(&str) -> &'a [MacroOp],
) -> Option<String> {
    let all = &machine.own::<VectorUse>()?.parts;
    let by_macro;
    let of = match level {
        ByLevel::Macro => {
            by_macro = all.by_macro(stands_for);
            &by_macro
        }
        ByLevel::Mid => &all.by_mid,
        ByLevel::Micro => &all.by_micro,
    };
    let seconds = machine.seconds / all.all.max(1) as f64;
    let mut rows: Vec<(&str, u64, u64)> = of
        .iter()
        .map(|(name, part)| (name.as_str(), part.count, part.micro_cycles))
        .collect();
    rows.sort_by_key(|&(_, _, micro)| std::cmp::Reverse(micro));
    let count = rows.iter().map(|row| row.1).sum();
    let took = rows.iter().map(|row| row.2).sum();
    rows.push(("all", count, took));
    let width = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    let mut text = format!("{:width$} {:>10} {:>14} {:>8}\n", "", "count", "us", "%");
    for (name, count, micro) in rows {
        let (us, share) = (
            micro as f64 * seconds * 1e6,
            micro as f64 / all.all.max(1) as f64,
        );
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{name:width$} {count:>10} {us:>14.3} {:>8.2}",
            100.0 * share
        );
    }
    Some(text)
}
