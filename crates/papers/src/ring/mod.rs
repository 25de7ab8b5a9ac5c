// SPDX-License-Identifier: Apache-2.0
//! Figures of the Medha paper: instructions, operations, memories, modules and applications of our ring machines. The
//! rows are in `data/ring.toml`.

mod ablation;
mod application;
mod area;
mod forecast;
mod larger;
mod machine;
mod operations;
mod programs;

use std::path::Path;

use ringmill_cpu::Cpu;
use ringmill_device::progress::Progress;
use ringmill_hdl::Hdl;
use ringmill_machines::ring::{OF_THE_PAPERS_SIZE, SHIPPED};
use ringmill_machines::{Machine, Registry};
use ringmill_runtime::shown::Parts;

use crate::error::PaperError;
use crate::mapping::{self, Mapped, Mapping};
use crate::paper::{Asked, Reproduced};
use crate::run::{Figures, no_list};
use crate::scope::{Record, Scope};
use crate::sheet::Sheet;
use application::Program;
use operations::Operations;

pub const SHEET: &str = include_str!("../../data/ring.toml");

/// The number of applications that are timed on each device: logistic regression, two of text classification, the
/// forecast.
const APPLICATIONS: usize = 4;

/// Returns Tables 2 to 5 of the Medha paper, and its sections 4 to 6.
///
/// # Errors
/// Fails if a figure cannot be computed. Without the hardware's tools, the rows of synthesis have no figure, which is
/// no error.
pub fn tables(
    sheet: &Sheet,
    asked: &Asked,
    progress: &dyn Progress,
) -> Result<Reproduced, PaperError> {
    let hdl = match asked.sources.synthesis {
        true => Hdl::find(Path::new(".")).map_err(|e| e.to_string()),
        false => Err("synthesis was not asked for".to_owned()),
    };
    let load = |&(name, text): &(&'static str, &str)| Ok((name, Registry::standard().load(text)?));
    let machines = OF_THE_PAPERS_SIZE.iter().map(load);
    let machines = machines.collect::<Result<Vec<_>, PaperError>>()?;
    let runs = (machines.len() + 1) * (operations::COUNT + APPLICATIONS);
    let mut figures = Ours {
        machines,
        operations: Operations::default(),
        program: Program::default(),
        cpu: Cpu::new(1)?,
        mapping: Mapping::LeftOut,
        why: hdl.as_ref().err().map_or("", String::as_str),
        parts: Parts::new(progress, "reproducing", runs as u64),
    };
    let hdl = hdl.as_ref().ok();
    let made = mapping::reproduce((sheet, "ring"), &mut figures, hdl, asked.sources, progress)?;
    Ok(Reproduced {
        notes: notes()?,
        ..made
    })
}

/// Returns a warning as text for each of our ring machines that does not fit its FPGA part.
fn notes() -> Result<String, PaperError> {
    let mut notes = String::new();
    for (name, _) in SHIPPED {
        if let Some(warning) = Registry::standard().open(name)?.fit().warning() {
            notes.push_str(&format!("\n{name} {warning}\n"));
        }
    }
    Ok(notes)
}

/// A ring machine of the Medha paper's size, with its name.
type Named = (&'static str, Box<dyn Machine>);

struct Ours<'a> {
    machines: Vec<Named>,
    operations: Operations,
    program: Program,
    cpu: Cpu,
    mapping: Mapping<'a>,
    /// The reason why there is no synthesis, as a text that rows of tables show.
    why: &'a str,
    parts: Parts<'a>,
}

impl<'a> Mapped<'a> for Ours<'a> {
    fn mapping(&mut self) -> &mut Mapping<'a> {
        &mut self.mapping
    }
}

impl Figures for Ours<'_> {
    fn records(&mut self, name: &str, at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        match name {
            "module" => area::module(&at.text("module")?, &self.mapping, self.why),
            "modules" => area::modules(&self.mapping),
            // The other figures need no module.
            _ if self.mapping.collects() => Ok(Vec::new()),
            "machines" => machine::machines(),
            "instructions" => machine::instructions(&at.text("machine")?),
            "memory" => machine::memory(&at.text("machine")?),
            "operation" => {
                let (machines, parts) = (&self.machines, &mut self.parts);
                self.operations.simulated(at, machines, parts)
            }
            "cpu_operation" => operations::measured(at, &self.cpu, &mut self.parts),
            "application" => {
                application::simulated(at, &mut self.program, &self.machines, &mut self.parts)
            }
            "cpu_application" => {
                application::measured(at, &mut self.program, &self.cpu, &mut self.parts)
            }
            "module_needs" => area::needs(&at.text("module")?, &at.text("column")?),
            "ablation" => ablation::saved(at),
            "larger_operation" => larger::operation(at),
            "larger_memory" => larger::memory(),
            _ => Err(no_list(name)),
        }
    }
}
