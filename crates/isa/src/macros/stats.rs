// SPDX-License-Identifier: Apache-2.0
//! Counts the instructions of a macro program.

use std::collections::BTreeMap;

use super::op::MacroOp;
use super::program::{MacroInstr, MacroProgram};

/// Counts the instructions of each opcode that a run of the program executes. Opcodes that do not
/// occur are absent. Instructions of a procedure count once for each call. In place of a `CALL` or
/// `REPEAT`, the instructions of the called procedure count. If no such procedure stands before the
/// call, the call itself counts; the verifier refuses such a program. Counts stop at 2^64 - 1.
pub fn counts(program: &MacroProgram) -> BTreeMap<MacroOp, u64> {
    let mut procs: Vec<BTreeMap<MacroOp, u64>> = Vec::with_capacity(program.procs.len());
    for proc in &program.procs {
        let counts = body(&proc.instrs, &procs);
        procs.push(counts);
    }
    body(&program.instrs, &procs)
}

fn body(instrs: &[MacroInstr], procs: &[BTreeMap<MacroOp, u64>]) -> BTreeMap<MacroOp, u64> {
    let mut counts: BTreeMap<MacroOp, u64> = BTreeMap::new();
    let mut add = |op: MacroOp, more: u64| {
        let count = counts.entry(op).or_default();
        *count = count.saturating_add(more);
    };
    for instr in instrs {
        let called = instr.imm.called();
        let called = called.and_then(|(n, times)| Some((procs.get(n as usize)?, times)));
        match called {
            Some((counts, times)) => {
                let counts = counts.iter();
                counts.for_each(|(&op, &n)| add(op, n.saturating_mul(times)));
            }
            None => add(instr.op, 1),
        }
    }
    counts
}
