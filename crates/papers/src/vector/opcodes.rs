// SPDX-License-Identifier: Apache-2.0
//! Translates our mid-level instructions to the eight opcodes of the BASALISC paper.

use std::collections::BTreeMap;

use ringmill_isa::mid::{Imm, Instr, Op, Program, stats};

/// The BASALISC paper's opcodes, in the order of its Table 7.
pub const OPCODES: [&str; 8] = [
    "ADD", "SUB", "MUL", "MORPH", "NTT", "INTT", "CONVERT", "FBE",
];

/// Returns the opcodes of the BASALISC paper that stand for one mid-level instruction, and how many of each.
fn expanded(instr: &Instr) -> Vec<(&'static str, u64)> {
    let pairs = (instr.src.len() / 2) as u64;
    match instr.op {
        Op::Add | Op::Addi => vec![("ADD", 1)],
        Op::Sub | Op::Neg => vec![("SUB", 1)],
        Op::Mul | Op::Muli => vec![("MUL", 1)],
        Op::Mac => vec![("MUL", 1), ("ADD", 1)],
        Op::Dot => vec![("MUL", pairs), ("ADD", pairs.saturating_sub(1))],
        Op::Auto | Op::Autoh => vec![("MORPH", instr.dst.len() as u64)],
        Op::Ntt => vec![("NTT", 1)],
        Op::Intt => vec![("INTT", 1)],
        Op::Conv => vec![("CONVERT", 1)],
        // A base extension counts as one FBE (fast base extension), and as one CONVERT for each residue that it makes.
        Op::Bext | Op::Bextx | Op::Bextr => {
            vec![("FBE", 1), ("CONVERT", instr.dst.len() as u64)]
        }
        // The paper's machine loads masks and does not generate them. Loads, stores and the halt instruction HCF
        // are none of the paper's eight opcodes.
        Op::Prng | Op::Load | Op::Store | Op::Hcf => vec![],
        // Instructions of half rings and of TFHE, which the paper does not have.
        Op::Split | Op::Join | Op::Rotdiff | Op::Decomp | Op::Extract | Op::Lweks => vec![],
    }
}

/// Counts the mid-level instructions of one run of a program as the BASALISC paper's opcodes. Repeats are multiplied
/// and not unrolled.
pub fn counts(program: &Program) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for (procedure, calls) in program.procs.iter().zip(stats::call_counts(program)) {
        for instr in &procedure.instrs {
            // A product with 1 or 0 counts like any other.
            debug_assert!(!matches!(instr.imm, Imm::Slot(_)));
            for (opcode, count) in expanded(instr) {
                let total: &mut u64 = counts.entry(opcode).or_default();
                *total = total.saturating_add(count.saturating_mul(calls));
            }
        }
    }
    counts
}
