// SPDX-License-Identifier: Apache-2.0
//! The torus paper: steps of a bootstrap (Table I), primes (II), parameter sets (III), and every printed design of Tables IV to
//! VI, with our engine beside the paper's; its own order of a step, cycle by cycle; the key switch with honest masks, the key's
//! bandwidth, and the gate on this computer. Known errors of the paper stand beside what it should print.

mod engine;
mod gate;
mod keys;
mod keyswitch;
mod own;
mod paper;
mod peer;
pub(crate) mod primes;
mod rivals;
mod security;
mod set;
mod steps;

use std::path::Path;

use ringmill_device::progress::Progress;
use ringmill_hdl::Hdl;
use ringmill_machines::fpga::{Printed, PrintedUse, Resource};

use crate::error::PaperError;
use crate::mapping::{self, Mapping};
use crate::paper::{Asked, Paper, Reproduced};
use crate::row::Row;
use crate::tables::Cell;

/// Every row, table by table; without a tool of synthesis no resources.
fn rows(hdl: Option<&Hdl>, progress: &dyn Progress) -> Result<Vec<Row>, PaperError> {
    let paper = paper::torus()?;
    let params = gate::params()?;
    let gate = gate::milliseconds()?;
    let mapping = match hdl {
        Some(hdl) => {
            let tables = |asked: &Mapping<'_>| {
                rivals::rows(&paper, &gate, asked)?;
                keyswitch::rows(&params, asked).map(drop)
            };
            mapping::map(hdl, tables, progress)?;
            Mapping::By(hdl)
        }
        None => Mapping::LeftOut,
    };
    let mut found = steps::rows(&paper, &params)?;
    found.extend(primes::rows(&paper)?);
    found.extend(security::rows(&paper)?);
    found.extend(rivals::rows(&paper, &gate, &mapping)?);
    found.extend(set::rows()?);
    found.extend(own::rows()?);
    found.extend(keys::rows()?);
    found.extend(keyswitch::rows(&params, &mapping)?);
    Ok(found)
}

/// The bootstrapping engine: its Tables I to VI.
pub struct Bootstrapping;

impl Paper for Bootstrapping {
    fn name(&self) -> &'static str {
        "torus"
    }

    fn title(&self) -> &'static str {
        "Hardware Acceleration and Implementation of Fully Homomorphic Encryption Over the Torus"
    }

    /// DSP of its engine of the 128-bit set, as many for each unrolling.
    fn printed(&self) -> Result<Printed, PaperError> {
        let paper = paper::torus()?;
        let mut rows = paper.bootstrap_designs.iter();
        let found =
            rows.find(|row| matches!(row.first(), Some(Cell::Text(name)) if name == "Proposed1"));
        // After its name ten columns.
        let dsp = found.and_then(|row| row.get(10)?.figure());
        let dsp = dsp.ok_or_else(|| PaperError::Tables("they lack a row of engines".to_owned()))?;
        Ok(Printed {
            uses: vec![PrintedUse::of_the_machine(Resource::Dsp, dsp)],
            units_in_a_region: None,
        })
    }

    fn tables(&self, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError> {
        let synthesis = asked.sources.synthesis;
        let hdl = match synthesis {
            true => Some(Hdl::find(Path::new("."))?),
            false => None,
        };
        Ok(Reproduced {
            rows: rows(hdl.as_ref(), progress)?,
            notes: notes(synthesis),
            ..Reproduced::default()
        })
    }
}

/// What a reader must know of the figures.
fn notes(synthesis: bool) -> String {
    let resources = if synthesis {
        "LUT, FF, DSP and block RAM: Yosys, synth_xilinx -family xcup, before placement; an engine is the sum of its modules, each \
         mapped once;\nof engines whose units are wider than 64 butterflies DSP and block RAM alone, as their descriptions' needs count them."
    } else {
        "LUT and FF are left out (--no-synth): they take minutes. DSP and block RAM are those of the descriptions' needs, as \
         `ringmill machine show` has them."
    };
    format!(
        "\nTable I: the paper's cycles of a serial machine beside the same operations counted in the program of our bootstrap, whose \
         products\nare in transform form: transforms of digits and of sums, and products between. A step of the blind rotation is \
         one of n.\nThe switching key's masks are distinct for every row, so that a switch takes N t n words of mask; the \
         paper's unit has one mask for all\nrows and the old secret in a ROM, which gives the secret away, and no figure of it \
         compares. Cycles of the key switch are the\nmodel's, which a test holds equal to the RTL's.\n\
         Tables IV and VI: cycles of our engine are the model's, which lockstep holds to the RTL: at toy sizes in `make test`, at \
         the paper's\nin `make full`. One bootstrap is load, blind rotation, extraction, key switch with honest masks and what is given. The column `at its clock` has \
         times at the clock that\nthe paper prints for its own: no open tool times this part, and we claim none. Ours stands on as \
         many butterflies and product\nmultipliers as the paper's (96 and 48; 64 and 32 for 110 bits), and 8 weights for m > 1.\n\
         `torus-paper` is the paper's order on them: a unit for each of twelve pairs, sums in coefficient form. What differs from \
         its text:\nconstant geometry in the place of the distribution unit of section III-A.3, so that no switch stands between \
         memory and butterflies;\nproducts and passes overlap; how its unrolled keys become one the paper does not say, and its DSP \
         are those of m = 1: here 48\nmultipliers more bundle them while the units transform.\n{resources}\n\
         Area-time products in the column `should be` are those of the printed figures. FPT has no key switch. The gate is measured \
         on one\nthread of this computer, with the paper's parameters, in turns with tfhe-rs where that is built.\n{KNOWN}"
    )
}

/// The paper's known errors.
const KNOWN: &str = "Known errors of the paper: Table II's widths of the Mersenne primes are decimal digits, not bits. Table III's \
128 and 110 bits are 118 and\n94 today. Table VI's DSP area-time product of Proposed5 is that of the row above it. Table IV: the \
ASIC's 0.56 us at 800 MHz are 448 cycles,\nfewer than the 640 that 8 butterflies need. With the text's Bg = 1024 and the TFHE library's noise gates of the 128-bit set\n\
fail more often than 2^-12.\n";
