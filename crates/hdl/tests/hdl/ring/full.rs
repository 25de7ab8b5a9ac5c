// SPDX-License-Identifier: Apache-2.0
//! Tests of the ring machine at full size: rows of 32 coefficients, N = 2^14, and 4 dyadic cores an RPAU.

use std::sync::Arc;
use std::time::Instant;

use ringmill_hdl::BuildOptions;
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::ring::{Machine, Tables};
use ringmill_isa::mid::TableModulus;
use ringmill_machines::ring::instructions::instructions;
use ringmill_machines::ring::interpret::Memory;
use ringmill_machines::ring::micro::{MicroCode, OpWord};
use ringmill_machines::ring::seen::seen;
use ringmill_machines::ring::{Description, SHIPPED, timing};
use ringmill_schemes::ckks::{Galois, Level, OpKey, Params, ProcCache};

use crate::common::setup::{hdl, seed};
use crate::ring::bench::{PRIMES, alone, traced};
use crate::ring::procedures::run_called;
use crate::ring::random::check_words_on;

/// Returns the shipped machine `ring-stored`, with `rpaus` RPAUs, none of which stands in for another.
fn full(rpaus: usize) -> Description {
    let mut d = Description::parse(Description::STORED).unwrap();
    d.rpaus = rpaus;
    d.stand_in.clear();
    d.check().unwrap();
    d
}

/// Random programs are right on an RPAU, with limbs of 2^14 coefficients and smaller ones.
#[test]
#[ignore = "an RPAU of 36 multipliers and limbs of 2^14; `make full` runs it"]
fn words_of_an_rpau() {
    let mut dice = Dice::new(seed());
    let began = Instant::now();
    check_words_on(hdl(), &full(1), PRIMES[1], 2, &mut dice).unwrap();
    println!("built and run in {:?}", began.elapsed());
}

/// Builds a machine for these primes, and prints how long that takes.
fn built(d: &Description, primes: &[u64], dice: &mut Dice) -> Machine {
    let began = Instant::now();
    let options = BuildOptions {
        // Opens the memories to direct access. To load a limb of 2^14 residues, one a cycle, would take longer than to
        // compute with it.
        open: true,
        ..BuildOptions::default()
    };
    let machine = Machine::new(hdl(), d, primes, options, dice.bits() as u32).unwrap();
    println!("built, twiddles loaded: {:?}", began.elapsed());
    machine
}

/// Returns the key of an operation by its name in the machine's figures.
fn key(operation: &str, level: Level) -> OpKey {
    match operation {
        "add" => OpKey::add(level, 2, 2),
        "multiply + relinearise" => OpKey::mul_relin(level, true),
        "rescale" => OpKey::rescale(level, 2),
        "rotate" => OpKey::rotate(level, Galois(5), true),
        "rotate, stored key" => OpKey::rotate(level, Galois(5), false),
        other => panic!("no operation {other}"),
    }
}

/// Runs an operation at a parameter set's highest level and returns its cycles. The start of each word, each slot when
/// its word retires, and the end must be those of the model. The results must be the reference interpreter's.
fn check_operation(
    machine: &mut Machine,
    d: &Description,
    params: &Arc<Params>,
    operation: &str,
    dice: &mut Dice,
) -> u64 {
    let began = Instant::now();
    let key = key(operation, params.max_level());
    let procedure = ProcCache::new(params.clone()).get(&key).unwrap();
    let cycles = run_called(machine, d, &procedure, dice);
    println!(
        "{}: {cycles} cycles, scheduled, limbs loaded and run in {:?}",
        procedure.name,
        began.elapsed()
    );
    cycles
}

/// Operations are right on three RPAUs, with two ciphertext primes and a special one.
#[test]
#[ignore = "three RPAUs of 36 multipliers; `make full` runs it"]
fn operations_on_three_units() {
    let mut dice = Dice::new(seed());
    let set = Params::named("set2").unwrap();
    let primes = &set.moduli()[..3];
    let params = Params::builder(14)
        .primes(&primes[..2], &primes[2..])
        .build()
        .unwrap();
    let d = full(3);
    let mut machine = built(&d, primes, &mut dice);
    for operation in [
        "add",
        "rescale",
        "multiply + relinearise",
        "rotate, stored key",
    ] {
        check_operation(&mut machine, &d, &params, operation, &mut dice);
    }
}

/// Runs a word alone, on random limbs, and returns its cycles. Its start, every residue that it writes and its end must
/// be those of the model.
fn check_instruction(
    machine: &mut Machine,
    d: &Description,
    primes: &[u64],
    w: OpWord,
    dice: &mut Dice,
) -> u64 {
    let n = 1 << d.log_n;
    let mut memory = Memory::new(
        primes.iter().map(|&q| TableModulus::Prime(q)).collect(),
        Vec::new(),
        false,
    );
    for (r, &prime) in primes
        .iter()
        .enumerate()
        .filter(|(r, _)| w.mask >> r & 1 == 1)
    {
        for slot in 0..d.slots() as u8 {
            let limb = dice.limb(n, prime);
            machine.fill(r, slot, &limb).unwrap();
            memory.slots.insert((r, slot), limb);
        }
    }
    let constants: Vec<u64> = primes.iter().map(|&q| dice.limb(1, q)[0]).collect();
    let galois = [Galois(3), Galois(5)];
    let code = MicroCode {
        name: "alone".to_owned(),
        log_n: d.log_n,
        streams: alone(w),
        constants: vec![vec![0; primes.len()], constants.clone()],
        generators: Vec::new(),
        galois: galois.to_vec(),
        primes: (0..primes.len() as u8).collect(),
    };
    for (r, &constant) in constants.iter().enumerate() {
        let tables = Tables {
            constants: vec![0, constant],
            streams: Vec::new(),
            galois: &galois,
            seeds: &[],
            keys: Vec::new(),
        };
        machine.tables(r, &tables).unwrap();
    }
    let (words, cycles) = traced(d, &code, &mut memory, &[]);
    machine.lockstep(&code, &words, cycles).unwrap();
    words[0].cycles
}

/// Checks the figures of [`seen`] for a shipped machine, which is built for the primes of Set-2. Set-1's primes are the
/// first of these, and Set-2's limbs are computed as half rings. The machine runs each instruction alone, in the cycles
/// of the model, and the operations of both sets, in the cycles that [`seen`] has.
fn check_seen(name: &str) {
    let mut dice = Dice::new(seed());
    let d = Description::parse(SHIPPED.iter().find(|(n, _)| *n == name).unwrap().1).unwrap();
    let larger = Params::named("set2").unwrap();
    let mut machine = built(&d, larger.moduli(), &mut dice);
    let groups = d.slot_groups();
    for (instruction, word) in instructions(&d) {
        let cycles = check_instruction(&mut machine, &d, larger.moduli(), word, &mut dice);
        let modelled = timing::duration(&d, &groups, d.log_n, &word).total;
        assert_eq!(cycles, modelled, "{instruction}");
    }
    for &(set, operation, cycles) in seen(name).unwrap().operations {
        let params = Params::named(set).unwrap();
        let ran = check_operation(&mut machine, &d, &params, operation, &mut dice);
        assert_eq!(ran, cycles, "{set} {operation}");
    }
    // For Set-2 a whole stored key does not fit into key memory, so that the rotation generates a part of it.
    for (set, operation) in [("set1", "rotate, stored key"), ("set2", "rotate")] {
        let params = Params::named(set).unwrap();
        check_operation(&mut machine, &d, &params, operation, &mut dice);
    }
}

#[test]
#[ignore = "ten RPAUs of 36 multipliers; `make full` runs it"]
fn ring_stored_as_it_is_shipped() {
    check_seen("ring-stored");
}

#[test]
#[ignore = "ten RPAUs of 36 multipliers; `make full` runs it"]
fn ring_as_it_is_shipped() {
    check_seen("ring");
}
