// SPDX-License-Identifier: Apache-2.0
//! Figures of the BASALISC paper: parameters, fields of the description, areas, operations, a bootstrap and a training
//! iteration on the vector machine, and operations on our CPU. The rows of its tables are in `data/vector.toml`.

mod areas;
pub(crate) mod card;
pub(crate) mod machine;
pub(crate) mod opcodes;
mod operations;
mod parameters;
mod removal;
mod runs;
pub(crate) mod sigmoid;
mod speed;
pub(crate) mod training;
mod variants;

use std::sync::Arc;

use ringmill_device::progress::Progress;
use ringmill_machines::vector::Description;
use ringmill_math::slots::linear::Shape;
use ringmill_schemes::bgv::BgvError;
use ringmill_schemes::bgv::bootstrap::{BootstrapError, Bootstrapping, Maps, Procedure, Set};

use crate::error::PaperError;
use crate::paper::{Asked, Paper, Reproduced, Sources};
use crate::run::Figures;
use crate::scope::{Record, Scope, record};
use crate::sheet::Sheet;
use crate::value::model;
use areas::Areas;
use runs::Run;

const NAME: &str = "vector";
pub const SHEET: &str = include_str!("../../data/vector.toml");

/// The BASALISC paper, on the co-processor BASALISC: its Tables 1 and 4 to 8, and the statements of its text.
pub struct Basalisc;

impl Paper for Basalisc {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "BASALISC: Flexible Asynchronous Hardware Accelerator for Fully Homomorphic Encryption"
    }

    fn tables(&self, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError> {
        let procedure = made(Set::BASALISC.bootstrapping()).map_err(BgvError::from)?;
        reproduced(&procedure, training::WHOLE, asked.sources, progress)
    }
}

/// Returns the tables of the BASALISC paper for a bootstrap with these parameters, and a training iteration of this
/// size.
pub fn reproduced(
    procedure: &Arc<Procedure>,
    size: training::Size,
    sources: Sources,
    progress: &dyn Progress,
) -> Result<Reproduced, PaperError> {
    let mut figures = Ours {
        procedure: Arc::clone(procedure),
        machines: machine::bootstrapping(procedure.setup())?,
        size,
        progress,
        split: Record::new(),
        sigmoid: None,
        bootstrap: None,
        iteration: None,
        rates: Vec::new(),
        speeds: Record::new(),
        areas: Areas::new(sources.synthesis),
    };
    Sheet::read(SHEET)?.reproduce(NAME, &mut figures, sources)
}

/// Returns only the tables of chip areas (Tables 4 and 6 of the BASALISC paper). The areas are synthesised, or left out
/// without `synthesis`.
pub fn areas(synthesis: bool) -> Result<Reproduced, PaperError> {
    let sources = Sources {
        model: false,
        synthesis,
    };
    Sheet::read(SHEET)?.reproduce(NAME, &mut Areas::new(synthesis), sources)
}

/// Returns the BGV bootstrap of the parameter set as a procedure.
pub fn made(
    setup: Result<Bootstrapping, BootstrapError>,
) -> Result<Arc<Procedure>, BootstrapError> {
    let setup = setup?;
    let maps = Maps::new(&setup, Shape::default())?;
    Ok(Arc::new(Procedure::new(setup, maps, true)?))
}

struct Ours<'a> {
    procedure: Arc<Procedure>,
    /// The bootstrap of the parameter set in the form that the vector machine runs.
    machines: Arc<Procedure>,
    size: training::Size,
    progress: &'a dyn Progress,
    /// How the cycles of the key switch split among its parts, as a record.
    split: Record,
    sigmoid: Option<Record>,
    bootstrap: Option<Run>,
    iteration: Option<Run>,
    rates: Vec<Record>,
    speeds: Record,
    areas: Areas,
}

impl Figures for Ours<'_> {
    fn records(&mut self, name: &str, at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        let of = |run: &Option<Run>, figures: fn(&Run) -> Vec<Record>| {
            Ok(run.as_ref().map(figures).unwrap_or_default())
        };
        match name {
            "set_parameter" => {
                let name = at.text("parameter")?;
                Ok(vec![parameters::parameter(&name, self.procedure.setup())])
            }
            "sigmoid_opcodes" => {
                let compiled = sigmoid::compiled(&self.procedure)?;
                self.sigmoid = Some(sigmoid::macros(&compiled));
                Ok(sigmoid::opcodes(&compiled))
            }
            "sigmoid" => Ok(self.sigmoid.iter().cloned().collect()),
            "description" => {
                let d = Description::read(Description::PAPER)?;
                Ok(vec![machine::fields(&d)])
            }
            "machine" => {
                let d = machine::machine(self.machines.params().log_n())?;
                Ok(vec![machine::fields(&d)])
            }
            "operations" => {
                let (found, split) = machine::operations(&self.machines)?;
                self.split = split;
                Ok(found)
            }
            "keyswitch_split" => Ok(vec![self.split.clone()]),
            "card" => card::figures(self.procedure.params()),
            "bootstrap" => {
                let (run, found) = machine::bootstrap(&self.machines, self.progress)?;
                let cycles = [run.own.cycles_by_papers_counting, run.report.cycles];
                let [paper, whole] = cycles.map(|cycles| model(run.ms(cycles)));
                let speeds = [("bootstrap.paper_ms", paper), ("bootstrap.whole_ms", whole)];
                self.speeds.extend(record(speeds));
                self.bootstrap = Some(run);
                Ok(vec![found])
            }
            "bootstrap_runs" => of(&self.bootstrap, Run::periods),
            "bootstrap_splits" => of(&self.bootstrap, Run::splits),
            "removals" => removal::figures(&self.machines, self.progress),
            "iteration" => {
                let (machines, size) = (&self.machines, self.size);
                let (run, found, rates) = training::iteration(machines, size, self.progress)?;
                let paper = model(run.seconds(run.own.cycles_by_papers_counting));
                let whole = model(run.report.seconds);
                let speeds = [("iteration.paper_s", paper), ("iteration.whole_s", whole)];
                self.speeds.extend(record(speeds));
                (self.iteration, self.rates) = (Some(run), rates);
                Ok(vec![found])
            }
            "rates" => Ok(self.rates.clone()),
            "iteration_runs" => of(&self.iteration, Run::periods),
            "iteration_splits" => of(&self.iteration, Run::splits),
            "variants" => variants::figures(&self.machines, self.progress),
            "batches" => variants::batches(&self.machines, &at.text("memory")?),
            "speeds" => Ok(vec![self.speeds.clone()]),
            "cpu_operations" => operations::measured(self.procedure.params()),
            _ => self.areas.records(name, at),
        }
    }
}
