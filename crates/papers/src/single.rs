// SPDX-License-Identifier: Apache-2.0
//! Programs of one call, to time one homomorphic operation or one instruction alone on a device.

use std::sync::Arc;

use ringmill_cpu::Cpu;
use ringmill_device::progress::Silent;
use ringmill_device::report::MachineReport;
use ringmill_device::{Bindings, Device, Limb, Request, SeedExpansion};
use ringmill_isa::mid::{Procedure, Program, Verified};
use ringmill_machines::{Machine, MachineError, SimOptions};
use ringmill_math::expand_uniform;

use crate::error::PaperError;

/// Makes a limb program that calls a procedure once. The procedure's ciphertext, plaintext and key operands become
/// inputs.
///
/// # Errors
/// Fails if the program does not verify.
pub fn program(procedure: Arc<Procedure>) -> Result<Verified, PaperError> {
    Ok(Verified::new(Program::calling(procedure, Vec::new()))?)
}

/// Binds a program's inputs to limbs of uniform residues and fixed seeds, since timing depends on the instructions
/// alone.
fn bindings(program: &Verified) -> Result<Bindings<'static>, PaperError> {
    let limbs = (0u64..)
        .zip(&program.inputs)
        .map(|(stream, input)| {
            let Some(ty) = input.ty.limb() else {
                return Err(MachineError::Program("an input is no limb".to_owned()).into());
            };
            let modulus = program.moduli[usize::from(ty.modulus.0)];
            let mut residues = vec![0; ty.ring.len()];
            let q = modulus.arithmetic()?.below_61()?;
            expand_uniform(&[7; 32], stream, q, &mut residues);
            Ok(Limb::shared(residues.into(), modulus)?)
        })
        .collect::<Result<_, PaperError>>()?;
    let seeds = program
        .seeds
        .iter()
        .map(|&key| Arc::new(SeedExpansion::new([key as u8; 32])))
        .collect();
    Ok(Bindings { limbs, seeds })
}

/// Times a limb program on a machine that already has the program's keys.
///
/// # Errors
/// Fails if the machine refuses the program.
pub fn simulate(machine: &dyn Machine, program: &Verified) -> Result<MachineReport, PaperError> {
    Ok(machine.simulate(program, SimOptions::default())?)
}

/// Measures the seconds of one run of a limb program on the CPU's threads: the least of several runs, of which the
/// first ones warm caches and buffers.
///
/// # Errors
/// Fails if the program does not run.
pub fn measure(cpu: &Cpu, program: &Verified) -> Result<f64, PaperError> {
    const RUNS: usize = 7;
    let bindings = bindings(program)?;
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let outcome = cpu.run(program, &bindings, Request::function_only(), &Silent)?;
        least = outcome
            .statistics
            .map_or(least, |stats| least.min(stats.seconds()));
    }
    Ok(least)
}
