// SPDX-License-Identifier: Apache-2.0
//! Tests whole programs on the ring machine: values that stay on it, spills, refusals, keys, times and traces.

use std::sync::Arc;

use crate::common::programs::{Builder, Cipher, chain};
use crate::common::{description, execute_program, params, with_slots};
use ringmill_device::trace::{Context, TraceSink};
use ringmill_isa::mid::Verified;
use ringmill_machines::ring::RingMachine;
use ringmill_machines::ring::RingUse;
use ringmill_machines::{Machine, MachineError, SimOptions};
use ringmill_schemes::ckks::params::Params;
use ringmill_schemes::ckks::{Galois, OpKey};

/// Returns options that forbid spills.
fn strict() -> SimOptions<'static> {
    SimOptions {
        spill: false,
        ..SimOptions::default()
    }
}

/// Makes a program that adds up n ciphertexts and then adds all of them once more. So each is read again late, and
/// should stay on the machine.
fn many_values(params: &Arc<Params>, n: u32) -> Verified {
    let mut b = Builder::new(params);
    let level = params.max_level();
    let xs: Vec<Cipher> = (0..n).map(|i| b.input(params, level, i)).collect();
    let add = OpKey::add(level, 2, 2);
    let mut sum = xs[0].clone();
    for x in xs.iter().skip(1).chain(&xs) {
        sum = b.apply(&add, &[&sum, x], 0);
    }
    b.output(&sum);
    b.finish()
}

#[test]
fn values_stay_on_the_machine_between_calls() {
    let params = params(8, 3, 1);
    let machine = RingMachine::new(description(8, 5, 4, false)).unwrap();
    let report = machine
        .simulate(&chain(&params, 3), SimOptions::default())
        .unwrap();
    let limb = 8 << 8;
    assert_eq!(report.calls, 6);
    assert_eq!(report.link.bytes_in, 2 * 4 * limb);
    assert_eq!(report.link.bytes_out, 2 * limb);
    assert_eq!(report.own::<RingUse>().unwrap().spills.bytes, 0);
    // A second run gives the same report.
    assert_eq!(
        report,
        machine
            .simulate(&chain(&params, 3), SimOptions::default())
            .unwrap()
    );
}

#[test]
fn what_does_not_fit_is_refused_or_spilled() {
    let params = params(8, 1, 1);
    let mut d = description(8, 3, 4, false);
    d.memory[0].slots = 3;
    let machine = RingMachine::new(d).unwrap();
    let program = many_values(&params, 6);
    match machine.simulate(&program, strict()) {
        Err(MachineError::Memory { needs, slots, .. }) => {
            assert!(needs > slots && slots == 8, "{needs} of {slots}")
        }
        other => panic!("{other:?}"),
    }
    let report = machine.simulate(&program, SimOptions::default()).unwrap();
    assert!(
        report.own::<RingUse>().unwrap().spills.loads > 0
            && report.own::<RingUse>().unwrap().spills.seconds > 0.0,
        "{:?}",
        report.own::<RingUse>().unwrap().spills
    );
    // Each limb that is counted as spilled crosses the link once.
    assert_eq!(
        report.own::<RingUse>().unwrap().spills.bytes,
        (report.own::<RingUse>().unwrap().spills.loads
            + report.own::<RingUse>().unwrap().spills.stores)
            * (8 << 8)
    );
    // More slots, no spills.
    let roomy = RingMachine::new(description(8, 3, 4, false)).unwrap();
    assert_eq!(
        roomy
            .simulate(&program, strict())
            .unwrap()
            .own::<RingUse>()
            .unwrap()
            .spills
            .bytes,
        0
    );
}

#[test]
fn a_repeated_call_costs_the_same_and_keys_load_once() {
    let params = params(8, 2, 1);
    let mut b = Builder::new(&params);
    let level = params.max_level();
    let mut x = b.input(&params, level, 0);
    for _ in 0..6 {
        x = b.apply(&OpKey::rotate(level, Galois(3), true), &[&x], 1);
    }
    b.output(&x);
    let program = b.finish();
    let machine = RingMachine::new(description(8, 4, 4, false)).unwrap();
    let report = machine.simulate(&program, SimOptions::default()).unwrap();
    let cycles = report.procedures.values().next().unwrap().cycles;
    assert_eq!(cycles, report.cycles);
    assert_eq!(report.link.key_bytes, 0);
    let loaded = SimOptions {
        resident_keys: false,
        ..SimOptions::default()
    };
    let report = machine.simulate(&program, loaded).unwrap();
    // The key halves of three digits modulo four primes, loaded once.
    assert_eq!(report.link.key_bytes, 3 * 4 * (8 << 8));
    assert_eq!(report.own::<RingUse>().unwrap().memory.key_limbs, 3);
}

/// Makes a program that rotates with three keys in turn, twice. Each key has two limbs on each of three RPAUs.
fn three_keys(params: &Arc<Params>) -> Verified {
    let mut b = Builder::new(params);
    let level = params.max_level();
    let mut x = b.input(params, level, 0);
    for which in [1, 2, 3, 1, 2, 3] {
        let galois = [3, 9, 27][usize::from(which) - 1];
        let seeded = true;
        let key = OpKey::rotate(level, Galois(galois), seeded);
        x = b.apply(&key, &[&x], which);
    }
    b.output(&x);
    b.finish()
}

/// With room for two keys, the third comes over the link and replaces the key whose next use is farthest away. The keys
/// A B C A B C then take 4 loads into an empty key memory, and 2 if A and B are there at the start.
#[test]
fn keys_beyond_the_key_memory_cross_the_link_and_are_counted() {
    let program = three_keys(&params(8, 1, 1));
    for (slots, fit, resident, loads) in [
        (4, 4, true, 2),
        (4, 4, false, 4),
        (6, 6, true, 0),
        (6, 6, false, 3),
        (2, 2, true, 5),
    ] {
        let mut d = description(8, 3, 4, false);
        d.keys.slots = slots;
        let options = SimOptions {
            resident_keys: resident,
            ..SimOptions::default()
        };
        let machine = RingMachine::new(d.clone()).unwrap();
        let report = machine.simulate(&program, options).unwrap();
        let keys = report.own::<RingUse>().unwrap().keys;
        // Each key is two limbs on each of three RPAUs.
        assert_eq!(
            (keys.needed, keys.fit, keys.loaded),
            (18, 3 * fit, 3 * 2 * loads),
            "room for {slots}"
        );
        assert_eq!(report.link.key_bytes, keys.loaded * (8 << 8));
        assert_eq!(
            report.link.key_seconds,
            d.link_seconds(report.link.key_bytes)
        );
        assert_eq!(report.own::<RingUse>().unwrap().memory.key_limbs, 6);
        execute_program(&d, &program, false);
    }
}

/// Values that stay in slots, move or spill between calls are those of the interpreter, for full rings, half rings and
/// quarters.
#[test]
fn whole_programs_compute_what_the_interpreter_computes() {
    let parameters = params(8, 2, 1);
    for native in [8, 7, 6] {
        let mut d = description(native, 4, 4, native == 7);
        d.splits = 8 - native.min(7);
        let machine = RingMachine::new(d.clone()).unwrap();
        for program in [
            chain(&parameters, 2),
            many_values(&parameters, 5),
            three_keys(&parameters),
        ] {
            // For quarters a memory has too little room for all values, so spills are allowed.
            let cycles = execute_program(&d, &program, native == 6);
            assert_eq!(
                machine
                    .simulate(&program, SimOptions::default())
                    .unwrap()
                    .cycles,
                cycles
            );
        }
    }
    let mut tight = description(8, 4, 4, false);
    tight.memory[0].slots = 3;
    execute_program(&tight, &many_values(&parameters, 6), true);
}

/// A procedure that does not fit is refused with the slots that it needs. If spills are allowed, its values cross the
/// link during the procedure, and every bit is the interpreter's.
#[test]
fn procedures_that_do_not_fit_spill_inside() {
    assert!(spilled_inside([(8, 4, 4..6), (7, 4, 6..8), (6, 4, 15..16)]) >= 2);
}

#[test]
#[ignore = "rows of memory sizes; `make full` runs it"]
fn procedures_spill_inside_at_every_size() {
    let all = [
        (8, 4, 3..6),
        (8, 2, 4..7),
        (8, 1, 4..9),
        (7, 4, 4..9),
        (6, 4, 14..16),
    ];
    assert!(spilled_inside(all) >= 6);
}

/// Returns on how many machines values spilled inside a procedure. `machines` has log2 of the native degree, the number
/// of RPAUs and the numbers of slots to try.
fn spilled_inside(
    machines: impl IntoIterator<Item = (u8, usize, std::ops::Range<usize>)>,
) -> usize {
    let parameters = params(8, 2, 1);
    let program = chain(&parameters, 1);
    let mut inside = 0;
    for (native, rpaus, totals) in machines {
        for total in totals {
            let mut d = with_slots(description(native, rpaus, 4, native == 7), total);
            d.splits = 2;
            let machine = RingMachine::new(d.clone()).unwrap();
            let Err(refused) = machine.simulate(&program, strict()) else {
                continue;
            };
            let MachineError::Memory { needs, slots, .. } = refused else {
                panic!("{refused}")
            };
            assert!(needs > slots && slots == total, "{needs} of {slots}");
            let what = format!("2^{native} on {rpaus} RPAUs with {total} slots");
            let report = match machine.simulate(&program, SimOptions::default()) {
                Ok(report) => report,
                Err(MachineError::TooFewSlots { slots, .. }) if slots <= 4 || native == 6 => {
                    continue;
                }
                Err(other) => panic!("{what}: {other}"),
            };
            let moved = report.own::<RingUse>().unwrap().spills.inside;
            println!("{what}: {} cycles, {moved:?}", report.cycles);
            let limb = 8 << native;
            assert_eq!(moved.bytes, (moved.stores + moved.loads) * limb, "{what}");
            assert_eq!(moved.seconds, d.link_seconds(moved.bytes));
            assert!(moved.loads > 0 && moved.key_loads == 0, "{what}");
            // All these limbs cross one link, so the run takes at least their time on it.
            assert!(report.seconds >= moved.seconds, "{what}");
            assert_eq!(execute_program(&d, &program, true), report.cycles, "{what}");
            inside += 1;
        }
    }
    inside
}

/// Makes a program with two hoisted sets of rotations of x, by the same three Galois elements. The output is the sum of
/// x and all six rotations.
fn hoisted(params: &Arc<Params>, seeded: bool) -> Verified {
    let level = params.max_level();
    let mut b = Builder::new(params);
    let x = b.input(params, level, 0);
    let key = OpKey::hoisted_rotate(level, [3, 9, 27].map(Galois), seeded);
    let first = b.apply(&key, &[&x], 1);
    let second = b.apply(&key, &[&x], 1);
    let rotation = |set: &Cipher, which: usize| -> Cipher {
        let limbs = level.index() + 1;
        let poly = |p: &Vec<_>| p[which * limbs..(which + 1) * limbs].to_vec();
        set.iter().map(poly).collect()
    };
    let add = OpKey::add(level, 2, 2);
    let mut sum = x;
    for set in [&first, &second] {
        for which in 0..3 {
            sum = b.apply(&add, &[&sum, &rotation(set, which)], 0);
        }
    }
    b.output(&sum);
    b.finish()
}

/// Hoisted rotations that need more key slots or memory slots than there are become sets of as many rotations as fit.
/// No limb spills, and every bit is that of the whole set.
#[test]
fn hoisted_rotations_that_do_not_fit_are_cut() {
    hoisted_rotations_are_cut(&[(8, true, 3)]);
}

#[test]
#[ignore = "stored keys and half rings, half a minute; `make full` runs it"]
fn hoisted_rotations_with_larger_keys_are_cut() {
    hoisted_rotations_are_cut(&[(8, false, 6), (7, true, 6)]);
}

/// Checks the cuts on some machines. `machines` has for each log2 of the native degree, whether key halves come from
/// seeds, and the key limbs of one rotation on an RPAU.
fn hoisted_rotations_are_cut(machines: &[(u8, bool, usize)]) {
    let parameters = params(8, 2, 1);
    for &(native, seeded, one) in machines {
        let program = hoisted(&parameters, seeded);
        let mut parts = Vec::new();
        let few = if native == 7 { 22 } else { 13 };
        let machines = [(one, few), (2 * one, few), (3 * one, few), (3 * one, 32)];
        // The whole set is tried only with the smallest keys.
        let machines = &machines[..if one == 3 { 4 } else { 2 }];
        for &(keys, slots) in machines {
            let mut d = description(native, 4, 4, native == 7);
            d.keys.slots = keys;
            d.memory[0].slots = slots - 5;
            let machine = RingMachine::new(d.clone()).unwrap();
            let report = machine.simulate(&program, strict()).unwrap();
            assert_eq!(
                report.own::<RingUse>().unwrap().spills.bytes
                    + report.own::<RingUse>().unwrap().spills.inside.bytes,
                0
            );
            assert_eq!(execute_program(&d, &program, false), report.cycles);
            parts.push((
                report.own::<RingUse>().unwrap().cuts.calls,
                report.own::<RingUse>().unwrap().cuts.parts,
            ));
        }
        assert_eq!(parts[0], (2, 6), "2^{native}: one at a time");
        // With key slots for two rotations the calls are cut into fewer parts.
        assert!(parts[1].1 < 6, "2^{native}: {parts:?}");
        if let Some(&whole) = parts.get(3) {
            assert_eq!(whole, (0, 0), "2^{native}");
        }
    }
}

/// A single rotation that needs more key limbs than key memory holds is refused, or loads them during the procedure if
/// spills are allowed.
#[test]
fn a_rotation_loads_keys_that_do_not_fit() {
    let parameters = params(8, 2, 1);
    for (native, seeded, needs) in [(8, true, 3), (8, false, 6), (7, true, 6)] {
        let program = hoisted(&parameters, seeded);
        for room in [1, needs - 1] {
            let mut d = description(native, 4, 4, false);
            d.keys.slots = room;
            let machine = RingMachine::new(d.clone()).unwrap();
            let refused = machine.simulate(&program, strict());
            assert!(matches!(
                refused,
                Err(MachineError::At { .. } | MachineError::KeyMemory { .. })
            ));
            let report = machine.simulate(&program, SimOptions::default()).unwrap();
            let moved = report.own::<RingUse>().unwrap().spills.inside;
            // Each of the six rotations loads the limbs that do not fit, on each of four RPAUs.
            assert_eq!(moved.key_loads, 6 * 4 * (needs - room) as u64, "{room}");
            assert_eq!(moved.loads + moved.stores, 0);
            assert!(report.own::<RingUse>().unwrap().keys.loaded >= moved.key_loads);
            // Here key memory starts empty, so every key limb that is read must have been loaded.
            execute_program(&d, &program, true);
        }
    }
}

/// The end-to-end time is the sum of its parts, less the time in which the link and the units work at once.
#[test]
fn times_add_up() {
    let parameters = params(8, 2, 1);
    let mut hidden = 0;
    for (native, slots, keys) in [(8, 13, 3), (8, 5, 18), (7, 7, 2)] {
        let mut d = with_slots(description(native, 4, 4, native == 7), slots);
        d.keys.slots = keys;
        for program in [chain(&parameters, 1), many_values(&parameters, 6)] {
            for resident_keys in [true, false] {
                let machine = RingMachine::new(d.clone()).unwrap();
                let mut events = Events::default();
                let options = SimOptions {
                    resident_keys,
                    trace: Some(&mut events),
                    ..SimOptions::default()
                };
                let report = match machine.simulate(&program, options) {
                    Ok(report) => report,
                    Err(MachineError::TooFewSlots { .. }) => continue,
                    Err(other) => panic!("{other}"),
                };
                let time = &report.end_to_end;
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.max(b);
                let parts = time.inputs_seconds
                    + time.keys_seconds
                    + time.programs_seconds
                    + time.compute_seconds
                    + time.spills_seconds
                    + time.outputs_seconds;
                assert!(near(time.seconds, parts - time.overlap_seconds));
                // The cycles and the transfers between calls give the same time.
                let (link, spills) = (&report.link, &report.own::<RingUse>().unwrap().spills);
                let between =
                    link.seconds_in + link.seconds_out + link.key_seconds + spills.seconds;
                let between = between + link.program_seconds;
                assert!(near(time.seconds, report.seconds + between), "{time:?}");
                assert!(time.compute_seconds <= report.seconds);
                assert!(time.overlap_seconds <= time.compute_seconds);
                let share = time.spills_seconds / time.seconds;
                assert!(near(spills.share, share) && (spills.cycles > 0) == (share > 0.0));
                assert!((0.0..=1.0).contains(&time.bound.share) && !time.bound.help.is_empty());
                assert_eq!(
                    time.resident_key_limbs > 0,
                    resident_keys && report.own::<RingUse>().unwrap().keys.needed > 0
                );
                // So does the trace, whose last event ends with the run. Its events begin and end at whole cycles.
                let end = events
                    .0
                    .iter()
                    .map(|(_, start, cycles)| start + cycles)
                    .max();
                let cycles = (time.seconds * d.clock_mhz * 1e6).round() as u64;
                assert!(
                    end.is_some_and(|end| end.abs_diff(cycles) <= 1),
                    "{end:?} {cycles}"
                );
                hidden += u64::from(time.overlap_seconds > 0.0);
            }
        }
    }
    assert!(hidden > 0, "nothing moved inside a procedure");
}

#[derive(Default)]
struct Events(Vec<(String, u64, u64)>);

impl TraceSink for Events {
    fn event(&mut self, lane: &str, _: &str, start: u64, cycles: u64, _: &Context<'_>) {
        self.0.push((lane.to_owned(), start, cycles));
    }

    fn memory(&mut self, _: &str, _: u64, _: u64) {}
}

#[test]
fn trace_lanes_never_overlap_and_end_with_the_program() {
    let params = params(8, 2, 1);
    let machine = RingMachine::new(description(7, 4, 4, false)).unwrap();
    let mut events = Events::default();
    let options = SimOptions {
        trace: Some(&mut events),
        ..SimOptions::default()
    };
    let report = machine.simulate(&chain(&params, 2), options).unwrap();
    events.0.sort();
    for pair in events.0.windows(2) {
        let ((a, start, cycles), (b, next, _)) = (&pair[0], &pair[1]);
        assert!(a != b || start + cycles <= *next, "{pair:?}");
    }
    let link = |lane: &str| -> u64 {
        let mine = events.0.iter().filter(|(l, _, _)| l == lane);
        mine.map(|(_, _, cycles)| cycles).sum()
    };
    let time = &report.end_to_end;
    let cycles = |seconds: f64| (seconds * report.clock_mhz * 1e6).round() as u64;
    // Each event begins and ends at the cycle that is nearest to its time.
    for (lane, seconds) in [
        ("link.programs", time.programs_seconds),
        ("link.inputs", time.inputs_seconds),
        ("link.outputs", time.outputs_seconds),
    ] {
        let events = events.0.iter().filter(|(l, _, _)| l == lane).count() as u64;
        assert!(
            events > 0 && link(lane).abs_diff(cycles(seconds)) <= events,
            "{lane}"
        );
    }
    assert_eq!(link("link.keys") + link("link.spills"), 0);
    assert_eq!(
        events.0.iter().map(|(_, s, c)| s + c).max(),
        Some(cycles(time.seconds))
    );
}

#[test]
fn micro_text_shows_every_procedure() {
    let params = params(8, 2, 1);
    let machine = RingMachine::new(description(8, 4, 4, false)).unwrap();
    let mut out = Vec::new();
    machine
        .micro_text(&chain(&params, 2), SimOptions::default(), &mut out)
        .unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.matches("\nstream c0.main").count(), 4);
    for word in ["NTT", "BCAST", "MAC", "WAIT", "END"] {
        assert!(text.contains(word), "{word}");
    }
}

#[test]
fn rings_beyond_what_a_machine_splits_are_refused() {
    let params = params(9, 1, 1);
    let machine = RingMachine::new(description(7, 4, 4, false)).unwrap();
    let error = machine
        .simulate(&chain(&params, 1), SimOptions::default())
        .unwrap_err();
    assert!(
        matches!(
            error,
            MachineError::RingDegree {
                native: 7,
                most: 8,
                got: 9
            }
        ),
        "{error}"
    );
}

#[test]
fn keys_beyond_the_key_memory_are_refused() {
    let params = params(8, 2, 1);
    let mut d = description(8, 4, 4, false);
    d.keys.slots = 2;
    let error = RingMachine::new(d)
        .unwrap()
        .simulate(&chain(&params, 1), strict())
        .unwrap_err();
    assert!(
        matches!(
            error,
            MachineError::KeyMemory {
                needs: 3,
                slots: 2,
                ..
            }
        ),
        "{error}"
    );
}
