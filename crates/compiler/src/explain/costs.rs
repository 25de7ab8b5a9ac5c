// SPDX-License-Identifier: Apache-2.0
//! Counts what the compiler's decisions cost: how often a program bootstraps, relinearises, rotates and rescales, at
//! which lines, and how many limb instructions the operations take.

use std::collections::BTreeMap;

use ringmill_isa::macros::op::{MacroKeys, MacroLevel, MacroNote};
use ringmill_isa::macros::{MacroInstr, MacroProgram, MacroType};
use ringmill_isa::mid::stats::{call_counts, procedure_counts};
use serde::Serialize;

use super::Line;
use crate::compile::Compiled;
use crate::scheme::{Compiles, ErrorOf};

/// The number of times that one line of the user's program carries out an operation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Place {
    #[serde(flatten)]
    pub line: Line,
    pub count: u64,
}

/// The number of times that a program carries out an operation, with its lines, the most frequent first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Count {
    pub count: u64,
    pub places: Vec<Place>,
}

/// The number of limb instructions that one kind of operation takes in a program.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Work {
    /// The mnemonic of the macro instruction, or several joined with `+` if one procedure computes them together.
    pub operations: String,
    pub calls: u64,
    pub limb_instructions: u64,
    /// The share of the program's limb instructions that the operation takes, from 0 to 1.
    pub share: f64,
}

/// The operations of a compiled program whose number depends on the compiler's decisions. Each iteration of a repeat
/// counts.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Costs {
    pub bootstraps: Count,
    pub relinearisations: Count,
    /// The automorphisms with a key switch. An `HROTATE`, which rotates one value several times,
    /// counts once for each rotation.
    pub rotations: Count,
    /// The number of relinearisations and rotations together, without those inside bootstraps.
    pub key_switches: u64,
    /// The divisions by a prime, each of which takes a level from a ciphertext.
    pub rescales: Count,
    /// The drops of primes, which compute nothing.
    pub drops: Count,
    /// The BGV products with an integer that change a correction factor: to that of another operand, or to that of a
    /// procedure's arguments.
    pub refactors: Count,
    /// The kinds of operations, that with the most limb instructions first.
    pub work: Vec<Work>,
}

impl Costs {
    /// Returns the counted decisions, each with its name for people.
    pub fn decisions(&self) -> [(&'static str, &Count); 6] {
        [
            ("bootstraps", &self.bootstraps),
            ("relinearisations", &self.relinearisations),
            ("rotations", &self.rotations),
            ("divisions by a prime", &self.rescales),
            ("drops of primes", &self.drops),
            ("products for equal factors", &self.refactors),
        ]
    }
}

/// The kinds of operations that are counted because their number depends on the compiler's decisions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Decision {
    Bootstrap,
    Relinearisation,
    Rotation,
    Rescale,
    Drop,
    Refactor,
}

pub(super) fn of<S: Compiles>(compiled: &Compiled<S>) -> Result<Costs, ErrorOf<S>> {
    let mut found: BTreeMap<Decision, BTreeMap<Line, u64>> = BTreeMap::new();
    for_each::<ErrorOf<S>>(&compiled.managed, |instr, types, times| {
        let Some((decision, each)) = decision::<S>(&compiled.params, instr, types)? else {
            return Ok(());
        };
        let places = found.entry(decision).or_default();
        let count = places.entry(Line::of(instr.loc.as_ref())).or_default();
        *count = count.saturating_add(times.saturating_mul(each));
        Ok(())
    })?;
    let mut of = |decision| counted(found.remove(&decision).unwrap_or_default());
    let (relinearisations, rotations) = (of(Decision::Relinearisation), of(Decision::Rotation));
    Ok(Costs {
        bootstraps: of(Decision::Bootstrap),
        key_switches: relinearisations.count.saturating_add(rotations.count),
        relinearisations,
        rotations,
        rescales: of(Decision::Rescale),
        drops: of(Decision::Drop),
        refactors: of(Decision::Refactor),
        work: work(compiled),
    })
}

/// Returns the kind of operation that an instruction is, and how many it counts for: one for each automorphism. Returns
/// `None` for an operation that is not counted.
fn decision<S: Compiles>(
    params: &S::Params,
    instr: &MacroInstr,
    types: &[MacroType],
) -> Result<Option<(Decision, u64)>, ErrorOf<S>> {
    let columns = instr.op.columns();
    let operand = instr.src.first().and_then(|v| types.get(v.0 as usize));
    let morphed = matches!(operand, Some(MacroType::Morphed { .. }));
    Ok(match (columns.keys, columns.note, columns.level) {
        (MacroKeys::Refresh, ..) => Some((Decision::Bootstrap, 1)),
        (MacroKeys::Switch, ..) if morphed => Some((Decision::Rotation, 1)),
        (MacroKeys::Relin | MacroKeys::Switch, ..) => Some((Decision::Relinearisation, 1)),
        (MacroKeys::Galois, ..) => {
            let elements = S::automorphisms(params, instr)?.len() as u64;
            (elements > 0).then_some((Decision::Rotation, elements))
        }
        (_, MacroNote::Divided, _) => Some((Decision::Rescale, 1)),
        (_, MacroNote::Refactored, _) => Some((Decision::Refactor, 1)),
        (_, _, MacroLevel::Dropped) => Some((Decision::Drop, 1)),
        // Not counted: the user's own operations, calls (their bodies are) and operations of linked procedures.
        (MacroKeys::None | MacroKeys::Linked | MacroKeys::Unknown, ..) => None,
    })
}

fn counted(places: BTreeMap<Line, u64>) -> Count {
    let places = places.into_iter();
    let mut places: Vec<Place> = places.map(|(line, count)| Place { line, count }).collect();
    places.sort_by_key(|place| std::cmp::Reverse(place.count));
    let counts = places.iter().map(|place| place.count);
    Count {
        count: counts.fold(0, u64::saturating_add),
        places,
    }
}

/// Calls `each` with every instruction of a program and its procedures, the types of their values, and how often a run
/// executes the instruction.
fn for_each<E>(
    program: &MacroProgram,
    mut each: impl FnMut(&MacroInstr, &[MacroType], u64) -> Result<(), E>,
) -> Result<(), E> {
    let mut times = vec![0u64; program.procs.len()];
    // Each body calls only procedures before it.
    let procs = program.procs.iter().enumerate().rev();
    let procs = procs.map(|(number, proc)| (Some(number), &proc.instrs, &proc.types));
    for (number, instrs, types) in
        std::iter::once((None, &program.instrs, &program.types)).chain(procs)
    {
        let own = number.map_or(1, |number| times.get(number).copied().unwrap_or(0));
        for instr in instrs {
            each(instr, types, own)?;
            if let Some((proc, count)) = instr.imm.called()
                && let Some(slot) = times.get_mut(proc as usize)
            {
                *slot = slot.saturating_add(own.saturating_mul(count));
            }
        }
    }
    Ok(())
}

fn work<S: Compiles>(compiled: &Compiled<S>) -> Vec<Work> {
    let program = &compiled.program;
    let mut by: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let procs = program.procs.iter().zip(&compiled.stands_for);
    for ((proc, ops), calls) in procs.zip(call_counts(program)) {
        let names: Vec<&str> = ops.iter().map(|op| op.mnemonic()).collect();
        let instrs = procedure_counts(proc).into_values();
        let instrs = instrs.fold(0, u64::saturating_add);
        let entry = by.entry(names.join("+")).or_default();
        entry.0 = entry.0.saturating_add(calls);
        entry.1 = entry.1.saturating_add(calls.saturating_mul(instrs));
    }
    let all = by.values().map(|&(_, instrs)| instrs);
    let all = all.fold(0, u64::saturating_add).max(1);
    let work = by.into_iter().filter(|(_, (calls, _))| *calls > 0);
    let work = work.map(|(operations, (calls, limb_instructions))| Work {
        operations,
        calls,
        limb_instructions,
        share: limb_instructions as f64 / all as f64,
    });
    let mut work: Vec<Work> = work.collect();
    work.sort_by_key(|work| std::cmp::Reverse(work.limb_instructions));
    work
}
