// SPDX-License-Identifier: Apache-2.0
//! Translates levels that count steps into levels that count primes. A rescale by a step of several
//! primes becomes one rescale for each prime.

use ringmill_isa::macros::{
    LevelNote, LevelScale, MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue,
};

use crate::ckks::canonical::Steps;
use crate::rewrite::Rewriter;

/// Translates a program whose levels are numbers of steps into one whose levels are numbers of
/// primes. A step is a group of primes by which one rescale divides in the old program.
pub(crate) fn run(source: MacroProgram, steps: Steps, primes: &[u64]) -> MacroProgram {
    if steps == Steps::ONE {
        return source;
    }
    let (mut out, body) = Rewriter::new(source);
    for instr in &body.instrs {
        one(&mut out, instr, &body.types, steps, primes);
    }
    out.finish()
}

fn at_level(ty: MacroType, steps: Steps) -> MacroType {
    let placed = |at: Option<LevelNote>| {
        at.map(|note| LevelNote {
            level: steps.level(note.level),
            ..note
        })
    };
    ty.placed(placed(ty.at()))
}

fn one(out: &mut Rewriter, instr: &MacroInstr, types: &[MacroType], steps: Steps, primes: &[u64]) {
    let mut src: Vec<MacroValue> = instr.src.iter().map(|&v| out.get(v)).collect();
    if instr.op == MacroOp::Rescale
        && let &[mut value] = src.as_slice()
    {
        // One rescale for each prime of the step but the last.
        for _ in 1..steps.each() {
            let MacroType::Cipher { size, at: Some(at) } = out.ty(value) else {
                break;
            };
            let (Some(at), Some(below)) = (at.scaled(), at.level.below()) else {
                break;
            };
            let prime = primes.get(at.level.index()).copied().unwrap_or(1);
            let at = LevelScale {
                level: below,
                scale: at.scale / prime as f64,
            };
            let ty = MacroType::Cipher {
                size,
                at: Some(at.into()),
            };
            value = out.push(instr.op, vec![value], MacroImm::None, ty, &instr.loc);
        }
        src = vec![value];
    }
    let imm = match instr.imm {
        MacroImm::Level(level) => MacroImm::Level(steps.level(level)),
        ref other => other.clone(),
    };
    let results: Vec<MacroType> = instr
        .dst
        .iter()
        .filter_map(|v| types.get(v.0 as usize))
        .map(|&ty| at_level(ty, steps))
        .collect();
    let new = out.push_many(instr.op, src, imm, &results, &instr.loc);
    for (&old, new) in instr.dst.iter().zip(new) {
        out.set(old, new);
    }
}
