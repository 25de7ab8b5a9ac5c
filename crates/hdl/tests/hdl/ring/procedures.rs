// SPDX-License-Identifier: Apache-2.0
//! Tests that run the scheduler's code for homomorphic operations on the whole machine. The start of each word, each
//! slot when its word retires, and the end must be those of the model. The results must be the reference interpreter's.

use std::sync::Arc;

use ringmill_hdl::BuildOptions;
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::ring::{Machine, Tables};
use ringmill_isa::mid::{ParamRole, Procedure, Program, Verified};
use ringmill_machines::SimOptions;
use ringmill_machines::ring::Description;
use ringmill_machines::ring::encode::decode;
use ringmill_machines::ring::interpret::Memory;
use ringmill_machines::ring::micro::{MicroCode, Word};
use ringmill_machines::ring::place::{Class, order};
use ringmill_machines::ring::program;
use ringmill_machines::ring::schedule::{Placement, Scheduled};
use ringmill_machines::ring::search::Prepared;
use ringmill_schemes::ckks::{Galois, Level, OpKey, Params, ProcCache};

use crate::common::setup::{hdl, seed};
use crate::ring::bench::{PRIMES, medha, primes, toy, traced};
use crate::ring::random::check_programs;

/// Returns parameters of two ciphertext primes and a special one, each on an RPAU of its own.
fn params(log_n: u8) -> Arc<Params> {
    Params::builder(log_n)
        .primes(&PRIMES[..2], &PRIMES[2..])
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap()
}

/// Returns a placement of a procedure's arguments. They take first the slots that share ports, or if `narrow`, the
/// narrow slots. If `tight`, results may overwrite arguments.
fn placement(d: &Description, prepared: &Prepared, tight: bool, narrow: bool) -> Placement {
    let graph = prepared.graph();
    let mut order = order(d, Class::Keep);
    if narrow {
        let groups = d.slot_groups();
        order.sort_by_key(|&slot| !d.is_narrow(groups[usize::from(slot)].into()));
    }
    let mut next = vec![0; d.rpaus];
    let mut place = |v: &u32| {
        let r = usize::from(graph.values[*v as usize].rpau);
        next[r] += 1;
        order[next[r] - 1]
    };
    let args: Vec<Vec<u8>> = graph
        .params
        .iter()
        .map(|p| p.iter().map(&mut place).collect())
        .collect();
    Placement {
        // With halves or layers a limb takes two slots, so that operands must make room for results.
        pinned: vec![!tight; args.len()],
        args,
        busy: [0; 16],
    }
}

fn modulus(procedure: &Procedure, value: u32) -> (usize, u64) {
    let modulus = usize::from(procedure.types[value as usize].modulus().unwrap().0);
    (modulus, procedure.moduli[modulus].prime().unwrap())
}

/// Returns whether a procedure's code has words that read or write narrow slots.
fn is_narrow(d: &Description, code: &MicroCode) -> bool {
    let groups = d.slot_groups();
    let narrow = |slot: u8| d.is_narrow(groups[usize::from(slot)].into());
    let mut words = code.streams.iter().flatten().filter_map(|&w| decode(w));
    words.any(|w| match w {
        Word::Op(w) => narrow(w.dst) || narrow(w.a),
        Word::End | Word::Wait { .. } => false,
    })
}

/// A scheduled procedure, the slots of its arguments, and the cycles that the scheduler expects.
struct Ready {
    prepared: Prepared,
    args: Vec<Vec<u8>>,
    scheduled: Scheduled,
    cycles: u64,
}

/// Runs an operation on a machine and returns its cycles.
fn run(machine: &mut Machine, d: &Description, procedure: &Procedure, dice: &mut Dice) -> u64 {
    run_placed(machine, d, procedure, dice, false)
}

/// Runs an operation as [`run`] does, and if `narrow`, with its first arguments in narrow slots.
fn run_placed(
    machine: &mut Machine,
    d: &Description,
    procedure: &Procedure,
    dice: &mut Dice,
    narrow: bool,
) -> u64 {
    let mut prepared = Prepared::new(d, procedure).unwrap();
    let halves = procedure.log_n > d.log_n;
    let tight = halves || procedure.moduli.len() > d.rpaus;
    let at = placement(d, &prepared, tight, narrow);
    let (scheduled, cycles) = prepared.schedule(d, &at).unwrap().unwrap();
    let code = &scheduled.code;
    assert!(is_narrow(d, code) || !narrow, "{}", procedure.name);
    let ready = Ready {
        prepared,
        args: at.args,
        scheduled,
        cycles,
    };
    run_ready(machine, d, procedure, &ready, dice)
}

/// Runs an operation as a program calls it that has no other call, and returns its cycles. The machine's figures are of
/// such programs.
pub fn run_called(
    machine: &mut Machine,
    d: &Description,
    procedure: &Arc<Procedure>,
    dice: &mut Dice,
) -> u64 {
    let program = Verified::new(Program::calling(procedure.clone(), Vec::new())).unwrap();
    let mut called = Vec::new();
    let totals = program::run(
        d,
        &program,
        SimOptions::default(),
        &mut |_| Ok(()),
        &mut |step| {
            called.push((step.args.clone(), step.outcome.scheduled.clone()));
            Ok(())
        },
    )
    .unwrap();
    let (args, scheduled) = called.pop().unwrap();
    assert!(called.is_empty(), "{} is one call", procedure.name);
    let ready = Ready {
        prepared: Prepared::new(d, procedure).unwrap(),
        args,
        scheduled,
        cycles: totals.cycles,
    };
    run_ready(machine, d, procedure, &ready, dice)
}

fn run_ready(
    machine: &mut Machine,
    d: &Description,
    procedure: &Procedure,
    ready: &Ready,
    dice: &mut Dice,
) -> u64 {
    machine.size(procedure.log_n.min(d.log_n)).unwrap();
    let Ready {
        prepared,
        args: places,
        scheduled,
        cycles: expected_cycles,
    } = ready;
    let halves = procedure.log_n > d.log_n;
    let n = 1usize << procedure.log_n;
    let pieces = 1 + usize::from(halves);
    let params = procedure.params.iter();
    let args: Vec<Vec<u64>> = params
        .map(|p| dice.limb(n, modulus(procedure, p.value.0).1))
        .collect();
    let seeds: Vec<[u8; 32]> = (0..procedure.seeds.len())
        .map(|_| std::array::from_fn(|_| dice.bits() as u8))
        .collect();
    let refs: Vec<&[u64]> = args.iter().map(Vec::as_slice).collect();
    let expected = ringmill_device::interpret::run(procedure, &refs, &seeds).unwrap();
    let mut memory = Memory::new(procedure.moduli.clone(), seeds.clone(), halves);
    let mut keys: Vec<(u16, u16, u16, usize)> = Vec::new();
    let mut key_tables = vec![Vec::new(); d.rpaus];
    for (i, (param, limb)) in procedure.params.iter().zip(&args).enumerate() {
        if let ParamRole::Key { arg, digit, part } = param.role {
            let layer = modulus(procedure, param.value.0).0 / d.rpaus;
            let id = (arg, digit, part, layer);
            let index = keys.iter().position(|k| *k == id).unwrap_or_else(|| {
                keys.push(id);
                keys.len() - 1
            });
            let r = usize::from(prepared.graph().key_homes[i]);
            for (piece, part) in limb.chunks(n / pieces).enumerate() {
                let index = (index * pieces + piece) as u8;
                // Key slots have another order than key indices.
                let slot = d.keys.slots as u8 - 1 - index;
                memory.key_table.insert((r, index), slot);
                memory.keys.insert((r, slot), part.to_vec());
                key_tables[r].push((index, slot));
                machine.fill_key(r, slot, part).unwrap();
            }
        } else {
            let r = modulus(procedure, param.value.0).0 % d.rpaus;
            for (&slot, part) in places[i].iter().zip(limb.chunks(n / pieces)) {
                memory.slots.insert((r, slot), part.to_vec());
                machine.fill(r, slot, part).unwrap();
            }
        }
    }
    let code = &scheduled.code;
    for (r, keys) in key_tables.into_iter().enumerate() {
        machine
            .tables(
                r,
                &Tables {
                    constants: code.constants.iter().map(|row| row[r]).collect(),
                    streams: code.generators.iter().map(|row| row[r]).collect(),
                    galois: &code.galois,
                    seeds: &seeds,
                    keys,
                },
            )
            .unwrap();
    }
    let (words, cycles) = traced(d, code, &mut memory, &[]);
    assert_eq!(cycles, *expected_cycles, "{}", procedure.name);
    let at_machine = placed(machine, procedure, code);
    machine
        .lockstep(&at_machine, &words, cycles)
        .unwrap_or_else(|e| panic!("{}: {e}", procedure.name));
    // The machine's slots are the model's already; here the model's results are compared with the interpreter's.
    for ((result, slots), expected) in procedure
        .results
        .iter()
        .zip(&scheduled.results)
        .zip(&expected)
    {
        let r = modulus(procedure, result.value.0).0 % d.rpaus;
        let got = slots.iter().map(|s| memory.slots[&(r, *s)].as_slice());
        assert_eq!(
            &got.collect::<Vec<_>>().concat(),
            expected,
            "{}",
            result.name
        );
    }
    cycles
}

/// Returns the code with each number of a prime of the procedure replaced by the prime's place among the machine's.
fn placed(machine: &Machine, procedure: &Procedure, code: &MicroCode) -> MicroCode {
    let mut code = code.clone();
    for number in &mut code.primes {
        let prime = procedure.moduli.get(usize::from(*number));
        let prime = prime.and_then(|modulus| modulus.prime());
        let place = machine.primes().iter().position(|&q| Some(q) == prime);
        *number = place.map_or(*number, |place| place as u8);
    }
    code
}

fn operations(level: Level) -> Vec<OpKey> {
    let mut list = vec![
        OpKey::add(level, 2, 2),
        OpKey::sub(level, 3, 2),
        OpKey::neg(level, 2),
        OpKey::mul_plain(level, 2),
        OpKey::mul(level),
        OpKey::square(level),
    ];
    for seeded in [true, false] {
        list.push(OpKey::relin(level, seeded));
        list.push(OpKey::mul_relin(level, seeded));
        list.push(OpKey::rotate(level, Galois(5), seeded));
    }
    if level > Level(0) {
        list.push(OpKey::rescale(level, 2));
    }
    list
}

/// Operations and random programs are right on three RPAUs. Both are one test, because they need the same model: a
/// second test would wait for it and hold a processor.
#[test]
fn operations_and_programs_on_three_units() {
    check_operations(&toy(6, 4, 3));
    check_programs(hdl(), &toy(6, 4, 3), seed(), 3).unwrap();
}

#[test]
#[ignore = "another machine to build; `make full` runs it"]
fn operations_on_three_units_with_generated_twiddles() {
    check_operations(&medha(7, 2, 3));
}

/// Runs the CKKS operations at both levels on three RPAUs. Some of them also run below the native degree, at twice the
/// native degree, and in two layers.
fn check_operations(d: &Description) {
    let mut dice = Dice::new(seed());
    let native = d.log_n;
    let params = params(native);
    let mut machine = Machine::new(
        hdl(),
        d,
        &primes(),
        BuildOptions::default(),
        dice.bits() as u32,
    )
    .unwrap();
    for level in [Level::LOWEST, params.max_level()] {
        for key in operations(level) {
            let procedure = ProcCache::new(params.clone()).get(&key).unwrap();
            let cycles = run(&mut machine, d, &procedure, &mut dice);
            let narrow = run_placed(&mut machine, d, &procedure, &mut dice, true);
            println!(
                "{}: {cycles} cycles, from narrow slots {narrow}",
                procedure.name
            );
        }
    }
    // Operations below the native degree.
    for log_n in [native - 1, native - 2] {
        let params = self::params(log_n);
        let level = params.max_level();
        for key in [
            OpKey::mul_relin(level, true),
            OpKey::rotate(level, Galois(5), false),
            OpKey::rescale(level, 2),
        ] {
            let procedure = ProcCache::new(params.clone()).get(&key).unwrap();
            let cycles = run(&mut machine, d, &procedure, &mut dice);
            println!(
                "{} of 2^{log_n} coefficients: {cycles} cycles",
                procedure.name
            );
        }
    }
    // Operations at twice the native degree, as half rings.
    let params = self::params(native + 1);
    let level = params.max_level();
    for key in [
        OpKey::add(level, 2, 2),
        OpKey::rotate(level, Galois((4 << native) - 1), true),
        OpKey::rescale(level, 2),
    ] {
        let procedure = ProcCache::new(params.clone()).get(&key).unwrap();
        let cycles = run(&mut machine, d, &procedure, &mut dice);
        println!("{} as half rings: {cycles} cycles", procedure.name);
    }
    // Operations in two layers.
    let params = Params::builder(native)
        .primes(&primes()[..5], &primes()[5..])
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let (level, low) = (params.max_level(), Level(1));
    for key in [
        OpKey::add(level, 2, 2),
        OpKey::mul(level),
        OpKey::rescale(level, 2),
        OpKey::rotate(low, Galois(5), true),
        OpKey::mul_relin(low, true),
    ] {
        let procedure = ProcCache::new(params.clone()).get(&key).unwrap();
        let cycles = run(&mut machine, d, &procedure, &mut dice);
        println!("{} in two layers: {cycles} cycles", procedure.name);
    }
}
