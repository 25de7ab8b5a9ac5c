// SPDX-License-Identifier: Apache-2.0
//! Instructions and programs of the vector machine's micro level.

use super::op::MicroOp;

/// The number of a chunk in the vector machine's ciphertext buffer. A chunk is the residues that
/// one access to the buffer reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Chunk(pub u16);

/// The number of a register in the vector machine's multiply-accumulate unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Register(pub u8);

/// The place of an operand or a result of an instruction: a chunk of the ciphertext buffer, or a
/// register or the accumulator of the multiply-accumulate unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Place {
    /// The instruction has no operand or result in this field.
    None,
    Chunk(Chunk),
    Register(Register),
    Accumulator,
}

impl Place {
    /// Returns the number of the chunk that this place is, or `None` for a place that is no chunk.
    pub const fn chunk(self) -> Option<Chunk> {
        match self {
            Self::Chunk(chunk) => Some(chunk),
            Self::None | Self::Register(_) | Self::Accumulator => None,
        }
    }

    /// Returns the number of the register that this place is, or `None` for a place that is no
    /// register.
    pub const fn register(self) -> Option<Register> {
        match self {
            Self::Register(register) => Some(register),
            Self::None | Self::Chunk(_) | Self::Accumulator => None,
        }
    }
}

/// One instruction of the vector machine. Fields that its opcode does not use are `None` or zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instr {
    pub op: MicroOp,
    pub d: Place,
    pub a: Place,
    pub b: Place,
    /// The modulus of the computation, by its index in the program's table of moduli.
    pub modulus: u16,
    /// The immediate: a scalar, a Galois element, or the address of a chunk. An address below
    /// [`MASKS`] is in distant memory. From [`MASKS`] on, it is that of a chunk of a mask (the
    /// uniform half of a key).
    pub n: u32,
}

impl Instr {
    /// Makes an instruction with an opcode, whose other fields are `None` or zero until the caller
    /// sets them.
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

/// The ring degree and the sizes of the vector machine for which a program is made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// The base-2 logarithm of the ring degree N.
    pub log_n: u8,
    /// The base-2 logarithm of the transform's radix: the number of rows of the matrix as which a
    /// four-step transform takes a limb.
    pub log_radix: u8,
    /// The base-2 logarithm of the number of residues in a chunk.
    pub log_lanes: u8,
    /// The number of chunks that the ciphertext buffer holds.
    pub chunks: u32,
    /// The number of registers of the multiply-accumulate unit.
    pub registers: u8,
    /// The number of chunks that distant memory holds.
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

    /// Returns the number of limbs for which the ciphertext buffer has room.
    pub const fn slots(self) -> u32 {
        match self.chunks.checked_div(self.limb_chunks()) {
            Some(slots) => slots,
            None => 0,
        }
    }

    /// Returns the base-2 logarithm of the number of columns of the matrix as which a four-step
    /// transform takes a limb. Their number is the ring degree over the transform's radix.
    pub const fn log_columns(self) -> u8 {
        self.log_n.saturating_sub(self.log_radix)
    }
}

/// A mask, the uniform half of a key: a limb in evaluation form that the machine expands from a
/// seed, as `PRNG` of the mid level does. It has no place in distant memory. `LOAD` addresses its
/// chunks from [`MASKS`] on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mask {
    /// The seed of the mask, by its number among the seeds that come with the program.
    pub seed: u16,
    pub stream: u64,
    /// The modulus of the mask's residues, by its index in the program's table of moduli.
    pub modulus: u16,
}

/// The first address of `LOAD` that is no chunk of distant memory. The chunks of the program's masks (uniform halves of
/// keys) have the addresses from here on, mask after mask.
pub const MASKS: u32 = 1 << 31;

/// A program of the vector machine's micro level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MicroProgram {
    pub shape: Shape,
    /// The moduli of the program, which are Montgomery-friendly primes.
    pub moduli: Vec<u64>,
    /// The limbs (masks of keys) that the machine expands from seeds on the chip.
    pub masks: Vec<Mask>,
    /// The chunks of the ciphertext buffer that hold data before the program runs, in ascending order.
    pub holds: Vec<Chunk>,
    pub instrs: Vec<Instr>,
}
