// SPDX-License-Identifier: Apache-2.0
//! The FPGAs and dies that the papers of the machines (docs/papers.md) name, and their resources.

use crate::MachineError;
use ringmill_device::report::Resource;

/// An amount of each resource of an FPGA or an ASIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Resources {
    /// The number of halves of block RAMs, each of 18 Kbit.
    pub bram18: u64,
    pub uram: u64,
    pub lut_memory: u64,
    pub dsp: u64,
    /// The number of bits of SRAM in an ASIC.
    pub sram_bits: u64,
    pub multipliers: u64,
}

impl Resources {
    /// Returns the amount of one resource in its smallest pieces: halves of a block for block RAM, bits for SRAM.
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

    /// Returns the amount of one resource, counted as reports do: block RAM in blocks of 36 Kbit, SRAM in Kbit.
    pub fn amount(self, of: Resource) -> f64 {
        let pieces = self.pieces(of) as f64;
        match of {
            Resource::BlockRam => pieces / 2.0,
            // Rounded up to a whole Kbit.
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

    /// Returns each resource divided by `n`, rounded down.
    pub fn share(self, n: u64) -> Self {
        self.each(Self::default(), |own, _| {
            own.checked_div(n).unwrap_or_default()
        })
    }

    /// Returns how many times the resources `need` fit into the resources of `self`, and the
    /// resource that limits this number. Returns `None` if `need` is empty.
    pub fn room(self, need: Self) -> Option<(u64, Resource)> {
        Resource::ALL
            .into_iter()
            .filter_map(|of| Some((self.pieces(of).checked_div(need.pieces(of))?, of)))
            .min_by_key(|&(times, _)| times)
    }
}

/// The family of an FPGA, or an ASIC. Look-up tables used as memory have other shapes in another family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    SevenSeries,
    UltraScalePlus,
    /// An ASIC, in which memory is counted in bits and multipliers by their number.
    Asic,
}

/// An FPGA, or the die of an ASIC, that a description can name.
#[derive(PartialEq, Eq, Debug)]
pub struct Part {
    pub name: &'static str,
    /// The name of the FPGA device in its data sheet; for an ASIC its process and area.
    pub device: &'static str,
    pub family: Family,
    pub has: Resources,
    /// The bytes of high-bandwidth memory in the FPGA's package.
    pub high_bandwidth_bytes: u64,
    /// The number of equal dies, if the paper that names the FPGA places each unit of its machine on one die;
    /// otherwise 1.
    pub regions: u64,
}

/// The resources of the two devices with high-bandwidth memory, the U280 and the VCU128.
const HIGH_BANDWIDTH: Resources = Resources {
    bram18: 2 * 2016,
    uram: 960,
    lut_memory: 600_960,
    dsp: 9024,
    sram_bits: 0,
    multipliers: 0,
};

/// All FPGAs and dies that a description can name.
///
/// The amounts are those of the data sheets: DS962 (U250: 1,728 K look-up tables, 2,688 block RAMs,
/// 1,280 ultra RAMs, 12,288 DSP), DS963 (U280), DS890 (VU37P on the VCU128) and DS180 (7 series). A
/// look-up table as memory holds 64 bits, so their number is a device's distributed RAM divided by
/// 64 bits. The RAM has 48.3, 36.7, 36.7 Mbit, 8,175 and 10,888 Kbit for the first five parts. The
/// four dies of the U250 are equal (Medha paper, section 5.2: 320 ultra RAMs each).
///
/// The die of the BASALISC paper (12 nm, 150 mm2) is an ASIC. Its resources are those that the
/// paper's machine uses: a buffer of 64 MB, registers and an accumulator of 136 KB together, and 4
/// (1279 + 254) + 2048 multipliers. That paper prints no size of the twiddles, for which 4 Mbit are
/// assumed.
///
/// Both devices with high-bandwidth memory have 8 GB of it. The paper of Mert, Öztürk and Savaş names the XC7VX485T,
/// but its percentages are of the XC7VX690T.
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
    /// Returns the FPGA or die with this name.
    ///
    /// # Errors
    /// [`MachineError::UnknownPart`] for any other name, with the known names.
    pub fn named(name: &str) -> Result<&'static Self, MachineError> {
        PARTS
            .iter()
            .find(|part| part.name == name)
            .ok_or_else(|| MachineError::UnknownPart {
                got: name.to_owned(),
                known: PARTS.map(|part| part.name).join(", "),
            })
    }

    /// Returns the resources of one die of the FPGA.
    pub fn region(&self) -> Resources {
        self.has.share(self.regions)
    }
}
