//! Fused runs against unfused ones and against the definition, for every CKKS procedure: the bits are the same.

mod common;

use std::sync::Arc;

use common::naive::interpret;
use common::random::{Case, Dice};
use ringmill_devices::progress::Silent;
use ringmill_devices::{Bindings, Cpu, OutputLimb};
use ringmill_isa::mid::*;
use ringmill_schemes::ckks::{Galois, Level, OpKey, Params, ProcCache};

/// A program of one call on random residues.
fn one_call(procedure: Arc<Procedure>, dice: &mut Dice) -> Case {
    let mut program = Unrolled {
        procs: vec![procedure.clone()],
        seeds: (0..procedure.seeds.len() as u32).collect(),
        ..Unrolled::empty(procedure.log_n, procedure.moduli.clone())
    };
    let mut inputs = Vec::new();
    for (number, param) in procedure.params.iter().enumerate() {
        let ty = procedure.types[param.value.0 as usize];
        let q = program.moduli[usize::from(ty.modulus.0)];
        program.inputs.push(Input {
            limb: LimbId(number as u32),
            name: param.name.clone(),
            role: InputRole::Cipher {
                input: number as u32,
                poly: 0,
            },
        });
        program.limbs.push(ty);
        inputs.push(dice.residues(q, ty.ring.len()));
    }
    let mut results = Vec::new();
    for (number, result) in procedure.results.iter().enumerate() {
        let limb = LimbId(program.limbs.len() as u32);
        program.limbs.push(procedure.types[result.value.0 as usize]);
        program.outputs.push(Output {
            limb,
            name: result.name.clone(),
            output: number as u32,
            poly: 0,
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

/// Every procedure at a level.
fn operations(params: &Params, level: u32) -> Vec<OpKey> {
    let residues: Vec<u64> = (0..=u64::from(level)).map(|i| 12_345 + i).collect();
    let galois = params.galois_element(1).unwrap();
    let turns = [galois, params.galois_element(-1).unwrap()];
    let mut list = vec![
        OpKey::neg(Level(level), 3),
        OpKey::add_plain(Level(level), 2),
        OpKey::sub_plain(Level(level), 2),
        OpKey::mul_plain(Level(level), 2),
        OpKey::add_scalar(Level(level), 2, residues.clone()),
        OpKey::mul_scalar(Level(level), 2, residues),
        OpKey::mul(Level(level)),
        OpKey::square(Level(level)),
        OpKey::mod_down(Level(level), 2),
    ];
    for size in [2, 3] {
        list.push(OpKey::add(Level(level), size, 2));
        list.push(OpKey::sub(Level(level), 2, size));
        if level > 0 {
            list.push(OpKey::rescale(Level(level), size));
        }
    }
    for seeded in [false, true] {
        list.extend([
            OpKey::relin(Level(level), seeded),
            OpKey::mul_relin(Level(level), seeded),
            OpKey::square_relin(Level(level), seeded),
            OpKey::rotate(Level(level), Galois(galois), seeded),
            OpKey::hoisted_rotate(Level(level), turns.iter().copied().map(Galois), seeded),
        ]);
    }
    list
}

fn run(cpu: &Cpu, program: &Unrolled, bindings: &Bindings<'_>) -> Vec<OutputLimb> {
    cpu.execute(program, bindings, &Silent, None).unwrap().0
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
    // A prime a digit and several, primes of each arithmetic; long enough for every loop.
    for params in [
        small(7, &[60, 54, 54], &[54]),
        small(7, &[50, 40, 30, 61], &[61, 50]),
    ] {
        let cache = ProcCache::new(params.clone());
        for level in [params.max_level(), 0] {
            for op in operations(&params, level) {
                let case = one_call(cache.get(&op).unwrap(), &mut Dice::new(level.into()));
                let expected = interpret(&case.program, &case.inputs, &case.seeds);
                for cpu in &devices {
                    let found = run(cpu, &case.program, &common::bind(&case));
                    assert!(found == expected, "{op:?} on {} threads", cpu.threads());
                }
            }
        }
    }
}

/// Large enough that outputs go past the cache and sums are cut into parts.
#[test]
fn large_limbs_keep_their_bits() {
    let params = Params::named("set1").unwrap();
    let cache = ProcCache::new(params.clone());
    let level = params.max_level();
    let [one, two, _, unfused] = devices();
    for op in [
        OpKey::add(Level(level), 2, 2),
        OpKey::mul(Level(level)),
        OpKey::mul_relin(Level(level), false),
        OpKey::rescale(Level(level), 2),
        OpKey::rotate(
            Level(level),
            Galois(params.galois_element(1).unwrap()),
            true,
        ),
    ] {
        let case = one_call(cache.get(&op).unwrap(), &mut Dice::new(1));
        let bindings = common::bind(&case);
        let expected = run(&unfused, &case.program, &bindings);
        for cpu in [&one, &two] {
            let found = run(cpu, &case.program, &bindings);
            assert!(found == expected, "{op:?} on {} threads", cpu.threads());
        }
    }
}
