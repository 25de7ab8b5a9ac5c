// SPDX-License-Identifier: Apache-2.0
//! A bound that a program's author declares for a value (`BOUNDED`) narrows the value's range, costs nothing, and is
//! checked on samples.

use num_complex::Complex64;
use ringmill_compiler::builder::{TraceBuilder, TraceError, Traced};
use ringmill_compiler::ckks::bounded::assumptions;
use ringmill_compiler::ckks::{InputRange, Options};
use ringmill_compiler::{CompileError, Compiled, bfv, compile, saved};
use ringmill_isa::macros::{
    Interval, MacroImm, MacroOp, MacroProgram, SchemeName, Visibility, text,
};
use ringmill_schemes::bfv::Bfv;
use ringmill_schemes::ckks::Ckks;
use ringmill_schemes::ckks::file::InsecureParams;

use crate::random::line;
use crate::run::twenty_bits;

const UNIT: Interval = Interval {
    lowest: -1.0,
    highest: 1.0,
};

/// Returns a program of an input x of 64 slots. The outputs are the sum s of the slots, s^16, and 2 x. If there is an
/// `interval`, the program declares it for s^2.
fn program(interval: Option<Interval>) -> MacroProgram {
    let mut t = TraceBuilder::new("power", 64).unwrap();
    let x = t.input("x", Visibility::Encrypted, line(1)).unwrap();
    let mut sum = (0..6).fold(x, |sum, k| {
        let turned = t.rotate(sum, 1 << k, line(2)).unwrap();
        t.add(sum, turned, line(2)).unwrap()
    });
    t.output("sum", sum, line(3)).unwrap();
    sum = t.square(sum, line(3)).unwrap();
    if let Some(interval) = interval {
        sum = t.bounded(sum, interval, line(4)).unwrap();
    }
    let power = (0..3).fold(sum, |y: Traced, _| t.square(y, line(5)).unwrap());
    t.output("power", power, line(6)).unwrap();
    let doubled = t.add(x, x, line(7)).unwrap();
    t.output("doubled", doubled, line(7)).unwrap();
    t.finish()
}

fn options(sample: Option<f64>) -> Options {
    let one = InputRange::Real {
        lowest: 0.0,
        highest: 1.0,
    };
    Options {
        ranges: vec![Some(one)],
        sample: sample.map(|x| vec![vec![Complex64::new(x, 0.0); 64]]),
        ..twenty_bits()
    }
}

fn count(program: &MacroProgram, op: MacroOp) -> usize {
    program.instrs.iter().filter(|i| i.op == op).count()
}

#[test]
fn a_word_narrows_what_comes_after_and_costs_no_instruction() {
    let without = compile::<Ckks>(program(None), &options(None));
    assert!(without.is_err());
    let with = compile::<Ckks>(program(Some(UNIT)), &options(None)).unwrap();
    let [sum, power, doubled] = &with.predicted[..] else {
        panic!("{:?}", with.predicted)
    };
    assert!(power.magnitude <= 1.0 && power.conditional, "{power:?}");
    assert!(!sum.conditional && !doubled.conditional);
    // The bound holds for the value itself, not only after the `BOUNDED`, so parameters need not hold 64^2.
    assert!(with.predicted[0].magnitude > 63.0);
    assert_eq!(count(&with.source, MacroOp::Bounded), 1);
    assert_eq!(count(&with.managed, MacroOp::Bounded), 0);
    assert_eq!(count(&with.managed, MacroOp::Relin), 4);
    let said = assumptions(&with.source);
    assert_eq!(said.len(), 1);
    assert_eq!((said[0].interval, &said[0].loc), (UNIT, &line(4)));
}

#[test]
fn a_sample_that_breaks_a_word_is_refused_at_its_line() {
    assert!(compile::<Ckks>(program(Some(UNIT)), &options(Some(1.0 / 64.0))).is_ok());
    let refused = compile::<Ckks>(program(Some(UNIT)), &options(Some(0.5))).unwrap_err();
    assert!(matches!(&refused, CompileError::Bounded(_)), "{refused}");
    assert_eq!(refused.loc(), line(4).as_ref());
    let said = refused.to_string();
    assert!(
        said.contains("from -1.0 to 1.0, and slot 0 is 1024.0"),
        "{said}"
    );
}

#[test]
fn other_schemes_refuse_a_word_at_its_line() {
    let mut source = program(Some(UNIT));
    source.scheme = SchemeName::new("bfv").unwrap();
    let refused = compile::<Bfv>(source, &bfv::Options::default()).unwrap_err();
    assert_eq!(refused.loc(), line(4).as_ref());
    assert!(
        refused
            .to_string()
            .contains("BOUNDED is no operation of the scheme bfv"),
        "{refused}"
    );
}

#[test]
fn text_and_saved_files_keep_a_word_and_refuse_one_that_is_none() {
    let source = program(Some(UNIT));
    let printed = text::print(&source);
    assert!(printed.contains("BOUNDED"), "{printed}");
    assert_eq!(text::parse(&printed).unwrap(), source);
    let compiled: Compiled<Ckks> = compile(source, &options(None)).unwrap();
    let file = saved::print(&compiled, &options(None), &Default::default());
    let (source, recipe) = saved::parse::<Ckks>(&file, InsecureParams::Refuse)
        .unwrap()
        .unwrap();
    let (again, _) = recipe.compile(source, &Default::default()).unwrap();
    assert_eq!(again.predicted, compiled.predicted);
    assert_eq!(again.managed, compiled.managed);
    for ends in ["1.0 to -1.0", "NaN to 1.0", "0.0 to inf"] {
        let altered = printed.replace("-1.0 to 1.0", ends);
        assert_ne!(altered, printed);
        let refused = text::parse(&altered).map(|p| compile::<Ckks>(p, &options(None)).is_ok());
        assert!(!matches!(refused, Ok(true)), "{ends}");
    }
}

#[test]
fn ends_are_finite_and_the_lowest_comes_first() {
    let mut t = TraceBuilder::new("f", 4).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let plain = t.input("p", Visibility::Plain, None).unwrap();
    for (lowest, highest) in [(1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
        let refused = t.bounded(x, Interval { lowest, highest }, None);
        assert!(matches!(refused, Err(TraceError::Interval { .. })));
    }
    let refused = t.bounded(plain, UNIT, None);
    assert!(matches!(refused, Err(TraceError::PlainArithmetic { .. })));
    let one = t.scalar(1.0, None).unwrap();
    assert_eq!(t.bounded(one, UNIT, None).unwrap(), one);
    // A difference that is always zero is found although a bound is declared for an operand.
    let said = t.bounded(x, UNIT, None).unwrap();
    let nothing = t.sub(said, x, None).unwrap();
    t.output("y", nothing, line(9)).unwrap();
    let program = t.finish();
    assert!(
        program
            .instrs
            .iter()
            .any(|i| matches!(i.imm, MacroImm::Interval(_)))
    );
    let refused = compile::<Ckks>(program, &Options::default()).unwrap_err();
    assert!(
        matches!(refused, CompileError::Transparent { .. }),
        "{refused}"
    );
}
