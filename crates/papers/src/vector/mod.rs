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
pub(crate) mod sigmoid;
mod speed;
pub(crate) mod training;
mod variants;

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_device::progress::Progress;
use ringmill_machines::vector::Description;
use ringmill_math::slots::linear::Shape;
use ringmill_schemes::bgv::BgvError;
use ringmill_schemes::bgv::bootstrap::{BootstrapError, Bootstrapping, Maps, Procedure, Set};

use crate::error::PaperError;
use crate::paper::{Asked, Reproduced, Sources};
use crate::run::Figures;
use crate::scope::{Record, Scope};
use crate::sheet::Sheet;
use areas::Areas;

pub const SHEET: &str = include_str!("../../data/vector.toml");

/// Returns Tables 1 and 4 to 8 of the BASALISC paper, and the statements of its text.
///
/// # Errors
/// Fails if a figure cannot be computed.
pub fn tables(_: &Sheet, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError> {
    let procedure = made(Set::BASALISC.bootstrapping()).map_err(BgvError::from)?;
    reproduced(&procedure, training::WHOLE, asked.sources, progress)
}

/// Returns the tables of the BASALISC paper for a bootstrap with these parameters, and a training iteration of this
/// size.
///
/// # Errors
/// Fails if a figure cannot be computed.
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
        kept: BTreeMap::new(),
        areas: Areas::new(sources.synthesis),
    };
    Sheet::read(SHEET)?.reproduce("vector", &mut figures, sources)
}

/// Returns only the tables of chip areas (Tables 4 and 6 of the BASALISC paper). The areas are synthesised, or left out
/// without `synthesis`.
///
/// # Errors
/// Fails if a unit cannot be synthesised.
pub fn areas(synthesis: bool) -> Result<Reproduced, PaperError> {
    let sources = Sources {
        model: false,
        synthesis,
    };
    Sheet::read(SHEET)?.reproduce("vector", &mut Areas::new(synthesis), sources)
}

/// Returns the BGV bootstrap of the parameter set as a procedure.
///
/// # Errors
/// Returns the error in `setup`, and fails if the maps or the procedure cannot be made.
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
    /// The records of lists that several tables use.
    kept: BTreeMap<&'static str, Vec<Record>>,
    areas: Areas,
}

impl Ours<'_> {
    /// Returns the records of a list that several tables use. Makes them at the first call.
    fn kept(&mut self, name: &'static str) -> Result<Vec<Record>, PaperError> {
        if let Some(found) = self.kept.get(name) {
            return Ok(found.clone());
        }
        let (machines, progress) = (&self.machines, self.progress);
        let found = match name {
            "operations" => machine::operations(machines)?,
            "bootstrap" => vec![machine::bootstrap(machines, progress)?],
            _ => vec![training::iteration(machines, self.size, progress)?],
        };
        self.kept.insert(name, found.clone());
        Ok(found)
    }
}

impl Figures for Ours<'_> {
    fn records(&mut self, name: &str, at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        let machines = &self.machines;
        match name {
            "set" => Ok(vec![parameters::parameters(self.procedure.setup())]),
            "sigmoid" => sigmoid::figures(&self.procedure),
            "description" => {
                let d = Description::read(Description::PAPER)?;
                Ok(vec![machine::described(&d)?])
            }
            "machine" => {
                let d = machine::machine(machines.params().log_n())?;
                Ok(vec![machine::described(&d)?])
            }
            "operations" => self.kept("operations"),
            "bootstrap" => self.kept("bootstrap"),
            "iteration" => self.kept("iteration"),
            "card" => card::figures(self.procedure.params()),
            "removal" => removal::figures(machines, at, self.progress),
            "variant" => variants::figures(machines, at, self.progress),
            "batches" => variants::batches(machines, at),
            "cpu_operations" => operations::measured_operations(self.procedure.params()),
            _ => self.areas.records(name, at),
        }
    }
}
