// SPDX-License-Identifier: Apache-2.0
//! Tests sessions: machines that are opened on a program's head and then fed its calls one by one.

use crate::common::programs::{Builder, chain};
use crate::common::{description, params};
use ringmill_device::report::MachineReport;
use ringmill_isa::Fault;
use ringmill_isa::mid::{Called, LimbId, Op, Verified};
use ringmill_machines::coprocessor::OffloadUse;
use ringmill_machines::ring::RingMachine;
use ringmill_machines::ring::program::run;
use ringmill_machines::{Machine, MachineError, Registry, SimOptions};
use ringmill_schemes::ckks::ops::OpKey;

/// Returns a ring machine, a co-processor and two cards, each with a program that it runs.
fn cases() -> Vec<(Box<dyn Machine>, Verified)> {
    let narrow = ringmill_schemes::ckks::Params::builder(8)
        .prime_bits(&[31, 30, 30], &[31])
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let ring = RingMachine::new(description(8, 3, 4, false)).unwrap();
    vec![
        (Box::new(ring), chain(&params(8, 2, 1), 2)),
        (
            Registry::standard().open("polymul").unwrap(),
            chain(&narrow, 2),
        ),
        (
            Registry::standard().open("polymul-card").unwrap(),
            chain(&narrow, 2),
        ),
        (
            Registry::standard().open("basext-card").unwrap(),
            chain(&narrow, 2),
        ),
    ]
}

fn calls(program: &Verified) -> (Vec<Called>, Vec<LimbId>) {
    let mut stream = program.stream();
    let mut calls = Vec::new();
    while let Some(called) = stream.next_call().unwrap() {
        calls.push(called);
    }
    (calls, stream.outputs().unwrap())
}

fn whole(machine: &dyn Machine, program: &Verified) -> MachineReport {
    let report = machine.simulate(program, SimOptions::default()).unwrap();
    let lines: u64 = report.lines.iter().map(|line| line.spent).sum();
    assert_eq!(lines, report.cycles, "{}", machine.name());
    report
}

#[test]
fn what_is_fed_is_what_is_pulled() {
    for (machine, program) in cases() {
        let expected = whole(machine.as_ref(), &program);
        let (calls, outputs) = calls(&program);
        let mut session = machine.open(program.head(), SimOptions::default()).unwrap();
        let mut before = 0;
        for called in calls {
            session.feed(called).unwrap();
            assert!((before..=expected.cycles).contains(&session.cycles()));
            before = session.cycles();
        }
        assert_eq!(session.finish(outputs).unwrap(), expected);
    }
}

/// A session that is dropped early changes no later run.
#[test]
fn a_session_may_be_dropped_at_any_call() {
    for (machine, program) in cases() {
        let expected = whole(machine.as_ref(), &program);
        let (calls, _) = calls(&program);
        for stop in 0..=calls.len() {
            let mut session = machine.open(program.head(), SimOptions::default()).unwrap();
            for called in &calls[..stop] {
                session.feed(called.clone()).unwrap();
            }
        }
        assert_eq!(whole(machine.as_ref(), &program), expected);
    }
}

#[test]
fn a_stream_cut_short_is_an_error() {
    for (machine, program) in cases() {
        let (calls, outputs) = calls(&program);
        for stop in 0..calls.len() {
            let mut session = machine.open(program.head(), SimOptions::default()).unwrap();
            for called in &calls[..stop] {
                session.feed(called.clone()).unwrap();
            }
            let Err(MachineError::Verify(error)) = session.finish(outputs.clone()) else {
                panic!("{stop} of {} calls are taken for all", calls.len());
            };
            assert!(matches!(*error.fault, Fault::Undefined { .. }), "{error}");
        }
    }
}

/// A call that cannot be the next call of a program with this head is refused.
#[test]
fn calls_that_cannot_be_next_are_refused() {
    type Spoil = fn(&mut Called);
    let spoilt: [(Spoil, &str); 7] = [
        (|c| c.number += 1, "the next call"),
        (|c| c.call.proc = 1000, "procedure 1000 is out of range"),
        (|c| c.call.args.truncate(1), "arguments"),
        (|c| c.call.args.push(LimbId(0)), "arguments"),
        (|c| c.call.args[0] = LimbId(1 << 40), "before it is defined"),
        (|c| c.call.results.truncate(1), "results"),
        (|c| c.call.results[0].0 += 1, "a result's limb"),
    ];
    for (machine, program) in cases() {
        let (calls, _) = calls(&program);
        for at in 0..calls.len() {
            for (spoil, expected) in &spoilt {
                let mut session = machine.open(program.head(), SimOptions::default()).unwrap();
                for called in &calls[..at] {
                    session.feed(called.clone()).unwrap();
                }
                let mut bad = calls[at].clone();
                spoil(&mut bad);
                let Err(MachineError::Verify(error)) = session.feed(bad) else {
                    panic!("call {at}: {expected} is taken");
                };
                assert!(error.to_string().contains(expected), "{error}");
            }
        }
    }
}

/// A machine runs exactly the instructions that it says it takes.
#[test]
fn machines_say_which_instructions_they_take() {
    for (machine, program) in cases() {
        let head = program.head();
        let report = whole(machine.as_ref(), &program);
        let (calls, _) = calls(&program);
        let (mut taken, mut left) = (0, 0);
        for called in calls {
            let procedure = &head.procs[called.call.proc as usize];
            let takes = machine.takes(&head, procedure).unwrap();
            assert_eq!(takes.len(), procedure.instrs.len());
            for (instr, takes) in procedure.instrs.iter().zip(takes) {
                taken += u64::from(takes);
                left += u64::from(!takes);
                let transform = matches!(instr.op, Op::Ntt | Op::Intt | Op::Mul);
                assert!(takes == transform || machine.name() != "polymul");
            }
        }
        match report.own::<OffloadUse>() {
            None => assert_eq!(left, 0),
            Some(used) => {
                assert!(taken > 0 && left > 0);
                assert_eq!(
                    (used.machine_instructions, used.host_instructions),
                    (taken, left)
                );
            }
        }
    }
}

/// A procedure that is called again in a state that occurred before is not scheduled again.
#[test]
fn a_procedure_that_was_seen_is_looked_up() {
    let d = description(8, 3, 4, false);
    let params = params(8, 2, 1);
    let count = |doublings| {
        let mut b = Builder::new(&params);
        let mut x = b.input(&params, params.max_level(), 0);
        for _ in 0..doublings {
            x = b.apply(&OpKey::add(params.max_level(), 2, 2), &[&x, &x], 0);
        }
        b.output(&x);
        let program = b.finish();
        let (mut schedules, mut calls) = (0, 0);
        run(
            &d,
            &program,
            SimOptions::default(),
            &mut |_| {
                schedules += 1;
                Ok(())
            },
            &mut |_| {
                calls += 1;
                Ok(())
            },
        )
        .unwrap();
        (schedules, calls)
    };
    let (few, many) = (count(12), count(24));
    assert!(many.1 > few.1);
    assert_eq!(many.0, few.0);
}
