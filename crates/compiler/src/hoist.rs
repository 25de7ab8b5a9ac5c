// SPDX-License-Identifier: Apache-2.0
//! Hoists rotations: rotations of one ciphertext share the decomposition with which each key switch begins.

use std::collections::HashMap;

use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram, MacroValue};

use crate::rewrite::Rewriter;

/// The most rotations in one `HROTATE`. With eight, each rotation pays for an eighth of a decomposition, so little is
/// left to gain. Every further rotation adds one more key that the machine must hold at once.
pub(crate) const MAX_GROUP: usize = 8;

/// Merges the `ROTATE`s of one value, up to [`MAX_GROUP`] at a time, into `HROTATE`s. Each `HROTATE` stands at the
/// first of its rotations.
pub(crate) fn run(source: MacroProgram) -> MacroProgram {
    // The groups: for each rotated value, its rotation instructions in order, cut into runs of at most MAX_GROUP.
    let mut by_operand: HashMap<MacroValue, Vec<usize>> = HashMap::new();
    for (at, instr) in source.instrs.iter().enumerate() {
        if let (MacroOp::Rotate, Some(&operand)) = (instr.op, instr.src.first()) {
            by_operand.entry(operand).or_default().push(at);
        }
    }
    let mut leader_of: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut member = vec![false; source.instrs.len()];
    for rotations in by_operand.into_values() {
        for group in rotations.chunks(MAX_GROUP).filter(|g| g.len() >= 2) {
            group.iter().for_each(|&at| member[at] = true);
            leader_of.insert(group[0], group.to_vec());
        }
    }

    let (mut out, body) = Rewriter::new(source);
    for (at, instr) in body.instrs.iter().enumerate() {
        if let Some(group) = leader_of.get(&at) {
            let mut steps: Vec<i32> = Vec::with_capacity(group.len());
            let mut result_of: Vec<(MacroValue, usize)> = Vec::with_capacity(group.len());
            for &g in group {
                let rotation = &body.instrs[g];
                if let (MacroImm::Steps(s), &[old]) = (&rotation.imm, rotation.dst.as_slice()) {
                    let known = steps.iter().position(|step| s.contains(step));
                    result_of.push((old, known.unwrap_or(steps.len())));
                    if known.is_none() {
                        steps.extend_from_slice(s);
                    }
                }
            }
            let src: Vec<MacroValue> = instr.src.iter().map(|&v| out.get(v)).collect();
            let op = if steps.len() > 1 {
                MacroOp::Hrotate
            } else {
                MacroOp::Rotate
            };
            let types = vec![out.ty(src[0]); steps.len()];
            let new = out.push_many(op, src, MacroImm::Steps(steps), &types, &instr.loc);
            result_of
                .into_iter()
                .for_each(|(old, index)| out.set(old, new[index]));
        } else if !member[at] {
            out.copy(instr, &body.types);
        }
    }
    out.finish()
}
