// SPDX-License-Identifier: Apache-2.0
//! Micro code of the ring machine: the instruction words of a procedure, in one stream for each
//! thread of the program controllers, and the tables that they read.

use ringmill_isa::Galois;
use ringmill_math::RingKind;

pub use super::isa::{LINK_QUEUE, Opcode, QUEUES, RING_QUEUE, STREAMS};

impl Opcode {
    /// Returns whether the operation works coefficient by coefficient. Its result may go into the slot of an operand.
    /// The main and the dyadic cores can both execute such an operation, but a machine without `main.mac` leaves `Mac`
    /// to the dyadic cores.
    pub const fn is_coefficient_wise(self) -> bool {
        use Opcode::*;
        matches!(
            self,
            Copy | Add | Sub | Neg | Mul | Mac | Muli | Addi | Subm | Red
        )
    }

    /// Returns whether the operation permutes its operand by an automorphism, so that the result needs another slot.
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
    /// A limb of key memory, by its index in the call's key table. The operation reads it, except `Load`, which writes
    /// it.
    Key(u8),
    /// The operand comes from the generator. [`OpWord::imm`] is the row of its stream in [`MicroCode::generators`].
    Generator,
}

/// A compute unit of an RPAU, and the thread of the controller that feeds it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Unit {
    Main,
    Dyadic,
}

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
    /// The layer of primes: RPAU r computes modulo prime r + `layer` times the number of RPAUs. In layer 0 a stand-in
    /// may compute modulo another prime ([`MicroCode::primes`]).
    pub layer: u8,
    pub dst: u8,
    pub a: u8,
    pub b: Operand,
    /// The slot of the third operand (`Mac`) or of the second result of an operation with two results, or the
    /// source RPAU (`Bcast`).
    pub c: u8,
    /// An index into the table of constants, streams or Galois elements, whichever the operation reads. For `Red` and
    /// `Bcast` 0 is no constant. For `Store`, and for a `Load` into a slot, it is the number of a limb in host memory.
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
    /// Makes the stream wait until the retire counter `queue` has counted at least `count` instruction words of this
    /// procedure.
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
