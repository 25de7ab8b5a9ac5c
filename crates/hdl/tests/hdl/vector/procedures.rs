// SPDX-License-Identifier: Apache-2.0
//! Tests of whole BGV procedures on the machine of radix 16, N = 256: key switches, products, an automorphism, a
//! division. Events are in lockstep with the performance simulator, and limbs must be those of the mid level's
//! interpreter.

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::vector::{Machine, lockstep};
use ringmill_hdl::{BuildOptions, Hdl};
use ringmill_isa::mid::{Form, Procedure, ValueId};
use ringmill_isa::vector::MicroOp;
use ringmill_machines::vector::{Counting, Description, Memory, alone, built};
use ringmill_schemes::bgv::{Factor, Galois, OpKey, Params, PrimePower, ProcCache};

use crate::common::failure::{Check, Failure, ensure};
use crate::common::setup::{hdl, seed};
use crate::vector::machine::{Slow, description};

fn machine_description() -> Description {
    let mut d = description(4, 24);
    d.registers = 16;
    d.queue = 64;
    d.load_chunks = 4;
    d.store_chunks = 4;
    d
}

/// Runs a procedure with random operands in distant memory, and checks its events and the results that it stores there.
fn check(machine: &mut Machine, d: &Description, procedure: &Procedure, dice: &mut Dice) -> Check {
    let made = alone(d, procedure, &|_| false, Counting::PAPER).expect("what the machine runs");
    let shape = made.program.shape;
    let limb = shape.limb_chunks();
    let (program, results) = made.stored();
    machine.load(&program.moduli)?;
    let n = 1usize << shape.log_n;
    let order = Memory::new(shape, &[], 0).expect("a shape");
    let evaluations = |value: ValueId| {
        let ty = procedure.limb(value);
        ty.is_some_and(|ty| ty.form == Form::Eval)
    };
    let args = procedure.params.iter().map(|param| {
        let ty = procedure.limb(param.value).expect("limbs");
        let q = procedure.moduli[usize::from(ty.modulus.0)].value() as u64;
        dice.limb(n, q)
    });
    let args: Vec<Vec<u64>> = args.collect();
    let lanes = 1usize << shape.log_lanes;
    let stored = program.instrs.iter().filter(|i| i.op == MicroOp::Store);
    let chunks = stored.map(|i| i.n as usize + 1).max().unwrap_or(0);
    let mut memory = vec![vec![0; lanes]; chunks.max(args.len() * limb as usize)];
    for (number, (param, given)) in procedure.params.iter().zip(&args).enumerate() {
        let work = made.hosted.iter().find(|work| work.param == number);
        let given = given.iter().map(|&x| work.map_or(x, |work| work.on(x)));
        let words = order.to_machine(&given.collect::<Vec<_>>(), evaluations(param.value));
        for (chunk, words) in words.chunks(lanes).enumerate() {
            memory[number * limb as usize + chunk] = words.to_vec();
        }
    }
    let mut host = Slow {
        memory,
        dice: Dice::new(dice.bits()),
        odds: [1, 1, 30, 3],
    };
    let ended = machine.run(&program, &mut host)?;
    ensure!(
        ended.fault.is_none(),
        "{}: {:?}",
        procedure.name,
        ended.fault
    );
    lockstep(d, shape, &program.instrs, &ended.trace)
        .map_err(|error| Failure::Mismatch(format!("{}: {error}", procedure.name)))?;
    println!(
        "{}: {} instructions, {} micro-cycles",
        procedure.name,
        program.instrs.len(),
        ended.cycles
    );
    let refs: Vec<&[u64]> = args.iter().map(Vec::as_slice).collect();
    let expected = ringmill_device::interpret::run(procedure, &refs, &[]).expect("well-formed");
    for ((result, &at), want) in procedure.results.iter().zip(&results).zip(&expected) {
        let chunks = at * limb..(at + 1) * limb;
        let words: Vec<u32> = chunks
            .flat_map(|c| host.memory[c as usize].clone())
            .collect();
        let found = order.from_machine(&words, evaluations(result.value));
        ensure!(
            &found == want,
            "{}: result {} differs",
            procedure.name,
            result.name
        );
    }
    Ok(())
}

pub fn check_procedures(hdl: &Hdl, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let t = PrimePower::new(17, 2).expect("a power of a prime");
    let t = t.modulus().expect("below 2^32");
    let params = Params::builder(8, t)
        .friendly_primes(3, 1)
        .expect("there are such primes")
        .divide_modulo_primes_alone()
        .allow_insecure_parameters_for_tests_only()
        .build()
        .expect("a small set");
    let d = machine_description();
    let moduli = params.moduli().to_vec();
    let mut machine = Machine::new(hdl, &d, &moduli, BuildOptions::default(), seed as u32)?;
    let cache = ProcCache::new(params.clone());
    let level = params.max_level();
    for key in [
        OpKey::mul_relin(level, false),
        OpKey::rotate(level, Galois(3), false),
        OpKey::mod_switch(level, 2),
        OpKey::mul_plain(level, 2),
        OpKey::add_plain(level, 2, Factor::ONE),
    ] {
        let procedure = cache.get(&key).expect("an operation");
        let procedure = match procedure.immediates.len() {
            0 => procedure.as_ref().clone(),
            count => procedure.bind(&vec![200; count]).expect("scalars"),
        };
        check(&mut machine, &d, &procedure, &mut dice)?;
    }
    Ok(())
}

#[test]
fn whole_key_switches() {
    check_procedures(hdl(), seed()).unwrap();
}

/// Checks a relinearisation with the paper's 42 and 14 primes on a machine. Operands and key come from distant memory,
/// and results go back to it.
fn check_full_key_switch(d: &Description) {
    let mut dice = Dice::new(seed());
    let t = PrimePower::new(127, 3).expect("a power of a prime");
    let t = t.modulus().expect("below 2^32");
    let params = Params::builder(2 * d.log_radix, t)
        .friendly_primes(42, 14)
        .expect("there are such primes")
        .divide_modulo_primes_alone()
        .allow_insecure_parameters_for_tests_only()
        .build()
        .expect("a set");
    let begin = std::time::Instant::now();
    let mut machine = Machine::new(hdl(), d, params.moduli(), BuildOptions::default(), 1).unwrap();
    println!("built in {:.0?}", begin.elapsed());
    let key = OpKey::relin(params.max_level(), false);
    let procedure = ProcCache::new(params).get(&key).expect("an operation");
    check(&mut machine, d, &procedure, &mut dice).unwrap();
    println!("run after {:.0?}", begin.elapsed());
}

/// A key switch is right at radix 32, 512 lanes and N = 1024.
#[test]
#[ignore = "builds a machine of 512 lanes, minutes; `make full` runs it"]
fn a_full_key_switch_at_the_cards_size() {
    check_full_key_switch(&Description::read(Description::U250).expect("shipped"));
}

/// A key switch is right on the paper's machine with the RTL's pipelines: radix 256, 2048 lanes, N = 65536.
#[test]
#[ignore = "builds the whole machine; `make full` runs it"]
fn a_full_key_switch_at_full_size() {
    let mut d = Description::read(Description::PAPER).expect("shipped");
    d.stages = built::stages(d.log_radix);
    check_full_key_switch(&d);
}
