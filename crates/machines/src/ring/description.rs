// SPDX-License-Identifier: Apache-2.0
//! The description of a ring machine: every number of the machine, read from TOML and checked.
#![deny(clippy::arithmetic_side_effects)]

use serde::{Deserialize, Serialize};

use crate::MachineError;
use crate::fields::{self, ensure, float, range};
use crate::fpga::Fit;
pub use crate::fpga::MemoryKind;

/// The most splits of a ring: a limb then has four pieces, and a ciphertext eight of at most 32 slots.
pub const MAX_SPLITS: u8 = 2;
/// The most pieces of a limb.
pub const MAX_PIECES: usize = 1 << MAX_SPLITS;

/// The most RPAUs, a limit of the instruction word (see `encode`).
pub const MAX_RPAUS: usize = 16;
pub const MAX_SLOTS: usize = 32;
pub const MAX_KEY_SLOTS: usize = 128;
/// The rows of a table that a word can name.
const MAX_TABLE: usize = 1 << 12;
/// The most port groups of polynomial memory; the key memory is one more.
pub const MAX_GROUPS: usize = 16;

/// A ring machine. [`Description::parse`] checks the range of every field.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The name in reports.
    pub name: String,
    pub title: String,
    /// The FPGA for which the machine is laid out, by its name in [`crate::fpga::PARTS`].
    pub part: String,
    /// The reason for which the description may exceed its part. It is refused for a description that fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_more_than_the_part_has: Option<String>,
    pub clock_mhz: f64,
    /// log2 of the native ring degree.
    pub log_n: u8,
    /// How many times larger rings may be split into rings of the native degree, for degrees up to 2^splits times it.
    #[serde(default = "once")]
    pub splits: u8,
    pub rpaus: usize,
    /// Program controllers: 1 or 2, each with a main and a dyadic thread.
    pub controllers: usize,
    /// Bits of a stored residue.
    pub word_bits: u32,
    /// Coefficients of a memory row. A port transfers one row a cycle, except for narrow slots.
    pub row: usize,
    pub cores: Cores,
    pub main: MainCore,
    pub pipeline: Pipeline,
    pub ring: RingLink,
    pub generator: Generator,
    pub keys: KeyMemory,
    pub twiddles: Twiddles,
    pub tables: Tables,
    pub link: HostLink,
    /// Polynomial memory in slot order; the slots of one entry share one read and one write port.
    pub memory: Vec<PortGroup>,
    /// RPAUs that are built for another RPAU's prime besides their own. They share its key-switch sums in a program
    /// without a prime of theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stand_in: Vec<StandIn>,
}

const fn once() -> u8 {
    1
}

/// An RPAU that may work modulo the prime of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandIn {
    pub rpau: usize,
    /// The number of that prime in the program's list, and so of that RPAU.
    pub prime: usize,
}

/// Cores of one RPAU; each has one modular multiplier.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cores {
    pub butterfly: usize,
    pub generator: usize,
    pub dyadic: usize,
}

/// The operations of the main cores besides butterflies.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MainCore {
    /// Stages of a transform in one pass over its rows, which is the number of butterflies in a chain.
    pub stages: usize,
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
    /// From a stream's grant to the next time that the board asks it.
    pub board: u64,
    /// From the board's grant to the address generators.
    pub issue: u64,
    /// From the board to the RPAUs, the same for each: once a procedure.
    pub dispatch: u64,
    /// From the step counter to the columns' addresses.
    pub address: u64,
    pub memory_read: u64,
    /// Multiplexers between port groups and units, each way.
    pub port: u64,
    /// The main cores' row network, each way.
    pub network: u64,
    /// The permutation inside a row of an automorphism.
    pub affine: u64,
    /// Between rows and the dyadic cores, each way.
    pub row_buffer: u64,
    /// The modular multiplier: `cascade_latency` and `lazy_latency` of `rm_arith_pkg`, and its correction.
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
    /// Additional cycles for each border between dies on the way.
    pub crossing: u64,
    /// Dies over which the ring is folded: up one side, down the other.
    pub dies: usize,
    /// Whether adders beside the ring reduce arriving rows modulo the receiver's prime, and add a constant.
    pub reduces: bool,
    /// Stages of the reducer of a residue of any prime.
    pub reducer: u64,
}

/// The generator of seeded key halves (ChaCha20).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generator {
    pub residues_per_cycle: usize,
    /// Cycles from the start of a stream to its first 128 bits.
    pub latency: u64,
    /// Stages of the reducer of 128 bits.
    pub fold: u64,
}

/// The memory of key-switching keys, with one read port of a row a cycle. Limbs lie one behind the other, a group of
/// residues at a time, over the stripes in turn. The groups of a row lie in different stripes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyMemory {
    pub slots: usize,
    /// Residues of a group: one word of a stripe.
    pub group: usize,
    /// Memories side by side, each with an address of its own.
    pub stripes: usize,
    /// Stages that bring the groups of a row into order.
    pub rotate: u64,
}

/// Depths of the tables that come over the link with a procedure.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tables {
    /// Words of each of the four streams, for all procedures held.
    pub words: usize,
    /// Rows of constants, a residue for each RPAU; the first row means none.
    pub constants: usize,
    /// Rows of generator streams, one for each RPAU.
    pub streams: usize,
    /// Galois elements.
    pub galois: usize,
    /// Seeds of a call.
    pub seeds: usize,
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
    /// The residues a cycle of ports that are narrower than a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residues: Option<usize>,
}

impl Description {
    /// Medha, as the ring paper describes it.
    pub const MEDHA: &'static str = include_str!("medha.toml");
    /// Our machine: stored twiddles and twice the butterflies at the same multipliers.
    pub const STORED: &'static str = include_str!("stored.toml");

    /// Medha with the memory for N = 2^16, whose rings are split twice.
    pub const LARGE: &'static str = include_str!("large.toml");

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

    /// Checks every field; the error's text has the range. Returns the needs beside the resources of the part.
    ///
    /// # Errors
    /// [`MachineError::Field`] for a number out of range; [`MachineError::UnknownPart`]; [`MachineError::ExceedsPart`]
    /// unless `allow_more_than_the_part_has` gives a reason, [`MachineError::FitsAfterAll`] if there is nothing to
    /// allow.
    pub fn check(&self) -> Result<Fit, MachineError> {
        fields::name(&self.name)?;
        fields::clock_mhz(self.clock_mhz)?;
        range("log_n", u64::from(self.log_n), 3, 16)?;
        range("splits", u64::from(self.splits), 0, MAX_SPLITS.into())?;
        range("rpaus", self.rpaus as u64, 1, MAX_RPAUS as u64)?;
        range("controllers", self.controllers as u64, 1, 2)?;
        range("word_bits", u64::from(self.word_bits), 8, 64)?;
        let b = self.cores.butterfly;
        range("cores.butterfly", b as u64, 1, self.degree() / 2)?;
        ensure(b.is_power_of_two(), "cores.butterfly", b, "a power of two")?;
        range("row", self.row as u64, 1, 1 << 16)?;
        range("main.stages", self.main.stages as u64, 1, 2)?;
        let pass = |halvings: u32| b.saturating_mul(2).checked_shr(halvings);
        let stages = self.main.stages as u32;
        ensure(
            pass(stages.saturating_sub(1)) == Some(self.row)
                && self.row.checked_shr(stages) > Some(0),
            "row",
            self.row,
            "twice the butterflies by the stages of a pass, and no less than a pass's butterfly",
        )?;
        range("cores.dyadic", self.cores.dyadic as u64, 0, self.row as u64)?;
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
            b.saturating_add(generators) as u64,
        )?;
        let p = &self.pipeline;
        for (field, value) in [
            ("pipeline.board", p.board),
            ("pipeline.issue", p.issue),
            ("pipeline.memory_read", p.memory_read),
            ("pipeline.multiplier", p.multiplier),
            ("pipeline.adder", p.adder),
            ("pipeline.memory_write", p.memory_write),
            ("ring.hop", self.ring.hop),
        ] {
            range(field, value, 1, 256)?;
        }
        for (field, value) in [
            ("pipeline.dispatch", p.dispatch),
            ("pipeline.address", p.address),
            ("pipeline.port", p.port),
            ("pipeline.network", p.network),
            ("pipeline.affine", p.affine),
            ("pipeline.row_buffer", p.row_buffer),
            ("ring.crossing", self.ring.crossing),
            ("ring.reducer", self.ring.reducer),
            ("generator.fold", self.generator.fold),
            ("keys.rotate", self.keys.rotate),
        ] {
            range(field, value, 0, 256)?;
        }
        range("ring.dies", self.ring.dies as u64, 1, MAX_RPAUS as u64)?;
        range("ring.lanes", self.ring.lanes as u64, 1, self.row as u64)?;
        range(
            "generator.residues_per_cycle",
            self.generator.residues_per_cycle as u64,
            1,
            self.row as u64,
        )?;
        range("generator.latency", self.generator.latency, 0, 4096)?;
        range(
            "keys.slots",
            self.keys.slots as u64,
            0,
            MAX_KEY_SLOTS as u64,
        )?;
        let k = &self.keys;
        range("keys.group", k.group as u64, 1, self.row as u64)?;
        let expected = "a divisor of a row";
        ensure(
            self.row.is_multiple_of(k.group),
            "keys.group",
            k.group,
            expected,
        )?;
        // The groups of a row follow each other; with at least this number of stripes no two groups meet.
        let (least, most) = (self.row.div_ceil(k.group), 1024);
        range("keys.stripes", k.stripes as u64, least as u64, most)?;
        for (field, value, most) in [
            ("tables.words", self.tables.words, 1 << 20),
            ("tables.constants", self.tables.constants, MAX_TABLE),
            ("tables.streams", self.tables.streams, MAX_TABLE),
            ("tables.galois", self.tables.galois, MAX_TABLE),
            ("tables.seeds", self.tables.seeds, MAX_TABLE),
        ] {
            range(field, value as u64, 1, most as u64)?;
        }
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
            if let Some(residues) = group.residues {
                range("memory.residues", residues as u64, 1, self.row as u64)?;
            }
        }
        range(
            "memory.slots (sum)",
            self.slots() as u64,
            1,
            MAX_SLOTS as u64,
        )?;
        let last = (self.rpaus as u64).saturating_sub(1);
        for (at, s) in self.stand_in.iter().enumerate() {
            range("stand_in.rpau", s.rpau as u64, 0, last)?;
            range("stand_in.prime", s.prime as u64, 0, last)?;
            let again = self.stand_in.iter().take(at).any(|t| t.rpau == s.rpau);
            let expected = "an RPAU beyond its prime's, once";
            ensure(
                s.rpau > s.prime && !again,
                "stand_in.rpau",
                s.rpau,
                expected,
            )?;
        }
        self.fit()
    }

    /// Returns N of the native ring.
    fn degree(&self) -> u64 {
        1u64.checked_shl(self.log_n.into()).unwrap_or(u64::MAX)
    }

    /// Returns how many times a ring of 2^`log_n` is split.
    pub fn depth(&self, log_n: u8) -> u8 {
        log_n.saturating_sub(self.log_n)
    }

    /// Returns the number of pieces of a limb of a ring of 2^`log_n`, each of at most the native degree.
    pub fn pieces(&self, log_n: u8) -> usize {
        let splits = self.depth(log_n).min(MAX_SPLITS);
        1usize.checked_shl(splits.into()).unwrap_or(usize::MAX)
    }

    /// Returns the modular multipliers of one RPAU: one for each butterfly, generator and dyadic core.
    pub fn multipliers_per_rpau(&self) -> usize {
        let cores = [
            self.cores.butterfly,
            self.cores.generator,
            self.cores.dyadic,
        ];
        cores.into_iter().sum()
    }

    /// Returns the residues a cycle of a port of a group.
    pub fn width(&self, group: usize) -> usize {
        let narrow = self.memory.get(group).and_then(|g| g.residues);
        narrow.unwrap_or(self.row).min(self.row)
    }

    /// Returns whether a group's ports are narrower than a row. A transform cannot continue in such a group, and
    /// no raw broadcast arrives there.
    pub fn is_narrow(&self, group: usize) -> bool {
        self.width(group) < self.row
    }

    /// Returns the die of an RPAU: the ring goes up through all dies and down again.
    pub fn die(&self, rpau: usize) -> usize {
        let turns = self.ring.dies.saturating_mul(2);
        let at = turns
            .saturating_mul(rpau)
            .checked_div(self.rpaus)
            .unwrap_or(0);
        at.min(turns.saturating_sub(1).saturating_sub(at))
    }

    /// Returns the cycles on the ring from one RPAU to another, one way round.
    pub fn way(&self, from: usize, to: usize) -> u64 {
        let count = self.rpaus.max(1);
        let after = |rpau: usize| rpau.saturating_add(1).checked_rem(count).unwrap_or(0);
        let way = std::iter::successors(Some(from), |&rpau| Some(after(rpau)));
        let hop = |rpau: usize| {
            let dies = self.die(rpau).abs_diff(self.die(after(rpau)));
            let crossing = self.ring.crossing.saturating_mul(dies as u64);
            self.ring.hop.saturating_add(crossing)
        };
        let way = way.take(count).take_while(|&rpau| rpau != to);
        way.map(hop).sum()
    }

    /// Returns the number of slots of polynomial memory.
    pub fn slots(&self) -> usize {
        self.memory.iter().map(|g| g.slots).sum()
    }

    /// Returns the port group of each slot, in slot order.
    pub fn slot_groups(&self) -> Vec<u8> {
        let entries = self.memory.iter().enumerate();
        entries
            .flat_map(|(index, group)| std::iter::repeat_n(index as u8, group.slots))
            .collect()
    }

    /// Returns the bytes of one slot (native limb) at the stored width.
    pub fn slot_bytes(&self) -> u64 {
        self.degree().saturating_mul(self.word_bits.into()) / 8
    }

    /// Returns the seconds on the host link for `bytes` of 64-bit residues.
    pub fn link_seconds(&self, bytes: u64) -> f64 {
        let limb = 8.0 * f64::from(self.link.limb_log_n).exp2();
        bytes as f64 / limb * self.link.us_per_limb * 1e-6
    }
}
