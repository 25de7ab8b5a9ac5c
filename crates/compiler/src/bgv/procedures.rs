// SPDX-License-Identifier: Apache-2.0
//! Chooses the levels of procedures' arguments and results. The values of a procedure get levels several times, each
//! time for arguments and results at another level, and each caller chooses one.
//!
//! A procedure may be cheapest by itself with arguments that have much room, for which its callers then need
//! bootstraps. So each procedure has a table of *variants*, one for each tried level at which its values fit, with the
//! cost of a call. The body of a procedure, or of the program, gets its levels with those variants of the procedures
//! that it calls that make the whole body cheapest. If callers choose differently, the program contains the procedure
//! more than once.

use std::collections::{BTreeMap, BTreeSet};

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroProc, MacroProgram};

use super::CompileError;
use super::levels::{Callee, Managed, Misfit};
use crate::bodies;

/// A procedure with levels for all its values, made for arguments and results at one level.
pub struct Variant {
    pub callee: Callee,
    pub managed: Managed,
    /// For each procedure that this procedure calls, the number of the variant (procedure with
    /// arguments and results at one level) that it calls.
    pub choice: Choice,
}

/// The variants of a procedure, at least one: the procedure with arguments and results at different
/// levels. In each variant the noise of all values stays below the bounds of their levels.
pub type Table = Vec<Variant>;

/// For each procedure, by its number, the variant that the body of a procedure, or of the program,
/// calls. A variant has arguments and results at one level.
pub type Choice = Vec<usize>;

/// The number of passes over all procedures that a body calls, in the search for cheaper variants
/// (with arguments and results at other levels).
const ROUNDS: usize = 3;

/// Chooses for each procedure the variant (procedure with arguments and results at one level) with
/// the least cost, without regard to other procedures.
pub fn cheapest(tables: &[Table]) -> Choice {
    let of = tables.iter().map(|table| {
        let costs = table.iter().map(|variant| variant.callee.cost).enumerate();
        // Among variants of equal cost, the first.
        let least = costs.reduce(|least, other| if other.1 < least.1 { other } else { least });
        least.map_or(0, |(number, _)| number)
    });
    of.collect()
}

/// Gives the values of a body, the program's or a procedure's, levels, with the variants of its callees that make the
/// body cheapest. From `choice` on, one callee after the other gets another variant if that helps, in at most three
/// passes over all callees. So a body's only callee is tried in each of its variants. `manage` gives levels for one
/// choice of variants.
///
/// # Errors
/// Returns the errors of `manage`. If no choice that is tried keeps the noise small enough, the inner error is the
/// misfit (lost values) under the first choice.
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

/// Returns the number of the procedure that an instruction calls, or `None`.
fn callee(instr: &MacroInstr) -> Option<usize> {
    instr.imm.called().map(|(proc, _)| proc as usize)
}

/// Returns the procedures and the program, in which variants (procedures with arguments and results at one level) are
/// called in place of procedures. Only variants that are called remain. They are in the order of `procs`, and each
/// comes after those that it calls.
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
        // The first variant of a procedure keeps the procedure's name.
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

/// Returns a body whose calls name variants (procedures with arguments and results at one level) by
/// their numbers in the new program's list of procedures.
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
