// SPDX-License-Identifier: Apache-2.0
//! Functions that the tests of this crate share: they bind data, make programs ready and compute
//! outputs by the reference interpreter.

#![allow(dead_code)] // each test file uses its part

pub mod naive;
pub mod random;

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_device::report::MachineReport;
use ringmill_device::{Bindings, Limb, OutputLimb, SeedExpansion};
use ringmill_isa::mid::{LimbId, TableModulus, Unrolled, Verified};
use ringmill_math::{Residues, is_short};

/// Returns the modulus of each input of a case.
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

/// Binds the inputs and seeds of a case, all inputs in words of 64 bits.
pub fn bind(case: &random::Case) -> Bindings<'_> {
    let limbs = case.inputs.iter().zip(moduli(case));
    bound(
        case,
        limbs.map(|(data, q)| Limb::borrowed(data, q).unwrap()),
    )
}

/// Returns each input of a case in words of 32 bits, or `None` for an input whose modulus is not
/// below 2^32.
pub fn short_words(case: &random::Case) -> Vec<Option<Vec<u32>>> {
    let short = |(data, q): (&Vec<u64>, TableModulus)| {
        let words = data.iter().map(|&x| x as u32);
        is_short(q.value()).then(|| words.collect())
    };
    case.inputs.iter().zip(moduli(case)).map(short).collect()
}

/// Binds the inputs and seeds of a case: inputs in the 32-bit words `short` that [`short_words`]
/// returned, or in words of 64 bits if it has none.
pub fn bind_short<'a>(case: &'a random::Case, short: &'a [Option<Vec<u32>>]) -> Bindings<'a> {
    let limbs = case.inputs.iter().zip(short).zip(moduli(case));
    let limbs = limbs.map(|((data, short), q)| {
        let wide = Residues::Wide(data);
        let held = short.as_ref().map_or(wide, |short| Residues::Short(short));
        Limb::held(held, q).unwrap()
    });
    bound(case, limbs)
}

/// Checks that exactly those outputs whose modulus is below 2^32 are in words of 32 bits.
pub fn check_words(program: &Unrolled, outputs: &[OutputLimb]) {
    for (output, limb) in program.outputs.iter().zip(outputs) {
        let ty = program.limb_type(output.limb);
        let q = ty.map(|ty| program.moduli[usize::from(ty.modulus.0)]);
        let short = q.is_some_and(|q| is_short(q.value()));
        let held = matches!(limb.residues(), Residues::Short(_));
        assert_eq!(held, short, "{} modulo {q:?}", output.name);
    }
}

/// Returns the program verified, as devices take it.
pub fn ready(program: &Unrolled) -> Verified {
    Verified::try_from(program.clone()).unwrap()
}

/// Returns a machine's report as JSON, without the parts that depend on measured times of the host.
pub fn unmeasured(report: &MachineReport) -> serde_json::Value {
    let mut json = serde_json::to_value(report).unwrap();
    json["offload"]["measured"] = "".into();
    json["end_to_end"] = "".into();
    json
}

/// Computes the outputs of a program with the reference interpreter, call by call.
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
