//! Programs of one call (one homomorphic operation, or one instruction, alone on a device), and what programs take.

use std::sync::Arc;

use ringmill_devices::progress::Silent;
use ringmill_devices::{Bindings, Cpu, Device, Limb, Request, SeedExpansion};
use ringmill_isa::mid::{Call, Input, InputRole, LimbId, Output, ParamRole, Procedure, Unrolled};
use ringmill_machines::{Machine, MachineReport, SimOptions};
use ringmill_math::expand_uniform;

use crate::error::CliError;

/// A program that calls the procedure once. Ciphertext, plaintext and key operands become inputs of their own.
pub fn program(procedure: Arc<Procedure>) -> Unrolled {
    let ty = |v: ringmill_isa::mid::ValueId| procedure.types[v.0 as usize];
    let params = procedure.params.len() as u32;
    let inputs = (0u32..)
        .zip(&procedure.params)
        .map(|(limb, param)| Input {
            limb: LimbId(limb),
            name: param.name.clone(),
            role: match param.role {
                ParamRole::Cipher { arg, poly } => InputRole::Cipher {
                    input: arg.into(),
                    poly,
                },
                ParamRole::Plain { arg } => InputRole::Plain { input: arg.into() },
                ParamRole::Key { arg, digit, part } => InputRole::Key {
                    key: arg.into(),
                    digit,
                    part,
                },
            },
        })
        .collect();
    let outputs = (params..)
        .zip(&procedure.results)
        .map(|(limb, result)| Output {
            limb: LimbId(limb),
            name: result.name.clone(),
            output: result.index.into(),
            poly: result.poly,
        })
        .collect::<Vec<_>>();
    let call = Call {
        proc: 0,
        args: (0..params).map(LimbId).collect(),
        seeds: (0..procedure.seeds.len() as u32).collect(),
        results: outputs.iter().map(|o: &Output| o.limb).collect(),
        loc: None,
    };
    Unrolled {
        log_n: procedure.log_n,
        moduli: procedure.moduli.clone(),
        limbs: procedure
            .params
            .iter()
            .map(|p| ty(p.value))
            .chain(procedure.results.iter().map(|r| ty(r.value)))
            .collect(),
        inputs,
        seeds: procedure.seeds.iter().map(|&arg| arg.into()).collect(),
        calls: vec![call],
        outputs,
        procs: vec![procedure],
    }
}

/// Limbs of uniform residues and fixed seeds: timing depends on the instructions alone.
fn bindings(program: &Unrolled) -> Result<Bindings<'static>, CliError> {
    let limbs = (0u64..)
        .zip(&program.inputs)
        .map(|(stream, input)| {
            let ty = program.limbs[input.limb.0 as usize];
            let modulus = program.moduli[usize::from(ty.modulus.0)];
            let mut residues = vec![0; ty.ring.len()];
            let q = modulus.arithmetic()?.below_61()?;
            expand_uniform(&[7; 32], stream, q, &mut residues);
            Ok(Limb::shared(residues.into(), modulus)?)
        })
        .collect::<Result<_, CliError>>()?;
    let seeds = program
        .seeds
        .iter()
        .map(|&key| Arc::new(SeedExpansion::new([key as u8; 32])))
        .collect();
    Ok(Bindings { limbs, seeds })
}

/// The program on a machine, its keys there already.
pub fn simulate(machine: &dyn Machine, program: &Unrolled) -> Result<MachineReport, CliError> {
    Ok(machine.simulate(program, SimOptions::default())?)
}

/// Seconds of one run on the device's threads: the least of several, the first ones warming caches and buffers.
pub fn measure(cpu: &Cpu, program: &Unrolled) -> Result<f64, CliError> {
    const RUNS: usize = 7;
    let bindings = bindings(program)?;
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let outcome = cpu.run(program, &bindings, Request::function_only(), &Silent)?;
        least = outcome.cpu.map_or(least, |stats| least.min(stats.seconds));
    }
    Ok(least)
}
