//! The machine description: every number of the ring machine, read from TOML and validated.

use serde::{Deserialize, Serialize};

use crate::MachineError;
use crate::fields::{self, ensure, float, range};
use crate::fpga::Fit;
pub use crate::fpga::MemoryKind;

/// Limits that the instruction word imposes (see `encode`).
pub const MAX_RPAUS: usize = 16;
pub const MAX_SLOTS: usize = 32;
pub const MAX_KEY_SLOTS: usize = 128;
/// Port groups of polynomial memory; the key memory is one more.
pub const MAX_GROUPS: usize = 16;

/// A ring machine. Ranges of every field are checked by [`Description::parse`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The name reports carry.
    pub name: String,
    pub title: String,
    /// The FPGA that it is laid out for, by its name in [`crate::fpga::PARTS`].
    pub part: String,
    /// Why the description may need more than its part has; refused where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_more_than_the_part_has: Option<String>,
    pub clock_mhz: f64,
    /// log2 of the native ring degree.
    pub log_n: u8,
    pub rpaus: usize,
    /// Program controllers: 1 or 2, each with a main and a dyadic thread.
    pub controllers: usize,
    /// Bits of a stored residue.
    pub word_bits: u32,
    pub cores: Cores,
    pub main: MainCore,
    pub pipeline: Pipeline,
    pub ring: RingLink,
    pub generator: Generator,
    pub keys: KeyMemory,
    pub twiddles: Twiddles,
    pub link: HostLink,
    /// Polynomial memory in slot order; the slots of one entry share one read and one write port.
    pub memory: Vec<PortGroup>,
}

/// Cores of one RPAU; each has one modular multiplier.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cores {
    pub butterfly: usize,
    pub generator: usize,
    pub dyadic: usize,
}

/// What the main cores do besides butterflies.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MainCore {
    /// Coefficients a cycle in coefficient-wise work.
    pub lanes: usize,
    /// Whether c + a b is one pass.
    pub mac: bool,
    /// Whether (a - b) w, and a reduction followed by an addition, are one pass.
    pub fused: bool,
}

/// Pipeline stages, in cycles.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    pub issue: u64,
    pub memory_read: u64,
    pub multiplier: u64,
    pub adder: u64,
    pub memory_write: u64,
}

/// The ring between RPAUs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RingLink {
    /// Residues a cycle.
    pub lanes: usize,
    /// Cycles from one RPAU to the next.
    pub hop: u64,
}

/// The generator of seeded key halves (ChaCha20).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generator {
    pub residues_per_cycle: usize,
    /// Cycles from the start of a stream to its first residue.
    pub latency: u64,
}

/// Memory of key-switching keys, one read port.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyMemory {
    pub slots: usize,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twiddles {
    pub source: TwiddleSource,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TwiddleSource {
    /// One generator (a modular multiplier) beside each butterfly.
    Generated,
    /// Tables for the full ring and both half rings, one memory per butterfly.
    Stored,
}

/// The host link: time to move one limb.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostLink {
    /// Microseconds for one limb of 2^limb_log_n 64-bit residues.
    pub us_per_limb: f64,
    pub limb_log_n: u8,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortGroup {
    pub kind: MemoryKind,
    pub slots: usize,
}

impl Description {
    /// Medha, as the ring paper describes it.
    pub const MEDHA: &'static str = include_str!("medha.toml");
    /// Ours: stored twiddles and twice the butterflies at the same multipliers.
    pub const STORED: &'static str = include_str!("stored.toml");

    /// Reads and validates a description.
    ///
    /// # Errors
    /// [`MachineError::Syntax`] for text that is no description, and those of [`Self::check`].
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        let description: Self =
            toml::from_str(text).map_err(|e| MachineError::Syntax(e.to_string()))?;
        description.check()?;
        Ok(description)
    }

    /// Checks every field; see the error's text for the range. Gives what it needs beside what its part has.
    ///
    /// # Errors
    /// [`MachineError::Field`] for a number out of range; [`MachineError::UnknownPart`]; [`MachineError::ExceedsPart`] unless
    /// `allow_more_than_the_part_has` gives a reason, [`MachineError::FitsAfterAll`] where there is nothing to allow.
    pub fn check(&self) -> Result<Fit, MachineError> {
        let n = 1usize << self.log_n.min(16);
        fields::name(&self.name)?;
        fields::clock_mhz(self.clock_mhz)?;
        range("log_n", u64::from(self.log_n), 3, 16)?;
        range("rpaus", self.rpaus as u64, 1, MAX_RPAUS as u64)?;
        range("controllers", self.controllers as u64, 1, 2)?;
        range("word_bits", u64::from(self.word_bits), 8, 64)?;
        range(
            "cores.butterfly",
            self.cores.butterfly as u64,
            1,
            (n / 2) as u64,
        )?;
        let b = self.cores.butterfly;
        ensure(b.is_power_of_two(), "cores.butterfly", b, "a power of two")?;
        range(
            "cores.dyadic",
            self.cores.dyadic as u64,
            1,
            self.row() as u64,
        )?;
        let generators = if self.twiddles.source == TwiddleSource::Generated {
            b
        } else {
            0
        };
        let expected = "one per butterfly with generated twiddles, none with stored ones";
        ensure(
            self.cores.generator == generators,
            "cores.generator",
            self.cores.generator,
            expected,
        )?;
        range(
            "main.lanes",
            self.main.lanes as u64,
            1,
            (b + generators) as u64,
        )?;
        let p = &self.pipeline;
        for (field, value) in [
            ("pipeline.issue", p.issue),
            ("pipeline.memory_read", p.memory_read),
            ("pipeline.multiplier", p.multiplier),
            ("pipeline.adder", p.adder),
            ("pipeline.memory_write", p.memory_write),
            ("ring.hop", self.ring.hop),
        ] {
            range(field, value, 1, 256)?;
        }
        range("ring.lanes", self.ring.lanes as u64, 1, self.row() as u64)?;
        range(
            "generator.residues_per_cycle",
            self.generator.residues_per_cycle as u64,
            1,
            self.row() as u64,
        )?;
        range("generator.latency", self.generator.latency, 0, 4096)?;
        range(
            "keys.slots",
            self.keys.slots as u64,
            0,
            MAX_KEY_SLOTS as u64,
        )?;
        float("link.us_per_limb", self.link.us_per_limb, 0.0, 1e9)?;
        range("link.limb_log_n", u64::from(self.link.limb_log_n), 1, 20)?;
        range(
            "memory (entries)",
            self.memory.len() as u64,
            1,
            MAX_GROUPS as u64,
        )?;
        for group in &self.memory {
            range("memory.slots", group.slots as u64, 1, MAX_SLOTS as u64)?;
        }
        range(
            "memory.slots (sum)",
            self.slots() as u64,
            1,
            MAX_SLOTS as u64,
        )?;
        self.fit()
    }

    /// Modular multipliers of one RPAU: one per butterfly, generator and dyadic core.
    pub fn multipliers_per_rpau(&self) -> usize {
        self.cores.butterfly + self.cores.generator + self.cores.dyadic
    }

    /// Coefficients in one memory row: two per butterfly, one row a cycle and port.
    pub fn row(&self) -> usize {
        2 * self.cores.butterfly
    }

    /// Slots of polynomial memory.
    pub fn slots(&self) -> usize {
        self.memory.iter().map(|g| g.slots).sum()
    }

    /// The port group of each slot, in slot order.
    pub fn slot_groups(&self) -> Vec<u8> {
        let entries = self.memory.iter().enumerate();
        entries
            .flat_map(|(index, group)| std::iter::repeat_n(index as u8, group.slots))
            .collect()
    }

    /// Bytes of one slot (native limb) at the stored width.
    pub fn slot_bytes(&self) -> u64 {
        (1u64 << self.log_n) * u64::from(self.word_bits) / 8
    }

    /// Seconds on the host link for `bytes` of 64-bit residues.
    pub fn link_seconds(&self, bytes: u64) -> f64 {
        let limb = 8.0 * (1u64 << self.link.limb_log_n) as f64;
        bytes as f64 / limb * self.link.us_per_limb * 1e-6
    }
}
