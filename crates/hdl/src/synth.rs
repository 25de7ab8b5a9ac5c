// SPDX-License-Identifier: Apache-2.0
//! Counts the FPGA resources of a module with Yosys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::python::{self, Script};
use crate::timing::{MOST_CARRY, MOST_LEVELS, Paths};
use crate::{Hdl, HdlError, Top, Versions};

const SCRIPT: Script = Script {
    tool: "Yosys",
    text: include_str!("../scripts/synth.py"),
    parts: &[
        ("absorb.py", include_str!("../scripts/absorb.py")),
        ("levels.py", include_str!("../scripts/levels.py")),
        ("pairs.py", include_str!("../scripts/pairs.py")),
    ],
};

/// The FPGA families of Xilinx for which Yosys can map a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// The 7-series of Xilinx FPGAs.
    #[default]
    Xc7,
    /// The UltraScale+ family of Xilinx FPGAs.
    Xcup,
}

impl Family {
    pub const ALL: [Self; 2] = [Self::Xc7, Self::Xcup];

    /// Returns the family's name in Yosys' command `synth_xilinx`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Xc7 => "xc7",
            Self::Xcup => "xcup",
        }
    }

    /// Returns a note for readers of this FPGA family's resource counts: what the counts contain,
    /// and how exact they are.
    pub fn note(self) -> &'static str {
        match self {
            Self::Xc7 => {
                "counts after synthesis, before placement: Yosys does not share the two outputs of a LUT6"
            }
            Self::Xcup => {
                "LUT is an upper figure: Yosys builds carries from CARRY4; a register that a DSP48E2 alone feeds is counted \
                 in the block; counts after synthesis, before placement"
            }
        }
    }
}

impl std::fmt::Display for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The primitives of an FPGA that a module takes, counted by kind.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Resources {
    /// Look-up tables used as logic, of any size (LUT1 to LUT6, with inverters).
    pub lut: u64,
    /// Look-up tables used as shift registers and as distributed RAM.
    pub lut_memory: u64,
    /// The number of pairs of look-up tables that share one place of the FPGA. A pair is two tables with at most five
    /// inputs together, or two shift registers of 16 bits with the same address, clock and enable. A table in front of
    /// a carry chain or of a multiplexer MUXF7 or MUXF8 is in no pair. Pairs are searched greedily, so a placer may
    /// find more.
    pub lut_pairs: u64,
    /// Flip-flops of all types.
    pub ff: u64,
    pub carry4: u64,
    pub muxf: u64,
    /// DSP blocks: DSP48E1 on the 7-series, DSP48E2 on UltraScale+.
    pub dsp: u64,
    /// Block RAMs in halves: an RAMB36 counts 2, an RAMB18 counts 1.
    pub bram18: u64,
    /// UltraRAMs, which only UltraScale+ has.
    pub uram: u64,
    /// The number of the module's other cells, by type. Latches would show here.
    pub other: BTreeMap<String, u64>,
}

/// The FPGA resources of a module, with the module, the FPGA family and the tool versions that they
/// belong to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Synthesis {
    pub top: Top,
    pub family: Family,
    pub resources: Resources,
    pub versions: Versions,
}

/// The options of the Python script that synthesises a module. The script gets the module's sources
/// and parameters beside them.
#[derive(Serialize)]
struct Options<'t> {
    family: Family,
    once: &'t [String],
    apart: &'t [String],
    most_levels: u32,
    most_carry: u32,
}

/// The answer of the Python script that synthesises a module: cells by type, pairs of look-up
/// tables that share a place, and the longest paths.
#[derive(Serialize, Deserialize)]
pub(crate) struct Mapped {
    cells: BTreeMap<String, u64>,
    pairs: u64,
    pub paths: Paths,
}

/// Synthesises a module for an FPGA family, or takes the result from the cache. Resource counts and
/// paths use the same synthesis.
pub(crate) fn mapped(hdl: &Hdl, top: &Top, family: Family) -> Result<Mapped, HdlError> {
    let options = Options {
        family,
        once: &top.once,
        apart: &top.apart,
        most_levels: MOST_LEVELS,
        most_carry: MOST_CARRY,
    };
    python::ask_once(hdl, &SCRIPT, top, &options, &[&hdl.tools.versions.pyosys])
}

pub(crate) fn synthesise(hdl: &Hdl, top: &Top, family: Family) -> Result<Synthesis, HdlError> {
    let Mapped { cells, pairs, .. } = mapped(hdl, top, family)?;
    Ok(Synthesis {
        top: top.clone(),
        family,
        resources: Resources {
            lut_pairs: pairs,
            ..Resources::count(&cells)
        },
        versions: hdl.tools.versions.clone(),
    })
}

impl Resources {
    /// Returns the sum of these resources and of `times` instances of a module that takes the
    /// resources `each`.
    #[must_use]
    pub fn plus(mut self, each: &Self, times: u64) -> Self {
        self.lut += each.lut * times;
        self.lut_memory += each.lut_memory * times;
        self.lut_pairs += each.lut_pairs * times;
        self.ff += each.ff * times;
        self.carry4 += each.carry4 * times;
        self.muxf += each.muxf * times;
        self.dsp += each.dsp * times;
        self.bram18 += each.bram18 * times;
        self.uram += each.uram * times;
        for (cell, n) in &each.other {
            *self.other.entry(cell.clone()).or_default() += n * times;
        }
        self
    }

    /// Returns the number of the FPGA's places for look-up tables that the module takes, for logic
    /// and memory. A pair of tables in one place counts once. An FPGA's number of look-up tables
    /// counts such places.
    pub fn lut_places(&self) -> u64 {
        (self.lut + self.lut_memory).saturating_sub(self.lut_pairs)
    }

    #[doc(hidden)]
    pub fn count(cells: &BTreeMap<String, u64>) -> Self {
        let mut sum = Self::default();
        for (cell, &n) in cells {
            match cell.as_str() {
                "LUT1" | "LUT2" | "LUT3" | "LUT4" | "LUT5" | "LUT6" | "INV" => sum.lut += n,
                "FDRE" | "FDSE" | "FDCE" | "FDPE" => sum.ff += n,
                "CARRY4" => sum.carry4 += n,
                "MUXF7" | "MUXF8" | "MUXF9" => sum.muxf += n,
                "DSP48E1" | "DSP48E2" => sum.dsp += n,
                "URAM288" => sum.uram += n,
                "RAMB18E1" | "RAMB18E2" => sum.bram18 += n,
                "RAMB36E1" | "RAMB36E2" => sum.bram18 += 2 * n,
                "SRL16E" | "SRLC16E" | "SRLC32E" | "RAM32X1S" | "RAM64X1S" => {
                    sum.lut_memory += n;
                }
                // Dual-port and multi-port distributed RAM takes several look-up tables a cell.
                "RAM32X1D" | "RAM64X1D" | "RAM128X1S" => sum.lut_memory += 2 * n,
                "RAM128X1D" | "RAM32M" | "RAM64M" | "RAM256X1S" => sum.lut_memory += 4 * n,
                // UltraScale+.
                "RAM32M16" | "RAM64M8" => sum.lut_memory += 8 * n,
                _ => *sum.other.entry(cell.clone()).or_default() += n,
            }
        }
        sum
    }
}
