// SPDX-License-Identifier: Apache-2.0
//! Decodes a micro instruction for the vector machine's performance simulator.
//!
//! The places of its operands are computed once, because the simulator asks several times when the instruction could
//! be sent.

use ringmill_isa::vector::{Instr, MicroOp, Place, Shape, Unit};

use super::layout::{Orientation, orientation};

/// The unit or path of the vector machine that an instruction uses, as the performance simulator sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Mac,
    /// The instruction is a pass of a transform over one chunk.
    Pass,
    /// The instruction is a permutation of a chunk that bypasses the transform.
    Morph,
    Load,
    Store,
    Halt,
}

/// A chunk of the ciphertext buffer, by the place of its limb and the chunk's number in the limb.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Spot {
    pub(super) slot: u32,
    pub(super) chunk: u32,
}

/// The place to which an instruction's result goes when it leaves its pipeline. Instructions without a result, `STORE`
/// and `HCF`, have the variant `Accumulator`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Target {
    Chunk(Spot, Orientation),
    Register(u8),
    Accumulator,
}

/// A micro instruction, decoded for programs of one shape: a ring degree, and the sizes of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decoded {
    pub(super) kind: Kind,
    /// Whether the instruction reads a chunk of the buffer, for which it needs the buffer's port.
    pub(super) port: bool,
    pub(super) chunks: [Option<Spot>; 2],
    /// The orientation, rows or columns, in which the instruction reads its chunks.
    pub(super) from: Orientation,
    pub(super) registers: [Option<u8>; 2],
    pub(super) target: Target,
    pub n: u32,
}

impl Decoded {
    /// Decodes an instruction for limbs of 2^`log_chunks` chunks.
    #[inline]
    pub fn new(instr: &Instr, log_chunks: u32) -> Self {
        let (from, to) = orientation(instr.op);
        let spot = |place: Place| {
            let chunk = u32::from(place.chunk()?.0);
            Some(Spot {
                slot: chunk >> log_chunks,
                chunk: chunk & ((1 << log_chunks) - 1),
            })
        };
        let register = |place: Place| place.register().map(|register| register.0);
        Self {
            kind: match (instr.op, instr.op.info().unit) {
                (MicroOp::Morph, _) => Kind::Morph,
                (MicroOp::Load, _) => Kind::Load,
                (_, Unit::Memory) => Kind::Store,
                (_, Unit::Transform) => Kind::Pass,
                (_, Unit::Mac) => Kind::Mac,
                (_, Unit::Control) => Kind::Halt,
            },
            port: reads(instr),
            chunks: [spot(instr.a), spot(instr.b)],
            from,
            registers: [register(instr.a), register(instr.b)],
            target: match (register(instr.d), spot(instr.d)) {
                (Some(register), _) => Target::Register(register),
                (None, Some(spot)) => Target::Chunk(spot, to),
                (None, None) => Target::Accumulator,
            },
            n: instr.n,
        }
    }

    /// Returns whether the instruction moves a chunk between the ciphertext buffer and distant memory (`LOAD` or
    /// `STORE`).
    pub(super) fn moves(&self) -> bool {
        matches!(self.kind, Kind::Load | Kind::Store)
    }

    /// Returns whether the multiply-accumulate unit executes the instruction.
    pub fn is_sum(&self) -> bool {
        self.kind == Kind::Mac
    }
}

/// Returns whether an instruction reads a chunk of the ciphertext buffer.
pub fn reads(instr: &Instr) -> bool {
    instr.a.chunk().is_some() || instr.b.chunk().is_some()
}

/// Returns log2 of the number of chunks in a limb.
pub(super) fn log_chunks(shape: Shape) -> u32 {
    shape.limb_chunks().trailing_zeros()
}
