// SPDX-License-Identifier: Apache-2.0
//! The scheme-layer procedure that each macro instruction of a BFV program is lowered to.

use ringmill_isa::macros::{Constant, MacroInstr, Visitor};
use ringmill_isa::{Galois, Level};
use ringmill_schemes::bfv::{Bfv, OpKey, Params, scalar};
use ringmill_schemes::exact::scalar::residues;
use ringmill_schemes::rlwe::KeyRequest;

use super::CompileError;
use crate::keys;
use crate::rings::{of_rings, ring_helpers};
use crate::scheme::{Code, Lowerable};

/// Returns the Galois elements of the automorphisms that an instruction computes, one for each result. It returns none
/// for an instruction without automorphisms, and none for `CONJ`, since whole numbers are their own conjugates.
///
/// # Errors
/// Fails for a rotation by a number of slots that is out of range, and for an operation whose automorphisms are unknown
/// here.
pub(super) fn automorphisms(
    params: &Params,
    instr: &MacroInstr,
) -> Result<Vec<Galois>, CompileError> {
    let turns = |step| Ok(params.galois_element(i64::from(step))?);
    keys::automorphisms(instr, turns, None)
}

/// Returns what an instruction of a managed program, whose values have levels, is lowered to: one
/// call of a scheme-layer procedure. Constants and Galois elements are immediates of the call, and
/// `CONJ` calls nothing, since its result is its operand.
///
/// # Errors
/// Fails for a rotation by a number of slots that is out of range, and for an operation that BFV has no procedure for.
/// Fails for operands or a constant that do not suit the operation.
pub(super) fn of(params: &Params, instr: &Lowerable<'_>) -> Result<Made, CompileError> {
    instr.check_count()?;
    let mut of = OfInstr {
        params,
        of: instr,
        level: params.max_level(),
        size: instr.size(0).unwrap_or(0),
    };
    of.visit(instr.instr)
}

/// An instruction to be lowered, with the level and the number of polynomials of its first operand.
struct OfInstr<'a> {
    params: &'a Params,
    of: &'a Lowerable<'a>,
    level: Level,
    size: u32,
}

type Made = Code<Bfv>;
ring_helpers!();

impl OfInstr<'_> {
    fn add_plain(&self) -> OpKey {
        OpKey::add_plain(self.level, self.size)
    }

    fn sub_plain(&self) -> OpKey {
        OpKey::sub_plain(self.level, self.size)
    }
}

impl Visitor for OfInstr<'_> {
    const PASS: &'static str = "the lowering of BFV";
    type Out = Made;
    type Error = CompileError;

    of_rings!();

    fn addc(&mut self, _: &MacroInstr, constant: Constant) -> Found {
        let Constant::Integer(value) = constant else {
            return Err(self.of.misshapen());
        };
        let term = scalar::term(self.params, value, self.level)?;
        let operation = OpKey::add_scalar(self.level, self.size, term);
        Ok(coded(operation, vec![]))
    }

    fn mulc(&mut self, _: &MacroInstr, constant: Constant) -> Found {
        let Constant::Integer(value) = constant else {
            return Err(self.of.misshapen());
        };
        let factor = residues(self.params, value, self.level);
        let operation = OpKey::mul_scalar(self.level, self.size, factor);
        Ok(coded(operation, vec![]))
    }

    /// Lowers `CONJ` to its operand, since whole numbers are their own conjugates.
    fn conj(&mut self, _: &MacroInstr) -> Found {
        Ok(Code::Kept)
    }
}
