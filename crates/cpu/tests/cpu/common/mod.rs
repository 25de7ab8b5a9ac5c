// SPDX-License-Identifier: Apache-2.0
//! What the tests of this crate share.

#![allow(dead_code)] // each test file uses its part

pub mod naive;
pub mod random;

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_device::report::MachineReport;
use ringmill_device::{Bindings, Limb, OutputLimb, SeedExpansion};
use ringmill_isa::mid::{LimbId, TableModulus, Unrolled, Verified};
use ringmill_math::{Residues, is_short};

/// The moduli of a case's inputs.
fn moduli(case: &random::Case) -> impl Iterator<Item = TableModulus> {
    case.program.inputs.iter().map(|i| {
        let ty = case.program.limb_type(i.limb).unwrap();
        case.program.moduli[usize::from(ty.modulus.0)]
    })
}

fn bound<'a>(case: &'a random::Case, limbs: impl Iterator<Item = Limb<'a>>) -> Bindings<'a> {
    Bindings {
        limbs: limbs.collect(),
        seeds: case
            .seeds
            .iter()
            .map(|&s| Arc::new(SeedExpansion::new(s)))
            .collect(),
    }
}

/// Binds a case's data, all of it in words of 64 bits.
pub fn bind(case: &random::Case) -> Bindings<'_> {
    let limbs = case.inputs.iter().zip(moduli(case));
    bound(
        case,
        limbs.map(|(data, q)| Limb::borrowed(data, q).unwrap()),
    )
}

/// The data of a case modulo what is below 2^32, in words of 32 bits.
pub fn short_words(case: &random::Case) -> Vec<Option<Vec<u32>>> {
    let short = |(data, q): (&Vec<u64>, TableModulus)| {
        let words = data.iter().map(|&x| x as u32);
        is_short(q.value()).then(|| words.collect())
    };
    case.inputs.iter().zip(moduli(case)).map(short).collect()
}

/// Binds a case's data in the words that [`short_words`] has, and the rest.
pub fn bind_short<'a>(case: &'a random::Case, short: &'a [Option<Vec<u32>>]) -> Bindings<'a> {
    let limbs = case.inputs.iter().zip(short).zip(moduli(case));
    let limbs = limbs.map(|((data, short), q)| {
        let wide = Residues::Wide(data);
        let held = short.as_ref().map_or(wide, |short| Residues::Short(short));
        Limb::held(held, q).unwrap()
    });
    bound(case, limbs)
}

/// Outputs are in words of 32 bits where their modulus is below 2^32, and nowhere else.
pub fn check_words(program: &Unrolled, outputs: &[OutputLimb]) {
    for (output, limb) in program.outputs.iter().zip(outputs) {
        let ty = program.limb_type(output.limb);
        let q = ty.map(|ty| program.moduli[usize::from(ty.modulus.0)]);
        let short = q.is_some_and(|q| is_short(q.value()));
        let held = matches!(limb.residues(), Residues::Short(_));
        assert_eq!(held, short, "{} modulo {q:?}", output.name);
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
        let results = ringmill_device::interpret::run(procedure, &args, &seeds).unwrap();
        limbs.extend(call.results.iter().copied().zip(results));
    }
    let outputs = program.outputs.iter();
    outputs.map(|o| limbs[&o.limb].clone()).collect()
}
