// SPDX-License-Identifier: Apache-2.0
//! Counts the instructions of mid-level procedures and programs.
//!
//! For a program, the instructions of each procedure count once for each call in a run. Repeats are
//! multiplied and not unrolled.

use std::collections::BTreeMap;

use super::op::Op;
use super::procedure::Procedure;
use super::program::{Action, Program, Step};

/// The number of instructions of each opcode, in the order of the mid level's definition file. Opcodes that do not
/// occur are absent.
pub type OpCounts = BTreeMap<Op, u64>;

/// Counts the instructions of one procedure.
pub fn procedure_counts(procedure: &Procedure) -> OpCounts {
    let mut counts = OpCounts::new();
    for instr in &procedure.instrs {
        *counts.entry(instr.op).or_default() += 1;
    }
    counts
}

/// Counts the calls of each procedure in a run of a program, by procedure number. Calls in a
/// repeated block count once for each iteration. Calls of procedures that do not exist, which the
/// verifier refuses, are left out.
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

/// Counts the calls in a run of the whole program, of all procedures together.
pub fn calls(program: &Program) -> u64 {
    call_counts(program)
        .into_iter()
        .fold(0, u64::saturating_add)
}

/// Counts the calls of each procedure in a run of `steps`. `blocks` has these counts for each block
/// that the steps may run.
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

/// Counts the instructions of each opcode in a run of the whole program, with the halt instruction
/// `HCF` at its end.
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
