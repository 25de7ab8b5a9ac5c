// SPDX-License-Identifier: Apache-2.0
//! Finds the longest chain of products in a program with levels.

use ringmill_isa::macros::op::{MacroLevel, MacroNote};
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue};
use serde::Serialize;

use super::Line;
use crate::ckks::depth::whole_factor;
use crate::rewrite::is_cipher;

/// The most steps of a chain that are listed. With nested calls a chain may have more steps than memory holds.
const MOST_STEPS: usize = 1 << 14;

/// The kind of a step in a chain of products: an operation that takes levels from a ciphertext, or gives them back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Taken {
    /// The step multiplies two ciphertexts.
    Product,
    /// The step multiplies a ciphertext by a plaintext.
    PlainProduct,
    /// The step multiplies by a constant that is no small whole number, so that the scale or the level changes.
    Constant,
    /// The step divides by a prime, and no step before it in the chain takes up the division.
    Rescale,
    /// The step drops primes, and no step before it in the chain takes up the drop.
    Drop,
    /// The step is a bootstrap, which gives levels back.
    Bootstrap,
}

impl Taken {
    /// Returns the name of this kind of step, in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Product => "product",
            Self::PlainProduct => "plain product",
            Self::Constant => "constant",
            Self::Rescale => "rescale",
            Self::Drop => "drop",
            Self::Bootstrap => "bootstrap",
        }
    }
}

/// A step of a chain of products: a product or a bootstrap with the divisions and drops of primes that follow it, or a
/// division or a drop by itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Step {
    #[serde(flatten)]
    pub line: Line,
    /// The mnemonic of the step's macro instruction.
    pub operation: &'static str,
    pub taken: Taken,
    pub level_before: u32,
    /// The level of the ciphertext after the step and the divisions and drops that follow it.
    pub level_after: u32,
    /// The number of primes between the two levels that the ciphertext was divided by. The other primes were dropped.
    pub rescales: u32,
    /// The number of times that the step runs in its repeats, or 1 outside of repeats.
    pub times: u64,
}

/// A chain of products from an input to an output of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Chain {
    /// The number of products in the chain. Those with plaintexts count, and those with constants that change the scale
    /// or the level. Each iteration of a repeat counts.
    pub products: u64,
    pub steps: Vec<Step>,
    /// Whether the chain has more steps than `steps` lists.
    pub cut: bool,
}

/// The length of a chain of products, by which chains are compared: first its products in sequence,
/// then the levels that its divisions take.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Length {
    products: u64,
    levels: u64,
}

impl Length {
    fn then(self, other: Self, times: u64) -> Self {
        let add = |a: u64, b: u64| a.saturating_add(b.saturating_mul(times));
        Self {
            products: add(self.products, other.products),
            levels: add(self.levels, other.levels),
        }
    }
}

/// The longest chain of a program or a procedure, with its length.
struct Longest {
    length: Length,
    chain: Chain,
}

impl Chain {
    /// Returns the longest chain of products in a program with levels. A call or repeat counts with
    /// the longest chain of its procedure.
    pub fn of(managed: &MacroProgram) -> Self {
        let mut procs: Vec<Longest> = Vec::with_capacity(managed.procs.len());
        for proc in &managed.procs {
            procs.push(longest(&proc.instrs, &proc.types, &proc.results, &procs));
        }
        let outputs = managed.instrs.iter();
        let outputs = outputs.filter(|instr| instr.op == MacroOp::Output);
        let ends: Vec<MacroValue> = outputs.flat_map(|instr| instr.src.clone()).collect();
        longest(&managed.instrs, &managed.types, &ends, &procs).chain
    }
}

/// Returns the kind of step that an instruction is, or `None` if it is no step of a chain.
fn taken(instr: &MacroInstr, types: &[MacroType]) -> Option<Taken> {
    let at = |values: &[MacroValue]| types.get(values.first()?.0 as usize)?.at();
    let columns = instr.op.columns();
    match columns.note {
        MacroNote::Refreshed => Some(Taken::Bootstrap),
        MacroNote::Divided => Some(Taken::Rescale),
        MacroNote::Product => {
            let ciphers = instr.src.iter().all(|&v| is_cipher(types, v));
            Some(match ciphers {
                true => Taken::Product,
                false => Taken::PlainProduct,
            })
        }
        // A small whole number leaves scale and level as they are. Another constant may only change the scale.
        MacroNote::ConstantProduct => match instr.imm {
            MacroImm::Constant {
                value,
                scale: Some(scale),
            } if whole_factor(value, scale).is_some() => None,
            _ => (at(&instr.src) != at(&instr.dst)).then_some(Taken::Constant),
        },
        MacroNote::Same if columns.level == MacroLevel::Dropped => Some(Taken::Drop),
        MacroNote::Chosen
        | MacroNote::Equal
        | MacroNote::Same
        | MacroNote::Refactored
        | MacroNote::Combined
        | MacroNote::Lowered
        | MacroNote::Key
        | MacroNote::Declared => None,
    }
}

fn level(types: &[MacroType], value: MacroValue) -> u32 {
    let ty = types.get(value.0 as usize);
    ty.and_then(|ty| ty.at()).map_or(0, |at| at.level.0)
}

fn longest(
    instrs: &[MacroInstr],
    types: &[MacroType],
    ends: &[MacroValue],
    procs: &[Longest],
) -> Longest {
    let mut best = vec![Length::default(); types.len()];
    // The instruction that made each value, and the operand on the chain.
    let mut from: Vec<Option<(usize, MacroValue)>> = vec![None; types.len()];
    let of = |best: &[Length], v: MacroValue| best.get(v.0 as usize).copied().unwrap_or_default();
    for (number, instr) in instrs.iter().enumerate() {
        // Of equally long chains the first operand's is taken.
        let operands = instr.src.iter().copied();
        let Some(operand) = operands.rev().max_by_key(|&v| of(&best, v)) else {
            continue;
        };
        let so_far = of(&best, operand);
        for &result in &instr.dst {
            let length = match called(instr, procs) {
                Some((callee, times)) => so_far.then(callee.length, times),
                None => so_far.then(own(instr, types, operand, result), 1),
            };
            if let (Some(best), Some(from)) = (
                best.get_mut(result.0 as usize),
                from.get_mut(result.0 as usize),
            ) {
                (*best, *from) = (length, Some((number, operand)));
            }
        }
    }
    let Some(end) = ends.iter().copied().rev().max_by_key(|&v| of(&best, v)) else {
        return Longest {
            length: Length::default(),
            chain: Chain::default(),
        };
    };
    let mut path = Vec::new();
    let mut at = end;
    while let Some(&Some((number, operand))) = from.get(at.0 as usize) {
        path.push((number, operand, at));
        at = operand;
    }
    path.reverse();
    let length = of(&best, end);
    let mut chain = Chain {
        products: length.products,
        ..Chain::default()
    };
    for (number, operand, result) in path {
        let Some(instr) = instrs.get(number) else {
            continue;
        };
        match called(instr, procs) {
            Some((callee, times)) => chain.follow(&callee.chain, times),
            None => chain.step(instr, types, operand, result),
        }
    }
    Longest { length, chain }
}

fn called<'a>(instr: &MacroInstr, procs: &'a [Longest]) -> Option<(&'a Longest, u64)> {
    let (number, times) = instr.imm.called()?;
    Some((procs.get(number as usize)?, times))
}

fn own(instr: &MacroInstr, types: &[MacroType], operand: MacroValue, result: MacroValue) -> Length {
    let down = level(types, operand).saturating_sub(level(types, result));
    let (products, levels) = match taken(instr, types) {
        Some(Taken::Product | Taken::PlainProduct | Taken::Constant) => (1, 0),
        Some(Taken::Rescale) => (0, down),
        Some(Taken::Drop | Taken::Bootstrap) | None => (0, 0),
    };
    Length {
        products,
        levels: levels.into(),
    }
}

impl Chain {
    fn push(&mut self, step: Step) {
        match self.steps.len() < MOST_STEPS {
            true => self.steps.push(step),
            false => self.cut = true,
        }
    }

    /// Appends the steps of a called procedure's chain to this chain. A repeat runs each of them `times` times.
    fn follow(&mut self, callee: &Self, times: u64) {
        for step in &callee.steps {
            self.push(Step {
                times: step.times.saturating_mul(times),
                ..step.clone()
            });
        }
        self.cut |= callee.cut;
    }

    /// Appends an instruction to the chain, if it is a step. A division or a drop is merged into the step before it.
    fn step(
        &mut self,
        instr: &MacroInstr,
        types: &[MacroType],
        operand: MacroValue,
        result: MacroValue,
    ) {
        let Some(taken) = taken(instr, types) else {
            return;
        };
        let (before, after) = (level(types, operand), level(types, result));
        let rescales = match taken {
            Taken::Rescale => before.saturating_sub(after),
            Taken::Drop
            | Taken::Product
            | Taken::PlainProduct
            | Taken::Constant
            | Taken::Bootstrap => 0,
        };
        let lowers = matches!(taken, Taken::Rescale | Taken::Drop);
        if lowers
            && let Some(last) = self.steps.last_mut()
            && last.level_after == before
            && last.times == 1
        {
            last.level_after = after;
            last.rescales = last.rescales.saturating_add(rescales);
            return;
        }
        self.push(Step {
            line: Line::of(instr.loc.as_ref()),
            operation: instr.op.mnemonic(),
            taken,
            level_before: before,
            level_after: after,
            rescales,
            times: 1,
        });
    }
}
