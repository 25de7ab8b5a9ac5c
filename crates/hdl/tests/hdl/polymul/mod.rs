// SPDX-License-Identifier: Apache-2.0
//! Tests of the polynomial multiplier, `rm_polymul`: results must be those of the golden model, bit for bit, and cycles
//! those of the cycle model.

mod bench;
pub mod faults;
mod lockstep;
mod program;
mod refusals;
mod resident;
mod rule;

use std::sync::Arc;

use bench::{Bench, Rng, fresh, hdl, place};
use lockstep::{every_operation, load_tables};
use ringmill_hdl::polymul::{Unit, top};
use ringmill_hdl::{BuildOptions, Family, Top};
use ringmill_machines::polymul::{ArrayOp, Shape, Tables, cycles, floor, golden};
use ringmill_math::primes::is_prime;

/// Degrees, and bits of the modulus: the paper's six sets, the ends of its Table 1 up to 32 bits, and wider moduli for
/// degrees where the paper's are narrow.
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

/// The paper's Table 2: degree and bits of the modulus, then the cycles of NTT, INTT, half and full polynomial
/// multiplication.
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
#[ignore = "the paper's size, half a minute; `make full` runs it"]
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
    stalls(&mut Bench::new(four()));
}

fn stalls(bench: &mut Bench) {
    let mut rng = fresh();
    bench.driver_mut().stall(Some(rng.clone()));
    for (n, bits) in [(256, 16), (512, 30)] {
        let tables = load_tables(bench, n, bits);
        every_operation(bench, &mut rng, &tables);
    }
}

#[test]
fn streams_run_beside_the_array() {
    beside(&mut Bench::new(four()));
}

fn beside(bench: &mut Bench) {
    let mut rng = fresh();
    bench.driver_mut().stall(Some(rng.clone()));
    let tables = load_tables(bench, 256, 16);
    let q = tables.modulus().value();
    let limb = |rng: &mut Rng| rng.limb(256, q);
    // Set 1 holds x and y. While set 0 computes, y is unloaded and z is loaded over x.
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
fn lint_is_clean() {
    let hdl = hdl();
    for shape in [four(), thirty_two(), Shape::new(64, 16, 8).unwrap()] {
        hdl.lint(&top(shape)).unwrap();
    }
}

/// Parameters outside the machine's ranges fail at elaboration, with a message that names the range.
#[test]
fn parameters_out_of_range_do_not_elaborate() {
    do_not_elaborate(&[
        ([6, 12, 4], "Units must be"),
        ([32, 17, 4], "MaxLogN must be"),
        ([4, 12, 8], "Beat must be"),
    ]);
}

#[test]
#[ignore = "five more elaborations; `make full` runs it"]
fn other_parameters_out_of_range_do_not_elaborate() {
    do_not_elaborate(&[
        ([2, 12, 2], "Units must be"),
        ([128, 12, 4], "Units must be"),
        ([32, 7, 4], "MaxLogN must be"),
        ([32, 12, 3], "Beat must be"),
        ([32, 12, 1], "Beat must be"),
    ]);
}

/// Checks that machines fail at elaboration. Each is given by its units, its largest log2 of the degree and its
/// coefficients a beat, with a part of the message.
fn do_not_elaborate(refused: &[([u64; 3], &str)]) {
    let hdl = hdl();
    for &(parameters, message) in refused {
        let [units, max_log_n, beat] = parameters;
        let top = Top::new("rm_polymul").int("Units", units);
        let top = top.int("MaxLogN", max_log_n).int("Beat", beat);
        let refused = hdl.model(&top, BuildOptions::default()).err();
        let text = refused.map(|e| e.to_string()).unwrap_or_default();
        assert!(text.contains(message), "{parameters:?}: {text}");
    }
}

/// The machine takes seven DSP blocks a unit, and no latch or unknown cell. All paths are within the bar of
/// docs/rtl.md.
#[test]
#[ignore = "synthesis; `make full` runs it"]
fn yosys_accepts() {
    let shape = Shape::new(4, 9, 4).unwrap();
    let paths = hdl().levels(&top(shape), Family::Xc7).unwrap().paths;
    assert!(paths.within_bar(), "{paths:?}");
    let got = hdl().synthesise(&top(shape)).unwrap().resources;
    println!("{got:?}");
    assert_eq!(got.dsp, 7 * 4);
    assert!(got.other.is_empty(), "{got:?}");
}

/// A processing unit is small, because sums and registers of the reduction lie inside its DSP blocks. The area of the
/// whole rests on that.
#[test]
#[ignore = "synthesis; `make full` runs it"]
fn a_unit_is_small() {
    let unit = Top::new("rm_polymul_pu");
    let paths = hdl().levels(&unit, Family::Xc7).unwrap().paths;
    assert!(paths.within_bar(), "{paths:?}");
    let got = hdl().synthesise(&unit).unwrap().resources;
    println!("{got:?}");
    assert_eq!((got.dsp, got.bram18), (7, 6));
    assert!(got.lut + got.lut_memory <= 970, "{got:?}");
    assert!(got.ff <= 370, "{got:?}");
}

/// The paper's configuration takes as many DSP blocks as the paper's machine, and at most its look-up tables, registers
/// and block RAMs.
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

/// Machines of other shapes, one of them with the largest degree, give the model's results.
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

/// The smallest NTT primes of each degree work. Their high part q_H, q = 2^9 q_H + 1, has only a few bits.
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
