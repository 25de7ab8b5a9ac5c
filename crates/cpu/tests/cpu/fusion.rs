// SPDX-License-Identifier: Apache-2.0
//! Tests that fused and unfused runs of CKKS procedures give the bits of their definitions.

use std::sync::Arc;

use crate::common::naive::interpret;
use crate::common::random::{Case, Dice};
use crate::common::ready;
use ringmill_cpu::Cpu;
use ringmill_device::progress::Silent;
use ringmill_device::{Bindings, OutputLimb};
use ringmill_isa::Poly;
use ringmill_isa::mid::*;
use ringmill_schemes::ckks::{Level, OpKey, Params, ProcCache};

/// Returns a program that calls the procedure once, with random residues as inputs.
fn one_call(procedure: Arc<Procedure>, dice: &mut Dice) -> Case {
    let mut program = Unrolled {
        procs: vec![procedure.clone()],
        seeds: (0..procedure.seeds.len() as u32).collect(),
        ..Unrolled::empty(procedure.log_n, procedure.moduli.clone())
    };
    let mut inputs = Vec::new();
    for (number, param) in procedure.params.iter().enumerate() {
        let ty = procedure.limb(param.value).unwrap();
        let q = program.moduli[usize::from(ty.modulus.0)];
        program.inputs.push(Input {
            limb: LimbId(number as u64),
            name: param.name.clone(),
            role: InputRole::Cipher {
                input: number as u32,
                poly: Poly(0),
            },
        });
        program.limbs.push(ty.into());
        inputs.push(dice.residues(q, ty.ring.len()));
    }
    let mut results = Vec::new();
    for (number, result) in procedure.results.iter().enumerate() {
        let limb = LimbId(program.limbs.len() as u64);
        program.limbs.push(procedure.types[result.value.0 as usize]);
        program.outputs.push(Output {
            limb,
            name: result.name.clone(),
            output: number as u32,
            poly: Poly(0),
        });
        results.push(limb);
    }
    program.calls.push(Call {
        proc: 0,
        args: program.inputs.iter().map(|i| i.limb).collect(),
        seeds: program.seeds.clone(),
        results,
        loc: None,
    });
    Case {
        seeds: program.seeds.iter().map(|&s| [s as u8; 32]).collect(),
        program,
        inputs,
    }
}

/// Returns keys of CKKS operations at a level: sums, products, relinearisations, rescalings, dropped primes,
/// rotations and matrices.
fn operations(params: &Params, level: Level) -> Vec<OpKey> {
    let residues: Vec<u64> = (0..level.primes() as u64).map(|i| 12_345 + i).collect();
    let galois = params.galois_element(1).unwrap();
    let turns = [galois, params.galois_element(-1).unwrap()];
    let mut list = vec![
        OpKey::neg(level, 3),
        OpKey::add_plain(level, 2),
        OpKey::sub_plain(level, 2),
        OpKey::mul_plain(level, 2),
        OpKey::add_scalar(level, 2, residues.clone()),
        OpKey::mul_scalar(level, 2, residues),
        OpKey::mul(level),
        OpKey::square(level),
        OpKey::mod_down(level, 2),
    ];
    for size in [2, 3] {
        list.push(OpKey::add(level, size, 2));
        list.push(OpKey::sub(level, 2, size));
        if level > Level(0) {
            list.push(OpKey::rescale(level, size));
        }
    }
    for seeded in [false, true] {
        list.extend([
            OpKey::relin(level, seeded),
            OpKey::mul_relin(level, seeded),
            OpKey::square_relin(level, seeded),
            OpKey::rotate(level, galois, seeded),
            OpKey::hoisted_rotate(level, turns.iter().copied(), seeded),
            OpKey::mat_vec(level, turns, [], 0, seeded),
            OpKey::mat_vec(level, turns, turns, level.0.min(1) as u16, seeded),
        ]);
    }
    list
}

fn run(cpu: &Cpu, program: &Unrolled, bindings: &Bindings<'_>) -> Vec<OutputLimb> {
    cpu.execute(&ready(program), bindings, &Silent, None)
        .unwrap()
        .0
}

fn devices() -> [Cpu; 4] {
    let cpu = |threads| Cpu::new(threads).unwrap();
    [cpu(1), cpu(2), cpu(5), cpu(2).without_fusion()]
}

#[test]
fn every_procedure_keeps_its_bits() {
    let small = |log_n, cipher: &[u32], special: &[u32]| {
        Params::builder(log_n)
            .prime_bits(cipher, special)
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap()
    };
    let devices = devices();
    // Digits of one prime and of several, primes for each arithmetic, and limbs long enough for each loop.
    for params in [
        small(7, &[60, 54, 54], &[54]),
        small(7, &[50, 40, 30, 61], &[61, 50]),
        // All limbs in words of 32 bits.
        small(7, &[32, 31, 30], &[32]),
    ] {
        let cache = ProcCache::new(params.clone());
        for level in [params.max_level(), Level(0)] {
            for op in operations(&params, level) {
                let case = one_call(cache.get(&op).unwrap(), &mut Dice::new(level.0.into()));
                let expected = interpret(&case.program, &case.inputs, &case.seeds);
                let short = crate::common::short_words(&case);
                for cpu in &devices {
                    for bindings in [
                        crate::common::bind(&case),
                        crate::common::bind_short(&case, &short),
                    ] {
                        let found = run(cpu, &case.program, &bindings);
                        crate::common::check_words(&case.program, &found);
                        assert!(found == expected, "{op:?} on {} threads", cpu.threads());
                    }
                }
            }
        }
    }
}

/// Limbs so large that outputs are written past the cache and sums are cut into parts keep their bits.
#[test]
fn large_limbs_keep_their_bits() {
    let short = Params::builder(15).prime_bits(&[32; 6], &[32, 32]);
    let short = short.allow_insecure_parameters_for_tests_only();
    let [one, two, _, unfused] = devices();
    for params in [Params::named("set1").unwrap(), short.build().unwrap()] {
        let cache = ProcCache::new(params.clone());
        let level = params.max_level();
        for op in [
            OpKey::add(level, 2, 2),
            OpKey::mul_plain(level, 2),
            OpKey::mul(level),
            OpKey::mul_relin(level, false),
            OpKey::rescale(level, 2),
            OpKey::rotate(level, params.galois_element(1).unwrap(), true),
        ] {
            let case = one_call(cache.get(&op).unwrap(), &mut Dice::new(1));
            let expected = run(&unfused, &case.program, &crate::common::bind(&case));
            let short = crate::common::short_words(&case);
            for cpu in [&one, &two] {
                for bindings in [
                    crate::common::bind(&case),
                    crate::common::bind_short(&case, &short),
                ] {
                    let found = run(cpu, &case.program, &bindings);
                    crate::common::check_words(&case.program, &found);
                    assert!(found == expected, "{op:?} on {} threads", cpu.threads());
                }
            }
        }
    }
}
