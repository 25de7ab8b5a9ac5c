//! What a module takes on an FPGA, by Yosys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::python::{self, Request};
use crate::{Hdl, HdlError, Top, Versions};

const SCRIPT: &str = include_str!("../scripts/synth.py");
/// Synthesis has no limit of its own; the field is the solver's.
const NO_LIMIT: u32 = 0;

/// Counts of 7-series primitives.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Resources {
    /// Look-up tables of any size as logic (LUT1 to LUT6, inverters included).
    pub lut: u64,
    /// Look-up tables as shift registers and distributed RAM.
    pub lut_memory: u64,
    /// Flip-flops.
    pub ff: u64,
    pub carry4: u64,
    pub muxf: u64,
    /// DSP48E1.
    pub dsp: u64,
    /// Block RAMs in halves: an RAMB36 counts 2, an RAMB18 counts 1.
    pub bram18: u64,
    /// Cells of other types, by type; latches would show here.
    pub other: BTreeMap<String, u64>,
}

/// Counts with what was synthesised and by what.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Synthesis {
    pub top: Top,
    pub family: String,
    pub resources: Resources,
    pub versions: Versions,
}

/// The script's answer: cells by type.
#[derive(Deserialize)]
struct Cells {
    cells: BTreeMap<String, u64>,
}

pub(crate) fn synthesise(hdl: &Hdl, top: &Top) -> Result<Synthesis, HdlError> {
    let request = Request::new(hdl, top, NO_LIMIT)?;
    let answer: Cells = python::ask(hdl, "Yosys", SCRIPT, &request)?;
    Ok(Synthesis {
        top: top.clone(),
        family: "xc7".to_owned(),
        resources: Resources::count(&answer.cells),
        versions: hdl.tools.versions.clone(),
    })
}

impl Resources {
    fn count(cells: &BTreeMap<String, u64>) -> Self {
        let mut sum = Self::default();
        for (cell, &n) in cells {
            match cell.as_str() {
                "LUT1" | "LUT2" | "LUT3" | "LUT4" | "LUT5" | "LUT6" | "INV" => sum.lut += n,
                "FDRE" | "FDSE" | "FDCE" | "FDPE" => sum.ff += n,
                "CARRY4" => sum.carry4 += n,
                "MUXF7" | "MUXF8" => sum.muxf += n,
                "DSP48E1" => sum.dsp += n,
                "RAMB18E1" => sum.bram18 += n,
                "RAMB36E1" => sum.bram18 += 2 * n,
                "SRL16E" | "SRLC16E" | "SRLC32E" | "RAM32X1S" | "RAM64X1S" => {
                    sum.lut_memory += n;
                }
                // Dual-port and multi-port distributed RAM takes several look-up tables a cell.
                "RAM32X1D" | "RAM64X1D" | "RAM128X1S" => sum.lut_memory += 2 * n,
                "RAM128X1D" | "RAM32M" | "RAM64M" | "RAM256X1S" => sum.lut_memory += 4 * n,
                _ => *sum.other.entry(cell.clone()).or_default() += n,
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_classed() {
        let cells = [
            ("LUT3", 2),
            ("INV", 1),
            ("RAMB36E1", 1),
            ("RAMB18E1", 1),
            ("LDCE", 4),
        ];
        let cells = cells.map(|(name, n)| (name.to_owned(), n)).into();
        let got = Resources::count(&cells);
        assert_eq!((got.lut, got.bram18), (3, 3));
        assert_eq!(got.other, [("LDCE".to_owned(), 4)].into());
    }
}
