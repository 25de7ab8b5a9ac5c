// SPDX-License-Identifier: Apache-2.0
//! Eliminates dead code: instructions on which no output depends.

use ringmill_isa::macros::{MacroOp, MacroProgram};

use crate::rewrite::Rewriter;

/// Drops the instructions on which no output depends. The tables of inputs and constant vectors keep
/// their indices.
pub(crate) fn run(source: MacroProgram) -> MacroProgram {
    let mut live_value = vec![false; source.types.len()];
    let mut live_instr = vec![false; source.instrs.len()];
    for (live, instr) in live_instr.iter_mut().zip(&source.instrs).rev() {
        *live = instr.op == MacroOp::Output || instr.dst.iter().any(|v| live_value[v.0 as usize]);
        if *live {
            instr
                .src
                .iter()
                .for_each(|v| live_value[v.0 as usize] = true);
        }
    }
    let (mut out, body) = Rewriter::new(source);
    for (instr, live) in body.instrs.iter().zip(live_instr) {
        if live {
            out.copy(instr, &body.types);
        }
    }
    out.finish()
}
