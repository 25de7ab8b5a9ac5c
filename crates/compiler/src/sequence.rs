// SPDX-License-Identifier: Apache-2.0
//! Counts products in sequence: those of a program, and those that the parameters hold.

use ringmill_isa::macros::MacroProgram;
use ringmill_isa::macros::op::MacroNote;

/// The number of products in sequence that parameters hold, and the larger number that the program needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sequence {
    pub holds: u32,
    pub needs: u32,
}

impl Sequence {
    /// Counts the products in sequence, with ciphertexts and with plaintexts but not with constants, before instruction
    /// number `lost`, the first whose result does not fit the parameters, and those of the whole program. Returns
    /// `None` if as many products come before the instruction as the longest chain of the program has, since fewer
    /// products alone would be no cure.
    pub(crate) fn of(program: &MacroProgram, lost: usize) -> Option<Self> {
        let mut before = vec![0u32; program.types.len()];
        let (mut needs, mut at) = (0, None);
        for (number, instr) in program.instrs.iter().enumerate() {
            let operands = instr.src.iter();
            let operands = operands.filter_map(|v| before.get(v.0 as usize).copied());
            let deepest = operands.max().unwrap_or(0);
            if number == lost {
                at = Some(deepest);
            }
            let is_product = instr.op.columns().note == MacroNote::Product;
            let after = deepest.saturating_add(is_product.into());
            needs = needs.max(after);
            for v in &instr.dst {
                if let Some(slot) = before.get_mut(v.0 as usize) {
                    *slot = after;
                }
            }
        }
        let holds = at.filter(|&holds| holds < needs)?;
        Some(Self { holds, needs })
    }
}
