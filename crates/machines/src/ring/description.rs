// SPDX-License-Identifier: Apache-2.0
//! The description of a ring machine: every number of the machine, read from TOML and checked.
#![deny(clippy::arithmetic_side_effects)]

use serde::{Deserialize, Serialize};

use crate::MachineError;
use crate::fields::{self, ensure, float, range};
use crate::fpga::Fit;
pub use crate::fpga::MemoryKind;

/// The most times that a ring may be split in two. A limb then has four pieces, each as large as one memory slot. A
/// ciphertext of two polynomials then takes eight of the at most 32 slots of an RPAU for each prime modulo which the
/// RPAU computes.
pub const MAX_SPLITS: u8 = 2;
/// The most pieces of a limb. A piece has as many coefficients as one memory slot holds.
pub const MAX_PIECES: usize = 1 << MAX_SPLITS;

/// The most RPAUs (residue polynomial arithmetic units), as many as the instruction word can name (see `encode`).
pub const MAX_RPAUS: usize = 16;
/// The most slots of an RPAU's polynomial memory, as many as an instruction word can name.
pub const MAX_SLOTS: usize = 32;
/// The most slots of an RPAU's key memory. It is also the most entries of a call's key table, since an instruction word
/// has 7 bits for an index into that table.
pub const MAX_KEY_SLOTS: usize = 128;
/// The most rows of a table of constants, of generator streams, of Galois elements or of seeds. An instruction word has
/// 12 bits for the index of a row.
const MAX_TABLE: usize = 1 << 12;
/// The most port groups of polynomial memory. A port group is memory slots that share their ports. Key memory is one
/// more port group, beyond this number.
pub const MAX_GROUPS: usize = 16;

/// The fields of a ring machine. [`Description::parse`] checks the range of every field.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The machine's name in reports.
    pub name: String,
    pub title: String,
    /// The FPGA for which the machine is laid out, by its name in [`crate::fpga::PARTS`].
    pub part: String,
    /// The reason for which the machine may need more than its FPGA has. A machine that fits its FPGA must not give
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_more_than_the_part_has: Option<String>,
    pub clock_mhz: f64,
    /// log2 of the native ring degree, which is the number of coefficients that one memory slot holds.
    pub log_n: u8,
    /// How many times a larger ring may be split in two. The largest ring degree is 2^`splits` times the native one.
    #[serde(default = "once")]
    pub splits: u8,
    pub rpaus: usize,
    /// The number of program controllers: 1 or 2, each with a main and a dyadic thread.
    pub controllers: usize,
    /// Bits of a residue in the ring machine's memories.
    pub word_bits: u32,
    /// The number of coefficients of a memory row. A port transfers one row in a cycle, unless its port group is
    /// narrower ([`PortGroup::residues`]).
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
    /// The port groups of polynomial memory, in the order of its slots. The slots of one group share one read port and
    /// one write port.
    pub memory: Vec<PortGroup>,
    /// The RPAUs that are built for another RPAU's prime besides their own. If the program has no
    /// prime for such an RPAU itself, that RPAU stands in for the other one and computes a share of
    /// its key-switch sums. It does so only for programs at or below the native degree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stand_in: Vec<StandIn>,
}

const fn once() -> u8 {
    1
}

/// An RPAU that can also compute modulo the prime of another RPAU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandIn {
    pub rpau: usize,
    /// The second prime of the RPAU, as an index into the program's list of primes. It is also the index of the other
    /// RPAU, whose own prime it is.
    pub prime: usize,
}

/// The numbers of butterflies, twiddle generators and dyadic cores of one RPAU. Each of them has one modular
/// multiplier.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cores {
    pub butterfly: usize,
    pub generator: usize,
    pub dyadic: usize,
}

/// The properties of the main cores, which compute transforms and some coefficient-wise operations.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MainCore {
    /// The number of transform stages that one pass over a limb's rows computes: as many as butterflies stand in a
    /// chain.
    pub stages: usize,
    /// The coefficients that a coefficient-wise operation of the main cores takes in a cycle.
    pub lanes: usize,
    /// Whether the main cores compute c + a b, for limbs a, b and c, in one pass over the limbs.
    pub mac: bool,
    /// Whether the main cores compute (a - b) w in one pass, for limbs a and b and a constant w, and also a
    /// reduction with an addition after it.
    pub fused: bool,
}

/// The latencies in cycles of the parts of the machine through which instruction words, rows and residues go.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// The least cycles from the start of an instruction word of an instruction stream until the scoreboard looks at
    /// that stream again.
    pub board: u64,
    /// The cycles from an instruction word's start until the word is at the address generators.
    pub issue: u64,
    /// The cycles from the scoreboard, which starts instruction words, to the RPAUs, the same for each RPAU. They count
    /// once for each run of a procedure, and once more in each load and store.
    pub dispatch: u64,
    /// The cycles from the counter of an instruction word's steps, each of which takes one row, to the addresses of the
    /// memory columns. Each coefficient of a row lies in a column of its own.
    pub address: u64,
    pub memory_read: u64,
    /// The cycles of the multiplexers between port groups and units, in each direction.
    pub port: u64,
    /// The cycles of the main cores' network that permutes a row, in each direction.
    pub network: u64,
    /// The cycles of the permutation inside a row that an automorphism needs.
    pub affine: u64,
    /// The cycles of the buffer between memory rows and the dyadic cores, in each direction.
    pub row_buffer: u64,
    /// The cycles of the modular multiplier: those of the product (`cascade_latency` of
    /// `rm_arith_pkg`), of the reduction (`lazy_latency`) and of the final correction.
    pub multiplier: u64,
    pub adder: u64,
    pub memory_write: u64,
}

/// The ring of links between the residue polynomial arithmetic units (RPAUs).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RingLink {
    /// The residues that a link of the ring, from one RPAU to the next, carries in a cycle.
    pub lanes: usize,
    /// The cycles that a residue takes on the ring network from one RPAU to the next.
    pub hop: u64,
    /// The cycles that a residue takes in addition for each border between dies on its way.
    pub crossing: u64,
    /// The number of dies over which the ring network is laid: up one side, down the other.
    pub dies: usize,
    /// Whether units beside the ring network reduce each arriving row modulo the receiver's prime
    /// and add a constant.
    pub reduces: bool,
    /// The latency in cycles of the unit that reduces a residue of any prime modulo the receiver's
    /// prime.
    pub reducer: u64,
}

/// The generator (ChaCha20) that expands the uniform half of a key from a seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generator {
    pub residues_per_cycle: usize,
    /// The cycles from the start of a generator's stream to its first 128 bits.
    pub latency: u64,
    /// The latency in cycles of the unit that reduces 128 random bits modulo a prime.
    pub fold: u64,
}

/// The memory of key-switching keys in each RPAU, whose read port delivers one row in a cycle. It has several stripes,
/// memories side by side. Groups of residues of a limb lie in the stripes in turn, so the groups of one row lie in
/// different stripes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyMemory {
    pub slots: usize,
    /// The number of residues in a group. A group is one word of a stripe of key memory.
    pub group: usize,
    /// The number of stripes of key memory: memories side by side, each with its own address.
    pub stripes: usize,
    /// The latency in cycles of the stages that bring the groups of residues of a row into order.
    pub rotate: u64,
}

/// The sizes of the tables that are loaded over the link with a procedure.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tables {
    /// The instruction words that each of the four instruction streams can hold, for all loaded procedures
    /// together.
    pub words: usize,
    /// The rows of the table of constants, with a residue for each RPAU. Row 0 stands for no constant.
    pub constants: usize,
    /// The rows of the table of generator streams. A row names for each RPAU one stream of uniform residues that
    /// its generator expands from a seed.
    pub streams: usize,
    /// The number of Galois elements that the ring machine's table can hold.
    pub galois: usize,
    /// The number of seeds that one call can have.
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
    /// Twiddles are computed by a twiddle generator (a modular multiplier) beside each butterfly.
    Generated,
    /// Twiddles are stored in tables for the full ring and the parts into which rings are split. Each butterfly has a
    /// table of its own, except that two butterflies of a pass's second stage share one.
    Stored,
}

/// The host link, described by the time in which one limb crosses it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostLink {
    /// The microseconds in which one limb of 2^`limb_log_n` residues of 64 bits crosses the link.
    pub us_per_limb: f64,
    pub limb_log_n: u8,
}

/// Slots of an RPAU's polynomial memory that share one read port and one write port.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortGroup {
    pub kind: MemoryKind,
    pub slots: usize,
    /// The residues that the ports of this group of slots carry in a cycle, if that is less than a row; otherwise
    /// `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residues: Option<usize>,
}

impl Description {
    /// The TOML text of Medha, the machine of the Medha paper (docs/papers.md).
    pub const MEDHA: &'static str = include_str!("medha.toml");
    /// The TOML text of our machine, with stored twiddles and twice the butterflies at the same
    /// number of multipliers as Medha.
    pub const STORED: &'static str = include_str!("stored.toml");

    /// The TOML text of Medha with enough memory for N = 2^16, whose rings are split twice.
    pub const LARGE: &'static str = include_str!("large.toml");

    /// Reads a ring machine's description from TOML and checks its fields.
    ///
    /// # Errors
    /// [`MachineError::Syntax`] for text that is no description, and those of [`Self::check`].
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        let description: Self =
            toml::from_str(text).map_err(|e| MachineError::Syntax(e.to_string()))?;
        description.check()?;
        Ok(description)
    }

    /// Checks every field, and returns the resources that the machine needs, compared with those
    /// that its FPGA has.
    ///
    /// # Errors
    /// [`MachineError::Field`] for a number out of range, or a name that is no machine name, with the allowed values.
    /// Also for a reason in `allow_more_than_the_part_has` that is empty, too long or not on one line.
    /// [`MachineError::UnknownPart`] for an unknown FPGA. [`MachineError::Ports`] for SRAM on an FPGA.
    /// [`MachineError::ExceedsPart`] if the machine needs more than the FPGA has and `allow_more_than_the_part_has`
    /// gives no reason. [`MachineError::FitsAfterAll`] if it gives a reason and the machine fits.
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

    /// Returns the native ring degree N.
    fn degree(&self) -> u64 {
        1u64.checked_shl(self.log_n.into()).unwrap_or(u64::MAX)
    }

    /// Returns how many times a ring of degree 2^`log_n` must be split in two until its parts have the native degree.
    pub fn depth(&self, log_n: u8) -> u8 {
        log_n.saturating_sub(self.log_n)
    }

    /// Returns the number of pieces of a limb of 2^`log_n` coefficients, at most [`MAX_PIECES`]. A piece has as many
    /// coefficients as one memory slot holds, or fewer for a smaller ring.
    pub fn pieces(&self, log_n: u8) -> usize {
        let splits = self.depth(log_n).min(MAX_SPLITS);
        1usize.checked_shl(splits.into()).unwrap_or(usize::MAX)
    }

    /// Returns the number of modular multipliers of one RPAU: one for each butterfly, twiddle generator and dyadic
    /// core.
    pub fn multipliers_per_rpau(&self) -> usize {
        let cores = [
            self.cores.butterfly,
            self.cores.generator,
            self.cores.dyadic,
        ];
        cores.into_iter().sum()
    }

    /// Returns the residues that a port of the port group with index `group` carries in a cycle.
    pub fn width(&self, group: usize) -> usize {
        let narrow = self.memory.get(group).and_then(|g| g.residues);
        narrow.unwrap_or(self.row).min(self.row)
    }

    /// Returns whether the ports of the port group with index `group` are narrower than a row. Transforms, broadcasts
    /// and automorphisms in coefficient form cannot write their results there.
    pub fn is_narrow(&self, group: usize) -> bool {
        self.width(group) < self.row
    }

    /// Returns the die on which an RPAU lies. The ring network goes up through all dies and down again.
    pub fn die(&self, rpau: usize) -> usize {
        let turns = self.ring.dies.saturating_mul(2);
        let at = turns
            .saturating_mul(rpau)
            .checked_div(self.rpaus)
            .unwrap_or(0);
        at.min(turns.saturating_sub(1).saturating_sub(at))
    }

    /// Returns the cycles that a transfer takes on the ring network from one RPAU to another. The network has one
    /// direction.
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

    /// Returns the number of slots in one RPAU's polynomial memory.
    pub fn slots(&self) -> usize {
        self.memory.iter().map(|g| g.slots).sum()
    }

    /// Returns for each slot of polynomial memory its port group.
    pub fn slot_groups(&self) -> Vec<u8> {
        let entries = self.memory.iter().enumerate();
        entries
            .flat_map(|(index, group)| std::iter::repeat_n(index as u8, group.slots))
            .collect()
    }

    /// Returns the bytes of one memory slot, which holds a limb of the native degree.
    pub fn slot_bytes(&self) -> u64 {
        self.degree().saturating_mul(self.word_bits.into()) / 8
    }

    /// Returns the seconds in which `bytes` of 64-bit residues cross the host link.
    pub fn link_seconds(&self, bytes: u64) -> f64 {
        let limb = 8.0 * f64::from(self.link.limb_log_n).exp2();
        bytes as f64 / limb * self.link.us_per_limb * 1e-6
    }
}
