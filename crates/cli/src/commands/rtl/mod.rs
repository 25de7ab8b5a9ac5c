// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill rtl`: works with the hardware description and its tools.

pub(crate) mod design;
mod generate;
mod list;
mod pnr;
mod sim;
mod synth;
mod table;
mod timing;

use std::path::Path;
use std::time::Instant;

use ringmill_device::progress::{Progress, Step};
use ringmill_hdl::{Hdl, Sources};
use ringmill_runtime::shown::Bar;
use serde_json::json;

use crate::args::rtl::{LintArgs, RtlCommand};
use crate::error::CliError;
use crate::output;

pub fn rtl(command: &RtlCommand) -> Result<(), CliError> {
    match command {
        RtlCommand::List(args) => list::list(args),
        RtlCommand::Generate(args) => generate::generate(args),
        RtlCommand::Lint(args) => lint(args),
        RtlCommand::Sim(args) => sim::sim(args),
        RtlCommand::Synth(args) => synth::synth(args),
        RtlCommand::Pnr(args) => pnr::pnr(args),
        RtlCommand::Timing(args) => timing::timing(args),
        RtlCommand::Table(args) => table::table(args),
    }
}

/// Returns the RTL sources of the checkout or of the installed package. Reading them needs no tools.
fn sources() -> Result<Sources, CliError> {
    Ok(ringmill_hdl::sources(Path::new("."))?)
}

/// Returns the RTL sources with the hardware tools.
fn open_quietly() -> Result<Hdl, CliError> {
    Ok(Hdl::find(Path::new("."))?)
}

/// Returns the RTL sources with the hardware tools, which show their progress.
fn open() -> Result<Hdl, CliError> {
    let (bar, begin) = (Bar::new(), Instant::now());
    Ok(open_quietly()?.watched(move |stage| {
        bar.step(Step {
            stage: "working",
            done: stage.done,
            total: stage.total,
            elapsed: begin.elapsed(),
            remaining: None,
        });
    }))
}

fn lint(args: &LintArgs) -> Result<(), CliError> {
    let hdl = open()?;
    let design = design::find(hdl.sources(), &args.design)?;
    hdl.lint(&design.top)?;
    let verilator = &hdl.tools().versions().verilator;
    if args.json {
        return output::json(&json!({ "top": design.top, "clean": true, "verilator": verilator }));
    }
    output::text(&format!(
        "{}: no warnings (Verilator {verilator}, -Wall)\n",
        design.top
    ))
}
