// SPDX-License-Identifier: Apache-2.0
//! Compares the resources of a machine with those of its FPGA part or its silicon budget, for reports.

use serde::Serialize;

/// A kind of resource: block RAM, DSP blocks, memory of an ASIC and others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Resource {
    /// Block RAM in blocks of 36 Kbit; each may serve as two of 18 Kbit.
    #[serde(rename = "block RAM")]
    BlockRam,
    /// UltraRAM in blocks of 4096 words of 72 bits.
    #[serde(rename = "ultra RAM")]
    UltraRam,
    /// Look-up tables used as memory.
    #[serde(rename = "LUT as memory")]
    LutMemory,
    #[serde(rename = "DSP")]
    Dsp,
    /// Memory of an ASIC, in Kbit.
    #[serde(rename = "SRAM, Kbit")]
    Sram,
    /// Modular multipliers of an ASIC.
    #[serde(rename = "modular multipliers")]
    Multiplier,
}

impl Resource {
    pub const ALL: [Self; 6] = [
        Self::BlockRam,
        Self::UltraRam,
        Self::LutMemory,
        Self::Dsp,
        Self::Sram,
        Self::Multiplier,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::BlockRam => "block RAM",
            Self::UltraRam => "ultra RAM",
            Self::LutMemory => "LUT as memory",
            Self::Dsp => "DSP",
            Self::Sram => "SRAM, Kbit",
            Self::Multiplier => "modular multipliers",
        }
    }
}

/// The words that a memory reads and writes in one cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Ports {
    pub reads: u64,
    pub writes: u64,
    /// Words that are either read or written in a cycle.
    pub either: u64,
}

impl Ports {
    /// One word read and one written a cycle.
    pub const ONE_EACH: Self = Self {
        reads: 1,
        writes: 1,
        either: 0,
    };
    /// One word read or one written a cycle.
    pub const SINGLE: Self = Self {
        reads: 0,
        writes: 0,
        either: 1,
    };
    /// One word read a cycle, from a memory that is written before.
    pub const READ: Self = Self {
        reads: 1,
        writes: 0,
        either: 0,
    };
}

/// One need of a machine and the resource that meets it: block RAM in blocks of 36 Kbit.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NeedUse {
    pub name: String,
    /// The sizes and ports of one unit's memories.
    pub shape: String,
    /// The words read and written in one cycle of each memory.
    pub ports: Option<Ports>,
    /// The number of units that have this need; `None` for a need that all units share.
    pub units: Option<u64>,
    pub resource: Resource,
    /// The amount for one unit.
    pub each: f64,
    /// The amount for the machine.
    pub used: f64,
    /// The amount that the whole part has.
    pub available: f64,
}

/// The sum of all needs of one resource.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Total {
    pub resource: Resource,
    /// The amount for one unit.
    pub each: f64,
    /// The amount for the machine.
    pub used: f64,
    /// The amount that the whole part has.
    pub available: f64,
}

/// The number of units that fit a part whose dies no unit may cross.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RegionUse {
    pub regions: u64,
    /// The number of units for which one die region has room.
    pub room: u64,
    /// The resource that limits this number, for one unit and for a region.
    pub resource: Resource,
    pub each: f64,
    pub available: f64,
}

/// The resources of a machine and those of its part.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Fit {
    pub part: &'static str,
    pub device: &'static str,
    /// The name of a unit, of which there are `units`.
    pub unit: &'static str,
    pub units: u64,
    pub needs: Vec<NeedUse>,
    /// Every resource in use.
    pub totals: Vec<Total>,
    /// The modular multipliers of the machine, in any technology.
    pub multipliers: u64,
    /// The fit by die region, if the part has regions.
    pub regions: Option<RegionUse>,
    pub fits: bool,
    /// The needs that do not fit, each with the available amount; `None` if all fit.
    pub excess: Option<String>,
    /// The reason for which the description may exceed its part, in the description's words.
    pub allowed: Option<String>,
}

impl Fit {
    /// Returns the warning on top of every report of a machine that does not fit.
    pub fn warning(&self) -> Option<String> {
        let excess = self.excess.as_ref()?;
        let reason = self.allowed.as_deref().unwrap_or("no reason is given");
        Some(format!(
            "DOES NOT FIT ITS PART, by explicit statement: {excess}. Stated reason: {reason}"
        ))
    }
}

/// Formats a number of blocks, its digits in groups of three; half a block RAM is `.5`.
pub fn pieces_text(n: f64) -> String {
    let whole = (n.trunc() as u64).to_string();
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if n.fract() > 0.0 {
        out.push_str(".5");
    }
    out
}
