// SPDX-License-Identifier: Apache-2.0
//! The parts that the papers name, and what they have.

use crate::MachineError;
use ringmill_device::report::Resource;

/// An amount of each resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Resources {
    /// Halves of a block RAM, of 18 Kbit.
    pub bram18: u64,
    pub uram: u64,
    pub lut_memory: u64,
    pub dsp: u64,
    /// Of an ASIC.
    pub sram_bits: u64,
    pub multipliers: u64,
}

impl Resources {
    /// The amount of one resource, in its smallest piece: block RAM in halves.
    pub fn pieces(self, of: Resource) -> u64 {
        match of {
            Resource::BlockRam => self.bram18,
            Resource::UltraRam => self.uram,
            Resource::LutMemory => self.lut_memory,
            Resource::Dsp => self.dsp,
            Resource::Sram => self.sram_bits,
            Resource::Multiplier => self.multipliers,
        }
    }

    /// The amount of one resource, in the unit of its name: block RAM in blocks of 36 Kbit.
    pub fn amount(self, of: Resource) -> f64 {
        let pieces = self.pieces(of) as f64;
        match of {
            Resource::BlockRam => pieces / 2.0,
            // To the whole Kbit, upwards.
            Resource::Sram => (pieces / 1024.0).ceil(),
            Resource::UltraRam | Resource::LutMemory | Resource::Dsp | Resource::Multiplier => {
                pieces
            }
        }
    }

    fn each(self, with: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            bram18: f(self.bram18, with.bram18),
            uram: f(self.uram, with.uram),
            lut_memory: f(self.lut_memory, with.lut_memory),
            dsp: f(self.dsp, with.dsp),
            sram_bits: f(self.sram_bits, with.sram_bits),
            multipliers: f(self.multipliers, with.multipliers),
        }
    }

    pub fn plus(self, other: Self) -> Self {
        self.each(other, u64::saturating_add)
    }

    pub fn times(self, n: u64) -> Self {
        self.each(Self::default(), |own, _| own.saturating_mul(n))
    }

    /// One of `n` equal shares, rounded down.
    pub fn share(self, n: u64) -> Self {
        self.each(Self::default(), |own, _| {
            own.checked_div(n).unwrap_or_default()
        })
    }

    /// How often `need` finds room, and the resource that ends it; `None` for a need of nothing.
    pub fn room(self, need: Self) -> Option<(u64, Resource)> {
        Resource::ALL
            .into_iter()
            .filter_map(|of| Some((self.pieces(of).checked_div(need.pieces(of))?, of)))
            .min_by_key(|&(times, _)| times)
    }
}

/// What a look-up table as memory can do differs between families.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    SevenSeries,
    UltraScalePlus,
    /// No FPGA: memories and multipliers are counted as such.
    Asic,
}

/// An FPGA, as a description names it.
#[derive(PartialEq, Eq, Debug)]
pub struct Part {
    pub name: &'static str,
    /// The device on that card.
    pub device: &'static str,
    pub family: Family,
    pub has: Resources,
    /// Bytes of high-bandwidth memory in its package.
    pub high_bandwidth_bytes: u64,
    /// Equal die regions that no unit of a machine is laid across, where a paper places units in them; 1 where none does.
    pub regions: u64,
}

/// What the devices with memory of high bandwidth have, of the U280 and of the VCU128 alike.
const HIGH_BANDWIDTH: Resources = Resources {
    bram18: 2 * 2016,
    uram: 960,
    lut_memory: 600_960,
    dsp: 9024,
    sram_bits: 0,
    multipliers: 0,
};

/// The parts by name.
///
/// Counts are the data sheets': DS962 (U250: 1,728 K look-up tables, 2,688 block RAMs, 1,280 ultra RAMs, 12,288 DSP), DS963
/// (U280), DS890 (VU37P on the VCU128) and DS180 (7 series). Look-up tables as memory are their distributed RAM over 64 bits:
/// 48.3, 36.7 and 36.7 Mbit, 8,175 and 10,888 Kbit. The four die regions of the U250 are equal (ring paper, section 5.2: 320
/// ultra RAMs each). The die of the vector paper (12 nm, 150 mm2) is no part one can buy: what it "has" is what the paper puts on it,
/// 64 MB, registers and accumulator, 4 times 1279 + 254 and 2048 multipliers, and, as it prints no size, 4 Mbit for twiddles.
/// Both devices with high-bandwidth memory have 8 GB of it. The polymul paper names the XC7VX485T, but its percentages are of the XC7VX690T.
pub const PARTS: [Part; 6] = [
    Part {
        name: "U250",
        device: "XCU250",
        family: Family::UltraScalePlus,
        has: Resources {
            bram18: 2 * 2688,
            uram: 1280,
            lut_memory: 791_040,
            dsp: 12_288,
            sram_bits: 0,
            multipliers: 0,
        },
        high_bandwidth_bytes: 0,
        regions: 4,
    },
    Part {
        name: "U280",
        device: "XCU280",
        family: Family::UltraScalePlus,
        has: HIGH_BANDWIDTH,
        high_bandwidth_bytes: 8 << 30,
        regions: 1,
    },
    Part {
        name: "VCU128",
        device: "XCVU37P",
        family: Family::UltraScalePlus,
        has: HIGH_BANDWIDTH,
        high_bandwidth_bytes: 8 << 30,
        regions: 1,
    },
    Part {
        name: "XC7VX485T",
        device: "XC7VX485T",
        family: Family::SevenSeries,
        has: Resources {
            bram18: 2 * 1030,
            uram: 0,
            lut_memory: 130_800,
            dsp: 2800,
            sram_bits: 0,
            multipliers: 0,
        },
        high_bandwidth_bytes: 0,
        regions: 1,
    },
    Part {
        name: "XC7VX690T",
        device: "XC7VX690T",
        family: Family::SevenSeries,
        has: Resources {
            bram18: 2 * 1470,
            uram: 0,
            lut_memory: 174_200,
            dsp: 3600,
            sram_bits: 0,
            multipliers: 0,
        },
        high_bandwidth_bytes: 0,
        regions: 1,
    },
    Part {
        name: "GF12",
        device: "12 nm, 150 mm2",
        family: Family::Asic,
        has: Resources {
            bram18: 0,
            uram: 0,
            lut_memory: 0,
            dsp: 0,
            sram_bits: (64 << 23) + (136 << 13) + (4 << 20),
            multipliers: 4 * (1279 + 254) + 2048,
        },
        high_bandwidth_bytes: 0,
        regions: 1,
    },
];

impl Part {
    /// The part of that name.
    ///
    /// # Errors
    /// [`MachineError::UnknownPart`] for any other, with the names that there are.
    pub fn named(name: &str) -> Result<&'static Self, MachineError> {
        PARTS
            .iter()
            .find(|part| part.name == name)
            .ok_or_else(|| MachineError::UnknownPart {
                got: name.to_owned(),
                known: PARTS.map(|part| part.name).join(", "),
            })
    }

    /// What one of its die regions has.
    pub fn region(&self) -> Resources {
        self.has.share(self.regions)
    }
}
