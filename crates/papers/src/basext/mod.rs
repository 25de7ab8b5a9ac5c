// SPDX-License-Identifier: Apache-2.0
//! The basext paper: what is stored and what computes (Tables 3.1, 3.2, 4.1 to 4.5), iterations (4.6), units (4.7 to 4.9),
//! processors (4.10, 4.11). Known errors of the paper stand beside what it should print.

mod architectures;
pub(crate) mod cycles;
mod iterations;
mod paper;
mod processors;
mod terms;
mod units;

use std::path::Path;

use ringmill_device::progress::Progress;
use ringmill_hdl::Hdl;
use ringmill_machines::basext::Word;
use ringmill_machines::fpga::{Printed, PrintedUse, Resource};
use ringmill_runtime::shown::Parts;

use crate::error::PaperError;
use crate::paper::{Asked, Paper, Reproduced, Sources, Wish};
use crate::row::Row;
use cycles::Cycles;

/// Every row, table by table.
pub fn rows(sources: Sources, progress: &dyn Progress) -> Result<Vec<Row>, PaperError> {
    let paper = paper::basext()?;
    let hdl = match sources.model && !sources.synthesis {
        true => None,
        false => Some(Hdl::find(Path::new("."))?),
    };
    let cycles = Cycles {
        rtl: hdl.as_ref().filter(|_| !sources.model),
    };
    let total = iterations::RUNS + paper.rows.len() as u64 + processors::measured(&paper);
    let mut parts = Parts::new(progress, "running", total);
    let mut found = terms::rows(
        &paper,
        cycles::shape(Word::Bits64, 32, 16, 17, 17)?,
        hdl.as_ref(),
    )?;
    found.extend(iterations::rows(&paper, &cycles, &mut parts)?);
    let synthesis = hdl.as_ref().filter(|_| sources.synthesis);
    found.extend(units::rows(&paper, &cycles, synthesis, &mut parts)?);
    found.extend(processors::rows(&paper, &mut parts)?);
    Ok(found)
}

/// The generator of exact base-extension units: its Tables 3.1 to 4.11.
pub struct Extension;

impl Paper for Extension {
    fn name(&self) -> &'static str {
        "basext"
    }

    fn title(&self) -> &'static str {
        "Area-time product efficient RNS polynomial base extension on FPGA"
    }

    fn takes(&self) -> &'static [Wish] {
        &[Wish::Model]
    }

    /// Of its largest ring, 64 bits and TP = 32, as the shipped description has them.
    fn printed(&self) -> Result<Printed, PaperError> {
        let paper = paper::basext()?;
        let mut rows = paper.rows.iter();
        let found = rows.find(|row| (row.0, row.2, row.3) == (16, 64, 32));
        let row = found.ok_or_else(|| PaperError::Tables("they lack a row of units".to_owned()))?;
        Ok(Printed {
            uses: vec![
                PrintedUse::of_the_machine(Resource::BlockRam, row.6),
                PrintedUse::of_the_machine(Resource::Dsp, row.7),
            ],
            units_in_a_region: None,
        })
    }

    fn tables(&self, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError> {
        Ok(Reproduced {
            rows: rows(asked.sources, progress)?,
            notes: notes(asked.sources),
            ..Reproduced::default()
        })
    }
}

/// What a reader must know of the figures.
fn notes(sources: Sources) -> String {
    let cycles = if sources.model {
        "Cycles are the model's, which a test holds equal to the RTL's (without --model they are the RTL's)."
    } else {
        "Cycles are counted in the RTL on random residues; every residue was compared with the reference."
    };
    let resources = if sources.synthesis {
        "LUT, FF, block RAM and DSP: Yosys, synth_xilinx -family xcup, before placement; a wide unit's lanes, which are all the \
         same, are mapped once."
    } else {
        "LUT and FF are left out (--no-synth): they take minutes. Block RAM and DSP are computed as `ringmill machine show \
         basext` does."
    };
    format!(
        "\n{cycles}\n{resources}\nTables 4.7 to 4.11 have the folded unit. Multipliers and adders of the others are counted in \
         the elaborated RTL (without --model); Cox-Rower's\nand mixed radix's cycles have the residues' way into their \
         transposition memory and out of it, which the paper leaves out.\nOther computers' rows are the paper's, not \
         measured. t_min is the paper's: no open tool times this part, so both area-time\nproducts are at 200 MHz, with the \
         paper's formula.\n{KNOWN}"
    )
}

/// The paper's known errors, where rows above have another figure under `should be`.
const KNOWN: &str = "Known errors of the paper: Table 4.10's accelerator times are those of N = 2^14, four times too short, \
so the speed-ups are 3.9 to\n12.1 and not 10 to 17. Table 4.5: Cox-Rower needs 2 l modular adders. Tables 4.5 and 4.6: the \
mixed-radix rows make one target residue,\nthe others k = l. Table 4.9's caption has l = 30, and its cycles are of l = 30. \
Table 4.11's rows without OpenMP of the 3955WX and of the\ni7-9750H are the same; one is a copy. Section 4.2: the area-time \
product does not always improve with TP (Tables 4.8, 4.9).\n";
