// SPDX-License-Identifier: Apache-2.0
//! Simplifies programs of integers: removes sums with 0 and products with 1, and turns the product of a value with
//! itself into a square.

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram};

use crate::rewrite::{Rewriter, is_cipher};

pub(crate) fn run(source: MacroProgram) -> MacroProgram {
    let (mut out, body) = Rewriter::new(source);
    for instr in &body.instrs {
        let neutral = matches!(
            (instr.op, &instr.imm),
            (MacroOp::Addc, MacroImm::Integer(0)) | (MacroOp::Mulc, MacroImm::Integer(1))
        );
        if let (true, &[old], &[result]) = (neutral, instr.src.as_slice(), instr.dst.as_slice()) {
            let same = out.get(old);
            out.set(result, same);
            continue;
        }
        let square = match instr.src.as_slice() {
            &[a, b] if instr.op == MacroOp::Mul && is_cipher(&body.types, a) => {
                out.get(a) == out.get(b)
            }
            _ => false,
        };
        if square {
            let square = MacroInstr {
                op: MacroOp::Square,
                src: instr.src[..1].to_vec(),
                ..instr.clone()
            };
            out.copy(&square, &body.types);
        } else {
            out.copy(instr, &body.types);
        }
    }
    out.finish()
}
