// SPDX-License-Identifier: Apache-2.0
//! The description of a vector machine: every number of the machine, read from TOML and checked.
#![deny(clippy::arithmetic_side_effects)]

use ringmill_isa::vector::{A_BITS, MASKS, Shape};
use serde::{Deserialize, Serialize};

use super::pending::LOG_LIMB_CHUNKS;
use crate::MachineError;
use crate::fields::{self, HostLink, ensure, float, range};
use crate::fpga::Part;

/// The fields of a vector machine. [`Description::read`] checks the ranges of the fields.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The value of the field `kind`, which distinguishes this description from those of other machines.
    pub kind: Kind,
    /// The machine's name in reports.
    pub name: String,
    pub title: String,
    /// The FPGA or die for which the machine is laid out, by its name in [`crate::fpga::PARTS`].
    pub part: String,
    /// The reason for which the machine may need more than its FPGA or die has. A machine that fits must not give one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_more_than_the_part_has: Option<String>,
    /// The clock of the ciphertext buffer, in MHz.
    pub clock_mhz: f64,
    /// log2 of the radix of the transforms, which is the number of rows of a limb.
    pub log_radix: u8,
    /// log2 of the number of residues in a chunk. A limb with fewer residues is one chunk of its own.
    pub log_lanes: u8,
    /// The number of 32-bit words in the ciphertext buffer.
    pub buffer_words: u64,
    pub registers: u8,
    pub factory: Factory,
    /// The number of instructions that can wait in the vector machine's queue.
    pub queue: usize,
    pub instruction_bytes: u64,
    /// The most chunks on their way from distant memory to the buffer at once.
    pub load_chunks: usize,
    /// The most chunks on their way from the buffer to distant memory at once.
    pub store_chunks: usize,
    pub replacement: Replacement,
    pub schedule: Order,
    /// The source of the uniform halves (masks) of key-switching keys.
    #[serde(default)]
    pub key_masks: Masks,
    pub micro: Micro,
    pub stages: Stages,
    pub distant: Distant,
    pub axi: Axi,
    pub link: HostLink,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Vector,
}

/// The twiddle factories. They compute the powers of a root of unity by which a transform's outputs are multiplied
/// (BASALISC paper, section 6.1.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Factory {
    /// The machine has a twiddle factory, which computes powers of a root of unity, beside each transform unit.
    Unit,
    /// The machine has one twiddle factory, which all transform units share. The factory computes the powers of a root
    /// of unity for one unit's column. Each other transform unit multiplies them to get the powers for its own column.
    Shared,
}

/// Which limb leaves the ciphertext buffer if the buffer is full.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Replacement {
    /// The least recently used limb leaves the buffer, as in the BASALISC paper.
    Lru,
    /// The limb whose next read in the current procedure is farthest away leaves the buffer (Belady). Limbs that the
    /// procedure does not read again leave first.
    Furthest,
}

/// The source of the uniform halves (masks) of key-switching keys.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Masks {
    /// Masks come from distant memory: keys are stored whole there, as in the BASALISC paper.
    #[default]
    Stored,
    /// Masks come from a generator beside the buffer, for keys that come with seeds. It delivers a chunk when an
    /// instruction asks for it.
    Generated,
}

/// The order in which independent work of a procedure is scheduled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The work with the longest path to the procedure's end comes first. Transforms and sums run beside one another.
    Overlapped,
    /// The steps on whole limbs come in the procedure's order. The next step begins when all instructions of the step
    /// before are sent.
    InOrder,
}

/// The simulator's clock, and how many of its cycles each unit takes. `clock_mhz` is the frequency in MHz of the
/// simulator's clock, whose cycles are called micro-cycles. The buffer takes `buffer` micro-cycles for one chunk, the
/// multiply-accumulate unit `mac` for one chunk, and the transform units `transform` for half a chunk.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Micro {
    pub clock_mhz: u64,
    pub buffer: u64,
    pub mac: u64,
    pub transform: u64,
    /// The frequency in MHz at which the multiply-accumulate unit could run by itself (BASALISC
    /// paper, Table 6).
    pub mac_clock_mhz: f64,
}

/// The number of pipeline stages of each of the vector machine's units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stages {
    pub read_permutation: u64,
    pub transform: u64,
    pub write_permutation: u64,
    pub mac: u64,
}

/// The channels of distant memory, HBM or DDR, with their rate and size.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Distant {
    pub channels: usize,
    /// The rate of each channel in 10^9 bytes per second.
    pub gbyte_per_second: f64,
    /// The size of each channel's memory, in 2^30 bytes.
    pub gbyte: u64,
    pub latency_ns: f64,
}

/// The interconnect between distant memory and the buffer, by its width and clock.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axi {
    pub bits: u64,
    pub clock_mhz: f64,
}

/// The bits of a word, which holds one residue.
pub const WORD_BITS: u64 = 32;
/// The number of lowest bits of a modulus that the multipliers fix: a modulus is 1 modulo 2 to this
/// power (BASALISC paper, section 6.4).
pub const FIXED_BITS: u32 = 17;

impl Description {
    /// The TOML text of the machine of the BASALISC paper (docs/papers.md). The text's comments name the numbers and
    /// rules that are ours, such as the pipeline lengths.
    pub const PAPER: &'static str = include_str!("vector.toml");
    /// The TOML text of our vector machine. It differs from [`Self::PAPER`] in one twiddle factory for all transform
    /// units instead of one for each.
    pub const OURS: &'static str = include_str!("vector-ours.toml");
    /// The TOML text of a vector machine for the U250, an FPGA card that is on sale. The RTL can build this
    /// machine.
    pub const U250: &'static str = include_str!("vector-u250.toml");

    /// Reads a vector machine's description from TOML and checks its fields.
    ///
    /// # Errors
    /// [`MachineError::Syntax`] for text that is no description, [`MachineError::Field`] for a field out of range,
    /// [`MachineError::UnknownPart`].
    pub fn read(text: &str) -> Result<Self, MachineError> {
        let description: Self =
            toml::from_str(text).map_err(|e| MachineError::Syntax(e.to_string()))?;
        description.check()?;
        Ok(description)
    }

    fn check(&self) -> Result<(), MachineError> {
        fields::name(&self.name)?;
        fields::clock_mhz(self.clock_mhz)?;
        Part::named(&self.part)?;
        range("log_radix", self.log_radix.into(), 2, 8)?;
        let (radix, lanes) = (self.log_radix, self.log_lanes);
        let largest = radix.saturating_mul(2);
        let fewest = radix.max(largest.saturating_sub(LOG_LIMB_CHUNKS));
        range("log_lanes", lanes.into(), fewest.into(), largest.into())?;
        let limb = power(largest);
        let chunks = self.chunks(lanes);
        ensure(
            self.buffer_words.is_multiple_of(limb)
                && self.buffer_words >= limb.saturating_mul(4)
                && chunks <= 1 << 14,
            "buffer_words",
            self.buffer_words,
            "whole limbs of the largest ring, 4 of them to 16384 chunks",
        )?;
        range("registers", self.registers.into(), 4, 64)?;
        range("queue", self.queue as u64, 1, 1 << 20)?;
        range("instruction_bytes", self.instruction_bytes, 12, 64)?;
        range("load_chunks", self.load_chunks as u64, 1, 4096)?;
        range("store_chunks", self.store_chunks as u64, 1, 4096)?;
        let m = self.micro;
        range("micro.clock_mhz", m.clock_mhz, 1, 100_000)?;
        for (field, of) in [
            ("micro.buffer", m.buffer),
            ("micro.mac", m.mac),
            ("micro.transform", m.transform),
        ] {
            range(field, of, 1, 1000)?;
        }
        let micro = self.clock_mhz * m.buffer as f64;
        ensure(
            (micro - m.clock_mhz as f64).abs() < 1e-6,
            "micro.buffer",
            m.buffer,
            "micro.clock_mhz over clock_mhz",
        )?;
        float("micro.mac_clock_mhz", m.mac_clock_mhz, 1.0, 100_000.0)?;
        let s = self.stages;
        for (field, of) in [
            ("stages.read_permutation", s.read_permutation),
            ("stages.transform", s.transform),
            ("stages.write_permutation", s.write_permutation),
            ("stages.mac", s.mac),
        ] {
            range(field, of, 1, 1000)?;
        }
        let d = self.distant;
        range("distant.channels", d.channels as u64, 1, 64)?;
        float(
            "distant.gbyte_per_second",
            d.gbyte_per_second,
            0.001,
            100_000.0,
        )?;
        range("distant.gbyte", d.gbyte, 1, 4096)?;
        float("distant.latency_ns", d.latency_ns, 0.0, 1e6)?;
        range("axi.bits", self.axi.bits, 8, 65_536)?;
        float("axi.clock_mhz", self.axi.clock_mhz, 1.0, 10_000.0)?;
        self.link.check()
    }

    /// Returns the range of log2 of the ring degrees that the machine runs. A transform has two passes, and a limb at
    /// least two columns.
    pub fn log_n(&self) -> std::ops::RangeInclusive<u8> {
        self.log_radix.saturating_add(1)..=self.log_radix.saturating_mul(2)
    }

    /// Returns the sizes for which micro programs of ring degree 2^`log_n` are generated. A limb with fewer words than
    /// the buffer reads in a cycle is one chunk, and an access to it still takes a whole cycle of the buffer's port.
    pub fn shape(&self, log_n: u8) -> Shape {
        let log_lanes = self.log_lanes.min(log_n);
        let bytes = self.distant.gbyte.saturating_mul(1 << 30);
        let bytes = bytes.saturating_mul(self.distant.channels as u64);
        let distant = bytes.checked_div(chunk_bytes(log_lanes)).unwrap_or(0);
        Shape {
            log_n,
            log_radix: self.log_radix,
            log_lanes,
            // An instruction cannot name more.
            chunks: self.chunks(log_lanes).min(1 << A_BITS) as u32,
            registers: self.registers,
            distant: distant.min(MASKS.into()) as u32,
        }
    }

    /// Returns the number of chunks of 2^`log_lanes` words in the buffer.
    fn chunks(&self, log_lanes: u8) -> u64 {
        self.buffer_words.checked_shr(log_lanes.into()).unwrap_or(0)
    }

    /// Returns the number of limbs that fit into distant memory and that instructions can address.
    pub fn distant_limbs(&self, shape: Shape) -> u32 {
        shape.distant.checked_div(shape.limb_chunks()).unwrap_or(0)
    }

    /// Returns the number of transform units side by side, which together take half a chunk at a time.
    pub fn units(&self) -> u64 {
        power(self.log_lanes.saturating_sub(self.log_radix)).max(2) / 2
    }

    /// Returns the latency of distant memory in micro-cycles (`micro.buffer` of them make one cycle of the
    /// ciphertext buffer). It counts from the end of a chunk's transfer on its channel until the chunk is at the
    /// buffer.
    pub fn latency_micro(&self) -> u64 {
        (self.distant.latency_ns * self.micro.clock_mhz as f64 / 1e3).ceil() as u64
    }

    /// Returns the time in which a chunk passes one channel of distant memory, or the interconnect if that is
    /// slower. It is in micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer).
    pub fn chunk_micro(&self, shape: Shape) -> u64 {
        let bytes = chunk_bytes(shape.log_lanes) as f64;
        let axi = self.axi.bits as f64 / 8.0 * self.axi.clock_mhz * 1e6;
        let rate = (self.distant.gbyte_per_second * 1e9).min(axi);
        (bytes / rate * self.micro.clock_mhz as f64 * 1e6).ceil() as u64
    }

    /// Returns the seconds that `micro` micro-cycles take, at the frequency `micro.clock_mhz`.
    pub fn seconds(&self, micro: u64) -> f64 {
        micro as f64 / (self.micro.clock_mhz as f64 * 1e6)
    }
}

/// Returns 2^`log`, or the largest `u64` if the shift is too long.
fn power(log: u8) -> u64 {
    1u64.checked_shl(log.into()).unwrap_or(u64::MAX)
}

/// Returns the bytes of a chunk of 2^`log_lanes` words.
fn chunk_bytes(log_lanes: u8) -> u64 {
    power(log_lanes).saturating_mul(WORD_BITS / 8)
}
