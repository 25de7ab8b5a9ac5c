//! What the scheduler makes of homomorphic operations, on the whole machine: every grant, every slot at its word's retirement and
//! the end equal the model's, and the results the reference interpreter's.

use std::sync::Arc;

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::ring::{Machine, Tables};
use ringmill_isa::mid::{ParamRole, Procedure};
use ringmill_machines::ring::Description;
use ringmill_machines::ring::interpret::Memory;
use ringmill_machines::ring::place::{Class, order};
use ringmill_machines::ring::schedule::Placement;
use ringmill_machines::ring::search::Prepared;
use ringmill_schemes::ckks::{Level, OpKey, Params, ProcCache};

use crate::bench::{ONCE, PRIMES, toy, traced};
use crate::setup::{hdl, seed};

/// Two ciphertext primes and a special one, an RPAU each.
fn params(log_n: u8) -> Arc<Params> {
    Params::builder(log_n)
        .primes(&PRIMES[..2], &PRIMES[2..])
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap()
}

/// Arguments in the slots that share ports first.
fn placement(d: &Description, prepared: &Prepared) -> Placement {
    let graph = prepared.graph();
    let order = order(d, Class::Keep);
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
        pinned: vec![true; args.len()],
        args,
        busy: [0; 16],
    }
}

fn modulus(procedure: &Procedure, value: u32) -> (usize, u64) {
    let modulus = usize::from(procedure.types[value as usize].modulus().unwrap().0);
    (modulus, procedure.moduli[modulus].prime().unwrap())
}

/// Runs an operation on a machine that is there. Its cycles.
fn run(machine: &mut Machine, d: &Description, procedure: &Procedure, dice: &mut Dice) -> u64 {
    let mut prepared = Prepared::new(d, procedure).unwrap();
    let at = placement(d, &prepared);
    let (scheduled, expected_cycles) = prepared.schedule(d, &at).unwrap().unwrap();
    let n = 1usize << procedure.log_n;
    let params = procedure.params.iter();
    let args: Vec<Vec<u64>> = params
        .map(|p| dice.limb(n, modulus(procedure, p.value.0).1))
        .collect();
    let seeds: Vec<[u8; 32]> = (0..procedure.seeds.len())
        .map(|_| std::array::from_fn(|_| dice.bits() as u8))
        .collect();
    let refs: Vec<&[u64]> = args.iter().map(Vec::as_slice).collect();
    let expected = ringmill_schemes::interpret::run(procedure, &refs, &seeds).unwrap();
    let mut memory = Memory::new(procedure.moduli.clone(), seeds.clone(), false);
    let mut keys: Vec<(u16, u16, u16)> = Vec::new();
    let mut key_tables = vec![Vec::new(); d.rpaus];
    for (i, (param, limb)) in procedure.params.iter().zip(&args).enumerate() {
        if let ParamRole::Key { arg, digit, part } = param.role {
            let id = (arg, digit, part);
            let index = keys.iter().position(|k| *k == id).unwrap_or_else(|| {
                keys.push(id);
                keys.len() - 1
            }) as u8;
            let r = usize::from(prepared.graph().key_homes[i]);
            // Slots in another order than indices.
            let slot = d.keys.slots as u8 - 1 - index;
            memory.key_table.insert((r, index), slot);
            memory.keys.insert((r, slot), limb.clone());
            key_tables[r].push((index, slot));
            machine.fill_key(r, slot, limb).unwrap();
        } else {
            let r = modulus(procedure, param.value.0).0 % d.rpaus;
            memory.slots.insert((r, at.args[i][0]), limb.clone());
            machine.fill(r, at.args[i][0], limb).unwrap();
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
    assert_eq!(cycles, expected_cycles, "{}", procedure.name);
    machine
        .lockstep(code, &words, cycles)
        .unwrap_or_else(|e| panic!("{}: {e}", procedure.name));
    // The slots are the model's; the model's results are the interpreter's.
    for ((result, slots), expected) in procedure
        .results
        .iter()
        .zip(&scheduled.results)
        .zip(&expected)
    {
        let r = modulus(procedure, result.value.0).0 % d.rpaus;
        assert_eq!(&memory.slots[&(r, slots[0])], expected, "{}", result.name);
    }
    cycles
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
    }
    if level > Level(0) {
        list.push(OpKey::rescale(level, 2));
    }
    list
}

/// Add to multiply and relinearise, rescale, at both levels, on three RPAUs.
#[test]
fn operations_on_three_units() {
    let mut dice = Dice::new(seed());
    let params = params(6);
    let d = toy(6, 4, 3);
    let mut machine = Machine::new(hdl(), &d, &PRIMES, ONCE, dice.bits() as u32)
        .unwrap()
        .expect("a toy that the RTL builds");
    for level in [Level::LOWEST, params.max_level()] {
        for key in operations(level) {
            let procedure = ProcCache::new(params.clone()).get(&key).unwrap();
            let cycles = run(&mut machine, &d, &procedure, &mut dice);
            println!("{}: {cycles} cycles", procedure.name);
        }
    }
}
