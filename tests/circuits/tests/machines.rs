// SPDX-License-Identifier: Apache-2.0
//! Random programs for the papers' full parameter sets run on the model of every machine that takes whole CKKS
//! programs. The models time them without data.

use ringmill_compiler::ckks::Options;
use ringmill_compiler::{CompileError, compile};
use ringmill_machines::ring::RingUse;
use ringmill_machines::{Parse, Registry, SimOptions};
use ringmill_schemes::ckks::Params;
use ringmill_test_circuits::numbers::Numbers;
use ringmill_test_circuits::programs::{Limits, case};

/// Draws a program over Set-1 or Set-2 for each seed, and times it on every machine that takes whole CKKS programs.
fn run(seeds: std::ops::Range<u64>) {
    let sets = ["set1", "set2"].map(|name| Params::named(name).unwrap());
    // Two kinds take other programs: `torus` one TFHE bootstrap, and `vector` programs over friendly primes of 32 bits.
    let others = ["torus", "vector"];
    let registry = Registry::standard();
    let whole = registry
        .kinds()
        .iter()
        .filter(|kind| !others.contains(&kind.name));
    let whole = whole.filter(|kind| matches!(kind.parse, Parse::Whole(_)));
    let names = whole.flat_map(|kind| kind.names());
    let machines: Vec<_> = names.map(|name| registry.open(name).unwrap()).collect();
    assert!(machines.len() >= 2);
    let (mut ran, mut calls, mut spilled, drawn) = (0u64, 0, 0, seeds.end - seeds.start);
    for seed in seeds {
        let mut numbers = Numbers::new(seed);
        let n = &mut numbers;
        let params = &sets[n.below(2)];
        let log_slots = u32::from(params.log_n()) - 1;
        let limits = Limits {
            slots: 1 << n.between(1, log_slots),
            operations: n.between(1, 60) as usize,
            depth: n.between(0, params.max_level().0),
            largest: 64.0,
            alike: n.one_in(3),
        };
        let case = case(n, limits, false);
        let options = Options {
            ranges: case.ranges.iter().copied().map(Some).collect(),
            seeded_keys: n.one_in(2),
            ..Options::given(params.clone())
        };
        let compiled = match compile(case.program, &options) {
            Ok(compiled) => compiled,
            Err(
                CompileError::Overflow { .. }
                | CompileError::Meaningless { .. }
                | CompileError::Transparent { .. },
            ) => continue,
            Err(error) => panic!("seed {seed}: {limits:?}: {error}"),
        };
        for machine in &machines {
            let report = machine.simulate(&compiled.program, SimOptions::default());
            let report =
                report.unwrap_or_else(|error| panic!("seed {seed} on {}: {error}", machine.name()));
            calls += report.calls;
            spilled += u64::from(
                report.own::<RingUse>().unwrap().spills.bytes
                    + report.own::<RingUse>().unwrap().spills.inside.bytes
                    > 0,
            );
        }
        ran += 1;
    }
    println!("{ran} of {drawn} programs ran: {calls} calls, {spilled} runs spilled");
    assert!(2 * ran >= drawn);
}

#[test]
fn programs_of_full_size_run_on_the_machines() {
    run(1..4);
}

#[test]
#[ignore = "minutes; `make full` runs it"]
fn three_hundred_programs_of_full_size_run_on_the_machines() {
    run(1..301);
}
