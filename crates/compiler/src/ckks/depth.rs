//! How deep each value lies and how many levels it still needs: what level management decides by.

use ringmill_isa::Level;
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroValue};
use ringmill_isa::source::SourceLoc;

use crate::error::{At, CompileError};
use crate::rewrite::is_cipher;

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

pub(crate) fn kind(instr: &MacroInstr, program: &MacroProgram) -> Kind {
    match instr.op {
        MacroOp::Mul | MacroOp::Square => Kind::Product,
        MacroOp::Mulc => match instr.imm {
            MacroImm::Constant { value, .. } if is_integer_factor(value) => Kind::Same,
            _ => Kind::Product,
        },
        MacroOp::Add | MacroOp::Sub if instr.src.iter().all(|&v| is_cipher(&program.types, v)) => {
            Kind::Sum
        }
        MacroOp::Add | MacroOp::Sub | MacroOp::Neg | MacroOp::Addc | MacroOp::Relin => Kind::Same,
        MacroOp::Rotate | MacroOp::Hrotate | MacroOp::Conj | MacroOp::Output => Kind::Rescaled,
        MacroOp::Input | MacroOp::Encode => Kind::Source,
        // What this analysis places; what only integers have; and calls, which are written out before.
        MacroOp::Rescale | MacroOp::Modswitch => Kind::Source,
        MacroOp::Refactor | MacroOp::Iszero => Kind::Source,
        MacroOp::Quotient | MacroOp::Bootstrap => Kind::Source,
        MacroOp::Call | MacroOp::Repeat => Kind::Source,
        // The last pass's.
        MacroOp::Load | MacroOp::Morph | MacroOp::Ksw => Kind::Source,
    }
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
    pub fn new(program: &MacroProgram, output_level: Level) -> Self {
        let values = program.types.len();
        let mut this = Self {
            depth: vec![0; values],
            product: vec![false; values],
            need: vec![Level::LOWEST; values],
        };
        for instr in &program.instrs {
            let (depth, product) = this.forward(instr, program);
            for v in &instr.dst {
                this.depth[v.0 as usize] = depth;
                this.product[v.0 as usize] = product;
            }
        }
        for instr in program.instrs.iter().rev() {
            this.backward(instr, program, output_level);
        }
        this
    }

    fn forward(&self, instr: &MacroInstr, program: &MacroProgram) -> (u32, bool) {
        let at = |v: &MacroValue| self.depth[v.0 as usize];
        let deepest = instr.src.iter().map(at).max().unwrap_or(0);
        match kind(instr, program) {
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
        }
    }

    fn backward(&mut self, instr: &MacroInstr, program: &MacroProgram, output_level: Level) {
        let result = instr
            .dst
            .iter()
            .map(|v| self.need[v.0 as usize])
            .max()
            .unwrap_or(output_level);
        let lifts = instr.dst.iter().any(|v| self.product[v.0 as usize]);
        let kind = kind(instr, program);
        for v in &instr.src {
            let need = match kind {
                Kind::Product => result.above(1),
                Kind::Sum if lifts && !self.product[v.0 as usize] => result.above(1),
                Kind::Sum | Kind::Same | Kind::Rescaled | Kind::Source => result,
            };
            let slot = &mut self.need[v.0 as usize];
            *slot = (*slot).max(need);
        }
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
