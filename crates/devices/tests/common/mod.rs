//! What the tests of this crate share.

#![allow(dead_code)] // each test file uses its part

pub mod naive;
pub mod random;

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_devices::{Bindings, Limb, SeedExpansion};
use ringmill_isa::mid::{LimbId, Unrolled, Verified};
use ringmill_machines::MachineReport;

/// Binds a case's data.
pub fn bind(case: &random::Case) -> Bindings<'_> {
    let moduli = case.program.inputs.iter().map(|i| {
        let ty = case.program.limb_type(i.limb).unwrap();
        case.program.moduli[usize::from(ty.modulus.0)]
    });
    Bindings {
        limbs: case
            .inputs
            .iter()
            .zip(moduli)
            .map(|(data, q)| Limb::borrowed(data, q).unwrap())
            .collect(),
        seeds: case
            .seeds
            .iter()
            .map(|&s| Arc::new(SeedExpansion::new(s)))
            .collect(),
    }
}

/// The program as devices take it.
pub fn ready(program: &Unrolled) -> Verified {
    Verified::try_from(program.clone()).unwrap()
}

/// A report without what rests on measured times of the host.
pub fn unmeasured(report: &MachineReport) -> serde_json::Value {
    let mut json = serde_json::to_value(report).unwrap();
    json["offload"]["measured"] = "".into();
    json["end_to_end"] = "".into();
    json
}

/// The outputs of a program by the reference interpreter, call by call.
pub fn by_reference(program: &Unrolled, inputs: &[Vec<u64>], seeds: &[[u8; 32]]) -> Vec<Vec<u64>> {
    let mut limbs: HashMap<LimbId, Vec<u64>> = program
        .inputs
        .iter()
        .zip(inputs)
        .map(|(input, data)| (input.limb, data.clone()))
        .collect();
    for call in &program.calls {
        let args: Vec<&[u64]> = call.args.iter().map(|l| limbs[l].as_slice()).collect();
        let seeds: Vec<_> = call.seeds.iter().map(|&s| seeds[s as usize]).collect();
        let procedure = &program.procs[call.proc as usize];
        let results = ringmill_schemes::interpret::run(procedure, &args, &seeds).unwrap();
        limbs.extend(call.results.iter().copied().zip(results));
    }
    let outputs = program.outputs.iter();
    outputs.map(|o| limbs[&o.limb].clone()).collect()
}
