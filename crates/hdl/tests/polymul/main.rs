//! `rm_polymul` against the golden transform, bit for bit, and against its cycle model, cycle for cycle.

mod bench;
mod lockstep;
mod mutants;
mod program;

use bench::{Bench, Code, Rng, Unit, hdl, place, top};
use lockstep::{OPS, every_operation, forms, golden, load_tables, lockstep};
use ringmill_machines::polymul::{ArrayOp, Shape, Tables, cycles, floor};
use ringmill_math::primes::is_prime;

/// Degrees and widths: the paper's six sets, the ends of its Table 1 as far as 32 bits go, and three words where it has two.
const SETS: [(usize, u32); 13] = [
    (256, 13),
    (256, 16),
    (256, 18),
    (256, 27),
    (512, 16),
    (512, 20),
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
    let mut rng = Rng::fresh();
    let mut bench = Bench::new(four());
    bench.stalls = Some(rng.clone());
    for (n, bits) in [(256, 16), (512, 30)] {
        let tables = load_tables(&mut bench, n, bits);
        every_operation(&mut bench, &mut rng, &tables);
    }
}

#[test]
fn streams_run_beside_the_array() {
    let mut rng = Rng::fresh();
    let mut bench = Bench::new(four());
    bench.stalls = Some(rng.clone());
    let tables = load_tables(&mut bench, 256, 16);
    let q = tables.modulus().value();
    let limb = |rng: &mut Rng| rng.limb(256, q);
    // Set 1 holds x, y; set 0 computes while y leaves and z comes to where x was.
    let (x, y, z) = (limb(&mut rng), limb(&mut rng), limb(&mut rng));
    for op in OPS {
        let (a_eval, b_eval, out_eval) = forms(op);
        let (a, b) = (limb(&mut rng), limb(&mut rng));
        bench.load(place(1, 0, false), &x);
        bench.load(place(1, 1, true), &y);
        bench.load(place(0, 0, a_eval), &a);
        bench.load(place(0, 1, b_eval.unwrap_or(false)), &b);
        let begin = bench.cycle();
        assert_eq!(bench.start(op, 0, 0), Code::Ok);
        let words: Vec<u32> = z.iter().map(|&v| v as u32).collect();
        bench.send(&words, true);
        assert_eq!(bench.start_load(place(1, 0, true)), Code::Ok);
        assert_eq!(bench.start_unload(place(1, 1, true)), Code::Ok);
        assert_eq!(bench.busy(), 0b111);
        let taken = bench.wait(Unit::Array) - begin;
        assert_eq!(taken, cycles(bench.shape, tables.degree(), op), "{op:?}");
        bench.wait(Unit::Load);
        bench.wait(Unit::Unload);
        let got: Vec<u64> = bench
            .output
            .pop_front()
            .unwrap()
            .into_iter()
            .map(u64::from)
            .collect();
        assert_eq!(got, y, "{op:?}");
        assert_eq!(bench.unload(place(1, 0, true)).1, z, "{op:?}");
        assert_eq!(
            bench.unload(place(0, 0, out_eval)).1,
            golden(&tables, op, &a, &b),
            "{op:?}"
        );
    }
}

#[test]
fn commands_out_of_place_are_refused() {
    refusals(&mut Bench::new(four()));
}

/// What the command interface refuses, on a machine fresh from reset.
fn refusals(bench: &mut Bench) {
    let mut rng = Rng::new(0xbad);
    let at = place(0, 0, false);
    assert_eq!(bench.start(ArrayOp::Ntt, 0, 0), Code::NoTables);
    assert_eq!(bench.start_load(at), Code::NoTables);
    assert_eq!(bench.start_unload(at), Code::NoTables);
    assert_eq!(bench.start_tables(7, false), Code::Unsupported);
    let beyond = bench.shape.max_log_n() + 1;
    assert_eq!(bench.start_tables(beyond, false), Code::Unsupported);
    assert_eq!(bench.busy(), 0);

    let tables = load_tables(bench, 256, 16);
    let a = rng.limb(256, tables.modulus().value());
    bench.load(at, &a);
    let begin = bench.cycle();
    assert_eq!(bench.start(ArrayOp::Ntt, 0, 0), Code::Ok);
    assert_eq!(bench.start_tables(8, false), Code::Busy);
    assert_eq!(bench.start_load(place(0, 1, false)), Code::Busy);
    assert_eq!(bench.start_unload(at), Code::Busy);
    // A refused array command counts issues anew; the one in flight goes on.
    assert_eq!(bench.start(ArrayOp::Ntt, 1, 0), Code::Busy);
    let taken = bench.wait(Unit::Array) - begin;
    assert_eq!(taken, cycles(bench.shape, tables.degree(), ArrayOp::Ntt));
    let want = golden(&tables, ArrayOp::Ntt, &a, &[]);
    assert_eq!(bench.unload(place(0, 0, true)).1, want);

    // Load and unload: not of one polynomial, each once, not under an array command.
    assert_eq!(bench.start_load(at), Code::Ok);
    assert_eq!(bench.start_load(place(1, 0, false)), Code::Busy);
    assert_eq!(bench.start_unload(at), Code::Busy);
    assert_eq!(bench.start(ArrayOp::Ntt, 0, 1), Code::Busy);
    assert_eq!(bench.start_tables(8, false), Code::Busy);
    let words: Vec<u32> = a.iter().map(|&v| v as u32).collect();
    bench.send(&words, true);
    bench.wait(Unit::Load);
    lockstep(bench, &tables, ArrayOp::Fpm, &a, &a, 0);
}

#[test]
fn bad_streams_end_with_an_error_and_leave_no_mark() {
    bad_streams(&mut Bench::new(four()));
}

/// Streams of the wrong length or content.
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
        bench.send(stream, true);
        assert_eq!(bench.start_load(at), Code::Ok);
        bench.wait(Unit::Load);
        assert_eq!(bench.load_code, code);
        lockstep(bench, &tables, ArrayOp::Hpm, &a, &a, 1);
    }

    let good = tables.words(bench.shape);
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
        (with(0, modulus + (1 << 18)), Code::BadModulus),
        (with(1, modulus), Code::NotReduced),
        (with(200, modulus), Code::NotReduced),
    ] {
        bench.send(&stream, true);
        assert_eq!(bench.start_tables(8, false), Code::Ok);
        bench.wait(Unit::Load);
        assert_eq!(bench.load_code, code);
        assert_eq!(bench.start(ArrayOp::Ntt, 0, 0), Code::NoTables);
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

/// Other shapes and the largest degree; minutes.
#[test]
#[ignore = "make full"]
fn other_shapes() {
    let mut rng = Rng::fresh();
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
        let tables = Tables::new(bench.shape, n, q).unwrap();
        assert_eq!(bench.tables(&tables).1, Code::Ok);
        every_operation(&mut bench, &mut rng, &tables);
    }
}
