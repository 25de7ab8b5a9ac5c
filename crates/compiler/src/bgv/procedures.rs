// SPDX-License-Identifier: Apache-2.0
//! At which levels procedures take their values and give them back: each is managed for several, and whoever calls it chooses.
//!
//! A procedure that is cheapest by itself where its values have much room may make its callers refresh what they give it. So of
//! each procedure there is a table, a *variant* a level, with what a call costs; and a body is managed with those variants of its
//! callees that make the whole of it cheapest. Callers may choose differently: a procedure is then there more than once.

use std::collections::{BTreeMap, BTreeSet};

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroProc, MacroProgram};

use super::CompileError;
use super::levels::{Callee, Managed, Misfit};
use crate::bodies;

/// A procedure managed for values at one level.
pub struct Variant {
    pub callee: Callee,
    pub managed: Managed,
    /// What it calls itself.
    pub choice: Choice,
}

/// The variants of a procedure that its noise allows, one at least.
pub type Table = Vec<Variant>;

/// Of each procedure, by its number, the variant that a body calls.
pub type Choice = Vec<usize>;

/// Rounds through all callees of a body.
const ROUNDS: usize = 3;

/// Of each procedure the variant that is cheapest by itself.
pub fn cheapest(tables: &[Table]) -> Choice {
    let of = tables.iter().map(|table| {
        let costs = table.iter().map(|variant| variant.callee.cost).enumerate();
        // Of equal ones the first.
        let least = costs.reduce(|least, other| if other.1 < least.1 { other } else { least });
        least.map_or(0, |(number, _)| number)
    });
    of.collect()
}

/// A body with the callees that make it cheapest: from `choice` on one callee after the other is exchanged, as long as that
/// helps; the only one of a body is so tried at every level. `manage` manages the body with callees.
///
/// # Errors
/// Those of `manage`; what is lacking at the first choice where none serves.
pub fn chosen(
    body: &MacroProgram,
    tables: &[Table],
    choice: Choice,
    mut manage: impl FnMut(&[Callee]) -> Result<Result<Managed, Misfit>, CompileError>,
) -> Result<Result<(Managed, Choice), Misfit>, CompileError> {
    let called: BTreeSet<usize> = body.instrs.iter().filter_map(callee).collect();
    let mut managed = |choice: &Choice| {
        let callees = tables
            .iter()
            .zip(choice)
            .filter_map(|(table, &at)| table.get(at));
        let callees: Vec<Callee> = callees.map(|variant| variant.callee).collect();
        manage(&callees)
    };
    let mut tried = BTreeSet::from([choice.clone()]);
    let mut best = managed(&choice)?;
    let mut choice = choice;
    for _ in 0..ROUNDS {
        let before = choice.clone();
        for &proc in &called {
            for variant in 0..tables.get(proc).map_or(0, Vec::len) {
                let mut other = choice.clone();
                if let Some(at) = other.get_mut(proc) {
                    *at = variant;
                }
                if !tried.insert(other.clone()) {
                    continue;
                }
                let found = managed(&other)?;
                let better = match (&found, &best) {
                    (Ok(found), Ok(best)) => found.cost < best.cost,
                    (Ok(_), Err(_)) => true,
                    (Err(_), _) => false,
                };
                if better {
                    (best, choice) = (found, other);
                }
            }
        }
        if choice == before {
            break;
        }
    }
    Ok(best.map(|managed| (managed, choice)))
}

/// The procedure that an instruction calls.
fn callee(instr: &MacroInstr) -> Option<usize> {
    instr.imm.called().map(|(proc, _)| proc as usize)
}

/// The procedures, as they were in `procs`, and the program that calls them, with the variants that are called and no others. They stay
/// in their order, and each is behind those that it calls.
pub(super) fn linked(
    main: MacroProgram,
    choice: &Choice,
    mut tables: Vec<Table>,
    procs: &[MacroProc],
) -> MacroProgram {
    let mut used = BTreeSet::new();
    let mut open: Vec<(usize, usize)> = calls(&main, choice).collect();
    while let Some((proc, variant)) = open.pop() {
        if used.insert((proc, variant))
            && let Some(of) = tables.get(proc).and_then(|table| table.get(variant))
        {
            open.extend(calls(&of.managed.program, &of.choice));
        }
    }
    let numbers: BTreeMap<(usize, usize), u32> = used.iter().copied().zip(0..).collect();
    let mut names: BTreeSet<String> = procs.iter().map(|proc| proc.name.clone()).collect();
    let mut made = Vec::with_capacity(used.len());
    let mut last = None;
    for &(proc, variant) in &used {
        let (Some(was), Some(of)) = (
            procs.get(proc),
            tables
                .get_mut(proc)
                .and_then(|table| table.get_mut(variant)),
        ) else {
            continue;
        };
        let level = of.callee.convention.level;
        let empty = MacroProgram::new(String::new(), main.scheme.clone(), main.slots);
        let body = std::mem::replace(&mut of.managed.program, empty);
        let mut closed = bodies::closed(renumbered(body, &of.choice, &numbers), was);
        // The first of a procedure's keeps the name.
        if last.replace(proc) == Some(proc) {
            closed.name = format!("{}_at_{}", was.name, level.0);
            while !names.insert(closed.name.clone()) {
                closed.name.push('_');
            }
        }
        made.push(closed);
    }
    MacroProgram {
        procs: made,
        ..renumbered(main, choice, &numbers)
    }
}

fn calls(body: &MacroProgram, choice: &Choice) -> impl Iterator<Item = (usize, usize)> {
    let called = body.instrs.iter().filter_map(callee);
    called.filter_map(|proc| Some((proc, *choice.get(proc)?)))
}

/// A body whose calls name variants by their numbers.
fn renumbered(
    mut body: MacroProgram,
    choice: &Choice,
    numbers: &BTreeMap<(usize, usize), u32>,
) -> MacroProgram {
    for instr in &mut body.instrs {
        if let MacroImm::Proc(proc) | MacroImm::Repeat { proc, .. } = &mut instr.imm {
            let variant = choice.get(*proc as usize).copied().unwrap_or(0);
            if let Some(&number) = numbers.get(&(*proc as usize, variant)) {
                *proc = number;
            }
        }
    }
    body
}
