// SPDX-License-Identifier: Apache-2.0
//! Places relinearisations. A product of two ciphertexts has three polynomials. Sums, negations and plaintext products
//! work on three as well as on two, but products, rotations and outputs need two. Every path from a product to a use
//! that needs two must pass one `RELIN`. The fewest `RELIN`s are a minimum vertex cut of the graph of the values that
//! may have three polynomials. So a sum of products is relinearised once, and a product with many uses is, too.

use ringmill_isa::macros::op::MacroSize;
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue};

use crate::mincut::min_vertex_cut;
use crate::rewrite::{Rewriter, is_cipher};

/// The rule by which `RELIN` instructions are placed in a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Placement {
    /// Places as few `RELIN`s as possible, and of such choices the earliest.
    Fewest,
    /// Places one `RELIN` right after each product. This rule holds if the user switches off the search for the fewest:
    /// a program must be relinearised somewhere.
    Eager,
}

/// Returns whether an instruction is a product of ciphertexts, whose result has three polynomials.
fn is_product(instr: &MacroInstr, types: &[MacroType]) -> bool {
    instr.op.columns().size == MacroSize::Product && instr.src.iter().all(|&v| is_cipher(types, v))
}

/// Returns whether the instruction accepts operands of three polynomials and gives a result of as many.
fn takes_three(instr: &MacroInstr, types: &[MacroType]) -> bool {
    match instr.op.columns().size {
        MacroSize::Largest => true,
        MacroSize::Product => !is_product(instr, types),
        // Calls are written out before, or take and give ciphertexts of two polynomials.
        MacroSize::Given
        | MacroSize::Relinearised
        | MacroSize::Two
        | MacroSize::Morphed
        | MacroSize::Switched
        | MacroSize::Key
        | MacroSize::Lifted
        | MacroSize::Declared => false,
    }
}

/// Returns for each value of a program whether a `RELIN` follows it at once.
fn places(source: &MacroProgram, placement: Placement) -> Vec<bool> {
    let mut products = vec![false; source.types.len()];
    let mut needs_two = vec![false; source.types.len()];
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for instr in &source.instrs {
        if is_product(instr, &source.types) {
            instr.dst.iter().for_each(|v| products[v.0 as usize] = true);
        }
        let through = takes_three(instr, &source.types);
        for v in instr.src.iter().filter(|&&v| is_cipher(&source.types, v)) {
            if through {
                edges.extend(instr.dst.iter().map(|d| (v.0, d.0)));
            } else {
                needs_two[v.0 as usize] = true;
            }
        }
    }
    match placement {
        Placement::Eager => products,
        Placement::Fewest => min_vertex_cut(&edges, &products, &needs_two),
    }
}

/// Inserts `RELIN`s into a program and sets the size of every ciphertext.
pub(crate) fn run(source: MacroProgram, placement: Placement) -> MacroProgram {
    let relinearise = places(&source, placement);
    let (mut out, body) = Rewriter::new(source);
    for instr in &body.instrs {
        let src: Vec<MacroValue> = instr.src.iter().map(|&v| out.get(v)).collect();
        let size = if is_product(instr, &body.types) {
            3
        } else {
            src.iter()
                .map(|&v| size_of(out.ty(v)))
                .max()
                .unwrap_or(2)
                .max(2)
        };
        let types: Vec<MacroType> = instr
            .dst
            .iter()
            .map(|v| match body.types[v.0 as usize] {
                MacroType::Cipher { at, .. } => MacroType::Cipher { size, at },
                other => other,
            })
            .collect();
        let dst = out.push_many(instr.op, src, instr.imm.clone(), &types, &instr.loc);
        for (&old, &new) in instr.dst.iter().zip(&dst) {
            let new = if relinearise[old.0 as usize] {
                let two = MacroType::Cipher { size: 2, at: None };
                out.push(MacroOp::Relin, vec![new], MacroImm::None, two, &instr.loc)
            } else {
                new
            };
            out.set(old, new);
        }
    }
    out.finish()
}

fn size_of(ty: MacroType) -> u32 {
    ty.polys().unwrap_or(0)
}
