// SPDX-License-Identifier: Apache-2.0
//! The vector paper: parameters (Table 1), arithmetic (Table 4), memories and units (Tables 5 and 6), the instructions of a sigmoid (Table 7), the
//! operations of Table 8 on the machine and beside HElib on our CPU, and what the text claims.

pub(crate) mod areas;
mod batches;
pub(crate) mod card;
mod claims;
mod cycles;
mod elements;
pub(crate) mod machine;
pub(crate) mod opcodes;
mod operations;
pub(crate) mod paper;
mod parameters;
mod removal;
mod runs;
pub(crate) mod sigmoid;
mod speed;
pub(crate) mod training;
mod variants;

use std::sync::Arc;

use ringmill_device::progress::Progress;
use ringmill_math::slots::linear::Shape;
use ringmill_schemes::bgv::BgvError;
use ringmill_schemes::bgv::bootstrap::{BootstrapError, Bootstrapping, Maps, Procedure, Set};

use crate::error::PaperError;
use crate::paper::{Asked, Paper, Reproduced};
use crate::row::Row;

/// Every row, table by table, but the areas.
pub fn rows(
    procedure: &Arc<Procedure>,
    size: training::Size,
    progress: &dyn Progress,
) -> Result<Vec<Row>, PaperError> {
    let paper = paper::vector()?;
    let mut found = parameters::rows(&paper, procedure.setup());
    found.extend(sigmoid::rows(&paper, procedure)?);
    found.extend(elements::rows(&paper)?);
    let machines = machine::bootstrapping(procedure.setup())?;
    found.extend(machine::rows(&paper, &machines)?);
    found.extend(card::rows(procedure.params())?);
    let (bootstrap, bootstrap_ms) = machine::bootstrap(&paper, &machines, progress)?;
    found.extend(bootstrap);
    found.extend(removal::rows(&paper, &machines, progress)?);
    let (iteration, iteration_s) = training::rows(&paper, &machines, size, progress)?;
    found.extend(iteration);
    found.extend(variants::rows(&machines, progress)?);
    found.extend(claims::speedups(&paper, bootstrap_ms, iteration_s));
    found.extend(operations::rows(&paper, procedure.params())?);
    Ok(found)
}

/// The procedure of a bootstrap.
pub fn made(
    setup: Result<Bootstrapping, BootstrapError>,
) -> Result<Arc<Procedure>, BootstrapError> {
    let setup = setup?;
    let maps = Maps::new(&setup, Shape::default())?;
    Ok(Arc::new(Procedure::new(setup, maps, true)?))
}

/// BASALISC: its Tables 1 and 4 to 8, and what its text claims.
pub struct Basalisc;

impl Paper for Basalisc {
    fn name(&self) -> &'static str {
        "vector"
    }

    fn title(&self) -> &'static str {
        "BASALISC: Flexible Asynchronous Hardware Accelerator for Fully Homomorphic Encryption"
    }

    fn tables(&self, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError> {
        let procedure = made(Set::BASALISC.bootstrapping()).map_err(BgvError::from)?;
        let mut rows = rows(&procedure, training::WHOLE, progress)?;
        rows.extend(areas::rows(&paper::vector()?, asked.sources.synthesis)?);
        Ok(Reproduced {
            rows,
            notes: notes()? + areas::NOTE,
            ..Reproduced::default()
        })
    }
}

/// What a reader must know of the figures.
pub fn notes() -> Result<String, PaperError> {
    let training = paper::vector()?.logistic_regression;
    Ok(format!(
        "\n{}Table 7: our sigmoid is a table of 127 values, by one polynomial of degree 253 and one of 380, with its bootstraps; the \
         paper's\ndrawing (Figure 9) is lost. {}{}{}Table 8: HElib's times are the paper's, on its computer; ours are measured on one thread \
         of this one.\nThe training whose iteration is timed above ({} macro instructions, {} mid-level ones and {} bootstraps in the paper) is \
         examples/06_training.py.\n",
        parameters::NOTE,
        opcodes::NOTE,
        machine::NOTE,
        card::NOTE,
        training.macros,
        training.mid,
        training.bootstraps
    ))
}
