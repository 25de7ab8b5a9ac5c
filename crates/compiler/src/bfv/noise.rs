//! The noise of every value of a program, as a bound.

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroValue};
use ringmill_schemes::bfv::Params;
use ringmill_schemes::bfv::noise::{Noise, NoiseModel};
use ringmill_schemes::exact::ExactParams;
use ringmill_schemes::exact::scalar::reduced;

use crate::rewrite::is_cipher;

/// The noise of the outputs of a program that is at the highest level throughout; none of an output that is written by
/// no instruction.
pub(super) fn of_outputs(program: &MacroProgram, params: &Params) -> Vec<Option<Noise>> {
    let model = NoiseModel::new(params, program.instrs.len());
    let mut noise: Vec<Option<Noise>> = vec![None; program.types.len()];
    let mut outputs = vec![None; program.outputs.len()];
    for instr in &program.instrs {
        let found = of_result(program, params, &model, instr, &noise);
        for value in &instr.dst {
            noise[value.0 as usize] = found;
        }
        if let MacroImm::Output(output) = instr.imm
            && let Some(slot) = outputs.get_mut(output as usize)
        {
            *slot = found;
        }
    }
    outputs
}

/// Of the result of an instruction, or of what an output writes; `None` for plaintexts.
fn of_result(
    program: &MacroProgram,
    params: &Params,
    model: &NoiseModel<'_>,
    instr: &MacroInstr,
    noise: &[Option<Noise>],
) -> Option<Noise> {
    let level = params.max_level();
    let of = |value: &MacroValue| noise.get(value.0 as usize).copied().flatten();
    let first = || of(instr.src.first()?);
    let second = || of(instr.src.get(1)?);
    match instr.op {
        MacroOp::Input => {
            let encrypted = instr.dst.iter().all(|&v| is_cipher(&program.types, v));
            encrypted.then(|| model.fresh(level))
        }
        MacroOp::Encode => None,
        MacroOp::Add | MacroOp::Sub => match second() {
            Some(b) => Some(model.sum(first()?, b)),
            None => Some(model.plus_plain(first()?, level)),
        },
        MacroOp::Addc => Some(model.plus_plain(first()?, level)),
        MacroOp::Mulc => match instr.imm {
            MacroImm::Integer(value) => {
                let value = reduced(params.plain_modulus(), value).unsigned_abs();
                Some(model.times_integer(first()?, value))
            }
            _ => None,
        },
        MacroOp::Mul => match second() {
            Some(b) => Some(model.product(first()?, b, level)),
            None => Some(model.times_plain(first()?)),
        },
        MacroOp::Square => Some(model.product(first()?, first()?, level)),
        MacroOp::Relin | MacroOp::Rotate | MacroOp::Hrotate => {
            Some(model.switched(first()?, level))
        }
        MacroOp::Neg | MacroOp::Conj | MacroOp::Output => first(),
        // Levels stay, there are no factors, and the others are written out before.
        MacroOp::Rescale | MacroOp::Modswitch | MacroOp::Refactor => None,
        MacroOp::Quotient | MacroOp::Bootstrap => None,
        MacroOp::Iszero | MacroOp::Call | MacroOp::Repeat => None,
        // The last pass's.
        MacroOp::Load | MacroOp::Morph | MacroOp::Ksw => None,
    }
}
