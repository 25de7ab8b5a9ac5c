// SPDX-License-Identifier: Apache-2.0
//! What a machine is made of beside what its part has, as reports print it.

use serde::Serialize;

/// What a need is counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Resource {
    /// Blocks of 36 Kbit; each may serve as two of 18 Kbit.
    #[serde(rename = "block RAM")]
    BlockRam,
    /// Blocks of 4096 words of 72 bits.
    #[serde(rename = "ultra RAM")]
    UltraRam,
    /// Look-up tables as memory.
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

/// Words that a memory is asked for in one cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Ports {
    pub reads: u64,
    pub writes: u64,
    /// Words that are read or written, one or the other in a cycle.
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
    /// One word read a cycle; it is written before.
    pub const READ: Self = Self {
        reads: 1,
        writes: 0,
        either: 0,
    };
}

/// One need and what there is, in the resource that it takes: block RAM in blocks of 36 Kbit.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NeedUse {
    pub name: String,
    /// Sizes and ports of one unit's.
    pub shape: String,
    /// Words read and written in one cycle of each of its memories.
    pub ports: Option<Ports>,
    /// Units that have it; `None` for what they share.
    pub units: Option<u64>,
    pub resource: Resource,
    /// Of one unit.
    pub each: f64,
    /// Of the machine.
    pub used: f64,
    /// Of the whole part.
    pub available: f64,
}

/// A resource in all.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Total {
    pub resource: Resource,
    /// Of one unit.
    pub each: f64,
    /// Of the machine.
    pub used: f64,
    /// Of the whole part.
    pub available: f64,
}

/// How many units find room where none is laid across a border between dies.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RegionUse {
    pub regions: u64,
    /// Units that one region has room for.
    pub room: u64,
    /// The resource that ends it: of one unit, and of a region.
    pub resource: Resource,
    pub each: f64,
    pub available: f64,
}

/// What a description needs beside what its part has.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Fit {
    pub part: &'static str,
    pub device: &'static str,
    /// What a unit is called, and how many there are.
    pub unit: &'static str,
    pub units: u64,
    pub needs: Vec<NeedUse>,
    /// Every resource that is used.
    pub totals: Vec<Total>,
    /// Modular multipliers of the machine, whatever they are built of.
    pub multipliers: u64,
    /// Where the part has die regions.
    pub regions: Option<RegionUse>,
    pub fits: bool,
    /// What does not fit, where something does not: each with its need and what is available.
    pub excess: Option<String>,
    /// Why the description may exceed its part all the same, in its own words.
    pub allowed: Option<String>,
}

impl Fit {
    /// What stands on top of every report of a machine that does not fit.
    pub fn warning(&self) -> Option<String> {
        let excess = self.excess.as_ref()?;
        let reason = self.allowed.as_deref().unwrap_or("no reason is given");
        Some(format!(
            "DOES NOT FIT ITS PART, by explicit statement: {excess}. Stated reason: {reason}"
        ))
    }
}

/// A number of pieces, its digits in groups of three; half a block RAM as `.5`.
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
