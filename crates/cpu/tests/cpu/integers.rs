// SPDX-License-Identifier: Apache-2.0
//! Tests that operations of BFV and BGV, and their expansions into plain instructions, give the interpreter's bits on
//! the CPU with one thread and with two.

use std::sync::Arc;

use crate::common::random::Dice;
use ringmill_cpu::Cpu;
use ringmill_device::interpret;
use ringmill_device::progress::Silent;
use ringmill_device::{Bindings, Limb, SeedExpansion};
use ringmill_isa::mid::{Procedure, Program, Verified, expand_composites};
use ringmill_schemes::bfv::{self, Level, Multiplication, PlainModulus};
use ringmill_schemes::bgv;

fn bfv_operations(params: &bfv::Params, level: Level) -> Vec<bfv::OpKey> {
    use bfv::OpKey;
    let turn = params.galois_element(3).unwrap();
    let swap = params.conjugation_element();
    let mut operations = vec![
        OpKey::add(level, 2, 3),
        OpKey::sub(level, 2, 3),
        OpKey::neg(level, 2),
        OpKey::add_plain(level, 2),
        OpKey::sub_plain(level, 3),
        OpKey::mul_plain(level, 2),
        OpKey::mul_plain_unsigned(level, 3),
        OpKey::mul(level),
        OpKey::square(level),
        OpKey::relin(level, false),
        OpKey::mul_relin(level, true),
        OpKey::square_relin(level, false),
        OpKey::rotate(level, turn, true),
        OpKey::hoisted_rotate(level, [turn, swap], false),
    ];
    if level > Level::LOWEST {
        operations.push(OpKey::mod_switch(level, 3));
    }
    operations
}

fn bgv_operations(params: &bgv::Params, level: Level) -> Vec<bgv::OpKey> {
    use bgv::OpKey;
    let turn = params.galois_element(3).unwrap();
    let swap = params.conjugation_element();
    let (factor, two) = (bgv::Factor::ONE, vec![2; level.primes()]);
    let mut operations = vec![
        OpKey::add(level, 2, 3),
        OpKey::sub(level, 2, 3),
        OpKey::neg(level, 2),
        OpKey::add_plain(level, 2, factor),
        OpKey::sub_plain(level, 3, factor),
        OpKey::add_scalar(level, 3, two.clone()),
        OpKey::mul_plain(level, 2),
        OpKey::mul_scalar(level, 2, two),
        OpKey::mul(level),
        OpKey::square(level),
        OpKey::relin(level, false),
        OpKey::mul_relin(level, true),
        OpKey::square_relin(level, false),
        OpKey::rotate(level, turn, true),
        OpKey::hoisted_rotate(level, [turn, swap], false),
    ];
    if level > Level::LOWEST {
        operations.push(OpKey::mod_switch(level, 3));
    }
    operations
}

/// Checks that a procedure and its expansion give the interpreter's bits on random residues, with one thread and with
/// two.
fn check(procedure: &Procedure, dice: &mut Dice) {
    let n = 1 << procedure.log_n;
    let modulus = |value: ringmill_isa::mid::ValueId| {
        let ty = procedure.limb(value).unwrap();
        procedure.moduli[usize::from(ty.modulus.0)]
    };
    let params = procedure.params.iter();
    let inputs: Vec<Vec<u64>> = params.map(|p| dice.residues(modulus(p.value), n)).collect();
    let seeds: Vec<[u8; 32]> = (1..).take(procedure.seeds.len()).map(|s| [s; 32]).collect();
    let args: Vec<&[u64]> = inputs.iter().map(Vec::as_slice).collect();
    let expected = interpret::run(procedure, &args, &seeds).unwrap();
    let expanded = expand_composites(procedure, |_| false).unwrap();
    for procedure in [procedure.clone(), expanded] {
        let name = procedure.name.clone();
        let program = Program::calling(Arc::new(procedure), Vec::new());
        let program = Verified::new(program).unwrap();
        for threads in [1, 2] {
            let limbs = program.inputs.iter().zip(&inputs).map(|(input, limb)| {
                let ty = input.ty.limb().unwrap();
                Limb::borrowed(limb, program.moduli[usize::from(ty.modulus.0)]).unwrap()
            });
            let bindings = Bindings {
                limbs: limbs.collect(),
                seeds: seeds
                    .iter()
                    .map(|&s| Arc::new(SeedExpansion::new(s)))
                    .collect(),
            };
            let cpu = Cpu::new(threads).unwrap();
            let (outputs, _) = cpu.execute(&program, &bindings, &Silent, None).unwrap();
            let same = outputs.iter().zip(&expected).all(|(a, b)| a == b);
            assert!(same && outputs.len() == expected.len(), "{name}, {threads}");
        }
    }
}

#[test]
fn every_operation_of_bfv_has_the_interpreters_bits() {
    let mut dice = Dice::new(7);
    for multiplication in Multiplication::ALL {
        for (t, bits) in [
            (97, [60, 45, 50]),
            (1 << 32, [30, 60, 59]),
            (1 << 59, [60; 3]),
        ] {
            let params = bfv::Params::builder(8, PlainModulus::new(t).unwrap())
                .prime_bits(&bits, &[60])
                .multiplication(multiplication)
                .allow_insecure_parameters_for_tests_only()
                .build()
                .unwrap();
            let cache = bfv::ProcCache::new(params.clone());
            for level in [Level(0), Level(2)] {
                for operation in bfv_operations(&params, level) {
                    check(&cache.get(&operation).unwrap(), &mut dice);
                }
            }
        }
    }
}

#[test]
fn every_operation_of_bgv_has_the_interpreters_bits() {
    let mut dice = Dice::new(8);
    for special in [&[60][..], &[60, 59], &[60, 59, 58]] {
        for t in [2, 97, 1 << 32, (1 << 59) - 55] {
            let params = bgv::Params::builder(8, PlainModulus::new(t).unwrap())
                .prime_bits(&[30, 60, 45], special)
                .allow_insecure_parameters_for_tests_only()
                .build()
                .unwrap();
            let cache = bgv::ProcCache::new(params.clone());
            for level in [Level(0), Level(2)] {
                for operation in bgv_operations(&params, level) {
                    check(&cache.get(&operation).unwrap(), &mut dice);
                }
            }
        }
    }
}
