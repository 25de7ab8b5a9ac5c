//! Whole programs, call by call.

use ringmill_isa::mid::{Step, Verified};
use ringmill_machines::vector::session::{Ran, Running};
use ringmill_machines::vector::{Description, VectorMachine};
use ringmill_machines::{Machine, Own, SimOptions, TimeUse};
use ringmill_schemes::ckks::OpKey;

use crate::check::{params, scaled};
use crate::common::programs::Builder;

/// A run with or without replays.
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

/// Many products of alike ciphertexts, one after another: states come again. The key is stored whole, or comes with a seed.
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

/// Squares in sequence, down the levels.
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

/// A replayed call takes what stepping through it takes: cycles of both countings, and every count.
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

/// Runs a program with and without replays, whose every figure is to be the same; how many calls were replayed.
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
    assert_eq!(
        (stepped.loads, stepped.spilled, stepped.made),
        (replayed.loads, replayed.spilled, replayed.made)
    );
    count
}

/// The report of a whole program, and its parts.
#[test]
fn a_program_is_reported() {
    let machine = VectorMachine::new(scaled(64)).unwrap();
    let program = alike(10, false);
    let report = machine.simulate(&program, SimOptions::default()).unwrap();
    let Own::Vector(own) = report.own else {
        panic!("{:?}", report.own)
    };
    assert_eq!(report.calls, 19);
    assert!(own.cycles_by_papers_counting < report.cycles);
    assert!(own.port_floor <= own.cycles_by_papers_counting);
    assert!(own.port_reads + own.port_writes <= own.cycles_by_papers_counting);
    assert!(own.limbs_loaded > 0 && own.stepped > 0);
    // What operations of each level take adds up to the whole.
    let parts = &own.parts;
    assert_eq!(parts.all.div_ceil(6), report.cycles);
    for level in [&parts.by_macro, &parts.by_mid, &parts.by_micro] {
        let sum: u64 = level.values().map(|part| part.micro_cycles).sum();
        assert_eq!(sum, parts.all);
        assert!(level.len() > 1, "{level:?}");
    }
    let count = |level: &std::collections::BTreeMap<String, TimeUse>| {
        level.values().map(|part| part.count).sum::<u64>()
    };
    assert_eq!(count(&parts.by_macro), report.calls);
    assert_eq!(count(&parts.by_micro), report.instructions);
    assert_eq!(
        parts.by_mid["LOAD"].count,
        own.limbs_loaded + own.limbs_reloaded
    );
    assert_eq!(8 * parts.by_mid["NTT"].count, parts.by_micro["NTT2"].count);
    // A program that ends with HCF takes as long; what is under way at the end is what HCF waits for.
    let mut halting = program.clone().into_program();
    halting.steps.push(Step::halt());
    let halting = Verified::new(halting).unwrap();
    let again = machine.simulate(&halting, SimOptions::default()).unwrap();
    let Own::Vector(halted) = again.own else {
        panic!("{:?}", again.own)
    };
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
