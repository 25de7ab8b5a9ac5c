// SPDX-License-Identifier: Apache-2.0
//! Chooses the CKKS procedure that each instruction of a program with levels and scales calls.

use ringmill_isa::Galois;
use ringmill_isa::Level;
use ringmill_isa::macros::linked::{Combination, Matrix, Products};
use ringmill_isa::macros::{Constant, LevelNote, LevelScale, MacroInstr, Visitor};
use ringmill_schemes::ckks::encoder::scalar_residues;
use ringmill_schemes::ckks::{Ckks, OpKey, Params};
use ringmill_schemes::rlwe::KeyRequest;
use ringmill_schemes::rlwe::ops::Shape;

use crate::ckks::depth::whole_factor;
use crate::error::CompileError;
use crate::keys;
use crate::rings::{of_rings, ring_helpers};
use crate::scheme::{Code, Lowerable};

/// Returns the Galois elements of the automorphisms that an instruction computes, one for each result: powers of 3 for
/// rotations, and 2N - 1 for the conjugation.
///
/// # Errors
/// Fails for a rotation by a number of slots that is out of range.
pub(super) fn automorphisms(
    params: &Params,
    instr: &MacroInstr,
) -> Result<Vec<Galois>, CompileError> {
    let turns = |step| Ok(params.galois_element(i64::from(step))?);
    keys::automorphisms(instr, turns, Some(params.conjugation_element()))
}

/// Returns what an instruction of a managed program, whose values have levels and scales, is lowered to: one call of a
/// scheme-layer procedure. Constants and Galois elements are immediates of the call. Two instructions call nothing:
/// `MODSWITCH` drops limbs, and a product with a constant that only changes the scale keeps its operand's limbs.
///
/// # Errors
/// Fails for a constant that cannot be encoded, a rotation by a number of slots that is out of range, or an operation
/// that CKKS has no procedure for.
pub(super) fn of(params: &Params, instr: &Lowerable<'_>) -> Result<Made, CompileError> {
    instr.check_count()?;
    let LevelScale { level, scale } = at(instr);
    let mut of = OfInstr {
        params,
        of: instr,
        level,
        scale,
        size: instr.size(0).unwrap_or(0),
    };
    of.visit(instr.instr)
}

/// An instruction to lower, with the level, scale and number of polynomials of its first operand.
struct OfInstr<'a> {
    params: &'a Params,
    of: &'a Lowerable<'a>,
    level: Level,
    scale: f64,
    size: u32,
}

type Made = Code<Ckks>;
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
    const PASS: &'static str = "the lowering of CKKS";
    type Out = Made;
    type Error = CompileError;

    of_rings!();

    fn addc(&mut self, _: &MacroInstr, constant: Constant) -> Found {
        let Constant::Real { value, .. } = constant else {
            return Err(self.of.misshapen());
        };
        let residues = residues(self.params, self.of, value, self.level, self.scale)?;
        let operation = OpKey::add_scalar(self.level, self.size, residues);
        Ok(coded(operation, vec![]))
    }

    fn mulc(&mut self, _: &MacroInstr, constant: Constant) -> Found {
        let Constant::Real { value, scale } = constant else {
            return Err(self.of.misshapen());
        };
        let scale = scale.unwrap_or(1.0);
        // A constant that only changes the scale multiplies the polynomials by 1.
        if whole_factor(value, scale) == Some(1.0) {
            return Ok(Code::Kept);
        }
        let residues = residues(self.params, self.of, value, self.level, scale)?;
        let operation = OpKey::mul_scalar(self.level, self.size, residues);
        Ok(coded(operation, vec![]))
    }

    fn conj(&mut self, instr: &MacroInstr) -> Found {
        self.rotate(instr, &[])
    }

    fn tworeal(&mut self, _: &MacroInstr) -> Found {
        let element = self.params.conjugation_element();
        let operation = OpKey::two_real(self.level, element, self.of.seeded);
        Ok(coded(operation, vec![KeyRequest::Galois(element)]))
    }

    fn rescale(&mut self, _: &MacroInstr) -> Found {
        Ok(coded(OpKey::rescale(self.level, self.size), vec![]))
    }

    fn modswitch(&mut self, _: &MacroInstr, _: Level) -> Found {
        Ok(Code::Kept)
    }

    fn encapsulate(&mut self, _: &MacroInstr) -> Found {
        let operation = OpKey::encapsulate(self.level, self.of.seeded);
        Ok(coded(operation, vec![KeyRequest::Encapsulation]))
    }

    fn modraise(&mut self, _: &MacroInstr, _: Level) -> Found {
        let operation = OpKey::raise(self.level, self.of.seeded);
        Ok(coded(operation, vec![KeyRequest::Decapsulation]))
    }

    fn matvec(&mut self, _: &MacroInstr, matrix: &Matrix) -> Found {
        let steps = [&matrix.babies, &matrix.giants].map(|of| of.iter().copied());
        let [babies, giants] = steps.clone();
        let dropped = Shape::down(self.level, matrix.to).dropped;
        let operation = OpKey::mat_vec(self.level, babies, giants, dropped, self.of.seeded);
        let keys = steps.into_iter().flatten().map(KeyRequest::Galois);
        Ok(coded(operation, keys.collect()))
    }

    fn combine(&mut self, instr: &MacroInstr, of: &Combination) -> Found {
        let residues = self.params.residues(&of.integers, self.level);
        let dropped = Shape::down(self.level, of.to).dropped;
        let operation = OpKey::combine(self.level, instr.src.len(), residues, dropped);
        Ok(coded(operation, vec![]))
    }

    fn sumprod(&mut self, instr: &MacroInstr, of: &Products) -> Found {
        let shape = Shape::of_products(of, self.level);
        let residues = self.params.residues(&of.integers, self.level);
        let count = instr.src.len();
        let operation = OpKey::sum_products(self.level, count, shape, residues, self.of.seeded);
        Ok(coded(operation, vec![KeyRequest::Relin]))
    }

    fn sumplain(&mut self, instr: &MacroInstr) -> Found {
        let operation = OpKey::sum_plain(self.level, instr.src.len() / 2);
        Ok(coded(operation, vec![]))
    }
}

/// Returns the level and the scale of an instruction's first operand, or level 0 and scale 1 if it has none.
fn at(instr: &Lowerable<'_>) -> LevelScale {
    let unmanaged = LevelScale {
        level: Level::LOWEST,
        scale: 1.0,
    };
    let at = instr.at(0).and_then(LevelNote::scaled);
    at.unwrap_or(unmanaged)
}

fn residues(
    params: &Params,
    instr: &Lowerable<'_>,
    value: f64,
    level: Level,
    scale: f64,
) -> Result<Vec<u64>, CompileError> {
    scalar_residues(params, value, level, scale).map_err(|why| CompileError::BadConstant {
        at: instr.line(),
        value,
        why,
    })
}
