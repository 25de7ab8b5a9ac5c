// SPDX-License-Identifier: Apache-2.0
//! Tests of what the multiplier's RTL refuses, what its driver refuses before, and how both go on after bad streams.

use std::sync::Arc;

use ringmill_hdl::polymul::{Code, DriveError, Op, Request, Unit, lockstep};
use ringmill_machines::polymul::{ArrayOp, PolymulError, Shape, Tables, cycles, golden};

use crate::polymul::bench::{Bench, Rng, place};
use crate::polymul::four;
use crate::polymul::lockstep::{every_operation, load_tables};

#[test]
fn commands_out_of_place_are_refused() {
    refusals(&mut Bench::new(four()));
}

/// Checks what the RTL's command interface refuses, on a machine fresh from reset.
pub fn refusals(bench: &mut Bench) {
    let mut rng = Rng::new(0xbad);
    let at = place(0, 0, false);
    let beyond = bench.shape().max_log_n() + 1;
    let pins = bench.driver_mut();
    assert_eq!(pins.start(ArrayOp::Ntt, 0, 0).unwrap(), Code::NoTables);
    assert_eq!(pins.start_load(at, 0).unwrap(), Code::NoTables);
    assert_eq!(pins.start_load(at, 1).unwrap(), Code::NoTables);
    assert_eq!(pins.start_unload(at).unwrap(), Code::NoTables);
    assert_eq!(pins.start_tables(0, 7).unwrap(), Code::Unsupported);
    assert_eq!(pins.start_tables(1, beyond).unwrap(), Code::Unsupported);
    assert_eq!(pins.abort().unwrap(), Code::Idle);
    for number in 11..16 {
        let nothing = Request {
            op: Op::Abort,
            at,
            slot: 0,
            log_n: 8,
        };
        pins.post_number(number, nothing).unwrap();
        pins.tick().unwrap();
        assert_eq!(pins.answer().unwrap(), Some(Code::BadOp));
    }
    assert_eq!(pins.busy().unwrap(), 0);

    let tables = load_tables(bench, 256, 16);
    let a = rng.limb(256, tables.modulus().value());
    // Only tables are loaded, and no polynomials.
    let pins = bench.driver_mut();
    assert_eq!(pins.start(ArrayOp::Ntt, 0, 0).unwrap(), Code::NoData);
    assert_eq!(pins.start_unload(at).unwrap(), Code::NoData);
    bench.load(at, &a).unwrap();
    let begin = bench.driver().cycle();
    let pins = bench.driver_mut();
    assert_eq!(pins.start(ArrayOp::Mul, 0, 0).unwrap(), Code::NoData);
    assert_eq!(pins.start(ArrayOp::Ntt, 0, 1).unwrap(), Code::NoData);
    let late = bench.driver().cycle() - begin;
    let pins = bench.driver_mut();
    assert_eq!(pins.start(ArrayOp::Ntt, 0, 0).unwrap(), Code::Ok);
    assert_eq!(pins.start_tables(0, 8).unwrap(), Code::Busy);
    assert_eq!(pins.start_load(place(0, 1, false), 0).unwrap(), Code::Busy);
    assert_eq!(pins.start_unload(at).unwrap(), Code::Busy);
    // A refused array command must not disturb the one under way.
    assert_eq!(pins.start(ArrayOp::Ntt, 1, 0).unwrap(), Code::Busy);
    let taken = bench.wait(Unit::Array).unwrap() - begin - late;
    assert_eq!(taken, cycles(bench.shape(), tables.degree(), ArrayOp::Ntt));
    let want = golden(&tables, ArrayOp::Ntt, &a, &[]).unwrap();
    assert_eq!(bench.unload(place(0, 0, true)).unwrap().1, want);

    // During a load, refused are a second load, an unload of the same polynomial, an array command on its set, and new
    // tables.
    let words: Vec<u32> = a.iter().map(|&v| v as u32).collect();
    let pins = bench.driver_mut();
    assert_eq!(pins.start_load(at, 0).unwrap(), Code::Ok);
    assert_eq!(pins.start_load(place(1, 0, false), 0).unwrap(), Code::Busy);
    assert_eq!(pins.start_unload(at).unwrap(), Code::Busy);
    assert_eq!(pins.start(ArrayOp::Ntt, 0, 1).unwrap(), Code::Busy);
    assert_eq!(pins.start_tables(0, 8).unwrap(), Code::Busy);
    assert_eq!(pins.start_tables(1, 8).unwrap(), Code::Busy);
    pins.send(&words, true);
    bench.wait(Unit::Load).unwrap();
    lockstep(bench, ArrayOp::Fpm, &a, &a, 0).unwrap();
    // A full product overwrites its second operand.
    let pins = bench.driver_mut();
    assert_eq!(pins.start_unload(place(0, 1, false)).unwrap(), Code::NoData);
    assert_eq!(pins.start(ArrayOp::Mul, 0, 0).unwrap(), Code::NoData);
    // A half product keeps its second operand.
    lockstep(bench, ArrayOp::Hpm, &a, &a, 0).unwrap();
    assert_eq!(bench.unload(place(0, 1, true)).unwrap().1, a);
    // A command for new tables makes the polynomials of its slot invalid at once.
    let (pins, beats) = (bench.driver_mut(), tables.words(four()));
    assert_eq!(pins.start_tables(0, 8).unwrap(), Code::Ok);
    assert_eq!(pins.start(ArrayOp::Ntt, 0, 0).unwrap(), Code::NoTables);
    assert_eq!(pins.start_unload(at).unwrap(), Code::NoTables);
    pins.send(&beats, true);
    bench.wait(Unit::Load).unwrap();
    load_tables(bench, 512, 20);
    let pins = bench.driver_mut();
    assert_eq!(pins.start_unload(at).unwrap(), Code::NoData);
    assert_eq!(pins.start(ArrayOp::Add, 0, 0).unwrap(), Code::NoData);
}

/// Tables of one slot load while the array works with those of the other slot. Operations on polynomials of different
/// slots are refused.
#[test]
fn slots_are_apart() {
    slots(&mut Bench::new(four()));
}

pub fn slots(bench: &mut Bench) {
    let mut rng = Rng::new(0x5107);
    let first = load_tables(bench, 512, 20);
    let (p, n) = (first.modulus().value(), 512);
    let (a, b) = (rng.limb(n, p), rng.limb(n, p));
    bench.load(place(0, 0, false), &a).unwrap();
    bench.load(place(0, 1, false), &b).unwrap();
    bench.start(ArrayOp::Fpm, 0, 0).unwrap();
    assert_eq!(bench.driver_mut().start_tables(0, 8).unwrap(), Code::Busy);
    bench.select(1).unwrap();
    let second = load_tables(bench, 256, 16);
    assert_eq!(bench.driver().busy().unwrap(), 0b001, "the array goes on");
    let c = rng.limb(256, second.modulus().value());
    bench.load(place(1, 0, false), &c).unwrap();
    bench.wait(Unit::Array).unwrap();
    let want = golden(&first, ArrayOp::Fpm, &a, &b).unwrap();
    assert_eq!(bench.unload(place(0, 0, false)).unwrap().1, want);
    // A limb of each slot is right after a load under the other slot's tables.
    let taken = bench.run(ArrayOp::Ntt, 0, 0).unwrap();
    assert_eq!(taken, cycles(bench.shape(), first.degree(), ArrayOp::Ntt));
    let want = golden(&first, ArrayOp::Ntt, &want, &[]).unwrap();
    assert_eq!(bench.unload(place(0, 0, true)).unwrap().1, want);
    bench.start(ArrayOp::Ntt, 1, 0).unwrap();
    let pins = bench.driver_mut();
    assert_eq!(pins.start_load(place(1, 1, false), 0).unwrap(), Code::Busy);
    assert_eq!(pins.start_unload(place(1, 0, false)).unwrap(), Code::Busy);
    bench.wait(Unit::Array).unwrap();
    let want = golden(&second, ArrayOp::Ntt, &c, &[]).unwrap();
    assert_eq!(bench.unload(place(1, 0, true)).unwrap().1, want);
    bench.load(place(0, 1, false), &c).unwrap();
    let pins = bench.driver_mut();
    assert_eq!(pins.start(ArrayOp::Sub, 0, 0).unwrap(), Code::Mixed);
    assert_eq!(pins.start(ArrayOp::Ntt, 0, 1).unwrap(), Code::Ok);
    assert_eq!(pins.start_tables(1, 8).unwrap(), Code::Busy);
    bench.wait(Unit::Array).unwrap();
    // A load into one set leaves the other set as it is.
    let d = rng.limb(256, second.modulus().value());
    bench.load(place(0, 0, false), &c).unwrap();
    bench.load(place(1, 0, false), &d).unwrap();
    assert_eq!(bench.unload(place(0, 0, false)).unwrap().1, c);
    every_operation(bench, &mut rng, &second);
    bench.select(0).unwrap();
    every_operation(bench, &mut rng, &first);
}

/// An abort ends a load whose stream stops without its end, and the machine goes on.
#[test]
fn a_cut_stream_is_aborted() {
    aborts(&mut Bench::new(four()));
}

pub fn aborts(bench: &mut Bench) {
    let mut rng = Rng::new(0xab);
    let tables = load_tables(bench, 256, 16);
    let a = rng.limb(256, tables.modulus().value());
    let words: Vec<u32> = a.iter().map(|&v| v as u32).collect();
    let at = place(0, 0, false);
    bench.load(at, &a).unwrap();
    // The stream stops within, before its first beat, or beyond its right length, where the machine drops its beats.
    let long = [&words[..], &words[..8]].concat();
    for cut in [&words[..100], &[], &long[..]] {
        let pins = bench.driver_mut();
        pins.send(cut, false);
        assert_eq!(pins.start_load(at, 0).unwrap(), Code::Ok);
        for _ in 0..100 {
            pins.tick().unwrap();
        }
        assert_eq!(pins.abort().unwrap(), Code::Ok);
        let ended = bench.wait(Unit::Load);
        assert!(
            matches!(
                ended,
                Err(DriveError::Stream {
                    code: Code::Aborted,
                    ..
                })
            ),
            "{ended:?}"
        );
        let pins = bench.driver_mut();
        assert_eq!(pins.abort().unwrap(), Code::Idle);
        assert_eq!(pins.start_unload(at).unwrap(), Code::NoData);
        lockstep(bench, ArrayOp::Hpm, &a, &a, 0).unwrap();
    }
    let stream = tables.words(bench.shape());
    for length in [0, 4, 8, 100] {
        let pins = bench.driver_mut();
        pins.send(&stream[..length], false);
        assert_eq!(pins.start_tables(0, 8).unwrap(), Code::Ok);
        for _ in 0..200 {
            pins.tick().unwrap();
        }
        assert_eq!(pins.abort().unwrap(), Code::Ok);
        pins.wait(Unit::Load).unwrap();
        assert_eq!(pins.load_code(), Code::Aborted);
        assert_eq!(pins.start_load(at, 0).unwrap(), Code::NoTables);
        // A whole stream after that is taken.
        load_tables(bench, 256, 16);
        lockstep(bench, ArrayOp::Fpm, &a, &a, 1).unwrap();
    }
}

/// The driver refuses wrong commands with a reason, before the hardware sees them.
#[test]
fn the_host_refuses_before_the_hardware() {
    use DriveError::{Busy, Place, Refused};
    let mut rng = Rng::new(0x05);
    let mut bench = Bench::new(four());
    let at = place(0, 0, false);
    let none = [
        bench.start(ArrayOp::Ntt, 0, 0),
        bench.start_load(at, &[0; 256]),
        bench.start_unload(at),
    ];
    for refused in none {
        assert!(
            matches!(refused, Err(Refused(PolymulError::NoTables))),
            "{refused:?}"
        );
    }
    // Tables for a machine of larger degree.
    let large = Shape::new(4, 13, 4).unwrap();
    let tables = Arc::new(Tables::new(large, 8192, 65537).unwrap());
    let refused = bench.start_tables(&tables);
    assert!(matches!(
        refused,
        Err(Refused(PolymulError::Degree { got: 8192, .. }))
    ));

    let tables = load_tables(&mut bench, 256, 16);
    let q = tables.modulus().value();
    let a = rng.limb(256, q);
    for length in [0, 1, 252, 255, 257, 260, 512] {
        let limb = vec![1; length];
        let refused = bench.start_load(at, &limb);
        assert!(
            matches!(refused, Err(Refused(PolymulError::Length { expected: 256, got })) if got == length),
            "{refused:?}"
        );
    }
    let mut high = a.clone();
    high[77] = q;
    let refused = bench.start_load(at, &high);
    assert!(matches!(
        refused,
        Err(Refused(PolymulError::NotReduced { at: 77, .. }))
    ));
    assert!(matches!(
        bench.start_load(place(2, 0, false), &a),
        Err(Place { set: 2, buf: 0 })
    ));
    assert!(matches!(
        bench.start(ArrayOp::Mul, 0, 2),
        Err(Place { set: 0, buf: 2 })
    ));

    bench.load(at, &a).unwrap();
    let before = bench.driver().cycle();
    assert!(bench.start(ArrayOp::Ntt, 0, 0).is_ok());
    let again = Arc::clone(&tables);
    for refused in [
        bench.start_tables(&again),
        bench.start_load(place(0, 1, false), &a),
        bench.start_unload(at),
        bench.start(ArrayOp::Ntt, 1, 0),
    ] {
        assert!(
            matches!(
                refused,
                Err(Busy {
                    unit: Unit::Array,
                    ..
                })
            ),
            "{refused:?}"
        );
    }
    // The only command that was sent took two cycles.
    assert_eq!(bench.driver().cycle(), before + 2);
    // The other set is free for streams, and each of its polynomials for one stream.
    bench.start_load(place(1, 0, false), &a).unwrap();
    for refused in [
        bench.start_load(place(1, 1, false), &a),
        bench.start_unload(place(1, 0, false)),
    ] {
        assert!(
            matches!(
                refused,
                Err(Busy {
                    unit: Unit::Load,
                    ..
                })
            ),
            "{refused:?}"
        );
    }
    let empty = bench.start_unload(place(1, 1, false));
    assert!(matches!(
        empty,
        Err(Refused(PolymulError::NoData { set: 1, buf: 1 }))
    ));
    for unit in [Unit::Array, Unit::Load] {
        bench.wait(unit).unwrap();
    }
    assert!(bench.select(2).is_err());
    // Two limbs under different tables are not operands of one command.
    bench.select(1).unwrap();
    let other = load_tables(&mut bench, 512, 20);
    bench
        .load(place(1, 1, false), &rng.limb(512, other.modulus().value()))
        .unwrap();
    let mixed = bench.start(ArrayOp::Add, 1, 0);
    assert!(matches!(
        mixed,
        Err(Refused(PolymulError::Mixed { set: 1 }))
    ));
    bench.select(0).unwrap();
    let want = golden(&tables, ArrayOp::Ntt, &a, &[]).unwrap();
    assert_eq!(bench.unload(place(0, 0, true)).unwrap().1, want);

    // The driver does not know tables that were loaded without it.
    let words = tables.words(bench.shape());
    bench.driver_mut().send(&words, true);
    assert_eq!(bench.driver_mut().start_tables(0, 8).unwrap(), Code::Ok);
    bench.wait(Unit::Load).unwrap();
    assert_eq!(bench.tables().err(), Some(PolymulError::NoTables));
}

#[test]
pub fn bad_streams_end_with_an_error_and_leave_no_mark() {
    bad_streams(&mut Bench::new(four()));
}

/// Checks that streams of wrong length or content are refused, and that the machine goes on without a reset.
pub fn bad_streams(bench: &mut Bench) {
    let mut rng = Rng::new(0x57);
    let tables = load_tables(bench, 256, 16);
    let q = tables.modulus().value();
    let a = rng.limb(256, q);
    let words: Vec<u32> = a.iter().map(|&v| v as u32).collect();
    let mut long = words.clone();
    long.extend([0; 12]);
    let mut high = words.clone();
    high[77] = q as u32;
    let at = place(1, 0, false);
    for (stream, code) in [
        (&words[..252], Code::TooShort),
        (&words[..4], Code::TooShort),
        (&long[..], Code::TooLong),
        (&long[..260], Code::TooLong),
        (&high[..], Code::NotReduced),
    ] {
        bench.driver_mut().send(stream, true);
        assert_eq!(bench.driver_mut().start_load(at, 0).unwrap(), Code::Ok);
        let ended = bench.wait(Unit::Load);
        assert!(
            matches!(ended, Err(DriveError::Stream { code: got, .. }) if got == code),
            "{ended:?}, not {code:?}"
        );
        // The failed load leaves no polynomial.
        let pins = bench.driver_mut();
        assert_eq!(pins.start_unload(at).unwrap(), Code::NoData);
        assert_eq!(pins.start(ArrayOp::Ntt, 1, 0).unwrap(), Code::NoData);
        assert_eq!(pins.start(ArrayOp::Add, 1, 0).unwrap(), Code::NoData);
        lockstep(bench, ArrayOp::Hpm, &a, &a, 1).unwrap();
    }

    let good = tables.words(bench.shape());
    let with = |at: usize, value: u32| {
        let mut words = good.clone();
        words[at] = value;
        words
    };
    let mut long = good.clone();
    long.extend([0; 4]);
    let modulus = q as u32;
    for (stream, code) in [
        (good[..4].to_vec(), Code::TooShort),
        (good[..256].to_vec(), Code::TooShort),
        (long, Code::TooLong),
        (with(0, modulus - 1), Code::BadModulus),
        (with(0, modulus + 256), Code::BadModulus),
        (with(0, 1), Code::BadModulus),
        (with(4, modulus), Code::NotReduced),
        (with(5, modulus), Code::NotReduced),
        // Of several faults a wrong length is told first, then a wrong modulus.
        (with(0, modulus - 1)[..200].to_vec(), Code::TooShort),
        (with(200, modulus), Code::NotReduced),
    ] {
        let pins = bench.driver_mut();
        pins.send(&stream, true);
        assert_eq!(pins.start_tables(0, 8).unwrap(), Code::Ok);
        pins.wait(Unit::Load).unwrap();
        assert_eq!(pins.load_code(), code);
        assert_eq!(pins.start(ArrayOp::Ntt, 0, 0).unwrap(), Code::NoTables);
        // The driver knows, too, that there are no tables.
        assert!(bench.tables().is_err());
    }
    let tables = load_tables(bench, 512, 20);
    every_operation(bench, &mut rng, &tables);
}
