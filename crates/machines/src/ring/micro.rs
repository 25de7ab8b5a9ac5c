// SPDX-License-Identifier: Apache-2.0
//! Micro code of the ring machine: the words that one thread of a program controller executes.

use ringmill_isa::Galois;
use ringmill_math::RingKind;

/// The operation of a micro word. Operands and results are memory slots unless the variant says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Opcode {
    /// d = a.
    Copy = 2,
    /// d = a + b.
    Add,
    /// d = a - b.
    Sub,
    /// d = -a.
    Neg,
    /// d = a * b, position by position.
    Mul,
    /// d = c + a * b, position by position.
    Mac,
    /// d = a * w, w from the constant table.
    Muli,
    /// d = a + w.
    Addi,
    /// d = (a - b) * w.
    Subm,
    /// d = a mod q, plus the constant if the word names one.
    Red,
    /// Forward transform.
    Ntt,
    /// Inverse transform.
    Intt,
    /// Automorphism in evaluation form, full ring.
    Auto,
    /// Automorphism of the full ring on its halves: (d, c) from (a, b).
    Autoh,
    /// (d, c) = halves (p, m) of the limb whose low and high coefficients are a and b. For a part that is halved again,
    /// a and b are its pieces.
    Split,
    /// (d, c) = low and high coefficients of the limb with halves a and b.
    Join,
    /// d = the generator's stream.
    Prng,
    /// Copies slot a of the source RPAU to slot d of every RPAU in the mask.
    Bcast,
    /// Automorphism in coefficient form, full ring.
    Autoc,
    /// Over the host link: d, or key limb b, becomes the host's limb.
    Load,
    /// Over the host link: the host's limb becomes a.
    Store,
}

impl Opcode {
    /// All operations, by code.
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

    /// Returns the operation's mnemonic.
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

    /// Returns whether the operation works coefficient by coefficient: either unit can do it, and the result may
    /// overwrite an operand.
    pub const fn is_coefficient_wise(self) -> bool {
        use Opcode::*;
        matches!(
            self,
            Copy | Add | Sub | Neg | Mul | Mac | Muli | Addi | Subm | Red
        )
    }

    /// Returns whether the result permutes the operand, so that it needs a slot of its own.
    pub const fn is_permutation(self) -> bool {
        matches!(self, Opcode::Auto | Opcode::Autoh | Opcode::Autoc)
    }

    /// Returns whether the result is written in rows, at one address a column, and so cannot go into a narrow slot.
    pub const fn needs_rows(self) -> bool {
        matches!(
            self,
            Opcode::Ntt | Opcode::Intt | Opcode::Autoc | Opcode::Bcast
        )
    }

    /// Returns whether the operation uses the host link.
    pub const fn on_link(self) -> bool {
        matches!(self, Opcode::Load | Opcode::Store)
    }

    /// Returns whether the cores of an RPAU execute the operation, and not the ring or the host link.
    pub const fn on_cores(self) -> bool {
        !matches!(self, Opcode::Bcast) && !self.on_link()
    }

    /// Returns whether the operation has two results.
    pub const fn is_pair(self) -> bool {
        matches!(self, Opcode::Split | Opcode::Join | Opcode::Autoh)
    }
}

/// The second operand of a coefficient-wise word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    None,
    Slot(u8),
    /// A limb of key memory: an index into the call's key table.
    Key(u8),
    /// The generator, with the stream that the immediate names.
    Generator,
}

/// A compute unit of an RPAU, and the thread that feeds it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Unit {
    Main,
    Dyadic,
}

/// Instruction streams: two threads for each of two controllers.
pub const STREAMS: usize = 4;
/// Retire counters: one per stream, one for the ring, one for the host link.
pub const QUEUES: usize = STREAMS + 2;
/// The ring's retire counter.
pub const RING_QUEUE: usize = STREAMS;
/// The host link's retire counter.
pub const LINK_QUEUE: usize = STREAMS + 1;

/// One operation for all RPAUs of a mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpWord {
    pub op: Opcode,
    /// 0 or 1.
    pub controller: u8,
    /// The thread, which is also the unit in use. `Bcast`, `Load` and `Store` use ring or link, to which either thread
    /// can hand them.
    pub unit: Unit,
    /// The RPAUs that execute the word, or for `Bcast` receive.
    pub mask: u16,
    /// The ring whose twiddles are read, or the part of the full ring to which the generator's residues belong. `Split`
    /// and `Join` name the first of the two parts, or the full ring if these are its halves.
    pub ring: RingKind,
    /// RPAU r works modulo prime r + layer * RPAUs.
    pub layer: u8,
    pub dst: u8,
    pub a: u8,
    pub b: Operand,
    /// Third operand (`Mac`), second result (pairs), source RPAU (`Bcast`).
    pub c: u8,
    /// A table index: constants, streams or Galois elements by operation; 0 is none for `Red`. For `Load` and `Store`
    /// it is the host's place of a limb.
    pub imm: u16,
}

impl OpWord {
    /// Returns the stream in which this word stands.
    pub fn stream(&self) -> usize {
        2 * usize::from(self.controller) + usize::from(self.unit == Unit::Dyadic)
    }

    /// Returns the retire counter that this word advances.
    pub fn queue(&self) -> usize {
        match self.op {
            Opcode::Bcast => RING_QUEUE,
            Opcode::Load | Opcode::Store => LINK_QUEUE,
            _ => self.stream(),
        }
    }

    /// Returns whether cores execute the word, and not the ring or the host link.
    pub fn on_cores(&self) -> bool {
        self.op.on_cores()
    }

    /// Returns the RPAUs of the mask, ascending.
    pub fn rpaus(&self) -> impl Iterator<Item = usize> + use<> {
        let mask = self.mask;
        (0..16).filter(move |r| mask >> r & 1 == 1)
    }
}

/// One 64-bit instruction word, decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// The end of this stream.
    End,
    /// The stream waits until `queue` has retired `count` words of this procedure.
    Wait {
        queue: u8,
        count: u32,
    },
    Op(OpWord),
}

/// A generator stream of one RPAU.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stream {
    /// The procedure's seed parameter.
    pub seed: u16,
    pub stream: u64,
}

/// One procedure's micro code.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MicroCode {
    pub name: String,
    /// log2 of the coefficients of a slot's limb in this program.
    pub log_n: u8,
    /// Encoded words of the four streams.
    pub streams: [Vec<u64>; STREAMS],
    /// The constant table: for each index, one residue for each RPAU. Index 0 means no constant.
    pub constants: Vec<Vec<u64>>,
    /// The stream table: for each index, one stream for each RPAU.
    pub generators: Vec<Vec<Option<Stream>>>,
    pub galois: Vec<Galois>,
    /// The prime of each RPAU in layer 0.
    pub primes: Vec<u8>,
}
