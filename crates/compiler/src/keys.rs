// SPDX-License-Identifier: Apache-2.0
//! Lists the evaluation keys that a program of a ring scheme needs.

use std::collections::BTreeSet;

use ringmill_isa::Galois;
use ringmill_isa::macros::op::MacroKeys;
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, Refused};
use ringmill_schemes::rlwe::KeyRequest;

/// Returns the Galois elements of the automorphisms that an instruction computes, one for each result. `turns` returns
/// the element of a rotation by a number of slots. `conjugates` is the element of a conjugation, or `None` if
/// conjugates equal their operands. Returns none for such a conjugation, and for an instruction without automorphisms.
///
/// # Errors
/// Returns the errors of `turns`. Fails for an operation whose automorphisms are unknown here.
pub(crate) fn automorphisms<E: From<Refused>>(
    instr: &MacroInstr,
    turns: impl Fn(i32) -> Result<Galois, E>,
    conjugates: Option<Galois>,
) -> Result<Vec<Galois>, E> {
    match (instr.op, &instr.imm) {
        (MacroOp::Rotate | MacroOp::Hrotate, MacroImm::Steps(steps)) => {
            steps.iter().map(|&step| turns(step)).collect()
        }
        (MacroOp::Morph, &MacroImm::Galois(element)) => Ok(vec![element]),
        (op, imm) => match op.columns().keys {
            // Without an element or steps the automorphism is conjugation.
            MacroKeys::Galois if *imm == MacroImm::None => Ok(conjugates.into_iter().collect()),
            MacroKeys::None | MacroKeys::Relin | MacroKeys::Switch | MacroKeys::Refresh => {
                Ok(Vec::new())
            }
            MacroKeys::Galois | MacroKeys::Linked | MacroKeys::Unknown => {
                Err(Refused::unknown("the choice of keys", instr).into())
            }
        },
    }
}

/// Returns the keys that a program and its procedures need, without those that bootstraps need. These are the
/// relinearisation key, if anything is relinearised, then the keys of Galois elements in increasing order. `elements`
/// returns the Galois elements of an instruction's automorphisms.
///
/// # Errors
/// Returns the errors of `elements`.
pub(crate) fn of<E>(
    program: &MacroProgram,
    elements: impl Fn(&MacroInstr) -> Result<Vec<Galois>, E>,
) -> Result<BTreeSet<KeyRequest>, E> {
    let mut found = BTreeSet::new();
    let procs = program.procs.iter();
    let bodies = procs.map(|proc| (&proc.instrs, &proc.types));
    for (instrs, types) in bodies.chain([(&program.instrs, &program.types)]) {
        let ty = |instr: &MacroInstr| types.get(instr.src.first()?.0 as usize).copied();
        for instr in instrs {
            match (instr.op.columns().keys, ty(instr)) {
                (MacroKeys::Switch, Some(MacroType::Morphed { by, .. })) => {
                    found.insert(KeyRequest::Galois(by));
                }
                (MacroKeys::Relin | MacroKeys::Switch, _) => {
                    found.insert(KeyRequest::Relin);
                }
                // A `MORPH` gets its key with the `KSW` that switches its result back, and a bootstrap lists its own
                // keys.
                (MacroKeys::None | MacroKeys::Refresh, _) => {}
                // The caller that links a procedure in lists its keys.
                (MacroKeys::Linked, _) => {}
                (MacroKeys::Galois | MacroKeys::Unknown, _) => {
                    found.extend(elements(instr)?.into_iter().map(KeyRequest::Galois));
                }
            }
        }
    }
    Ok(found)
}

/// Returns the keys that a program and its procedures need, in the order of [`KeyRequest`], with the keys
/// `of_bootstraps` if the program bootstraps. `elements` returns the Galois elements of an instruction's automorphisms.
///
/// # Errors
/// Returns the errors of `elements`.
pub(crate) fn with_bootstraps<E>(
    program: &MacroProgram,
    elements: impl Fn(&MacroInstr) -> Result<Vec<Galois>, E>,
    of_bootstraps: &[KeyRequest],
) -> Result<Vec<KeyRequest>, E> {
    let mut found = of(program, elements)?;
    let procs = program.procs.iter().flat_map(|proc| &proc.instrs);
    let mut instrs = procs.chain(&program.instrs);
    if instrs.any(|instr| instr.op == MacroOp::Bootstrap) {
        found.extend(of_bootstraps);
    }
    Ok(found.into_iter().collect())
}
