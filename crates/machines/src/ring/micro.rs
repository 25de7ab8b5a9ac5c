// SPDX-License-Identifier: Apache-2.0
//! Micro code of the ring machine: the instruction words of a procedure, in one stream for each
//! thread of the program controllers, and the tables that they read.

use ringmill_isa::Galois;
use ringmill_math::RingKind;

/// The operation of an instruction word. Its operands a, b and c and its result are limbs in memory slots unless the
/// variant says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Opcode {
    /// Copies operand a to the result's memory slot.
    Copy = 2,
    /// Adds operands a and b, coefficient by coefficient.
    Add,
    /// Subtracts operand b from operand a, coefficient by coefficient.
    Sub,
    /// Negates operand a, coefficient by coefficient.
    Neg,
    /// Multiplies operands a and b, coefficient by coefficient.
    Mul,
    /// Adds operand c and the product of operands a and b, coefficient by coefficient.
    Mac,
    /// Multiplies operand a by a constant of the constant table.
    Muli,
    /// Adds a constant of the constant table to operand a.
    Addi,
    /// Subtracts operand b from operand a, and multiplies by a constant of the constant table.
    Subm,
    /// Reduces operand a, a limb of another modulus, modulo the RPAU's prime. It adds a constant if the instruction
    /// word names one.
    Red,
    /// Transforms operand a to evaluation form (NTT).
    Ntt,
    /// Transforms operand a to coefficient form (INTT).
    Intt,
    /// Applies an automorphism to operand a, a limb in evaluation form over the full ring, or one
    /// part of such a limb if the ring is split.
    Auto,
    /// Applies an automorphism to a limb of the full ring that is stored as two halves. Operands a and b are the
    /// halves; the halves of the image go to the slots that the word's fields `dst` and `c` name.
    Autoh,
    /// Splits a limb in coefficient form into its two halves, which go to the slots that the word's fields `dst` and
    /// `c` name. Operands a and b are its low and high coefficients. For a part of the ring that is halved again, they
    /// are pieces of that part.
    Split,
    /// Joins two halves, operands a and b, to a limb in coefficient form. Its low coefficients go to the slot that the
    /// word's field `dst` names, its high coefficients to the slot of the field `c`.
    Join,
    /// Writes uniform residues that the generator expands from a seed.
    Prng,
    /// Copies operand a, a limb of the source RPAU, to the result's slot on every RPAU in the
    /// instruction word's mask.
    Bcast,
    /// Applies an automorphism to operand a, a limb in coefficient form over the full ring.
    Autoc,
    /// Loads a limb from the host over the link into the result's slot, or into key memory if
    /// operand b is a key limb.
    Load,
    /// Stores operand a, a limb in a memory slot, to a limb on the host over the link.
    Store,
}

impl Opcode {
    /// All operations, in the order of their codes from 2 on.
    pub const ALL: [Opcode; 21] = [
        Opcode::Copy,
        Opcode::Add,
        Opcode::Sub,
        Opcode::Neg,
        Opcode::Mul,
        Opcode::Mac,
        Opcode::Muli,
        Opcode::Addi,
        Opcode::Subm,
        Opcode::Red,
        Opcode::Ntt,
        Opcode::Intt,
        Opcode::Auto,
        Opcode::Autoh,
        Opcode::Split,
        Opcode::Join,
        Opcode::Prng,
        Opcode::Bcast,
        Opcode::Autoc,
        Opcode::Load,
        Opcode::Store,
    ];

    /// Returns the operation's name in the text of instruction words.
    pub const fn name(self) -> &'static str {
        match self {
            Opcode::Copy => "COPY",
            Opcode::Add => "ADD",
            Opcode::Sub => "SUB",
            Opcode::Neg => "NEG",
            Opcode::Mul => "MUL",
            Opcode::Mac => "MAC",
            Opcode::Muli => "MULI",
            Opcode::Addi => "ADDI",
            Opcode::Subm => "SUBM",
            Opcode::Red => "RED",
            Opcode::Ntt => "NTT",
            Opcode::Intt => "INTT",
            Opcode::Auto => "AUTO",
            Opcode::Autoh => "AUTOH",
            Opcode::Split => "SPLIT",
            Opcode::Join => "JOIN",
            Opcode::Prng => "PRNG",
            Opcode::Bcast => "BCAST",
            Opcode::Autoc => "AUTOC",
            Opcode::Load => "LOAD",
            Opcode::Store => "STORE",
        }
    }

    /// Returns whether the operation works coefficient by coefficient. The main and the dyadic cores can both execute
    /// such an operation, and its result may go into the slot of an operand.
    pub const fn is_coefficient_wise(self) -> bool {
        use Opcode::*;
        matches!(
            self,
            Copy | Add | Sub | Neg | Mul | Mac | Muli | Addi | Subm | Red
        )
    }

    /// Returns whether the operation permutes its operand, so that the result needs another slot.
    pub const fn is_permutation(self) -> bool {
        matches!(self, Opcode::Auto | Opcode::Autoh | Opcode::Autoc)
    }

    /// Returns whether the result is written in whole rows, at a different address in each memory column. Such a result
    /// cannot go into a narrow slot.
    pub const fn needs_rows(self) -> bool {
        matches!(
            self,
            Opcode::Ntt | Opcode::Intt | Opcode::Autoc | Opcode::Bcast
        )
    }

    /// Returns whether the operation moves a limb over the host link.
    pub const fn on_link(self) -> bool {
        matches!(self, Opcode::Load | Opcode::Store)
    }

    /// Returns whether the cores of an RPAU execute the operation. Other operations use the ring
    /// network or the host link.
    pub const fn on_cores(self) -> bool {
        !matches!(self, Opcode::Bcast) && !self.on_link()
    }

    /// Returns whether the operation has two results, in the slots that the instruction word's
    /// fields `dst` and `c` name.
    pub const fn is_pair(self) -> bool {
        matches!(self, Opcode::Split | Opcode::Join | Opcode::Autoh)
    }
}

/// The second operand b of an instruction word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    None,
    Slot(u8),
    /// The operand is a limb of key memory, by its index in the call's key table.
    Key(u8),
    /// The operand comes from the generator, by the stream that the immediate names.
    Generator,
}

/// A compute unit of an RPAU, and the thread of the controller that feeds it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Unit {
    Main,
    Dyadic,
}

/// The number of instruction streams: two threads for each of two controllers.
pub const STREAMS: usize = 4;
/// The number of retire counters: one for each stream, one for the ring network, one for the host
/// link.
pub const QUEUES: usize = STREAMS + 2;
/// The index of the ring network's retire counter, which counts the broadcasts that have ended.
pub const RING_QUEUE: usize = STREAMS;
/// The index of the host link's retire counter, which counts the loads and stores that have ended.
pub const LINK_QUEUE: usize = STREAMS + 1;

/// The instruction word of one operation, which all RPAUs of a mask execute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpWord {
    pub op: Opcode,
    /// The program controller whose thread issues the instruction word, 0 or 1.
    pub controller: u8,
    /// The thread, which is also the unit that executes the instruction word. `Bcast`, `Load` and
    /// `Store` use the ring network or the host link instead, and may stand in either thread.
    pub unit: Unit,
    /// The RPAUs that execute the instruction word, one bit each. For `Bcast` they are the RPAUs that receive.
    pub mask: u16,
    /// The polynomial ring, full or a part of it, whose twiddles the instruction word reads or to which the generator's
    /// residues belong. `Split` and `Join` name the first of the two parts, or the full ring if the parts are its
    /// halves.
    pub ring: RingKind,
    /// The layer of primes: RPAU r computes modulo prime r + `layer` times the number of RPAUs.
    pub layer: u8,
    pub dst: u8,
    pub a: u8,
    pub b: Operand,
    /// The slot of the third operand (`Mac`) or of the second result of an operation with two results, or the
    /// source RPAU (`Bcast`).
    pub c: u8,
    /// An index into the table of constants, streams or Galois elements, whichever the operation reads. For `Red` 0 is
    /// no constant. For `Load` and `Store` it is the number of a limb in host memory.
    pub imm: u16,
}

impl OpWord {
    /// Returns the index of the stream in which this instruction word stands.
    pub fn stream(&self) -> usize {
        2 * usize::from(self.controller) + usize::from(self.unit == Unit::Dyadic)
    }

    /// Returns the index of the retire counter that this instruction word advances.
    pub fn queue(&self) -> usize {
        match self.op {
            Opcode::Bcast => RING_QUEUE,
            Opcode::Load | Opcode::Store => LINK_QUEUE,
            _ => self.stream(),
        }
    }

    /// Returns whether the cores of an RPAU execute the instruction word. Other words use the ring
    /// network or the host link.
    pub fn on_cores(&self) -> bool {
        self.op.on_cores()
    }

    /// Returns the indices of the RPAUs in the instruction word's mask, ascending.
    pub fn rpaus(&self) -> impl Iterator<Item = usize> + use<> {
        let mask = self.mask;
        (0..16).filter(move |r| mask >> r & 1 == 1)
    }
}

/// A 64-bit instruction word in decoded form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// Ends an instruction stream of the procedure: the stream issues no more instruction words.
    End,
    /// Makes the stream wait until the retire counter `queue` has counted `count` instruction words of this procedure.
    Wait {
        queue: u8,
        count: u32,
    },
    Op(OpWord),
}

/// A stream of uniform residues that the generator of one RPAU expands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stream {
    /// The index of the procedure's seed parameter. `stream` is the number of the stream under this seed.
    pub seed: u16,
    pub stream: u64,
}

/// The instruction words and tables of one procedure.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MicroCode {
    pub name: String,
    /// log2 of the number of coefficients of a limb in a slot.
    pub log_n: u8,
    /// The encoded instruction words of each of the four streams.
    pub streams: [Vec<u64>; STREAMS],
    /// The constant table: each row has one residue for each RPAU. Row 0 stands for no constant.
    pub constants: Vec<Vec<u64>>,
    /// The table of generator streams. Each row has for each RPAU the stream that its generator
    /// expands, or `None` for an RPAU without one.
    pub generators: Vec<Vec<Option<Stream>>>,
    pub galois: Vec<Galois>,
    /// For each RPAU, the prime modulo which instruction words of layer 0 compute, by its index in the program's list
    /// of primes. Layer 0 has one prime for each RPAU.
    pub primes: Vec<u8>,
}
