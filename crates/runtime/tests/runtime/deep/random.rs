// SPDX-License-Identifier: Apache-2.0
//! Tests random programs without a depth limit against their evaluation without encryption, on one thread and on two.

use std::sync::Arc;

use ringmill_compiler::bgv::CompileError;
use ringmill_compiler::builder::{Power, TraceBuilder, Traced};
use ringmill_compiler::compile;
use ringmill_isa::macros::text::{parse, print};
use ringmill_isa::macros::{MacroOp, MacroProgram, SchemeName, Visibility, stats};
use ringmill_isa::mid;
use ringmill_schemes::bgv::bootstrap::Procedure;
use ringmill_schemes::bgv::{Bgv, ExactParams};

use crate::deep::clear::{Junk, evaluate};
use crate::deep::setting::{CUBE, Messages, SEVEN, options, run};
use crate::numbers::Draw;

impl Draw {
    fn of(&mut self, values: &[Traced]) -> Traced {
        values[self.below(values.len() as u64) as usize]
    }
}

/// Adds `count` random operations. Half of them take the newest value as their first operand; all other operands are
/// chosen among all values.
fn operations(
    t: &mut TraceBuilder,
    draw: &mut Draw,
    power: Power,
    values: &mut Vec<Traced>,
    count: u64,
) {
    for _ in 0..count {
        let newest = values[values.len() - 1];
        let a = if draw.below(2) == 0 {
            newest
        } else {
            draw.of(values)
        };
        let b = draw.of(values);
        let constant = draw.below(400) as f64 - 200.0;
        let made = match draw.below(13) {
            0 | 1 => t.add(a, b, None),
            2 => t.sub(a, b, None),
            3..=5 => t.mul(a, b, None),
            6 | 7 => t.square(a, None),
            8 => t.rotate(a, 1 + draw.below(2) as i64, None),
            9 => {
                let c = t.scalar(constant, None).unwrap();
                t.mul(a, c, None)
            }
            10 => {
                let c = t.scalar(constant, None).unwrap();
                t.add(a, c, None)
            }
            11 => {
                let slots = t.slots();
                let vector = (0..slots).map(|_| (draw.below(9) as f64, 0.0)).collect();
                let mask = t.vector(vector, None).unwrap();
                t.mul(a, mask, None)
            }
            _ => {
                let low = t.low_digit(a, power, None).unwrap();
                let rest = t.sub(a, low, None).unwrap();
                let quotient = t.quotient(rest, power.prime, None).unwrap();
                // Only the low digits of a quotient are known, so the program goes on with its lowest digit.
                let next = t.low_digit(quotient, power, None).unwrap();
                t.add(next, low, None)
            }
        };
        values.push(made.unwrap());
    }
}

fn program(draw: &mut Draw, slots: u32, power: Power, length: u64) -> MacroProgram {
    let mut t = TraceBuilder::new("deep", slots).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = t.input("y", Visibility::Encrypted, None).unwrap();
    let mut values = vec![x, y];
    operations(&mut t, draw, power, &mut values, length);
    if draw.below(2) == 0 {
        let params = [Visibility::Encrypted; 2];
        let mut inner = t.begin_procedure("step", &params, None).unwrap();
        operations(&mut t, draw, power, &mut inner, 1 + length / 2);
        let (a, b) = (draw.of(&inner), inner[inner.len() - 1]);
        let step = t.end(&[a, b], None).unwrap();
        let (a, b) = (draw.of(&values), draw.of(&values));
        values.extend(t.call(&step, &[a, b], None).unwrap());
        let (a, b) = (draw.of(&values), draw.of(&values));
        let count = 1 + draw.below(4);
        let mut body = t.begin_body("turn", 2, None).unwrap();
        body.push(x);
        operations(&mut t, draw, power, &mut body, 1 + length / 3);
        let (c, d) = (draw.of(&body), body[body.len() - 1]);
        let called = t.call(&step, &[c, d], None).unwrap();
        let body = t.end(&called, None).unwrap();
        values.extend(t.repeat(count, &body, &[a, b], None).unwrap());
    }
    let last = values[values.len() - 1];
    // Each output contains an encrypted input, so that none is transparent.
    let shown = t.add(last, y, None).unwrap();
    let other = draw.of(&values);
    let other = t.add(other, x, None).unwrap();
    t.output("last", shown, None).unwrap();
    t.output("other", other, None).unwrap();
    let mut program = t.finish();
    program.scheme = SchemeName::new("bgv").unwrap();
    program
}

/// Returns a program without calls. It begins with `squares` squares one after another, each plus y, and so shifts the
/// bootstraps of the operations that follow by as many levels. Then come `length` random operations.
fn straight(draw: &mut Draw, slots: u32, power: Power, squares: u64, length: u64) -> MacroProgram {
    let mut t = TraceBuilder::new("straight", slots).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = t.input("y", Visibility::Encrypted, None).unwrap();
    let led = (0..squares).fold(x, |led, _| {
        let square = t.square(led, None).unwrap();
        t.add(square, y, None).unwrap()
    });
    let mut values = vec![x, y, led];
    operations(&mut t, draw, power, &mut values, length);
    let last = t.add(values[values.len() - 1], x, None).unwrap();
    let other = draw.of(&values);
    let other = t.add(other, y, None).unwrap();
    t.output("last", last, None).unwrap();
    t.output("other", other, None).unwrap();
    let mut program = t.finish();
    program.scheme = SchemeName::new("bgv").unwrap();
    program
}

struct Tally {
    ran: usize,
    bootstraps: u64,
    most: u64,
}

/// Makes one program for each seed with the function `program`, which receives a generator, a number of slots and the
/// seed. Runs it and compares the outputs with its evaluation without encryption.
fn random(
    procedure: &Arc<Procedure>,
    seeds: std::ops::Range<u64>,
    program: impl Fn(&mut Draw, u32, u64) -> MacroProgram,
) -> Tally {
    let mut tally = Tally {
        ran: 0,
        bootstraps: 0,
        most: 0,
    };
    let t = i128::from(procedure.params().plain_modulus().value());
    let columns = procedure.setup().structure().columns() as u32;
    println!("seeds {seeds:?}; each is of one program");
    for seed in seeds {
        let mut draw = Draw::new(seed);
        let slots = columns >> draw.below(2);
        let source = program(&mut draw, slots, seed);
        let options = {
            let mut options = options(procedure);
            options.input_bound = (t / 2) as f64;
            // Every second program is compiled with explicit loads, stores and ends.
            options.explicit = seed % 2 == 1;
            options
        };
        let compiled = match compile::<Bgv>(source.clone(), &options) {
            Ok(compiled) => Arc::new(compiled),
            Err(CompileError::Transparent { .. }) => continue,
            Err(other) => panic!("{seed}: {other}"),
        };
        let mut vector = || -> Vec<i64> {
            let half = (t / 2) as i64;
            let slots = 0..slots;
            slots.map(|_| draw.below(t as u64) as i64 - half).collect()
        };
        let inputs = Messages::from([("x".into(), vector()), ("y".into(), vector())]);
        let (outputs, _) = run(&compiled, &inputs);
        let expected = evaluate(&source, &inputs, t, &mut Junk(seed));
        assert_eq!(outputs, expected, "{seed}");
        let counts = stats::counts(&compiled.managed);
        assert_eq!(parse(&print(&compiled.managed)).unwrap(), compiled.managed);
        let has = |op| counts.contains_key(&op);
        let implicit = has(MacroOp::Rotate) || has(MacroOp::Relin);
        assert!(!(options.explicit && implicit), "{seed}");
        assert_eq!(options.explicit, has(MacroOp::Load), "{seed}");
        let bootstraps = counts.get(&MacroOp::Bootstrap).copied().unwrap_or(0) as u64;
        tally.ran += 1;
        tally.bootstraps += bootstraps;
        tally.most = tally.most.max(bootstraps);
    }
    println!(
        "{} programs, {} bootstraps, {} in one",
        tally.ran, tally.bootstraps, tally.most
    );
    tally
}

#[test]
fn random_programs_give_what_they_give_in_the_clear() {
    let power = Power {
        prime: 17,
        exponent: 3,
    };
    let tally = random(&CUBE.procedure(true), 0..6, |draw, slots, _| {
        program(draw, slots, power, 12)
    });
    assert!(tally.ran >= 4 && tally.bootstraps >= 4);
    let power = Power {
        prime: 7,
        exponent: 2,
    };
    let tally = random(&SEVEN.procedure(false), 100..106, |draw, slots, _| {
        program(draw, slots, power, 12)
    });
    assert!(tally.ran >= 4 && tally.bootstraps >= 2);
}

/// Tests 400 random programs, from the seed on that the environment variable `RINGMILL_SEED` gives.
#[test]
#[ignore = "minutes; `make full` runs it"]
fn hundreds_of_random_programs() {
    let seed = std::env::var("RINGMILL_SEED").map_or(1_000, |seed| seed.parse().unwrap());
    let power = Power {
        prime: 17,
        exponent: 3,
    };
    let of = |draw: &mut Draw, slots, _| program(draw, slots, power, 20);
    assert!(random(&CUBE.procedure(false), seed..seed + 200, of).ran > 100);
    let power = Power {
        prime: 7,
        exponent: 2,
    };
    let seed = seed + 1_000;
    let of = |draw: &mut Draw, slots, _| program(draw, slots, power, 20);
    assert!(random(&SEVEN.procedure(true), seed..seed + 200, of).ran > 100);
}

/// Runs programs of [`straight`]. In front are as many squares as the inputs have levels, and more: the seed modulo the
/// number of levels between two bootstraps. So bootstraps fall on every operation in turn.
fn straight_lines(procedure: &Arc<Procedure>, seeds: std::ops::Range<u64>, length: u64) -> Tally {
    let power = procedure.params().prime_power().unwrap();
    let power = Power {
        prime: power.prime(),
        exponent: power.exponent(),
    };
    let inputs = u64::from(procedure.params().max_level().0);
    let between = u64::from(procedure.end().0.0 - procedure.start().0) + 1;
    random(procedure, seeds, |draw, slots, seed| {
        straight(draw, slots, power, inputs + seed % between, length)
    })
}

#[test]
fn random_straight_lines_bootstrap_at_any_place() {
    for (toy, seeds) in [(CUBE, 0..3), (SEVEN, 10..13)] {
        let tally = straight_lines(&toy.procedure(true), seeds, 30);
        assert!(tally.ran >= 2 && tally.bootstraps >= 2);
    }
}

#[test]
#[ignore = "minutes; `make full` runs it"]
fn hundreds_of_random_straight_lines() {
    let seed = std::env::var("RINGMILL_SEED").map_or(1_000, |seed| seed.parse().unwrap());
    for (toy, length) in [(CUBE, 40), (SEVEN, 60)] {
        let tally = straight_lines(&toy.procedure(false), seed..seed + 100, length);
        assert!(tally.ran > 80 && tally.bootstraps > 80);
    }
}

/// Tests a loop of 20 turns of two squares: the compiled program keeps the loop, with bootstraps inside.
#[test]
fn a_loop_stays_a_loop() {
    let procedure = SEVEN.procedure(true);
    let mut t = TraceBuilder::new("power", 2).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let body = t.begin_body("square", 1, None).unwrap();
    let square = t.square(body[0], None).unwrap();
    let again = t.square(square, None).unwrap();
    let body = t.end(&[again], None).unwrap();
    let y = t.repeat(20, &body, &[x], None).unwrap();
    t.output("y", y[0], None).unwrap();
    let mut source = t.finish();
    source.scheme = SchemeName::new("bgv").unwrap();
    let mut options = options(&procedure);
    options.input_bound = 24.0;
    let compiled = Arc::new(compile::<Bgv>(source.clone(), &options).unwrap());
    // One body computes several turns with a bootstrap, and another the turns that are left.
    assert!(compiled.managed.procs.len() <= 2);
    // The counts from the program equal those of its calls one by one.
    let program = compiled.program.program();
    let mut stream = compiled.program.stream();
    let mut calls = 0u64;
    let mut counts = mid::stats::OpCounts::new();
    while let Some(called) = stream.next_call().unwrap() {
        calls += 1;
        let procedure = &compiled.program.bound_procs()[called.call.proc as usize];
        for (op, count) in mid::stats::procedure_counts(procedure) {
            *counts.entry(op).or_default() += count;
        }
    }
    assert_eq!(mid::stats::calls(program), calls);
    assert_eq!(mid::stats::program_counts(program), counts);
    let inputs = Messages::from([("x".into(), vec![3, -5])]);
    let (outputs, _) = run(&compiled, &inputs);
    assert_eq!(outputs, evaluate(&source, &inputs, 49, &mut Junk(1)));
    // Without bootstrapping the parameters have too few levels for the program.
    options.bootstrapping = None;
    assert!(compile::<Bgv>(source, &options).is_err());
}
