// SPDX-License-Identifier: Apache-2.0
//! How deep each value lies and how many levels it still needs: what level management decides by.

use ringmill_isa::Level;
use ringmill_isa::macros::op::{MacroLevel, MacroNote, MacroSize, MacroStage};
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroProgram, MacroValue, Refused};
use ringmill_isa::source::SourceLoc;
use ringmill_schemes::ckks::Ckks;

use crate::cures::Cures;
use crate::error::{At, CompileError};
use crate::rewrite::is_cipher;
use crate::scheme::Compiles;

/// Largest integer constant that multiplies a ciphertext as an integer, at no cost in levels. Above it the product by a
/// scaled constant is the same, and the level count is easier to predict.
const MAX_INTEGER: f64 = 1_048_576.0;

/// Whether `MULC` by this constant is done by an integer at scale 1: no rescale, no level.
pub(crate) fn is_integer_factor(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() <= MAX_INTEGER
}

/// How an instruction treats levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Multiplies scales: the result is a product, to be rescaled.
    Product,
    /// Adds two ciphertexts.
    Sum,
    /// Result at level and scale of its operand, whatever they are.
    Same,
    /// Takes its operand rescaled.
    Rescaled,
    /// Makes no ciphertext of others.
    Source,
}

/// How an instruction of a program that has its `RELIN`s treats levels.
///
/// # Errors
/// An operation that is not of CKKS, and those that level management puts in.
pub(crate) fn kind(instr: &MacroInstr, program: &MacroProgram) -> Result<Kind, Refused> {
    let columns = instr.op.columns();
    let known = instr.op.is_of(Ckks::NAME) && columns.stage != MacroStage::Explicit;
    match (columns.note, &instr.imm) {
        _ if !known => {}
        (MacroNote::Chosen, _) => return Ok(Kind::Source),
        (MacroNote::Product, _) => return Ok(Kind::Product),
        (MacroNote::ConstantProduct, &MacroImm::Constant { value, .. })
            if is_integer_factor(value) =>
        {
            return Ok(Kind::Same);
        }
        (MacroNote::ConstantProduct, _) => return Ok(Kind::Product),
        (MacroNote::Equal, _) => {
            let ciphers = instr.src.iter().all(|&v| is_cipher(&program.types, v));
            return Ok(if ciphers { Kind::Sum } else { Kind::Same });
        }
        // What takes two polynomials is dear, and the less so the lower it happens.
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
        // What this analysis places, and calls, which are written out before.
        (
            MacroNote::Same
            | MacroNote::Divided
            | MacroNote::Refactored
            | MacroNote::Refreshed
            | MacroNote::Combined
            | MacroNote::Lowered
            | MacroNote::Key
            | MacroNote::Declared,
            _,
        ) => {}
    }
    Err(Refused::unknown("CKKS's choice of levels", instr))
}

/// Analysis of an unmanaged program, by value.
#[derive(Debug)]
pub(crate) struct Depths {
    /// Products in sequence on the way from the inputs (rescales, once the value is rescaled).
    pub depth: Vec<u32>,
    /// Whether the value is a product or a sum with products, kept before its rescale.
    pub product: Vec<bool>,
    /// The lowest level at which the value, rescaled, still serves all its uses.
    pub need: Vec<Level>,
}

impl Depths {
    /// `output_level`: the level at which outputs are wanted.
    ///
    /// # Errors
    /// Those of [`kind`].
    pub fn new(program: &MacroProgram, output_level: Level) -> Result<Self, Refused> {
        let values = program.types.len();
        let mut this = Self {
            depth: vec![0; values],
            product: vec![false; values],
            need: vec![Level::LOWEST; values],
        };
        for instr in &program.instrs {
            let (depth, product) = this.forward(instr, program)?;
            for v in &instr.dst {
                this.depth[v.0 as usize] = depth;
                this.product[v.0 as usize] = product;
            }
        }
        for instr in program.instrs.iter().rev() {
            this.backward(instr, program, output_level)?;
        }
        Ok(this)
    }

    fn forward(&self, instr: &MacroInstr, program: &MacroProgram) -> Result<(u32, bool), Refused> {
        let at = |v: &MacroValue| self.depth[v.0 as usize];
        let deepest = instr.src.iter().map(at).max().unwrap_or(0);
        Ok(match kind(instr, program)? {
            Kind::Product => (deepest + 1, true),
            Kind::Same => (
                deepest,
                instr.src.iter().any(|v| self.product[v.0 as usize]),
            ),
            Kind::Rescaled | Kind::Source => (deepest, false),
            Kind::Sum => {
                // A rescaled operand joins a sum of products when lifting it by one level costs no depth overall.
                let is_product = |v: &&MacroValue| self.product[v.0 as usize];
                let products = instr.src.iter().filter(is_product).map(at).max();
                let others = instr.src.iter().filter(|v| !is_product(v)).map(at).max();
                match (products, others) {
                    (None, _) => (deepest, false),
                    (Some(_), None) => (deepest, true),
                    (Some(products), Some(others)) => (deepest, others < products),
                }
            }
        })
    }

    fn backward(
        &mut self,
        instr: &MacroInstr,
        program: &MacroProgram,
        output_level: Level,
    ) -> Result<(), Refused> {
        let result = instr
            .dst
            .iter()
            .map(|v| self.need[v.0 as usize])
            .max()
            .unwrap_or(output_level);
        let lifts = instr.dst.iter().any(|v| self.product[v.0 as usize]);
        let kind = kind(instr, program)?;
        for v in &instr.src {
            let need = match kind {
                Kind::Product => result.above(1),
                Kind::Sum if lifts && !self.product[v.0 as usize] => result.above(1),
                Kind::Sum | Kind::Same | Kind::Rescaled | Kind::Source => result,
            };
            let slot = &mut self.need[v.0 as usize];
            *slot = (*slot).max(need);
        }
        Ok(())
    }

    /// Checks that no value lies deeper than levels up to `top` allow.
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

    /// The line of the first value that lies deeper than so many levels.
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

    /// Levels that the program needs.
    pub fn levels(&self, output_level: Level) -> u32 {
        self.depth
            .iter()
            .max()
            .copied()
            .unwrap_or(0)
            .saturating_add(output_level.0)
    }
}
