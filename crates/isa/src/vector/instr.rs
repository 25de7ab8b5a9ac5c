// SPDX-License-Identifier: Apache-2.0
//! Instructions and programs of the micro level.

use super::op::MicroOp;

/// A chunk of the ciphertext buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Chunk(pub u16);

/// A register of the multiply-accumulate unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Register(pub u8);

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Place {
    /// There is none.
    None,
    Chunk(Chunk),
    Register(Register),
    Accumulator,
}

impl Place {
    /// The chunk, where it is one.
    pub const fn chunk(self) -> Option<Chunk> {
        match self {
            Self::Chunk(chunk) => Some(chunk),
            Self::None | Self::Register(_) | Self::Accumulator => None,
        }
    }

    /// The register, where it is one.
    pub const fn register(self) -> Option<Register> {
        match self {
            Self::Register(register) => Some(register),
            Self::None | Self::Chunk(_) | Self::Accumulator => None,
        }
    }
}

/// One instruction. What its opcode does not use is `None` or zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instr {
    pub op: MicroOp,
    pub d: Place,
    pub a: Place,
    pub b: Place,
    /// Index into the table of moduli.
    pub modulus: u16,
    /// A scalar, a chunk of distant memory, or of a mask from [`MASKS`] on, or a Galois element.
    pub n: u32,
}

impl Instr {
    /// One with no operands, to be filled in.
    pub const fn new(op: MicroOp) -> Self {
        Self {
            op,
            d: Place::None,
            a: Place::None,
            b: Place::None,
            modulus: 0,
            n: 0,
        }
    }
}

/// The sizes of a machine that a program is made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// log2 of the ring degree.
    pub log_n: u8,
    /// log2 of the transform's radix, the rows of a limb.
    pub log_radix: u8,
    /// log2 of the residues of a chunk.
    pub log_lanes: u8,
    /// Chunks of the ciphertext buffer.
    pub chunks: u32,
    /// Registers of the multiply-accumulate unit.
    pub registers: u8,
    /// Chunks of distant memory.
    pub distant: u32,
}

impl Shape {
    /// Chunks of a limb.
    pub const fn limb_chunks(self) -> u32 {
        let log = self.log_n.saturating_sub(self.log_lanes);
        match 1u32.checked_shl(log as u32) {
            Some(chunks) => chunks,
            None => u32::MAX,
        }
    }

    /// Limbs that the ciphertext buffer holds.
    pub const fn slots(self) -> u32 {
        match self.chunks.checked_div(self.limb_chunks()) {
            Some(slots) => slots,
            None => 0,
        }
    }

    /// log2 of the columns of a limb.
    pub const fn log_columns(self) -> u8 {
        self.log_n.saturating_sub(self.log_radix)
    }
}

/// A limb in evaluation form that the machine makes itself, the residues of the mid level's `PRNG`: a key's uniform half. No distant
/// memory has it; LOAD has addresses for its chunks, from [`MASKS`] on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mask {
    /// Which of the seeds that come with the program.
    pub seed: u16,
    pub stream: u64,
    /// Index into the table of moduli.
    pub modulus: u16,
}

/// LOAD's first address that is no chunk of distant memory: from it on come the chunks of the program's masks, mask after mask.
pub const MASKS: u32 = 1 << 31;

/// A program of the micro level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MicroProgram {
    pub shape: Shape,
    /// Montgomery-friendly primes.
    pub moduli: Vec<u64>,
    /// Limbs that are made on the chip.
    pub masks: Vec<Mask>,
    /// Of each chunk of the ciphertext buffer that holds something before the program: itself, ascending.
    pub holds: Vec<Chunk>,
    pub instrs: Vec<Instr>,
}
