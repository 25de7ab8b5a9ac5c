// SPDX-License-Identifier: Apache-2.0
//! The vector machine's correctness simulator for whole procedures. It executes a procedure's micro program on
//! residues.

use ringmill_isa::mid::{Form, Procedure, ValueId};
use ringmill_isa::vector::MicroOp;

use super::interpret::Memory;
use super::lower::{Alone, Where};
use crate::MachineError;

/// Executes a procedure's micro program on residues, and returns the results. Operands and results are limbs in the
/// CPU's form, in the procedure's order. Every operand is in distant memory, and also in the buffer if
/// [`Alone::params`] says so.
///
/// # Errors
/// [`MachineError::Program`] for a micro program that does not belong to the procedure, or that reads masks.
pub fn results(
    made: &Alone,
    procedure: &Procedure,
    args: &[&[u64]],
) -> Result<Vec<Vec<u64>>, MachineError> {
    seeded_results(made, procedure, args, &[])
}

/// Executes a procedure's micro program as [`results`] does, with the seeds from which masks are expanded.
///
/// # Errors
/// The errors of [`results`]; [`MachineError::Program`] for a mask without a seed.
pub fn seeded_results(
    made: &Alone,
    procedure: &Procedure,
    args: &[&[u64]],
    seeds: &[[u8; 32]],
) -> Result<Vec<Vec<u64>>, MachineError> {
    let failed = |error: &dyn std::fmt::Display| MachineError::Program(error.to_string());
    let shape = made.program.shape;
    // All spilled limbs may go to one of several channels.
    let spilled = shape.distant / shape.limb_chunks();
    let most = made.results.iter().chain(&made.params).map(|at| match at {
        Where::Distant(limb) => *limb,
        Where::Buffer(_) => 0,
    });
    let stored = made
        .program
        .instrs
        .iter()
        .filter(|i| i.op == MicroOp::Store);
    let stored = stored.map(|i| i.n / shape.limb_chunks()).max().unwrap_or(0);
    let limbs = most.max().unwrap_or(0).max(stored).max(args.len() as u32) + 1;
    let chunks = limbs.min(spilled) * shape.limb_chunks();
    let mut memory =
        Memory::new(shape, &made.program.moduli, chunks as usize).map_err(|e| failed(&e))?;
    memory.make(&made.program, seeds).map_err(|e| failed(&e))?;
    let evaluations = |value: ValueId| {
        let ty = procedure.limb(value);
        ty.is_some_and(|ty| ty.form == Form::Eval)
    };
    let params = procedure.params.iter().zip(&made.params).zip(args);
    for (number, ((param, at), limb)) in params.enumerate() {
        let work = made.hosted.iter().find(|work| work.param == number);
        let given = limb.iter().map(|&x| work.map_or(x, |work| work.on(x)));
        let given: Vec<u64> = given.collect();
        let words = memory.to_machine(&given, evaluations(param.value));
        put(&mut memory, Where::Distant(number as u32), &words)?;
        put(&mut memory, *at, &words)?;
    }
    memory.execute(&made.program).map_err(|e| failed(&e))?;
    let n = 1 << shape.log_n;
    let results = procedure.results.iter().zip(&made.results);
    let results = results.map(|(result, at)| {
        let words = get(&memory, *at, n)?;
        Ok(memory.from_machine(&words, evaluations(result.value)))
    });
    results.collect()
}

fn nowhere() -> MachineError {
    MachineError::Program("an operand or a result is nowhere".to_owned())
}

fn put(memory: &mut Memory, at: Where, words: &[u32]) -> Result<(), MachineError> {
    let n = words.len();
    match at {
        Where::Buffer(place) => {
            let from = place as usize * n;
            let limb = memory.buffer.get_mut(from..from + n).ok_or_else(nowhere)?;
            limb.copy_from_slice(words);
        }
        Where::Distant(limb) => {
            let lanes = memory.distant.first().ok_or_else(nowhere)?.len();
            let first = limb as usize * (n / lanes);
            let chunks = memory.distant.get_mut(first..first + n / lanes);
            let chunks = chunks.ok_or_else(nowhere)?;
            for (chunk, words) in chunks.iter_mut().zip(words.chunks(lanes)) {
                chunk.copy_from_slice(words);
            }
        }
    }
    Ok(())
}

fn get(memory: &Memory, at: Where, n: usize) -> Result<Vec<u32>, MachineError> {
    match at {
        Where::Buffer(place) => {
            let from = place as usize * n;
            let limb = memory.buffer.get(from..from + n);
            Ok(limb.ok_or_else(nowhere)?.to_vec())
        }
        Where::Distant(limb) => {
            let lanes = memory.distant.first().ok_or_else(nowhere)?.len();
            let first = limb as usize * (n / lanes);
            let chunks = memory.distant.get(first..first + n / lanes);
            Ok(chunks.ok_or_else(nowhere)?.concat())
        }
    }
}
