// SPDX-License-Identifier: Apache-2.0
//! Runs of whole programs, call by call.

use ringmill_device::report::TimePart;
use ringmill_isa::Galois;
use ringmill_isa::macros::MacroOp;
use ringmill_isa::mid::{Step, Verified};
use ringmill_machines::vector::session::{Ran, Running};
use ringmill_machines::vector::{Description, VectorMachine};
use ringmill_machines::vector::{TimeUse, VectorUse};
use ringmill_machines::{Machine, SimOptions};
use ringmill_schemes::ckks::OpKey;

use super::check::{params, scaled};
use crate::common::programs::Builder;

/// Runs a program with or without replays. Returns its totals, and the number of calls that were replayed.
pub fn run(d: &Description, program: &Verified, replays: bool) -> (Ran, u64) {
    let mut running = Running::new(d, &program.head(), SimOptions::default());
    running.replays = replays;
    let mut stream = program.stream();
    while let Some(called) = stream.next_call().unwrap() {
        running.feed(&called).unwrap();
    }
    running.finish(&stream.outputs().unwrap()).unwrap();
    (running.total.clone(), running.replayed)
}

/// Returns a program of many products of ciphertexts of one shape, so that states of the machine come again. The key is
/// stored whole, or comes with a seed.
pub fn alike(times: usize, seeded: bool) -> Verified {
    let params = params(8, 3, 1);
    let mut b = Builder::new(&params);
    let level = params.max_level();
    let x = b.input(&params, level, 0);
    let mut y = b.apply(&OpKey::square_relin(level, seeded), &[&x], 0);
    for _ in 1..times {
        let product = b.apply(&OpKey::mul_relin(level, seeded), &[&y, &x], 0);
        y = b.apply(&OpKey::add(level, 2, 2), &[&product, &y], 0);
    }
    b.output(&y);
    b.finish()
}

/// Returns a program of squares in sequence, down the levels.
fn squares(count: usize) -> Verified {
    let params = params(8, 4, 1);
    let mut b = Builder::new(&params);
    let mut level = params.max_level();
    let mut x = b.input(&params, level, 0);
    for _ in 0..count {
        x = b.apply(&OpKey::square_relin(level, false), &[&x], 0);
        x = b.apply(&OpKey::rescale(level, 2), &[&x], 0);
        level = level.below().unwrap();
    }
    b.output(&x);
    b.finish()
}

/// Checks that a replayed call adds the same cycles, by both countings, and the same counts as a stepped one.
#[test]
fn a_replay_is_what_it_replays() {
    for limbs in [20, 32, 64] {
        for program in [alike(40, false), squares(3)] {
            replays_as_stepped(&scaled(limbs), &program);
        }
    }
    let replayed = replays_as_stepped(&scaled(64), &alike(40, false));
    assert!(replayed > 20, "{replayed}");
}

/// Runs a program with and without replays, and checks that figures are the same. Returns the number of replayed calls.
pub fn replays_as_stepped(d: &Description, program: &Verified) -> u64 {
    let (stepped, none) = run(d, program, false);
    let (replayed, count) = run(d, program, true);
    assert_eq!(none, 0);
    assert_eq!(stepped.micro, replayed.micro);
    assert_eq!(stepped.tally, replayed.tally);
    assert_eq!(
        (&stepped.ops, &stepped.took),
        (&replayed.ops, &replayed.took)
    );
    assert_eq!(stepped.loading, replayed.loading);
    assert_eq!(
        (stepped.loads, stepped.spilled, stepped.made),
        (replayed.loads, replayed.spilled, replayed.made)
    );
    count
}

/// Checks that a report has the time of automorphisms apart from that of their key switches.
#[test]
fn automorphisms_and_key_switches_are_told_apart() {
    let params = params(8, 3, 1);
    let mut b = Builder::new(&params);
    let level = params.max_level();
    let mut x = b.input(&params, level, 0);
    for _ in 0..3 {
        x = b.apply(&OpKey::rotate(level, Galois(3), false), &[&x], 0);
    }
    let x = b.apply(&OpKey::morph(level, Galois(5)), &[&x], 0);
    let x = b.apply(&OpKey::key_switch(level, false), &[&x], 1);
    b.output(&x);
    let machine = VectorMachine::new(scaled(64)).unwrap();
    let report = machine
        .simulate(&b.finish(), SimOptions::default())
        .unwrap();
    let own = report.own::<VectorUse>().unwrap();
    let rows = own.parts.by_macro(|name| match name.split('.').nth(1) {
        Some("rotate") => &[MacroOp::Morph, MacroOp::Ksw],
        Some("morph") => &[MacroOp::Morph],
        Some("key_switch") => &[MacroOp::Ksw],
        other => panic!("{other:?}"),
    });
    let sum: u64 = rows.values().map(|row| row.micro_cycles).sum();
    assert_eq!(sum, own.parts.all);
    assert_eq!((rows["MORPH"].count, rows["KSW"].count), (4, 4));
    assert_eq!(rows["LOAD"].count, 1);
    // The row has the time of MORPH instructions, and of all else that the automorphism alone needs.
    assert!(rows["MORPH"].micro_cycles >= own.parts.by_micro["MORPH"].micro_cycles);
    assert!(rows["KSW"].micro_cycles > rows["MORPH"].micro_cycles);
}

/// Checks that with slow distant memory a program waits for it most of the time, and that the report names it as the
/// bound.
#[test]
fn a_program_that_waits_for_distant_memory_is_bound_by_it() {
    let bound = |gbyte_per_second: f64| {
        let mut d = scaled(64);
        d.distant.gbyte_per_second = gbyte_per_second;
        let machine = VectorMachine::new(d).unwrap();
        let report = machine.simulate(&alike(10, false), SimOptions::default());
        report.unwrap().end_to_end
    };
    let (slow, fast) = (bound(0.5), bound(1e4));
    assert_eq!(slow.bound.by, TimePart::Waits, "{slow:?}");
    assert!(slow.waits_seconds > slow.compute_seconds);
    assert!(
        slow.bound.help.contains("`distant.gbyte_per_second`"),
        "{slow:?}"
    );
    assert!(fast.waits_seconds < slow.waits_seconds, "{fast:?}");
    // The work of the units is almost the same; the memory changes its order alone.
    let ratio = slow.compute_seconds / fast.compute_seconds;
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

/// Checks that keys which are sent in the run take the time that is left out for resident keys.
#[test]
fn keys_that_are_sent_are_in_the_total() {
    let timed = |resident_keys| {
        let machine = VectorMachine::new(scaled(64)).unwrap();
        let options = SimOptions {
            resident_keys,
            ..SimOptions::default()
        };
        machine
            .simulate(&alike(3, false), options)
            .unwrap()
            .end_to_end
    };
    let (there, sent) = (timed(true), timed(false));
    assert!(there.resident_key_limbs > 0 && there.keys_seconds == 0.0);
    assert!(sent.resident_key_limbs == 0 && sent.keys_seconds == there.resident_key_seconds);
    let difference = sent.seconds - there.cold_seconds();
    assert!(difference.abs() < 1e-9 * sent.seconds, "{there:?} {sent:?}");
}

/// Checks the parts of a whole program's report.
#[test]
fn a_program_is_reported() {
    let machine = VectorMachine::new(scaled(64)).unwrap();
    let program = alike(10, false);
    let report = machine.simulate(&program, SimOptions::default()).unwrap();
    let own = report.own::<VectorUse>().unwrap();
    assert_eq!(report.calls, 19);
    assert!(own.cycles_by_papers_counting < report.cycles);
    // The time has two parts: units work, or wait for distant memory and instructions.
    let time = &report.end_to_end;
    let (worked, all) = (
        time.compute_seconds,
        time.compute_seconds + time.waits_seconds,
    );
    let near =
        |seconds: f64, cycles: u64| (seconds * report.clock_mhz * 1e6 - cycles as f64).abs() < 1.0;
    assert!(near(worked, own.cycles_by_papers_counting) && near(all, report.cycles));
    assert!(own.port_floor <= own.cycles_by_papers_counting);
    assert!(own.port_reads + own.port_writes <= own.cycles_by_papers_counting);
    assert!(own.limbs_loaded > 0 && own.stepped > 0);
    // The times of each level's operations add up to the whole.
    let parts = &own.parts;
    assert_eq!(parts.all.div_ceil(6), report.cycles);
    let stands_for = |name: &str| -> &[MacroOp] {
        match name {
            name if name.starts_with("ckks.mul_relin") => &[MacroOp::Mul, MacroOp::Ksw],
            name if name.starts_with("ckks.rotate") => &[MacroOp::Morph, MacroOp::Ksw],
            name if name.starts_with("ckks.add") => &[MacroOp::Add],
            _ => &[],
        }
    };
    let by_macro = parts.by_macro(stands_for);
    for level in [&by_macro, &parts.by_mid, &parts.by_micro] {
        let sum: u64 = level.values().map(|part| part.micro_cycles).sum();
        assert_eq!(sum, parts.all);
        assert!(level.len() > 1, "{level:?}");
    }
    let count = |level: &std::collections::BTreeMap<String, TimeUse>| {
        level.values().map(|part| part.count).sum::<u64>()
    };
    // The input and the calls are counted. The first square has no macro operation here, and so a row of its own.
    assert_eq!(by_macro["LOAD"].count, 1);
    assert_eq!(count(&by_macro), report.calls + 1);
    assert_eq!((by_macro["MUL KSW"].count, by_macro["ADD"].count), (9, 9));
    let unnamed = by_macro
        .keys()
        .filter(|row| row.starts_with("ckks.square_relin"));
    assert_eq!(unnamed.count(), 1);
    // The row LOAD has the time of the operand's loads alone. Loads of keys count for the operations that read them.
    let (load, all_loads) = (
        by_macro["LOAD"].micro_cycles,
        parts.by_micro["LOAD"].micro_cycles,
    );
    assert!(0 < load && load < all_loads, "{load} of {all_loads}");
    assert_eq!(count(&parts.by_micro), report.instructions);
    assert_eq!(
        parts.by_mid["LOAD"].count,
        own.limbs_loaded + own.limbs_reloaded
    );
    assert_eq!(8 * parts.by_mid["NTT"].count, parts.by_micro["NTT2"].count);
    // A program that ends with HCF takes as long. HCF waits for the instructions that are under way at the end.
    let mut halting = program.clone().into_program();
    halting.steps.push(Step::halt());
    let halting = Verified::new(halting).unwrap();
    let again = machine.simulate(&halting, SimOptions::default()).unwrap();
    let halted = again.own::<VectorUse>().unwrap();
    assert_eq!((again.cycles, again.calls), (report.cycles, report.calls));
    assert_eq!(again.instructions, report.instructions + 1);
    for (with, without) in [
        (&halted.parts.by_mid, &parts.by_mid),
        (&halted.parts.by_micro, &parts.by_micro),
    ] {
        let waited = without["under way at the end"].micro_cycles;
        assert!(waited > 0 && !with.contains_key("under way at the end"));
        assert_eq!((with["HCF"].count, with["HCF"].micro_cycles), (1, waited));
        let sum: u64 = with.values().map(|part| part.micro_cycles).sum();
        assert_eq!(sum, parts.all);
    }
    let mut text = Vec::new();
    machine
        .micro_text(&program, SimOptions::default(), &mut text)
        .unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("NTT1") && text.contains("HCF"), "{text}");
}
