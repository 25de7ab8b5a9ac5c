// SPDX-License-Identifier: Apache-2.0
//! Rewrites programs: the part that passes share. A pass takes the instructions of an old program one by
//! one and emits those of a new one.

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue};
use ringmill_isa::source::SourceLoc;

/// The instructions and types of a program, taken out of it. The program keeps everything else.
pub(crate) struct Body {
    pub instrs: Vec<MacroInstr>,
    pub types: Vec<MacroType>,
}

/// A builder of the new program, which maps each old value to the new value that stands for it.
#[derive(Clone)]
pub(crate) struct Rewriter {
    pub program: MacroProgram,
    map: Vec<MacroValue>,
}

impl Rewriter {
    /// Splits `source` into its body (its instructions and types) and an empty new program with the same inputs,
    /// constant vectors, procedures and outputs.
    pub fn new(mut source: MacroProgram) -> (Self, Body) {
        let body = Body {
            instrs: std::mem::take(&mut source.instrs),
            types: std::mem::take(&mut source.types),
        };
        let map = vec![MacroValue(u32::MAX); body.types.len()];
        (
            Self {
                program: source,
                map,
            },
            body,
        )
    }

    /// Begins an empty new program with the same inputs, constant vectors, procedures and outputs. `source` stays as it
    /// is.
    pub fn beside(source: &MacroProgram) -> Self {
        let map = vec![MacroValue(u32::MAX); source.types.len()];
        let program = MacroProgram {
            scheme: source.scheme.clone(),
            name: source.name.clone(),
            slots: source.slots,
            inputs: source.inputs.clone(),
            outputs: source.outputs.clone(),
            data: source.data.clone(),
            procs: source.procs.clone(),
            types: Vec::new(),
            instrs: Vec::new(),
        };
        Self { program, map }
    }

    /// Returns the value of the new program that stands for a value of the old one.
    pub fn get(&self, old: MacroValue) -> MacroValue {
        self.map[old.0 as usize]
    }

    pub fn set(&mut self, old: MacroValue, new: MacroValue) {
        self.map[old.0 as usize] = new;
    }

    pub fn ty(&self, new: MacroValue) -> MacroType {
        self.program.types[new.0 as usize]
    }

    fn fresh(&mut self, ty: MacroType) -> MacroValue {
        let value = MacroValue(self.program.types.len() as u32);
        self.program.types.push(ty);
        value
    }

    /// Appends an instruction with one result to the new program.
    pub fn push(
        &mut self,
        op: MacroOp,
        src: Vec<MacroValue>,
        imm: MacroImm,
        ty: MacroType,
        loc: &Option<SourceLoc>,
    ) -> MacroValue {
        self.push_many(op, src, imm, &[ty], loc)[0]
    }

    /// Appends an instruction with any number of results to the new program.
    pub fn push_many(
        &mut self,
        op: MacroOp,
        src: Vec<MacroValue>,
        imm: MacroImm,
        types: &[MacroType],
        loc: &Option<SourceLoc>,
    ) -> Vec<MacroValue> {
        let dst: Vec<MacroValue> = types.iter().map(|&ty| self.fresh(ty)).collect();
        self.program.instrs.push(MacroInstr {
            op,
            dst: dst.clone(),
            src,
            imm,
            loc: loc.clone(),
        });
        dst
    }

    /// Copies an instruction of the old program into the new one, with the new values as operands.
    pub fn copy(&mut self, instr: &MacroInstr, body: &[MacroType]) {
        let src = instr.src.iter().map(|&v| self.get(v)).collect();
        let types: Vec<MacroType> = instr.dst.iter().map(|v| body[v.0 as usize]).collect();
        let dst = self.push_many(instr.op, src, instr.imm.clone(), &types, &instr.loc);
        for (&old, new) in instr.dst.iter().zip(dst) {
            self.set(old, new);
        }
    }

    pub fn finish(self) -> MacroProgram {
        self.program
    }
}

/// The type of a ciphertext of two polynomials that has no level yet.
pub(crate) const CIPHER: MacroType = MacroType::Cipher { size: 2, at: None };

pub(crate) fn is_cipher(types: &[MacroType], value: MacroValue) -> bool {
    matches!(types[value.0 as usize], MacroType::Cipher { .. })
}

/// Returns for each value of a program how often instructions read it.
pub(crate) fn use_counts(instrs: &[MacroInstr], values: usize) -> Vec<u32> {
    let mut uses = vec![0u32; values];
    for value in instrs.iter().flat_map(|i| &i.src) {
        uses[value.0 as usize] += 1;
    }
    uses
}
