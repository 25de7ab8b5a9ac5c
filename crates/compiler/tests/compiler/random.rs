// SPDX-License-Identifier: Apache-2.0
//! Random macro programs of bounded depth and bounded values, with inputs to run them on.

use num_complex::Complex64;
use proptest::prelude::*;
use ringmill_isa::macros::{MacroProgram, Visibility};
use ringmill_isa::source::SourceLoc;

use ringmill_compiler::builder::{TraceBuilder, Traced, Unary};

/// The most products in sequence of a random program. Products with integers count too, although they take no level.
pub const MAX_DEPTH: u32 = 4;
/// A bound on the absolute value of any slot.
const MAX_VALUE: f64 = 6.0;
pub const SLOTS: u32 = 8;

/// A program, and inputs whose real and imaginary parts are at most 0.7 in absolute value.
#[derive(Clone, Debug)]
pub struct Case {
    pub program: MacroProgram,
    pub inputs: Vec<Vec<Complex64>>,
}

/// A step of a random program: the number of an operation, and two numbers that choose its operands or its parameter.
pub type Step = (u8, u16, u16);

/// A value with a bound on its slots, and with the number of products in sequence before it.
#[derive(Clone, Copy)]
pub struct Known {
    pub value: Traced,
    pub bound: f64,
    pub depth: u32,
}

pub fn line(line: u32) -> Option<SourceLoc> {
    Some(SourceLoc {
        file: "random.py".into(),
        line,
    })
}

pub fn cases(steps: std::ops::Range<usize>) -> impl Strategy<Value = Case> {
    (prop::collection::vec(any::<Step>(), steps), any::<u64>())
        .prop_map(|(steps, seed)| build(&steps, seed))
}

/// Returns a function whose results are numbers from -1 to 1 that look random. A linear congruential generator is
/// enough for test data.
pub fn numbers(mut state: u64) -> impl FnMut() -> f64 {
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

pub fn vector(next: &mut impl FnMut() -> f64) -> Vec<(f64, f64)> {
    (0..SLOTS).map(|_| (next() * 0.7, next() * 0.7)).collect()
}

/// Traces one step on known values, and returns its result. Returns `None` if the result would be too large or too
/// deep. `fixed` are plain inputs and constant vectors, and `number` is the line of the step.
pub fn step(
    t: &mut TraceBuilder,
    known: &[Known],
    fixed: &[Traced],
    number: u32,
    (op, i, j): Step,
) -> Option<Known> {
    let (a, b) = (
        known[usize::from(i) % known.len()],
        known[usize::from(j) % known.len()],
    );
    let constant = [0.0, 1.0, -1.0, 2.0, -3.0, 0.5, -0.75, 1.25][usize::from(j) % 8];
    let fixed = fixed[usize::from(j) % fixed.len()];
    let scalar = |t: &mut TraceBuilder| t.scalar(constant, line(number)).unwrap();
    let (bound, depth) = match op % 14 {
        0 | 1 => (a.bound + b.bound, a.depth.max(b.depth)),
        2 | 3 => (a.bound * b.bound, a.depth.max(b.depth) + 1),
        4 => (a.bound * a.bound, a.depth + 1),
        8 => (a.bound * constant.abs(), a.depth + 1),
        9 => (a.bound + constant.abs(), a.depth),
        10 => (a.bound, a.depth + 1),
        11 | 12 => (a.bound + 1.0, a.depth),
        7 => (2.0 * a.bound, a.depth),
        _ => (a.bound, a.depth),
    };
    if bound > MAX_VALUE || depth > MAX_DEPTH {
        return None;
    }
    let loc = line(number);
    let value = match op % 14 {
        0 => t.add(a.value, b.value, loc),
        1 => t.sub(a.value, b.value, loc),
        2 | 3 => t.mul(a.value, b.value, loc),
        4 => t.square(a.value, loc),
        5 => t.neg(a.value, loc),
        6 => t.rotate(a.value, i64::from(j % 17) - 8, loc),
        7 if j % 2 == 1 => t.unary(Unary::TwoReal, a.value, loc),
        7 => t.conj(a.value, loc),
        8 => {
            let c = scalar(t);
            t.mul(a.value, c, loc)
        }
        9 => {
            let c = scalar(t);
            t.add(a.value, c, loc)
        }
        10 => t.mul(fixed, a.value, loc),
        11 => t.add(a.value, fixed, loc),
        12 => t.sub(fixed, a.value, loc),
        _ => t.rotate(a.value, i64::from(j % 3), loc),
    };
    Some(Known {
        value: value.unwrap(),
        bound,
        depth,
    })
}

fn build(steps: &[Step], seed: u64) -> Case {
    let mut next = numbers(seed);
    let mut t = TraceBuilder::new("random", SLOTS).unwrap();
    let mut known: Vec<Known> = ["x", "y", "z"]
        .iter()
        .map(|name| Known {
            value: t.input(name, Visibility::Encrypted, line(1)).unwrap(),
            bound: 1.0,
            depth: 0,
        })
        .collect();
    let plain = t.input("w", Visibility::Plain, line(2)).unwrap();
    let vectors: Vec<Traced> = (0..2)
        .map(|_| t.vector(vector(&mut next), line(3)).unwrap())
        .collect();
    let uniform = t.vector(vec![(0.5, 0.0); SLOTS as usize], line(3)).unwrap();
    for (number, &(op, i, j)) in (4u32..).zip(steps) {
        let fixed = [plain, vectors[0], vectors[1], uniform];
        known.extend(step(&mut t, &known, &fixed, number, (op, i, j)));
    }
    for (n, last) in known.iter().rev().take(3).enumerate() {
        t.output(&format!("out{n}"), last.value, line(9999))
            .unwrap();
    }
    let complex = |v: Vec<(f64, f64)>| {
        v.into_iter()
            .map(|(re, im)| Complex64::new(re, im))
            .collect()
    };
    let inputs = (0..4).map(|_| complex(vector(&mut next))).collect();
    Case {
        program: t.finish(),
        inputs,
    }
}
