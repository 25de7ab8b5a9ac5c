//! `rm_polymul` against the golden transform, bit for bit, and against its cycle model, cycle for cycle.

mod bench;
mod lockstep;
mod mutants;
mod program;

use std::sync::Arc;

use bench::{Bench, Rng, fresh, hdl, place};
use lockstep::{every_operation, load_tables};
use ringmill_hdl::Top;
use ringmill_hdl::polymul::{Code, DriveError, Unit, lockstep, top};
use ringmill_machines::polymul::{ArrayOp, PolymulError, Shape, Tables, cycles, floor, golden};
use ringmill_math::primes::is_prime;

/// Degrees and widths: the paper's six sets, the ends of its Table 1 as far as 32 bits go, and wider where it has narrow.
const SETS: [(usize, u32); 15] = [
    (256, 13),
    (256, 16),
    (256, 18),
    (256, 27),
    (256, 32),
    (512, 16),
    (512, 20),
    (512, 32),
    (1024, 16),
    (1024, 22),
    (1024, 23),
    (1024, 32),
    (2048, 25),
    (2048, 32),
    (4096, 32),
];

/// The paper's Table 2: set, then NTT, INTT, HPM, FPM.
const TABLE2: [((usize, u32), [u64; 4]); 6] = [
    ((256, 16), [104, 121, 259, 299]),
    ((512, 16), [153, 178, 381, 469]),
    ((1024, 16), [250, 291, 623, 815]),
    ((1024, 32), [250, 291, 623, 815]),
    ((2048, 32), [451, 524, 1121, 1537]),
    ((4096, 32), [876, 1013, 2163, 3059]),
];

fn four() -> Shape {
    Shape::new(4, 12, 4).unwrap()
}

fn thirty_two() -> Shape {
    Shape::new(32, 12, 4).unwrap()
}

#[test]
fn four_units_every_set() {
    let mut rng = Rng::new(0x0401);
    let mut bench = Bench::new(four());
    for (n, bits) in SETS {
        let tables = load_tables(&mut bench, n, bits);
        every_operation(&mut bench, &mut rng, &tables);
    }
}

#[test]
fn thirty_two_units_every_set() {
    let mut rng = Rng::new(0x3201);
    let mut bench = Bench::new(thirty_two());
    for (n, bits) in TABLE2.map(|row| row.0) {
        let tables = load_tables(&mut bench, n, bits);
        every_operation(&mut bench, &mut rng, &tables);
    }
}

#[test]
fn no_cell_of_table_2_is_worse() {
    let shape = thirty_two();
    for ((n, _), paper) in TABLE2 {
        let degree = shape.degree(n).unwrap();
        let ops = [ArrayOp::Ntt, ArrayOp::Intt, ArrayOp::Hpm, ArrayOp::Fpm];
        for (op, paper) in ops.into_iter().zip(paper) {
            let ours = cycles(shape, degree, op);
            assert!(ours <= paper, "{op:?} n {n}: {ours}, paper {paper}");
        }
        let (full, least) = (
            cycles(shape, degree, ArrayOp::Fpm),
            floor(shape, degree, ArrayOp::Fpm),
        );
        let percent = if n >= 2048 { 115 } else { 125 };
        assert!(
            n < 1024 || 100 * full <= percent * least,
            "{full} over {least}"
        );
    }
}

#[test]
fn streams_may_stall() {
    let mut rng = fresh();
    let mut bench = Bench::new(four());
    bench.driver_mut().stall(Some(rng.clone()));
    for (n, bits) in [(256, 16), (512, 30)] {
        let tables = load_tables(&mut bench, n, bits);
        every_operation(&mut bench, &mut rng, &tables);
    }
}

#[test]
fn streams_run_beside_the_array() {
    let mut rng = fresh();
    let mut bench = Bench::new(four());
    bench.driver_mut().stall(Some(rng.clone()));
    let tables = load_tables(&mut bench, 256, 16);
    let q = tables.modulus().value();
    let limb = |rng: &mut Rng| rng.limb(256, q);
    // Set 1 holds x, y; set 0 computes while y leaves and z comes to where x was.
    let (x, y, z) = (limb(&mut rng), limb(&mut rng), limb(&mut rng));
    for op in ArrayOp::ALL {
        let forms = op.forms();
        let (a, b) = (limb(&mut rng), limb(&mut rng));
        bench.load(place(1, 0, false), &x).unwrap();
        bench.load(place(1, 1, true), &y).unwrap();
        bench.load(place(0, 0, forms.a), &a).unwrap();
        bench.load(place(0, 1, forms.b == Some(true)), &b).unwrap();
        let begin = bench.driver().cycle();
        bench.start(op, 0, 0).unwrap();
        bench.start_load(place(1, 0, true), &z).unwrap();
        bench.start_unload(place(1, 1, true)).unwrap();
        assert_eq!(bench.driver().busy().unwrap(), 0b111);
        let taken = bench.wait(Unit::Array).unwrap() - begin;
        assert_eq!(taken, cycles(bench.shape(), tables.degree(), op), "{op:?}");
        bench.wait(Unit::Load).unwrap();
        bench.wait(Unit::Unload).unwrap();
        assert_eq!(bench.take_limb().unwrap(), y, "{op:?}");
        assert_eq!(bench.unload(place(1, 0, true)).unwrap().1, z, "{op:?}");
        assert_eq!(
            bench.unload(place(0, 0, forms.out)).unwrap().1,
            golden(&tables, op, &a, &b).unwrap(),
            "{op:?}"
        );
    }
}

#[test]
fn commands_out_of_place_are_refused() {
    refusals(&mut Bench::new(four()));
}

/// What the hardware's command interface refuses, on a machine fresh from reset.
fn refusals(bench: &mut Bench) {
    let mut rng = Rng::new(0xbad);
    let at = place(0, 0, false);
    let beyond = bench.shape().max_log_n() + 1;
    let pins = bench.driver_mut();
    assert_eq!(pins.start(ArrayOp::Ntt, 0, 0).unwrap(), Code::NoTables);
    assert_eq!(pins.start_load(at).unwrap(), Code::NoTables);
    assert_eq!(pins.start_unload(at).unwrap(), Code::NoTables);
    assert_eq!(pins.start_tables(7).unwrap(), Code::Unsupported);
    assert_eq!(pins.start_tables(beyond).unwrap(), Code::Unsupported);
    assert_eq!(pins.busy().unwrap(), 0);

    let tables = load_tables(bench, 256, 16);
    let a = rng.limb(256, tables.modulus().value());
    bench.load(at, &a).unwrap();
    let begin = bench.driver().cycle();
    let pins = bench.driver_mut();
    assert_eq!(pins.start(ArrayOp::Ntt, 0, 0).unwrap(), Code::Ok);
    assert_eq!(pins.start_tables(8).unwrap(), Code::Busy);
    assert_eq!(pins.start_load(place(0, 1, false)).unwrap(), Code::Busy);
    assert_eq!(pins.start_unload(at).unwrap(), Code::Busy);
    // A refused array command counts issues anew; the one in flight goes on.
    assert_eq!(pins.start(ArrayOp::Ntt, 1, 0).unwrap(), Code::Busy);
    let taken = bench.wait(Unit::Array).unwrap() - begin;
    assert_eq!(taken, cycles(bench.shape(), tables.degree(), ArrayOp::Ntt));
    let want = golden(&tables, ArrayOp::Ntt, &a, &[]).unwrap();
    assert_eq!(bench.unload(place(0, 0, true)).unwrap().1, want);

    // Load and unload: not of one polynomial, each once, not under an array command.
    let words: Vec<u32> = a.iter().map(|&v| v as u32).collect();
    let pins = bench.driver_mut();
    assert_eq!(pins.start_load(at).unwrap(), Code::Ok);
    assert_eq!(pins.start_load(place(1, 0, false)).unwrap(), Code::Busy);
    assert_eq!(pins.start_unload(at).unwrap(), Code::Busy);
    assert_eq!(pins.start(ArrayOp::Ntt, 0, 1).unwrap(), Code::Busy);
    assert_eq!(pins.start_tables(8).unwrap(), Code::Busy);
    pins.send(&words, true);
    bench.wait(Unit::Load).unwrap();
    lockstep(bench, ArrayOp::Fpm, &a, &a, 0).unwrap();
}

/// The same, refused by the host with a reason; the hardware sees none of it.
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
    // Tables of a larger machine.
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
    // One tick: that of the command which was sent.
    assert_eq!(bench.driver().cycle(), before + 1);
    // The other set is free for the streams, each polynomial for one of them.
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
    bench.start_unload(place(1, 1, false)).unwrap();
    for unit in Unit::ALL {
        bench.wait(unit).unwrap();
    }
    bench.take_limb().unwrap();
    let want = golden(&tables, ArrayOp::Ntt, &a, &[]).unwrap();
    assert_eq!(bench.unload(place(0, 0, true)).unwrap().1, want);

    // Tables that came past the host are not the host's.
    let words = tables.words(bench.shape());
    bench.driver_mut().send(&words, true);
    assert_eq!(bench.driver_mut().start_tables(8).unwrap(), Code::Ok);
    bench.wait(Unit::Load).unwrap();
    assert_eq!(bench.tables().err(), Some(PolymulError::NoTables));
}

#[test]
fn bad_streams_end_with_an_error_and_leave_no_mark() {
    bad_streams(&mut Bench::new(four()));
}

/// Streams of the wrong length or content; the machine goes on without reset.
fn bad_streams(bench: &mut Bench) {
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
        assert_eq!(bench.driver_mut().start_load(at).unwrap(), Code::Ok);
        let ended = bench.wait(Unit::Load);
        assert!(
            matches!(ended, Err(DriveError::Stream { code: got, .. }) if got == code),
            "{ended:?}, not {code:?}"
        );
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
        (with(1, modulus), Code::NotReduced),
        (with(200, modulus), Code::NotReduced),
    ] {
        let pins = bench.driver_mut();
        pins.send(&stream, true);
        assert_eq!(pins.start_tables(8).unwrap(), Code::Ok);
        pins.wait(Unit::Load).unwrap();
        assert_eq!(pins.load_code(), code);
        assert_eq!(pins.start(ArrayOp::Ntt, 0, 0).unwrap(), Code::NoTables);
        // The host knows too.
        assert!(bench.tables().is_err());
    }
    let tables = load_tables(bench, 512, 20);
    every_operation(bench, &mut rng, &tables);
}

#[test]
fn lint_is_clean() {
    let hdl = hdl();
    for shape in [four(), thirty_two(), Shape::new(64, 16, 8).unwrap()] {
        hdl.lint(&top(shape)).unwrap();
    }
}

/// Seven DSP blocks a unit, and nothing that is no look-up table, register or memory: no latch.
#[test]
fn yosys_accepts() {
    let shape = Shape::new(4, 9, 4).unwrap();
    let got = hdl().synthesise(&top(shape)).unwrap().resources;
    println!("{got:?}");
    assert_eq!(got.dsp, 7 * 4);
    assert!(got.other.is_empty(), "{got:?}");
}

/// A unit keeps what the area of the whole rests on: sums and registers of the reduction lie inside its DSP blocks.
#[test]
fn a_unit_is_small() {
    let unit = hdl().synthesise(&Top::new("rm_polymul_pu")).unwrap();
    let got = unit.resources;
    println!("{got:?}");
    assert_eq!((got.dsp, got.bram18), (7, 5));
    assert!(got.lut + got.lut_memory <= 850, "{got:?}");
    assert!(got.ff <= 330, "{got:?}");
}

/// The paper's configuration in the paper's resources, block for block.
#[test]
#[ignore = "minutes of synthesis; `make full` runs it"]
fn the_whole_takes_no_more_than_the_paper() {
    let got = hdl().synthesise(&top(thirty_two())).unwrap().resources;
    println!("{got:?}");
    assert_eq!(got.dsp, 224);
    assert!(got.lut + got.lut_memory <= 39_600, "{got:?}");
    assert!(got.ff <= 21_100, "{got:?}");
    assert!(got.bram18 <= 2 * 96, "{got:?}");
    assert!(got.other.is_empty(), "{got:?}");
}

/// Other shapes and the largest degree; minutes.
#[test]
#[ignore = "a model for each shape up to n = 65536, minutes; `make full` runs it"]
fn other_shapes() {
    let mut rng = fresh();
    for (units, max_log_n, beat, sets) in [
        (8, 10, 2, &[(256, 16), (1024, 32)][..]),
        (16, 10, 8, &[(256, 16), (1024, 32)][..]),
        (64, 10, 16, &[(256, 16), (512, 20), (1024, 32)][..]),
        (32, 16, 4, &[(256, 16), (65536, 32)][..]),
    ] {
        let mut bench = Bench::new(Shape::new(units, max_log_n, beat).unwrap());
        for &(n, bits) in sets {
            let tables = load_tables(&mut bench, n, bits);
            every_operation(&mut bench, &mut rng, &tables);
        }
    }
}

/// The smallest primes of each degree, where q_H has a few bits only.
#[test]
fn smallest_moduli() {
    let mut rng = Rng::new(0x51);
    let mut bench = Bench::new(four());
    for n in [256, 512, 1024, 2048] {
        let q = (1u64..)
            .map(|k| 2 * k * n as u64 + 1)
            .find(|&q| is_prime(q))
            .unwrap();
        let tables = Arc::new(Tables::new(bench.shape(), n, q).unwrap());
        bench.load_tables(&tables).unwrap();
        every_operation(&mut bench, &mut rng, &tables);
    }
}
