// SPDX-License-Identifier: Apache-2.0
//! Finds how many products each value has behind it and how many levels its uses still need, by which level management
//! decides.

use ringmill_isa::Level;
use ringmill_isa::macros::op::{MacroLevel, MacroNote, MacroSize, MacroStage};
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroProgram, MacroValue, Refused};
use ringmill_isa::source::SourceLoc;
use ringmill_schemes::ckks::Ckks;

use crate::ckks::plan::{Plan, SumPlan};
use crate::cures::Cures;
use crate::error::{At, CompileError};
use crate::rewrite::is_cipher;
use crate::scheme::Compiles;

/// The largest integer constant that multiplies a ciphertext as an integer, which takes no level. A larger constant is
/// scaled and encoded instead, which gives the same product and makes the number of levels easier to predict.
const MAX_INTEGER: f64 = 1_048_576.0;

/// Returns whether a product with this constant (`MULC`) multiplies by an integer at scale 1, which takes no level.
pub(crate) fn is_integer_factor(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() <= MAX_INTEGER
}

/// Returns the integer by which a product with this constant (`MULC`) multiplies the polynomials, if the constant's
/// scale makes it a small integer. The integer is 1 if the instruction only changes the scale.
pub(crate) fn whole_factor(value: f64, scale: f64) -> Option<f64> {
    let exact = value * scale;
    let whole = exact.round();
    let near = (exact - whole).abs() <= whole.abs() * 2f64.powi(-40);
    (near && whole.abs() <= MAX_INTEGER).then_some(whole)
}

/// An instruction's rule for the levels and scales of its operands and its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The instruction multiplies scales: its result is a product, to be rescaled later.
    Product,
    /// The instruction adds or subtracts two ciphertexts, which must have the same scale.
    Sum,
    /// The instruction's result has the level and the scale of its operand.
    Same,
    /// The instruction takes only a rescaled operand, no product.
    Rescaled,
    /// The instruction makes a ciphertext or a plaintext that is computed from no other value, as an input is.
    Source,
    /// The instruction multiplies by a constant that is no integer. It is a product, or changes the scale alone: see
    /// [`Plan`].
    Constant,
    /// The instruction bootstraps its operand: its result is at the highest level of the program's values.
    Refreshed,
}

/// Returns an instruction's rule for levels and scales. The program has its `RELIN`s, but no levels yet.
///
/// # Errors
/// Fails for an operation that is not of CKKS, for one that only level management inserts (`RESCALE`, `MODSWITCH`), and
/// for a call or a repeat.
pub(crate) fn kind(instr: &MacroInstr, program: &MacroProgram) -> Result<Kind, Refused> {
    let columns = instr.op.columns();
    let known = instr.op.is_of(Ckks::NAME) && columns.stage != MacroStage::Explicit;
    match (columns.note, &instr.imm) {
        _ if !known => {}
        (MacroNote::Chosen, _) => return Ok(Kind::Source),
        (MacroNote::Refreshed, _) => return Ok(Kind::Refreshed),
        (MacroNote::Product, _) => return Ok(Kind::Product),
        (MacroNote::ConstantProduct, &MacroImm::Constant { value, .. })
            if is_integer_factor(value) =>
        {
            return Ok(Kind::Same);
        }
        (MacroNote::ConstantProduct, _) => return Ok(Kind::Constant),
        (MacroNote::Equal, _) => {
            let ciphers = instr.src.iter().all(|&v| is_cipher(&program.types, v));
            return Ok(if ciphers { Kind::Sum } else { Kind::Same });
        }
        // An operation on exactly two polynomials is dear, and cheaper at a lower level: so its operand is rescaled.
        (MacroNote::Same, _) if columns.level == MacroLevel::Same => {
            return Ok(match columns.size {
                MacroSize::Two => Kind::Rescaled,
                MacroSize::Given
                | MacroSize::Largest
                | MacroSize::Product
                | MacroSize::Relinearised
                | MacroSize::Morphed
                | MacroSize::Switched
                | MacroSize::Key
                | MacroSize::Lifted
                | MacroSize::Declared => Kind::Same,
            });
        }
        // Instructions that only level management inserts, and calls, which are written out before.
        (
            MacroNote::Same
            | MacroNote::Divided
            | MacroNote::Refactored
            | MacroNote::Combined
            | MacroNote::Lowered
            | MacroNote::Key
            | MacroNote::Declared,
            _,
        ) => {}
    }
    Err(Refused::unknown("CKKS's choice of levels", instr))
}

/// The depths of all values of an unmanaged program (one without levels and scales), by the values' numbers.
#[derive(Clone, Debug)]
pub(crate) struct Depths {
    /// For each value, the number of products in sequence that lead to it from the inputs or from the last bootstrap.
    /// Once rescaled, the value has gone through as many rescales.
    pub depth: Vec<u32>,
    /// For each value, whether it is a product, or a sum with products, that is not rescaled yet.
    pub product: Vec<bool>,
    /// For each value, the lowest level at which the rescaled value still serves all its uses.
    pub need: Vec<Level>,
    /// The most levels that a value needs before it is bootstrapped, the level of bootstrapping
    /// included. It is 0 if no value is bootstrapped.
    bootstrapped: u32,
}

/// Returns an instruction's depth and whether its result is a product that is not rescaled, as [`Depths`] has them.
/// `at` returns an operand's depth and whether the operand is such a product.
///
/// # Errors
/// Fails like [`kind`].
pub(crate) fn forward(
    number: usize,
    instr: &MacroInstr,
    program: &MacroProgram,
    plan: &Plan,
    at: impl Fn(MacroValue) -> (u32, bool),
) -> Result<(u32, bool), Refused> {
    let depth = |v: &MacroValue| at(*v).0;
    let deepest = instr.src.iter().map(depth).max().unwrap_or(0);
    let product = || instr.src.iter().any(|v| at(*v).1);
    Ok(match kind(instr, program)? {
        Kind::Product => (deepest + 1, true),
        Kind::Constant if plan.is_product(number) => (deepest + 1, true),
        Kind::Same | Kind::Constant => (deepest, product()),
        Kind::Rescaled | Kind::Source => (deepest, false),
        Kind::Refreshed => (0, false),
        Kind::Sum if plan.sum(number) == SumPlan::LiftBoth => (deepest + 1, true),
        Kind::Sum => {
            // An operand that is lowered takes a level on its way.
            let lowered = match plan.sum(number) {
                SumPlan::Lower(operand) => instr.src.get(operand).map_or(0, |v| depth(v) + 1),
                SumPlan::Straight | SumPlan::LiftBoth => 0,
            };
            let deepest = deepest.max(lowered);
            // A rescaled operand joins a sum of products when lifting it by one level costs no depth overall.
            let is_product = |v: &&MacroValue| at(**v).1;
            let products = instr.src.iter().filter(is_product).map(depth).max();
            let others = instr.src.iter().filter(|v| !is_product(v)).map(depth).max();
            match (products, others) {
                (None, _) => (deepest, false),
                (Some(_), None) => (deepest, true),
                (Some(products), Some(others)) => (deepest, others < products),
            }
        }
    })
}

impl Depths {
    /// Computes the depths of a program. `output_level` is the level at which the outputs must be.
    ///
    /// # Errors
    /// Fails like [`kind`].
    pub fn new(program: &MacroProgram, output_level: Level, plan: &Plan) -> Result<Self, Refused> {
        let values = program.types.len();
        let mut this = Self {
            depth: vec![0; values],
            product: vec![false; values],
            need: vec![Level::LOWEST; values],
            bootstrapped: 0,
        };
        for (number, instr) in program.instrs.iter().enumerate() {
            let at = |v: MacroValue| (this.depth[v.0 as usize], this.product[v.0 as usize]);
            let (depth, product) = forward(number, instr, program, plan, at)?;
            if kind(instr, program)? == Kind::Refreshed {
                let operands = instr.src.iter().map(|&v| at(v).0);
                let needed = operands.max().unwrap_or(0) + plan.start().0;
                this.bootstrapped = this.bootstrapped.max(needed);
            }
            for v in &instr.dst {
                this.depth[v.0 as usize] = depth;
                this.product[v.0 as usize] = product;
            }
        }
        for (number, instr) in program.instrs.iter().enumerate().rev() {
            this.backward(number, instr, program, output_level, plan)?;
        }
        Ok(this)
    }

    fn backward(
        &mut self,
        number: usize,
        instr: &MacroInstr,
        program: &MacroProgram,
        output_level: Level,
        plan: &Plan,
    ) -> Result<(), Refused> {
        let result = instr
            .dst
            .iter()
            .map(|v| self.need[v.0 as usize])
            .max()
            .unwrap_or(output_level);
        let lifts = instr.dst.iter().any(|v| self.product[v.0 as usize]);
        let kind = kind(instr, program)?;
        for (operand, v) in instr.src.iter().enumerate() {
            let need = match kind {
                Kind::Product => result.above(1),
                Kind::Constant if plan.is_product(number) => result.above(1),
                Kind::Sum if plan.sum(number) == SumPlan::LiftBoth => result.above(1),
                Kind::Sum if plan.sum(number) == SumPlan::Lower(operand) => result.above(1),
                Kind::Sum if lifts && !self.product[v.0 as usize] => result.above(1),
                Kind::Refreshed => plan.start(),
                Kind::Sum | Kind::Same | Kind::Rescaled | Kind::Source | Kind::Constant => result,
            };
            let slot = &mut self.need[v.0 as usize];
            *slot = (*slot).max(need);
        }
        Ok(())
    }

    /// Checks that no value needs more levels than parameters with the highest level `top` have.
    ///
    /// # Errors
    /// [`CompileError::TooDeep`] with the line of the first value whose depth needs more, if it has one.
    pub fn check(
        &self,
        program: &MacroProgram,
        output_level: Level,
        top: Level,
    ) -> Result<(), CompileError> {
        let needed = self.levels(output_level);
        if needed <= top.0 {
            return Ok(());
        }
        Err(CompileError::TooDeep {
            at: At(self.below(program, output_level, top.0)),
            needed,
            available: top.0,
            cures: Cures {
                at_most: Some(top.0.saturating_sub(output_level.0)),
                ..Cures::default()
            },
        })
    }

    /// Returns the line of the first value whose depth needs more than `levels` levels, or `None` if none does or the
    /// value has no line. The levels that a bootstrap of a value needs do not count.
    pub fn below(
        &self,
        program: &MacroProgram,
        output_level: Level,
        levels: u32,
    ) -> Option<SourceLoc> {
        let too_deep = |i: &&MacroInstr| {
            let mut depths = i.dst.iter().map(|v| self.depth[v.0 as usize]);
            depths.any(|depth| output_level.above(depth).0 > levels)
        };
        let found = program.instrs.iter().find(too_deep);
        found.and_then(|instr| instr.loc.clone())
    }

    /// Returns the number of levels that the program needs: the largest depth of a value, and `output_level`. A value
    /// that is bootstrapped needs its depth and the level of bootstrapping.
    pub fn levels(&self, output_level: Level) -> u32 {
        let deepest = self.depth.iter().max().copied().unwrap_or(0);
        let needed = deepest.saturating_add(output_level.0);
        needed.max(self.bootstrapped)
    }
}
