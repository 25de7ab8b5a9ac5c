// SPDX-License-Identifier: Apache-2.0
//! Bounds the noise of every value of a BFV program.

use std::ops::ControlFlow;

use ringmill_isa::macros::op::MacroNoise;
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroValue, Refused};
use ringmill_schemes::bfv::Params;
use ringmill_schemes::bfv::noise::{Noise, NoiseModel};
use ringmill_schemes::exact::ExactParams;
use ringmill_schemes::exact::scalar::reduced;

use crate::rewrite::is_cipher;

/// Returns the noise bounds of a program's outputs, all at the highest level. An output that no instruction writes has
/// `None`.
///
/// # Errors
/// Fails for an operation whose noise is not known.
pub fn of_outputs(program: &MacroProgram, params: &Params) -> Result<Vec<Option<Noise>>, Refused> {
    let mut outputs = vec![None; program.outputs.len()];
    walk(program, params, |_, instr, found| {
        if let MacroImm::Output(output) = instr.imm
            && let Some(slot) = outputs.get_mut(output as usize)
        {
            *slot = found;
        }
        ControlFlow::Continue(())
    })?;
    Ok(outputs)
}

/// Returns the number of the first instruction whose result has less noise budget than
/// `least` bits, or `None` if no result has less.
///
/// # Errors
/// Fails like [`of_outputs`].
pub fn first_below(
    program: &MacroProgram,
    params: &Params,
    least: f64,
) -> Result<Option<usize>, Refused> {
    let mut first = None;
    walk(program, params, |number, _, found| {
        if found.is_some_and(|noise| noise.budget() < least) {
            first = Some(number);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    Ok(first)
}

/// Calls `each` with the number of every instruction, the instruction and the noise bound of its result, until `each`
/// breaks off.
fn walk(
    program: &MacroProgram,
    params: &Params,
    mut each: impl FnMut(usize, &MacroInstr, Option<Noise>) -> ControlFlow<()>,
) -> Result<(), Refused> {
    let model = NoiseModel::new(params, program.instrs.len());
    let mut noise: Vec<Option<Noise>> = vec![None; program.types.len()];
    for (number, instr) in program.instrs.iter().enumerate() {
        let found = of_result(program, params, &model, instr, &noise)?;
        for value in &instr.dst {
            noise[value.0 as usize] = found;
        }
        if each(number, instr, found).is_break() {
            break;
        }
    }
    Ok(())
}

/// Returns the noise bound of an instruction's result, or of the value that an output writes. Plaintexts have `None`.
fn of_result(
    program: &MacroProgram,
    params: &Params,
    model: &NoiseModel<'_>,
    instr: &MacroInstr,
    noise: &[Option<Noise>],
) -> Result<Option<Noise>, Refused> {
    let level = params.max_level();
    let of = |value: &MacroValue| noise.get(value.0 as usize).copied().flatten();
    let first = instr.src.first().and_then(of);
    let second = instr.src.get(1).and_then(of);
    let switched = |a| model.switched(a, level);
    Ok(match instr.op.columns().noise {
        MacroNoise::Fresh => {
            let encrypted = instr.dst.iter().all(|&v| is_cipher(&program.types, v));
            encrypted.then(|| model.fresh(level))
        }
        MacroNoise::Encoded => None,
        MacroNoise::Same => first,
        MacroNoise::Sum => first.map(|a| match second {
            Some(b) => model.sum(a, b),
            None => model.plus_plain(a, level),
        }),
        MacroNoise::ConstantSum => first.map(|a| model.plus_plain(a, level)),
        MacroNoise::ConstantProduct => match instr.imm {
            MacroImm::Integer(value) => {
                let value = reduced(params.plain_modulus(), value).unsigned_abs();
                first.map(|a| model.times_integer(a, value))
            }
            _ => None,
        },
        MacroNoise::Product => match (instr.src.len(), second) {
            (1, _) => first.map(|a| model.product(a, a, level)),
            (_, Some(b)) => first.map(|a| model.product(a, b, level)),
            (_, None) => first.map(|a| model.times_plain(a)),
        },
        // Whole numbers are their own conjugates, so the noise stays.
        MacroNoise::Switched if instr.op == MacroOp::Conj => first,
        MacroNoise::Switched => first.map(switched),
        // BFV has no divisions between levels. An earlier pass refuses or writes out the others.
        MacroNoise::Rounded
        | MacroNoise::Quotient
        | MacroNoise::Refreshed
        | MacroNoise::WrittenOut
        | MacroNoise::Called
        | MacroNoise::Linked
        | MacroNoise::Unknown => return Err(Refused::unknown("BFV's noise", instr)),
    })
}
