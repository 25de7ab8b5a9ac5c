// SPDX-License-Identifier: Apache-2.0
//! Tests random programs that compare values with zero, under BFV and BGV, by polynomials and by Fermat's powers.

use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::exact::IntegerRange;
use ringmill_compiler::{CompileError, Options, compile};
use ringmill_isa::macros::{MacroProgram, Visibility};
use ringmill_schemes::bfv::Bfv;
use ringmill_schemes::bgv::Bgv;

use crate::integer_programs::draw::{Draw, named};
use crate::integer_programs::run::{Tally, Whole};

const SLOTS: u32 = 32;

/// Returns a value to compare with zero: an input, or its sum or difference with another input, a constant or a rotated
/// input.
fn difference(
    draw: &mut Draw,
    t: &mut TraceBuilder,
    [x, y, p]: [Traced; 3],
    largest: i64,
) -> Traced {
    match draw.below(5) {
        0 => t.sub(x, y, None),
        1 => t.sub(y, p, None),
        2 => Ok(x),
        3 => {
            let turned = t.rotate(y, 1, None).unwrap();
            t.add(x, turned, None)
        }
        _ => {
            let c = draw.below(largest as u64 + 1) as f64;
            let c = t.scalar(c, None).unwrap();
            t.sub(x, c, None)
        }
    }
    .unwrap()
}

/// Returns a program of one to three tests for zero. Its outputs are a combination of the tests by sums, differences
/// and products, and the product of this and an input.
fn program(draw: &mut Draw, scheme: &str, largest: i64) -> MacroProgram {
    let mut t = TraceBuilder::new("tests", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = t.input("y", Visibility::Encrypted, None).unwrap();
    let p = t.input("p", Visibility::Plain, None).unwrap();
    let tested = difference(draw, &mut t, [x, y, p], largest);
    let mut result = t.is_zero(tested, None).unwrap();
    for _ in 0..draw.below(3) {
        let tested = difference(draw, &mut t, [x, y, p], largest);
        let zero = t.is_zero(tested, None).unwrap();
        result = match draw.below(3) {
            0 => t.add(result, zero, None).unwrap(),
            1 => t.mul(result, zero, None).unwrap(),
            _ => t.sub(zero, result, None).unwrap(),
        };
    }
    let chosen = t.mul(result, x, None).unwrap();
    t.output("result", result, None).unwrap();
    t.output("chosen", chosen, None).unwrap();
    let mut program = t.finish();
    program.scheme = named(scheme);
    program
}

fn random_programs<S: Whole>(seeds: std::ops::Range<u64>, largest: i64) -> Tally {
    let mut tally = Tally::new();
    for seed in seeds {
        let mut draw = Draw::new(seed);
        let program = program(&mut draw, S::NAME, largest);
        let options = Options::<S> {
            ranges: vec![Some(IntegerRange::up_to(largest as u64)); 3],
            ..Options::default()
        };
        tally.try_one(seed, &mut draw, (&program, largest), &options, "cpu:2");
    }
    tally.print();
    tally
}

#[test]
fn random_programs_of_short_ranges() {
    assert!(random_programs::<Bfv>(0..8, 1).ran >= 6);
    assert!(random_programs::<Bgv>(0..8, 1).ran >= 6);
}

#[test]
#[ignore = "minutes; `make full` runs it"]
fn random_programs_of_all_ranges() {
    for largest in [1, 2, 5, 20, 100] {
        assert!(random_programs::<Bfv>(100..130, largest).ran >= 20);
        assert!(random_programs::<Bgv>(100..130, largest).ran >= 20);
    }
    // With this range the tests are powers, with sixteen squares in sequence.
    assert!(random_programs::<Bfv>(200..203, 30_000).ran > 0);
    assert!(random_programs::<Bgv>(200..203, 30_000).ran > 0);
}

#[test]
fn what_cannot_be_tested_is_refused() {
    let program = |scheme: &str, times: u32| {
        let mut t = TraceBuilder::new("large", SLOTS).unwrap();
        let mut x = t.input("x", Visibility::Encrypted, None).unwrap();
        for _ in 0..times {
            x = t.square(x, None).unwrap();
        }
        let zero = t.is_zero(x, None).unwrap();
        t.output("z", zero, None).unwrap();
        let mut program = t.finish();
        program.scheme = named(scheme);
        program
    };
    let options = Options::<Bfv> {
        input_bound: 1e9,
        ..Options::default()
    };
    let refused = compile(program("bfv", 1), &options).unwrap_err();
    assert!(
        matches!(refused, CompileError::PlainRange { .. }),
        "{refused}"
    );
    assert!(refused.to_string().contains("tests for zero"), "{refused}");
    let refused = compile(program("bfv", 3), &options).unwrap_err();
    assert!(
        matches!(refused, CompileError::UnboundedTest { .. }),
        "{refused}"
    );
    let refused = compile(program("bfv", 0), &options).unwrap_err();
    assert!(
        matches!(refused, CompileError::TooNoisy { .. }),
        "{refused}"
    );
    let approximate = compile(
        program("ckks", 0),
        &ringmill_compiler::ckks::Options::default(),
    );
    let refused = approximate.unwrap_err();
    assert!(
        matches!(refused, CompileError::OfIntegers { .. }),
        "{refused}"
    );
}
