// SPDX-License-Identifier: Apache-2.0
//! Instructions and programs of the vector machine's micro level.

use super::op::MicroOp;

/// A chunk of the ciphertext buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Chunk(pub u16);

/// A register of the multiply-accumulate unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Register(pub u8);

/// The place of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Place {
    /// No operand.
    None,
    Chunk(Chunk),
    Register(Register),
    Accumulator,
}

impl Place {
    /// Returns the chunk, if the place is one.
    pub const fn chunk(self) -> Option<Chunk> {
        match self {
            Self::Chunk(chunk) => Some(chunk),
            Self::None | Self::Register(_) | Self::Accumulator => None,
        }
    }

    /// Returns the register, if the place is one.
    pub const fn register(self) -> Option<Register> {
        match self {
            Self::Register(register) => Some(register),
            Self::None | Self::Chunk(_) | Self::Accumulator => None,
        }
    }
}

/// One instruction. Fields that its opcode does not use are `None` or zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instr {
    pub op: MicroOp,
    pub d: Place,
    pub a: Place,
    pub b: Place,
    /// Index into the table of moduli.
    pub modulus: u16,
    /// A scalar, a Galois element, or the address of a chunk: of distant memory, or from [`MASKS`] on of a mask.
    pub n: u32,
}

impl Instr {
    /// Makes an instruction without operands, to be filled in.
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

/// The sizes of the machine for which a program is made.
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
    /// Returns the number of chunks of a limb.
    pub const fn limb_chunks(self) -> u32 {
        let log = self.log_n.saturating_sub(self.log_lanes);
        match 1u32.checked_shl(log as u32) {
            Some(chunks) => chunks,
            None => u32::MAX,
        }
    }

    /// Returns the number of limbs that the ciphertext buffer holds.
    pub const fn slots(self) -> u32 {
        match self.chunks.checked_div(self.limb_chunks()) {
            Some(slots) => slots,
            None => 0,
        }
    }

    /// Returns log2 of the number of columns of a limb.
    pub const fn log_columns(self) -> u8 {
        self.log_n.saturating_sub(self.log_radix)
    }
}

/// A limb in evaluation form that the machine makes itself: a key's uniform half, with the residues of the mid level's
/// `PRNG`. It has no place in distant memory; LOAD has addresses for its chunks, from [`MASKS`] on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mask {
    /// The number of its seed among those that come with the program.
    pub seed: u16,
    pub stream: u64,
    /// Index into the table of moduli.
    pub modulus: u16,
}

/// LOAD's first address that is no chunk of distant memory. From here on come the chunks of the program's masks, mask
/// after mask.
pub const MASKS: u32 = 1 << 31;

/// A program of the micro level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MicroProgram {
    pub shape: Shape,
    /// Montgomery-friendly primes.
    pub moduli: Vec<u64>,
    /// The limbs that are made on the chip.
    pub masks: Vec<Mask>,
    /// The chunks of the ciphertext buffer that hold data before the program, ascending.
    pub holds: Vec<Chunk>,
    pub instrs: Vec<Instr>,
}
