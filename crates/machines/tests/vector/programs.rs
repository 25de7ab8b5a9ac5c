//! Whole programs, call by call.

use ringmill_isa::mid::Verified;
use ringmill_machines::vector::session::{Ran, Running};
use ringmill_machines::vector::{Description, VectorMachine};
use ringmill_machines::{Machine, Own, SimOptions};
use ringmill_schemes::ckks::OpKey;

use crate::check::{params, scaled};
use crate::common::programs::Builder;

/// A run with or without replays.
fn run(d: &Description, program: &Verified, replays: bool) -> (Ran, u64) {
    let mut running = Running::new(d, &program.head(), SimOptions::default());
    running.replays = replays;
    let mut stream = program.stream();
    while let Some(called) = stream.next_call().unwrap() {
        running.feed(&called).unwrap();
    }
    running.finish(&stream.outputs().unwrap()).unwrap();
    (running.total.clone(), running.replayed)
}

/// Many products of alike ciphertexts, one after another: states come again.
fn alike(times: usize) -> Verified {
    let params = params(8, 3, 1);
    let mut b = Builder::new(&params);
    let level = params.max_level();
    let x = b.input(&params, level, 0);
    let mut y = b.apply(&OpKey::square_relin(level, false), &[&x], 0);
    for _ in 1..times {
        let product = b.apply(&OpKey::mul_relin(level, false), &[&y, &x], 0);
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
        for program in [alike(40), squares(3)] {
            let d = scaled(limbs);
            let (stepped, none) = run(&d, &program, false);
            let (replayed, _) = run(&d, &program, true);
            assert_eq!(none, 0);
            assert_eq!(stepped.micro, replayed.micro, "{limbs}");
            assert_eq!(stepped.tally, replayed.tally, "{limbs}");
            assert_eq!(stepped.ops, replayed.ops, "{limbs}");
            assert_eq!(
                (stepped.loads, stepped.spilled),
                (replayed.loads, replayed.spilled)
            );
        }
    }
    let (_, replayed) = run(&scaled(64), &alike(40), true);
    assert!(replayed > 20, "{replayed}");
}

/// The report of a whole program, and its parts.
#[test]
fn a_program_is_reported() {
    let machine = VectorMachine::new(scaled(64)).unwrap();
    let program = alike(10);
    let report = machine.simulate(&program, SimOptions::default()).unwrap();
    let Own::Vector(own) = report.own else {
        panic!("{:?}", report.own)
    };
    assert_eq!(report.calls, 19);
    assert!(own.cycles_by_papers_counting < report.cycles);
    assert!(own.port_floor <= own.cycles_by_papers_counting);
    assert!(own.port_reads + own.port_writes <= own.cycles_by_papers_counting);
    assert!(own.limbs_loaded > 0 && own.stepped > 0);
    let mut text = Vec::new();
    machine
        .micro_text(&program, SimOptions::default(), &mut text)
        .unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("NTT1") && text.contains("HCF"), "{text}");
}
