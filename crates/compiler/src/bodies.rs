// SPDX-License-Identifier: Apache-2.0
//! Presents each procedure of a program as a program of its own, so that a pass of the compiler need not know whether
//! it sees a procedure or a program. The inputs are the procedure's parameters, and the outputs are its results.

use std::mem;

use ringmill_isa::macros::{
    MacroImm, MacroInput, MacroInstr, MacroOp, MacroProc, MacroProgram, MacroType, MacroValue,
    SchemeName, Visibility,
};

/// Runs `pass` on each procedure of a program and then on its own instructions, and returns the new program. All bodies
/// share the constant vectors, so the pass must not change them unless the program has no procedures.
///
/// # Errors
/// Returns the errors of the pass.
pub fn each<E>(
    mut program: MacroProgram,
    mut pass: impl FnMut(MacroProgram) -> Result<MacroProgram, E>,
) -> Result<MacroProgram, E> {
    let mut data = mem::take(&mut program.data);
    let procs = mem::take(&mut program.procs);
    let mut done = Vec::with_capacity(procs.len());
    for proc in procs {
        let body = opened(&proc, &program.scheme, program.slots);
        let mut body = pass(MacroProgram { data, ..body })?;
        data = mem::take(&mut body.data);
        done.push(closed(body, &proc));
    }
    program.data = data;
    let mut program = pass(program)?;
    program.procs = done;
    Ok(program)
}

/// Returns a procedure as a program of its own, without constant vectors.
pub(crate) fn opened(proc: &MacroProc, scheme: &SchemeName, slots: u32) -> MacroProgram {
    let mut program = MacroProgram::new(proc.name.clone(), scheme.clone(), slots);
    program.types.clone_from(&proc.types);
    for (number, &param) in (0..).zip(&proc.params) {
        let visibility = match proc.types.get(param.0 as usize) {
            Some(ty) if ty.polys().is_none() => Visibility::Plain,
            Some(_) | None => Visibility::Encrypted,
        };
        let name = format!("p{number}");
        program.inputs.push(MacroInput { name, visibility });
        program.instrs.push(MacroInstr {
            op: MacroOp::Input,
            dst: vec![param],
            src: Vec::new(),
            imm: MacroImm::Input(number),
            loc: proc.loc.clone(),
        });
    }
    program.instrs.extend(proc.instrs.iter().cloned());
    for (number, &result) in (0..).zip(&proc.results) {
        program.outputs.push(format!("r{number}"));
        program.instrs.push(MacroInstr {
            op: MacroOp::Output,
            dst: Vec::new(),
            src: vec![result],
            imm: MacroImm::Output(number),
            loc: proc.loc.clone(),
        });
    }
    program
}

/// Returns the procedure that a changed body stands for. It keeps all parameters of the old procedure, even those that
/// nothing reads now.
pub(crate) fn closed(mut body: MacroProgram, was: &MacroProc) -> MacroProc {
    let mut params: Vec<Option<MacroValue>> = vec![None; body.inputs.len()];
    let mut results = vec![MacroValue(u32::MAX); body.outputs.len()];
    body.instrs.retain(|instr| match (&instr.imm, instr.op) {
        (&MacroImm::Input(number), MacroOp::Input) => {
            if let Some(slot) = params.get_mut(number as usize) {
                *slot = instr.dst.first().copied();
            }
            false
        }
        (&MacroImm::Output(number), MacroOp::Output) => {
            if let (Some(slot), Some(&value)) =
                (results.get_mut(number as usize), instr.src.first())
            {
                *slot = value;
            }
            false
        }
        _ => true,
    });
    let params = params.into_iter().zip(&body.inputs);
    let params = params.map(|(param, input)| {
        param.unwrap_or_else(|| {
            body.types.push(match input.visibility {
                Visibility::Encrypted => MacroType::Cipher { size: 2, at: None },
                Visibility::Plain => MacroType::Plain { at: None },
            });
            MacroValue(body.types.len() as u32 - 1)
        })
    });
    MacroProc {
        params: params.collect(),
        name: was.name.clone(),
        loc: was.loc.clone(),
        instrs: body.instrs,
        types: body.types,
        results,
    }
}
