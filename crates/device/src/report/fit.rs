// SPDX-License-Identifier: Apache-2.0
//! Compares the resources that a machine needs with those of its FPGA part or its silicon budget, for
//! reports.

use serde::Serialize;

/// A kind of hardware resource: block RAM, DSP blocks, memory of an ASIC and others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Resource {
    /// Block RAM of an FPGA, in blocks of 36 Kbit; each may serve as two of 18 Kbit.
    #[serde(rename = "block RAM")]
    BlockRam,
    /// UltraRAM of an FPGA, in blocks of 4096 words of 72 bits.
    #[serde(rename = "ultra RAM")]
    UltraRam,
    /// Look-up tables of an FPGA that serve as memory, counted in tables.
    #[serde(rename = "LUT as memory")]
    LutMemory,
    #[serde(rename = "DSP")]
    Dsp,
    /// Memory of an ASIC, counted in Kbit.
    #[serde(rename = "SRAM, Kbit")]
    Sram,
    /// Modular multipliers of an ASIC, counted one by one.
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

/// The ports of a memory: how many words it reads and writes in one cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Ports {
    pub reads: u64,
    pub writes: u64,
    /// The number of further words in one cycle, each of which the memory either reads or writes.
    pub either: u64,
}

impl Ports {
    /// A memory that reads one word and writes one word in the same cycle.
    pub const ONE_EACH: Self = Self {
        reads: 1,
        writes: 1,
        either: 0,
    };
    /// A memory that reads one word or writes one word in a cycle.
    pub const SINGLE: Self = Self {
        reads: 0,
        writes: 0,
        either: 1,
    };
    /// A memory that reads one word in a cycle, and is written before the computation begins.
    pub const READ: Self = Self {
        reads: 1,
        writes: 0,
        either: 0,
    };
}

/// One need of a machine, such as the memories of one unit, and the amount of a hardware resource that meets it. A
/// report prints it as a line of its table of needs. Block RAM counts in blocks of 36 Kbit.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NeedUse {
    pub name: String,
    /// The sizes and ports of the memories of one unit, as a text with sizes in words.
    pub shape: String,
    /// The ports of each memory of this need; `None` for a need that is no memory.
    pub ports: Option<Ports>,
    /// The number of units that have this need. It is `None` for a need that all units share.
    pub units: Option<u64>,
    pub resource: Resource,
    /// The amount of the resource that this need takes once: in one unit of the machine, or outside of them if all
    /// units share it.
    pub each: f64,
    /// The amount of the resource that this need takes in the whole machine.
    pub used: f64,
    /// The amount of the resource that the whole FPGA part or silicon budget has.
    pub available: f64,
}

/// The sum of all needs of a machine for one resource.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Total {
    pub resource: Resource,
    /// The amount of the resource that one unit of the machine needs, without the needs that all units share.
    pub each: f64,
    /// The amount of the resource that the whole machine needs.
    pub used: f64,
    /// The amount of the resource that the whole FPGA part or silicon budget has.
    pub available: f64,
}

/// The number of a machine's units that fit an FPGA part, if no unit may cross the border of a die.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RegionUse {
    pub regions: u64,
    /// The number of the machine's units for which one die region of the FPGA part has enough resources.
    pub room: u64,
    /// The resource that limits the number of units in a region of the FPGA part. `each` is the
    /// amount that one unit needs, and `available` the amount that one region has.
    pub resource: Resource,
    pub each: f64,
    pub available: f64,
}

/// The resources that a machine needs, beside those that its FPGA part or silicon budget has.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Fit {
    pub part: &'static str,
    pub device: &'static str,
    /// The name of the machine's unit, such as a lane; the machine has `units` of them.
    pub unit: &'static str,
    pub units: u64,
    pub needs: Vec<NeedUse>,
    /// The sum of needs for each resource that the machine uses.
    pub totals: Vec<Total>,
    /// The number of modular multipliers of the machine, in an FPGA and in silicon alike.
    pub multipliers: u64,
    /// The number of units that fit each die region of the FPGA part. It is `None` for a part of one die, or for units
    /// that need no resource.
    pub regions: Option<RegionUse>,
    pub fits: bool,
    /// A text of the needs that exceed what the FPGA part or silicon budget has, each with the
    /// available amount. `None` means that all fit.
    pub excess: Option<String>,
    /// The reason, from the machine's description, for which the machine may exceed its FPGA part
    /// or silicon budget. It is `None` if the description gives no reason.
    pub allowed: Option<String>,
}

impl Fit {
    /// Returns a warning for the top of a report if the machine needs more than its FPGA part or
    /// silicon budget has.
    pub fn warning(&self) -> Option<String> {
        let excess = self.excess.as_ref()?;
        let reason = self.allowed.as_deref().unwrap_or("no reason is given");
        Some(format!(
            "DOES NOT FIT ITS PART, by explicit statement: {excess}. Stated reason: {reason}"
        ))
    }
}

/// Formats a number of blocks with its digits in groups of three. Any fraction prints as `.5`, because only halves of
/// block RAMs occur.
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
