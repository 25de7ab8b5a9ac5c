// SPDX-License-Identifier: Apache-2.0
//! Instruction counts. A program's are its calls times its procedures' counts; nothing is unrolled.

use std::collections::BTreeMap;

use super::op::Op;
use super::procedure::Procedure;
use super::program::{Action, Program, Step};

/// Instructions by opcode, in the definition file's order; opcodes that do not occur are absent.
pub type OpCounts = BTreeMap<Op, u64>;

/// Counts of one procedure.
pub fn procedure_counts(procedure: &Procedure) -> OpCounts {
    let mut counts = OpCounts::new();
    for instr in &procedure.instrs {
        *counts.entry(instr.op).or_default() += 1;
    }
    counts
}

/// Number of calls of each procedure of a program as it runs, by procedure number: repeats multiply. Calls of what does
/// not exist are left out (the verifier refuses them).
pub fn call_counts(program: &Program) -> Vec<u64> {
    let mut blocks: Vec<BTreeMap<u32, u64>> = Vec::with_capacity(program.blocks.len());
    for block in &program.blocks {
        let counts = calls_in(&block.steps, &blocks);
        blocks.push(counts);
    }
    let mut calls = vec![0u64; program.procs.len()];
    for (proc, count) in calls_in(&program.steps, &blocks) {
        if let Some(calls) = calls.get_mut(proc as usize) {
            *calls = count;
        }
    }
    calls
}

/// Calls of a whole program, as it runs.
pub fn calls(program: &Program) -> u64 {
    call_counts(program)
        .into_iter()
        .fold(0, u64::saturating_add)
}

/// Calls by procedure, of steps that run blocks with these calls.
fn calls_in(steps: &[Step], blocks: &[BTreeMap<u32, u64>]) -> BTreeMap<u32, u64> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    let mut add = |proc: u32, more: u64| {
        let count = counts.entry(proc).or_default();
        *count = count.saturating_add(more);
    };
    for step in steps {
        let (block, times) = match step.action {
            Action::Call { proc } => {
                add(proc, 1);
                continue;
            }
            Action::Run { block } => (block, 1),
            Action::Repeat { block, count } => (block, count),
            Action::Halt => continue,
        };
        for (&proc, &calls) in blocks.get(block as usize).into_iter().flatten() {
            add(proc, calls.saturating_mul(times));
        }
    }
    counts
}

/// Counts of a whole program, as it runs.
pub fn program_counts(program: &Program) -> OpCounts {
    let mut counts = OpCounts::new();
    for (procedure, calls) in program.procs.iter().zip(call_counts(program)) {
        for (op, count) in procedure_counts(procedure) {
            let total = counts.entry(op).or_default();
            *total = total.saturating_add(count.saturating_mul(calls));
        }
    }
    counts.insert(Op::Hcf, program.halts().into());
    counts.retain(|_, count| *count > 0);
    counts
}
