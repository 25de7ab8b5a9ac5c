//! The evaluation keys that a program of a ring scheme needs, and no others.

use std::collections::BTreeSet;

use ringmill_isa::Galois;
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType};
use ringmill_schemes::rlwe::KeyRequest;

/// The elements of the automorphisms that an instruction is, one a result, by what a step `turns` by and, where a conjugate is not what
/// it is of, the element that `conjugates`.
///
/// # Errors
/// Those of `turns`.
pub(crate) fn automorphisms<E>(
    instr: &MacroInstr,
    turns: impl Fn(i32) -> Result<Galois, E>,
    conjugates: Option<Galois>,
) -> Result<Vec<Galois>, E> {
    match (instr.op, &instr.imm) {
        (MacroOp::Rotate | MacroOp::Hrotate, MacroImm::Steps(steps)) => {
            steps.iter().map(|&step| turns(step)).collect()
        }
        (MacroOp::Conj, _) => Ok(conjugates.into_iter().collect()),
        (MacroOp::Morph, &MacroImm::Galois(element)) => Ok(vec![element]),
        (
            MacroOp::Input
            | MacroOp::Encode
            | MacroOp::Load
            | MacroOp::Add
            | MacroOp::Sub
            | MacroOp::Neg
            | MacroOp::Addc
            | MacroOp::Mulc
            | MacroOp::Mul
            | MacroOp::Square
            | MacroOp::Relin
            | MacroOp::Rescale
            | MacroOp::Modswitch
            | MacroOp::Refactor
            | MacroOp::Rotate
            | MacroOp::Hrotate
            | MacroOp::Morph
            | MacroOp::Ksw
            | MacroOp::Iszero
            | MacroOp::Quotient
            | MacroOp::Bootstrap
            | MacroOp::Output
            | MacroOp::Call
            | MacroOp::Repeat,
            _,
        ) => Ok(Vec::new()),
    }
}

/// The relinearisation key, if anything is relinearised, then the keys of the Galois elements of rotations and conjugations, in
/// increasing order; those of procedures too. `elements` says which automorphisms an instruction is.
///
/// # Errors
/// Those of `elements`.
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
            match (instr.op, ty(instr)) {
                (MacroOp::Ksw, Some(MacroType::Morphed { by, .. })) => {
                    found.insert(KeyRequest::Galois(by));
                }
                (MacroOp::Relin | MacroOp::Ksw, _) => {
                    found.insert(KeyRequest::Relin);
                }
                // What is under another secret has its key where it is switched back.
                (MacroOp::Morph, _) => {}
                _ => found.extend(elements(instr)?.into_iter().map(KeyRequest::Galois)),
            }
        }
    }
    Ok(found)
}
