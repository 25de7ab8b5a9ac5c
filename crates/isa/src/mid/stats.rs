//! Instruction counts. A program's are its calls times its procedures' counts; nothing is unrolled.

use std::collections::BTreeMap;

use super::op::Op;
use super::procedure::Procedure;
use super::program::Program;

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

/// Number of calls of each procedure of a program, by procedure number. Calls of procedures that do not exist are left
/// out (the verifier refuses them).
pub fn call_counts(program: &Program) -> Vec<u64> {
    let mut calls = vec![0u64; program.procs.len()];
    for call in &program.calls {
        if let Some(count) = calls.get_mut(call.proc as usize) {
            *count += 1;
        }
    }
    calls
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
    counts.retain(|_, count| *count > 0);
    counts
}
