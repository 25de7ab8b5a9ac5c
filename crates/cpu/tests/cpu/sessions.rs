// SPDX-License-Identifier: Apache-2.0
//! Tests sessions: a program is opened once with resident inputs and seeds, and each of its runs
//! brings the other inputs.

use std::sync::Arc;

use ringmill_cpu::Cpu;
use ringmill_device::progress::Silent;
use ringmill_device::{Bindings, Device, DeviceError, Request, Resident, SeedExpansion};
use ringmill_isa::mid::Verified;
use ringmill_limits::Watch;
use ringmill_sim::open;

use crate::common::random::{Case, case};
use crate::common::{bind, ready};

/// Divides a case's data: every second input and the seeds are resident, and each run brings the
/// other inputs.
fn parted<'a>(case: &'a Case) -> (Resident<'a>, Bindings<'a>) {
    let whole = bind(case);
    let expanded = Arc::default();
    let seeds = case.seeds.iter();
    let seeds = seeds.map(|&seed| Arc::new(SeedExpansion::within(seed, &expanded)));
    let stays = |(at, limb): (usize, _)| (at % 2 == 0).then_some(limb);
    let resident = Resident {
        limbs: whole.limbs.iter().cloned().enumerate().map(stays).collect(),
        seeds: seeds.collect(),
    };
    let brought = whole.limbs.into_iter().skip(1).step_by(2).collect();
    let brought = Bindings {
        limbs: brought,
        seeds: Vec::new(),
    };
    (resident, brought)
}

fn whole(device: &dyn Device, program: &Verified, case: &Case) -> Vec<Vec<u64>> {
    let outcome = device.run(program, &bind(case), Request::function_only(), &Silent);
    let outputs = outcome.unwrap().outputs.unwrap();
    outputs
        .iter()
        .map(|limb| limb.wide().into_owned())
        .collect()
}

#[test]
fn every_run_of_a_session_gives_what_one_run_gives() {
    for seed in 0..12 {
        let case = case(seed, 6, 12);
        let program = ready(&case.program);
        let want = whole(&Cpu::new(1).unwrap(), &program, &case);
        let (resident, brought) = parted(&case);
        for name in ["cpu:1", "cpu:2"] {
            let device = open(name).unwrap();
            let opened = device.open(&program, resident.clone(), &Watch::default());
            let mut session = opened.unwrap();
            for _ in 0..3 {
                let request = Request::function_only();
                let outcome = session
                    .run(brought.limbs.clone(), request, &Silent)
                    .unwrap();
                let found = outcome.outputs.unwrap();
                assert_eq!(found.len(), want.len());
                for (found, want) in found.iter().zip(&want) {
                    assert_eq!(*found, *want, "{name}, case {seed}");
                }
            }
        }
    }
}

#[test]
fn a_second_run_expands_no_key_and_plans_nothing() {
    let mut expanded = 0;
    for seed in 0..12 {
        let case = case(seed, 6, 12);
        let program = ready(&case.program);
        let (resident, brought) = parted(&case);
        let cpu = Cpu::new(1).unwrap();
        let mut session = cpu.open(&program, resident, &Watch::default()).unwrap();
        let planned = cpu.planned();
        assert!(planned > 0, "planned when it is opened");
        let mut limbs = Vec::new();
        for _ in 0..3 {
            let request = Request::function_only();
            let outcome = session
                .run(brought.limbs.clone(), request, &Silent)
                .unwrap();
            limbs.push(outcome.statistics.unwrap().expanded().limbs);
        }
        expanded += limbs[0];
        assert_eq!(limbs[1..], [0, 0], "case {seed}");
        assert_eq!(cpu.planned(), planned);
    }
    assert!(expanded > 0, "no case has keys");
}

#[test]
fn a_run_that_brings_too_little_or_too_much_is_refused() {
    let case = (0..)
        .map(|seed| case(seed, 6, 12))
        .find(|case| case.inputs.len() > 3);
    let case = case.unwrap();
    let program = ready(&case.program);
    let (resident, brought) = parted(&case);
    let cpu = Cpu::new(1).unwrap();
    let mut session = cpu.open(&program, resident, &Watch::default()).unwrap();
    let mut run = |limbs| session.run(limbs, Request::function_only(), &Silent).err();
    assert!(matches!(
        run(Vec::new()),
        Some(DeviceError::MissingBinding { .. })
    ));
    let twice = [brought.limbs.clone(), brought.limbs.clone()].concat();
    assert!(matches!(
        run(twice),
        Some(DeviceError::ExtraBindings { .. })
    ));
    assert!(run(brought.limbs.clone()).is_none(), "the session goes on");
}
