//! Refuses outputs that hang on no encrypted input: what comes out of `x - x` or `x * 0` is a ciphertext that everybody can
//! read, whoever holds the key, and a constant that needs no encryption. Where a program only uses such a value beside
//! others, it is right and is left alone.

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram};

use crate::error::{At, CompileError};
use crate::rewrite::is_cipher;

/// Lets a program be whose outputs all hang on what is encrypted, as far as its instructions show.
///
/// # Errors
/// [`CompileError::Transparent`] with the line that made the first output that does not.
pub(crate) fn refuse(program: &MacroProgram) -> Result<(), CompileError> {
    // Of each value: whether it is transparent, and who made it.
    let mut transparent = vec![false; program.types.len()];
    let mut made_by: Vec<Option<usize>> = vec![None; program.types.len()];
    for (number, instr) in program.instrs.iter().enumerate() {
        if let (MacroOp::Output, &MacroImm::Output(output), &[value]) =
            (instr.op, &instr.imm, instr.src.as_slice())
        {
            if transparent[value.0 as usize] {
                let maker = made_by[value.0 as usize].and_then(|at| program.instrs.get(at));
                let loc = maker.and_then(|m| m.loc.clone()).or(instr.loc.clone());
                let name = program.outputs.get(output as usize);
                return Err(CompileError::Transparent {
                    at: At(loc),
                    output: name.cloned().unwrap_or_default(),
                });
            }
            continue;
        }
        let open = is_transparent(instr, program, &transparent);
        for value in &instr.dst {
            transparent[value.0 as usize] = open;
            made_by[value.0 as usize] = Some(number);
        }
    }
    Ok(())
}

/// Whether the results of an instruction are, given its operands.
fn is_transparent(instr: &MacroInstr, program: &MacroProgram, known: &[bool]) -> bool {
    let ciphers = || {
        let all = instr.src.iter().copied();
        all.filter(|&v| is_cipher(&program.types, v))
    };
    match (instr.op, &instr.imm) {
        (MacroOp::Mulc, MacroImm::Constant { value: 0.0, .. }) => true,
        (MacroOp::Sub, _) if instr.src.first() == instr.src.get(1) => true,
        (MacroOp::Input | MacroOp::Encode | MacroOp::Output, _) => false,
        // A product with one that is not has its mask; a sum too.
        _ => ciphers().next().is_some() && ciphers().all(|v| known[v.0 as usize]),
    }
}
