// SPDX-License-Identifier: Apache-2.0
//! The scheme-layer procedure that each macro instruction of a BGV program is lowered to.

use ringmill_isa::macros::{Constant, LevelNote, MacroInstr, MacroOp, Visitor};
use ringmill_isa::{Galois, Level};
use ringmill_math::slots::SlotStructure;
use ringmill_schemes::ParameterSet;
use ringmill_schemes::bgv::bootstrap::operation;
use ringmill_schemes::bgv::{Bgv, Factor, OpKey, Params, scalar};
use ringmill_schemes::exact::scalar::residues_modulo;
use ringmill_schemes::rlwe::{Annotation, KeyRequest, RlweError};

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
    let turns = |step| Ok(turned(params, step)?);
    keys::automorphisms(instr, turns, None)
}

/// Returns what an instruction of a managed program, whose values have levels and correction factors, is lowered to:
/// one call of a scheme-layer procedure. Constants, factors and Galois elements are immediates of the call. Three
/// instructions call nothing: `MODSWITCH` drops limbs, the result of `CONJ` is its operand, and that of `KEY` is an
/// evaluation key.
///
/// # Errors
/// Fails for a rotation by a number of slots that is out of range, and for an operation that BGV has no procedure for.
/// Fails for operands or a constant that do not suit the operation.
pub(super) fn of(params: &Params, instr: &Lowerable<'_>) -> Result<Made, CompileError> {
    instr.check_count()?;
    if instr.op() == MacroOp::Key {
        return Ok(Code::Key(KeyRequest::SparseSecret));
    }
    let at = instr.at(0);
    let at = at.and_then(|LevelNote { level, note }| Some((level, Factor::of_note(note)?)));
    let Some((level, factor)) = at else {
        return Err(instr.misshapen());
    };
    let mut of = OfInstr {
        params,
        of: instr,
        level,
        factor,
        size: instr.size(0).unwrap_or(0),
    };
    let made = match instr.op().is_linked() {
        true => step(params, instr)?,
        false => of.visit(instr.instr)?,
    };
    Ok(match made {
        Code::Call {
            operation,
            keys,
            immediates,
        } => Code::Call {
            operation: operation.modulo(factor.plain()),
            keys,
            immediates,
        },
        other @ (Code::Kept | Code::Key(_)) => other,
    })
}

/// Returns the code of a step of bootstrapping, with the keys that it needs.
fn step(params: &Params, of: &Lowerable<'_>) -> Found {
    let Lowerable {
        types,
        instr,
        seeded,
        ..
    } = *of;
    let made = operation::operation(params, types, instr, seeded)?;
    Ok(coded(made, operation::keys(types, instr)?))
}

/// An instruction to be lowered, with the level, the correction factor and the number of
/// polynomials of its first operand.
struct OfInstr<'a> {
    params: &'a Params,
    of: &'a Lowerable<'a>,
    level: Level,
    factor: Factor,
    size: u32,
}

type Made = Code<Bgv>;
ring_helpers!();

impl OfInstr<'_> {
    fn add_plain(&self) -> OpKey {
        OpKey::add_plain(self.level, self.size, self.factor)
    }

    fn sub_plain(&self) -> OpKey {
        OpKey::sub_plain(self.level, self.size, self.factor)
    }
}

impl Visitor for OfInstr<'_> {
    const PASS: &'static str = "the lowering of BGV";
    type Out = Made;
    type Error = CompileError;

    of_rings!();

    fn addc(&mut self, _: &MacroInstr, constant: Constant) -> Found {
        let Constant::Integer(value) = constant else {
            return Err(self.of.misshapen());
        };
        let term = scalar::term(self.params, value, self.factor, self.level)?;
        let operation = OpKey::add_scalar(self.level, self.size, term);
        Ok(coded(operation, vec![]))
    }

    fn mulc(&mut self, _: &MacroInstr, constant: Constant) -> Found {
        let Constant::Integer(value) = constant else {
            return Err(self.of.misshapen());
        };
        let t = self.params.plain_at(self.factor.plain())?;
        let factor = residues_modulo(self.params, t, value, self.level);
        let operation = OpKey::mul_scalar(self.level, self.size, factor);
        Ok(coded(operation, vec![]))
    }

    fn refactor(&mut self, instr: &MacroInstr, constant: Constant) -> Found {
        self.mulc(instr, constant)
    }

    fn quotient(&mut self, _: &MacroInstr, constant: Constant) -> Found {
        let Constant::Integer(by) = constant else {
            return Err(self.of.misshapen());
        };
        let primes = self.params.reducers().iter().take(self.level.primes());
        let inverse = primes.map(|q| q.inv(q.reduce(by.unsigned_abs() as u64)));
        let inverse = inverse.collect::<Result<Vec<_>, _>>();
        let inverse = inverse.map_err(RlweError::from)?;
        let operation = OpKey::mul_scalar(self.level, self.size, inverse);
        Ok(coded(operation, vec![]))
    }

    fn rescale(&mut self, _: &MacroInstr) -> Found {
        Ok(coded(OpKey::mod_switch(self.level, self.size), vec![]))
    }

    fn modswitch(&mut self, _: &MacroInstr, _: Level) -> Found {
        Ok(Code::Kept)
    }

    /// Lowers `CONJ` to its operand, since whole numbers are their own conjugates.
    fn conj(&mut self, _: &MacroInstr) -> Found {
        Ok(Code::Kept)
    }
}

/// Returns the Galois element that rotates a program's vectors by `step` slots. Parameters that bootstrap have a
/// plaintext modulus p^e. Their element is the power `step` of the Galois element that rotates each row of the slots
/// modulo p by one place. `step` counts modulo the number of slots in a row.
///
/// # Errors
/// Parameters that do not bootstrap fail for a number of slots that is out of range. Parameters that bootstrap take any
/// number, and fail if their plaintext modulus has no slots.
pub(super) fn turned(params: &Params, step: i32) -> Result<Galois, RlweError> {
    if params.last_plain() == 0 {
        return params.galois_element(i64::from(step));
    }
    let power = params.prime_power()?;
    let structure = SlotStructure::new(params.log_n().into(), power.prime());
    let structure = structure.map_err(|_| RlweError::RotationStep {
        step: step.into(),
        max: 0,
    })?;
    let (columns, mask) = (structure.columns() as i64, 2 * params.degree() as u64 - 1);
    let times = i64::from(step).rem_euclid(columns);
    let generator = structure.column_generator();
    let element = (0..times).fold(1u64, |g, _| (g * generator) & mask);
    Ok(Galois(element as u32))
}
