//! Instruction counts.

use std::collections::BTreeMap;

use super::op::MacroOp;
use super::program::MacroProgram;

/// Instructions by opcode, in the definition file's order; opcodes that do not occur are absent.
pub fn counts(program: &MacroProgram) -> BTreeMap<MacroOp, u64> {
    let mut counts = BTreeMap::new();
    for instr in &program.instrs {
        *counts.entry(instr.op).or_default() += 1;
    }
    counts
}
