// SPDX-License-Identifier: Apache-2.0
//! Tests the check of ring descriptions against the RTL. For most fields that the RTL limits, they try a value at the
//! limit, which it can build, and one beyond the limit.

use ringmill_machines::MachineError;
use ringmill_machines::ring::Description;
use ringmill_machines::ring::built::{check, check_prime, check_size};

type Edit = fn(&mut Description);

fn medha() -> Description {
    Description::parse(Description::MEDHA).unwrap()
}

fn edited(edit: Edit) -> Description {
    let mut d = medha();
    edit(&mut d);
    d
}

fn refused(result: Result<(), MachineError>) -> &'static str {
    match result.unwrap_err() {
        MachineError::Field { field, .. } => field,
        other => panic!("{other}"),
    }
}

/// Gives the machine rows of `row` coefficients, with butterflies, generators and lanes to match.
fn rows(d: &mut Description, row: usize) {
    d.row = row;
    (d.main.lanes, d.ring.lanes) = (row, row);
    d.cores.butterfly = row / 2;
    d.cores.generator = row / 2;
}

#[test]
fn the_rtl_builds_the_shipped_machines_and_their_limits() {
    for text in [Description::MEDHA, Description::STORED] {
        check(&Description::parse(text).unwrap()).unwrap();
    }
    let built: [Edit; 12] = [
        |d| d.splits = 0,
        |d| (d.cores.dyadic, d.generator.residues_per_cycle) = (2, 2),
        |d| rows(d, 16),
        |d| rows(d, 64),
        |d| rows(d, 256),
        |d| (d.row, d.log_n) = (32, 6),
        |d| d.keys.group = 2,
        |d| d.keys.slots = 1,
        |d| d.pipeline.dispatch = 1,
        |d| d.rpaus = 1,
        |d| d.memory[4].residues = Some(4),
        |d| d.memory[4].residues = Some(16),
    ];
    for (case, edit) in built.into_iter().enumerate() {
        check(&edited(edit)).unwrap_or_else(|e| panic!("{case}: {e}"));
    }
    // With rows of 4 coefficients, 2 dyadic cores are half of a row, which is the most that the RTL builds.
    let least = edited(|d| {
        rows(d, 4);
        (d.cores.dyadic, d.generator.residues_per_cycle) = (2, 2);
        d.memory.pop();
    });
    check(&least).unwrap();
}

#[test]
fn the_rtl_refuses_each_field_beyond_its_limit() {
    let cases: [(&str, Edit); 29] = [
        ("splits", |d| d.splits = 2),
        ("cores.generator", |d| d.cores.generator = 0),
        ("cores.generator", |d| d.main.stages = 2),
        ("cores.dyadic", |d| d.cores.dyadic = 3),
        ("cores.dyadic", |d| d.cores.dyadic = 8),
        ("cores.dyadic", |d| rows(d, 4)),
        ("row", |d| rows(d, 128)),
        ("row", |d| rows(d, 512)),
        ("row", |d| d.log_n = 5),
        ("main.lanes", |d| d.main.lanes = 16),
        ("ring.lanes", |d| d.ring.lanes = 16),
        ("generator.residues_per_cycle", |d| {
            d.generator.residues_per_cycle = 2;
        }),
        ("keys.group", |d| d.keys.group = 1),
        ("keys.group", |d| d.keys.group = 6),
        ("keys.group", |d| d.keys.slots = 0),
        ("pipeline.board", |d| d.pipeline.board = 5),
        ("pipeline.board", |d| d.pipeline.board = 7),
        ("pipeline.dispatch", |d| d.pipeline.dispatch = 0),
        ("keys.rotate", |d| d.keys.rotate = 0),
        ("rpaus", |d| d.rpaus = 11),
        // Only the first port group may have several wide slots, and only the last may be narrow.
        ("memory.slots", |d| d.memory[1].slots = 2),
        ("memory.slots", |d| d.memory[3].slots = 2),
        ("memory.slots", |d| d.memory[0].residues = Some(32)),
        ("memory.slots", |d| d.memory[2].residues = Some(8)),
        ("memory.slots", |d| {
            d.memory = vec![d.memory[4].clone()];
        }),
        // Narrow ports carry a power of two of residues a cycle, at least as many as there are dyadic cores.
        ("memory.residues", |d| d.memory[4].residues = Some(2)),
        ("memory.residues", |d| d.memory[4].residues = Some(12)),
        // A limb of 2^14 residues in less than 2^14 cycles.
        ("link.us_per_limb", |d| {
            d.link.us_per_limb = 1e6 * 16_382.5 / 200e6;
        }),
        ("link.us_per_limb", |d| d.link.us_per_limb = 0.0),
    ];
    for (case, (field, edit)) in cases.into_iter().enumerate() {
        let found = refused(check(&edited(edit)));
        assert_eq!(found, field, "{case}");
    }
    check(&edited(|d| {
        d.link.us_per_limb = 1e6 * 16_383.5 / 200e6;
    }))
    .unwrap();
}

#[test]
fn the_rtl_takes_limbs_from_two_rows_to_the_native_degree() {
    for (log_n, built) in [(5, false), (6, true), (14, true), (15, false)] {
        match built {
            true => check_size(&medha(), log_n).unwrap(),
            false => assert_eq!(refused(check_size(&medha(), log_n)), "log_n"),
        }
    }
}

#[test]
fn the_rtl_takes_primes_whose_reducers_have_enough_stages() {
    // The first prime, 2^54 - 2^24 + 1, is next to a power of two; the second number is not.
    let (narrow, dense) = ((1 << 54) - (1 << 24) + 1, 0x2aaa_aaaa_aaab);
    check_prime(&medha(), narrow).unwrap();
    assert_eq!(refused(check_prime(&medha(), dense)), "word_bits");
    let cases: [(&str, Edit); 3] = [
        ("word_bits", |d| d.word_bits = 53),
        ("pipeline.multiplier", |d| d.pipeline.multiplier = 1),
        ("generator.fold", |d| d.generator.fold = 1),
    ];
    for (field, edit) in cases {
        assert_eq!(refused(check_prime(&edited(edit), narrow)), field);
    }
    // Only a ring that reduces arriving residues needs stages of the reducer.
    check_prime(&edited(|d| d.ring.reducer = 0), narrow).unwrap();
    let reducing = edited(|d| (d.ring.reduces, d.ring.reducer) = (true, 0));
    assert_eq!(refused(check_prime(&reducing, narrow)), "ring.reducer");
}
