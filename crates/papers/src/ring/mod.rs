// SPDX-License-Identifier: Apache-2.0
//! Figures of the Medha paper: instructions, operations, memories, modules and applications of our ring machines. The
//! rows are in `data/ring.toml`.

mod ablation;
mod application;
mod area;
pub(crate) mod bars;
mod forecast;
mod larger;
mod logistic;
mod machine;
mod operations;
mod text;

use std::path::Path;

use ringmill_cpu::Cpu;
use ringmill_device::progress::Progress;
use ringmill_hdl::Hdl;
use ringmill_machines::fpga::Printed;
use ringmill_machines::ring::{OF_THE_PAPERS_SIZE, SHIPPED};
use ringmill_machines::{Machine, Registry};
use ringmill_runtime::shown::Parts;

use crate::error::PaperError;
use crate::mapping::{self, Mapping};
use crate::paper::{Asked, Paper, Reproduced};
use crate::run::{Figures, no_list};
use crate::scope::{Record, Scope};
use crate::sheet::Sheet;
use application::Program;
use operations::Operation;

pub const SHEET: &str = include_str!("../../data/ring.toml");

/// The number of applications that are timed on each device: logistic regression, two of text classification, the
/// forecast.
const APPLICATIONS: usize = 4;

/// The Medha paper, on the co-processor Medha: its Tables 2 to 5, and sections 4 to 6.
pub struct Medha;

impl Paper for Medha {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn title(&self) -> &'static str {
        "Medha: Microcoded Hardware Accelerator for computing on Encrypted Data"
    }

    fn printed(&self) -> Result<Printed, PaperError> {
        Sheet::read(SHEET)?.printed(self.name())
    }

    fn tables(&self, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError> {
        let hdl = match asked.sources.synthesis {
            true => Hdl::find(Path::new(".")).map_err(|e| e.to_string()),
            false => Err("synthesis was not asked for".to_owned()),
        };
        let mapping = match &hdl {
            Ok(hdl) => {
                mapping::map(hdl, area::ask, progress)?;
                Mapping::By(hdl)
            }
            Err(_) => Mapping::LeftOut,
        };
        let load =
            |&(name, text): &(&'static str, &str)| Ok((name, Registry::standard().load(text)?));
        let machines = OF_THE_PAPERS_SIZE.iter().map(load);
        let mut figures = Ours {
            machines: machines.collect::<Result<_, PaperError>>()?,
            operations: Vec::new(),
            program: Program::default(),
            cpu: Cpu::new(1)?,
            mapping,
            why: hdl.as_ref().err().map_or("", String::as_str),
            parts: Parts::new(progress, "reproducing", 0),
        };
        let devices = figures.machines.len() + 1;
        let runs = devices * (operations::COUNT + APPLICATIONS);
        figures.parts = Parts::new(progress, "reproducing", runs as u64);
        figures.operations = operations::simulated(&figures.machines, &mut figures.parts)?;
        let made = Sheet::read(SHEET)?.reproduce(self.name(), &mut figures, asked.sources)?;
        Ok(Reproduced {
            notes: notes()?,
            ..made
        })
    }
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
    operations: Vec<Operation>,
    program: Program,
    cpu: Cpu,
    mapping: Mapping<'a>,
    /// The reason why there is no synthesis, as a text that rows of tables show.
    why: &'a str,
    parts: Parts<'a>,
}

impl Figures for Ours<'_> {
    fn records(&mut self, name: &str, at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        match name {
            "machines" => machine::machines(&self.operations),
            "instructions" => machine::instructions(&at.text("machine")?),
            "memory" => machine::memory(&at.text("machine")?),
            "operations" => Ok(operations::of(&self.operations, &at.text("machine")?)),
            "latencies" => Ok(operations::latencies(&self.operations)),
            "cpu_operations" => operations::measured(&self.cpu, &mut self.parts),
            "application" => {
                application::simulated(at, &mut self.program, &self.machines, &mut self.parts)
            }
            "cpu_application" => {
                application::measured(at, &mut self.program, &self.cpu, &mut self.parts)
            }
            "module" => area::module(&at.text("module")?, &self.mapping, self.why),
            "module_needs" => area::needs(&at.text("module")?, &at.text("column")?),
            "modules" => area::own(&self.mapping),
            "bars" => bars::bars(at, &self.mapping),
            "ablation" => ablation::saved(&at.text("machine")?),
            "larger_operations" => larger::operations(),
            "larger_limbs" => larger::limbs(),
            "larger_needs" => larger::needs(),
            _ => Err(no_list(name)),
        }
    }
}
