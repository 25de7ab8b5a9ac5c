// SPDX-License-Identifier: Apache-2.0
//! Measures paths between registers in levels of logic, for FPGAs that no open tool times, and sets the limits of
//! such paths.

use serde::{Deserialize, Serialize};

use crate::synth::{self, Family};
use crate::{Hdl, HdlError, Top, Versions};

/// The limit on the levels of look-up tables of a path between two registers. A path with more
/// counts as too long.
pub const MOST_LEVELS: u32 = 8;
/// The limit on the carry bits of a path between two registers. A path with more counts as too
/// long.
pub const MOST_CARRY: u32 = 64;
/// The clock in MHz that paths within [`MOST_LEVELS`] and [`MOST_CARRY`] are expected to reach.
pub const BAR_MHZ: u32 = 150;

/// One of the longest paths of a netlist. It stands for all paths between the same two registers.
/// If the module has several copies of a unit, the paths of all copies count as one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LevelPath {
    /// The number of look-up tables on the path. DSP blocks and memories count as one to three levels for each part
    /// that the path passes: for example the multiplier of a DSP block as 2, and the output of a block RAM without
    /// output register as 3. Carry chains and multiplexers behind look-up tables (MUXF7 to MUXF9) count as 0.
    pub levels: u32,
    /// The number of carry multiplexers on the path.
    pub carry: u32,
    pub from: String,
    pub to: String,
    /// The nets on the path that have names in the sources.
    pub through: Vec<String>,
    /// The number of endpoints of the paths that this one stands for: all those between the same
    /// two registers.
    pub endpoints: u64,
}

/// The paths between the registers of a synthesised module, as if a register stood at every port.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Paths {
    /// The number of endpoints of the module's paths: inputs of registers, of memories and of DSP
    /// blocks, and ports.
    pub endpoints: u64,
    /// The number of endpoints that some path with more than [`MOST_LEVELS`] levels or
    /// [`MOST_CARRY`] carry bits reaches.
    pub beyond: u64,
    /// The paths with the most levels of look-up tables, longest first, at most 12.
    pub by_levels: Vec<LevelPath>,
    /// The paths with the most carry bits, longest first, at most 12.
    pub by_carry: Vec<LevelPath>,
}

impl Paths {
    /// Returns the most levels of look-up tables on any path.
    pub fn levels(&self) -> u32 {
        self.by_levels.first().map_or(0, |path| path.levels)
    }

    /// Returns the most carry bits on any path.
    pub fn carry(&self) -> u32 {
        self.by_carry.first().map_or(0, |path| path.carry)
    }

    /// Returns whether every path is within [`MOST_LEVELS`] and [`MOST_CARRY`].
    pub fn within_bar(&self) -> bool {
        self.beyond == 0
    }
}

/// The paths of a module, with the module, the FPGA family and the tool versions that they belong
/// to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Levels {
    pub top: Top,
    pub family: Family,
    pub paths: Paths,
    pub versions: Versions,
}

pub(crate) fn levels(hdl: &Hdl, top: &Top, family: Family) -> Result<Levels, HdlError> {
    Ok(Levels {
        top: top.clone(),
        family,
        paths: synth::mapped(hdl, top, family)?.paths,
        versions: hdl.tools.versions.clone(),
    })
}
