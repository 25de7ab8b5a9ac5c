// SPDX-License-Identifier: Apache-2.0
//! Finds the BGV operation and the keys of each macro instruction of a bootstrap.

use ringmill_isa::macros::linked::{Combination, Elements, Products, Turns};
use ringmill_isa::macros::op::MacroKeys;
use ringmill_isa::macros::{
    Constant, LevelNote, MacroImm, MacroInstr, MacroOp, MacroType, Refused, Visitor,
};
use ringmill_isa::{Galois, Level};

use super::code::misshapen;
use super::error::BootstrapError;
use crate::bgv::{Factor, OpKey, Params};
use crate::exact::scalar::residues_modulo;
use crate::rlwe::ops::Shape;
use crate::rlwe::{Annotation, KeyRequest};

/// Returns the BGV operation that executes a macro instruction. `types` are the types of the values of its
/// procedure, and `seeded` says whether the operation's keys come with seeds.
///
/// # Errors
/// Fails for an instruction that is no operation of bootstrapping, or that has a wrong form.
pub fn operation(
    params: &Params,
    types: &[MacroType],
    instr: &MacroInstr,
    seeded: bool,
) -> Result<OpKey, BootstrapError> {
    let at = |number: usize| {
        let value = instr.src.get(number)?;
        let LevelNote { level, note } = types.get(value.0 as usize)?.at()?;
        Some((level, Factor::of_note(note)?))
    };
    let (level, factor) = at(0).ok_or_else(|| misshapen(instr))?;
    let mut of = OfStep {
        params,
        level,
        factor,
        seeded,
    };
    of.visit(instr)
}

/// Returns the names of the keys that an instruction's operation needs, in order. For `KEY` it is the name of the key
/// itself.
///
/// # Errors
/// Fails for an instruction whose keys are not those of a step of bootstrapping.
pub fn keys(types: &[MacroType], instr: &MacroInstr) -> Result<Vec<KeyRequest>, BootstrapError> {
    let galois = |Elements { of, low }: &Elements| {
        let name = match low {
            true => KeyRequest::LowGalois,
            false => KeyRequest::Galois,
        };
        of.iter().copied().map(name).collect()
    };
    let operand = instr.src.first();
    let operand = operand.and_then(|value| types.get(value.0 as usize));
    Ok(match (instr.op.columns().keys, instr.op, &instr.imm) {
        (MacroKeys::None, ..) => Vec::new(),
        (MacroKeys::Relin, ..) => vec![KeyRequest::Relin],
        (MacroKeys::Switch, ..) => match operand {
            Some(&MacroType::Morphed { by, .. }) => vec![KeyRequest::Galois(by)],
            _ => vec![KeyRequest::Relin],
        },
        (MacroKeys::Linked, MacroOp::Key, _) => vec![KeyRequest::SparseSecret],
        (MacroKeys::Linked, MacroOp::Encapsulate, _) => vec![KeyRequest::Encapsulation],
        (MacroKeys::Linked, _, MacroImm::Elements(elements)) => galois(elements),
        (MacroKeys::Linked, _, MacroImm::Turns(turns)) => galois(&turns.elements),
        (MacroKeys::Linked | MacroKeys::Galois | MacroKeys::Refresh | MacroKeys::Unknown, ..) => {
            return Err(Refused::unknown("the keys of bootstrapping", instr).into());
        }
    })
}

/// An instruction with the level and correction factor of its first operand. All operands have two polynomials.
struct OfStep<'a> {
    params: &'a Params,
    level: Level,
    factor: Factor,
    seeded: bool,
}

impl OfStep<'_> {
    /// Returns the number of primes between the instruction's level and the lower level `to`.
    fn dropped(&self, to: Level) -> u16 {
        Shape::down(self.level, to).dropped
    }

    /// Returns the operation that multiplies by the inverse of an integer modulo each prime of the level.
    fn over(&self, instr: &MacroInstr, constant: Constant) -> Result<OpKey, BootstrapError> {
        let Constant::Integer(by) = constant else {
            return Err(misshapen(instr));
        };
        let by = u64::try_from(by).map_err(|_| misshapen(instr))?;
        let primes = self.params.reducers().iter().take(self.level.primes());
        let inverses = primes.map(|q| q.inv(q.reduce(by)));
        let inverses = inverses.collect::<Result<_, _>>()?;
        Ok(OpKey::mul_scalar(self.level, TWO, inverses))
    }
}

/// The number of polynomials of every ciphertext in a bootstrap.
const TWO: u32 = 2;

type Found = Result<OpKey, BootstrapError>;

impl Visitor for OfStep<'_> {
    const PASS: &'static str = "bootstrapping";
    type Out = OpKey;
    type Error = BootstrapError;

    fn add(&mut self, _: &MacroInstr) -> Found {
        Ok(OpKey::add(self.level, TWO, TWO))
    }

    fn sub(&mut self, _: &MacroInstr) -> Found {
        Ok(OpKey::sub(self.level, TWO, TWO))
    }

    fn rescale(&mut self, _: &MacroInstr) -> Found {
        let op = OpKey::mod_switch(self.level, TWO);
        Ok(op.modulo(self.factor.plain()))
    }

    fn refactor(&mut self, instr: &MacroInstr, constant: Constant) -> Found {
        let Constant::Integer(by) = constant else {
            return Err(misshapen(instr));
        };
        let t = self.params.plain_at(self.factor.plain())?;
        let residues = residues_modulo(self.params, t, by, self.level);
        Ok(OpKey::mul_scalar(self.level, TWO, residues))
    }

    fn morph(&mut self, _: &MacroInstr, by: Galois) -> Found {
        Ok(OpKey::morph(self.level, by))
    }

    fn ksw(&mut self, _: &MacroInstr) -> Found {
        let op = OpKey::key_switch(self.level, self.seeded);
        Ok(op.modulo(self.factor.plain()))
    }

    fn quotient(&mut self, instr: &MacroInstr, constant: Constant) -> Found {
        self.over(instr, constant)
    }

    fn divide(&mut self, instr: &MacroInstr, constant: Constant) -> Found {
        self.over(instr, constant)
    }

    fn encapsulate(&mut self, _: &MacroInstr) -> Found {
        Ok(OpKey::encapsulate(self.level, self.seeded))
    }

    fn raise(&mut self, _: &MacroInstr) -> Found {
        Ok(OpKey::raise(self.level))
    }

    fn drop(&mut self, _: &MacroInstr, to: Level) -> Found {
        let op = OpKey::drop_primes(self.level, TWO, self.dropped(to));
        Ok(op.modulo(self.factor.plain()))
    }

    fn hturn(&mut self, _: &MacroInstr, elements: &Elements) -> Found {
        let op = OpKey::hoisted_rotate(self.level, elements.of.iter().copied(), self.seeded);
        Ok(op.modulo(self.factor.plain()))
    }

    fn sumrot(&mut self, _: &MacroInstr, Turns { elements, to }: &Turns) -> Found {
        let op = OpKey::sum_rotations(self.level, elements.of.iter().copied(), self.seeded);
        Ok(op.dropping(self.dropped(*to)).modulo(self.factor.plain()))
    }

    fn sumturn(&mut self, instr: &MacroInstr, Turns { elements, to }: &Turns) -> Found {
        let elements = elements.of.iter().copied();
        let op = OpKey::turn_sum(self.level, instr.src.len(), elements, self.seeded);
        Ok(op.dropping(self.dropped(*to)).modulo(self.factor.plain()))
    }

    fn sumplain(&mut self, instr: &MacroInstr) -> Found {
        Ok(OpKey::sum_plain(self.level, instr.src.len() / 2))
    }

    fn combine(&mut self, instr: &MacroInstr, Combination { integers, to }: &Combination) -> Found {
        let residues = self.params.residues(integers, self.level);
        let op = OpKey::combine(self.level, instr.src.len(), residues);
        Ok(op.dropping(self.dropped(*to)).modulo(self.factor.plain()))
    }

    fn sumprod(&mut self, instr: &MacroInstr, products: &Products) -> Found {
        let shape = Shape::of_products(products, self.level);
        let residues = self.params.residues(&products.integers, self.level);
        let count = instr.src.len();
        let op = OpKey::sum_products(self.level, count, shape, residues, self.seeded);
        Ok(op.modulo(self.factor.plain()))
    }
}

impl From<Refused> for BootstrapError {
    fn from(refused: Refused) -> Self {
        Self::Parameters {
            reason: refused.to_string(),
        }
    }
}
