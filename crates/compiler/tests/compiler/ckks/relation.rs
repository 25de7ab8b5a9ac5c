// SPDX-License-Identifier: Apache-2.0
//! In random programs no real value leaves its span, and relations between values never widen a span.

use num_complex::Complex64;
use ringmill_compiler::builder::{TraceBuilder, Traced, Unary};
use ringmill_compiler::ckks::reference::evaluate_observed;
use ringmill_compiler::ckks::{InputRange, bounded};
use ringmill_compiler::internals::{Span, Spans};
use ringmill_isa::macros::{Interval, MacroProgram, Visibility};

use crate::random::{SLOTS, numbers};

/// The largest absolute value that a program may compute. Larger values are left out.
const LARGEST: f64 = 1e6;

struct Draw<F>(F);

impl<F: FnMut() -> f64> Draw<F> {
    /// Returns a number from -1 to 1. In a third of all cases it has few digits.
    fn number(&mut self) -> f64 {
        match self.below(3) {
            0 => [0.5, -0.3, 1.0, -0.75, 0.25, 0.1][self.below(6)],
            _ => (self.0)(),
        }
    }

    fn below(&mut self, count: usize) -> usize {
        (((self.0)() + 1.0) / 2.0 * count as f64) as usize % count
    }
}

/// A value with a rough bound on its absolute value.
#[derive(Clone, Copy)]
struct Known(Traced, f64);

fn step<F: FnMut() -> f64>(
    t: &mut TraceBuilder,
    draw: &mut Draw<F>,
    known: &[Known],
) -> Vec<Known> {
    let recent = known.len().min(4);
    let one = |draw: &mut Draw<F>| match draw.below(2) {
        0 => known[draw.below(known.len())],
        _ => known[known.len() - 1 - draw.below(recent)],
    };
    let (a, b) = (one(draw), one(draw));
    let scalar = |t: &mut TraceBuilder, x: f64| t.scalar(x, None).unwrap();
    let c = draw.number();
    let made = match draw.below(14) {
        0 | 1 => Known(t.add(a.0, b.0, None).unwrap(), a.1 + b.1),
        2 | 3 => Known(t.sub(a.0, b.0, None).unwrap(), a.1 + b.1),
        4 => Known(t.mul(a.0, b.0, None).unwrap(), a.1 * b.1),
        5 => Known(t.square(a.0, None).unwrap(), a.1 * a.1),
        6 => {
            let by = scalar(t, 2.0 * c);
            Known(t.mul(a.0, by, None).unwrap(), 2.0 * a.1)
        }
        7 => {
            let by = scalar(t, c);
            Known(t.add(a.0, by, None).unwrap(), a.1 + 1.0)
        }
        8 => {
            let steps = draw.below(SLOTS as usize) as i64;
            Known(t.rotate(a.0, steps, None).unwrap(), a.1)
        }
        9 => {
            let degree = 2 + draw.below(6);
            let coefficients: Vec<f64> = (0..=degree).map(|_| draw.number()).collect();
            let size = a.1.max(1.0).powi(degree as i32) * (degree + 1) as f64;
            if size > LARGEST {
                return Vec::new();
            }
            Known(t.polynomial(a.0, &coefficients, None).unwrap(), size)
        }
        10 => {
            let mask: Vec<(f64, f64)> = (0..SLOTS).map(|_| (draw.number(), 0.0)).collect();
            let mask = t.vector(mask, None).unwrap();
            Known(t.mul(a.0, mask, None).unwrap(), a.1)
        }
        11 => Known(t.unary(Unary::TwoReal, a.0, None).unwrap(), 2.0 * a.1),
        12 => {
            let (lowest, highest) = (-a.1 * draw.below(5) as f64 / 4.0, a.1 * 0.8);
            let interval = Interval { lowest, highest };
            Known(t.bounded(a.0, interval, None).unwrap(), a.1)
        }
        // This step iterates y = u y^2 + v y + c.
        _ => {
            let (u, v) = (draw.number(), draw.number());
            let (mut y, mut made) = (a, Vec::new());
            for _ in 0..2 + draw.below(6) {
                let (u, v, c) = (scalar(t, u), scalar(t, v), scalar(t, c));
                let square = t.mul(y.0, y.0, None).unwrap();
                let first = t.mul(square, u, None).unwrap();
                let second = t.mul(y.0, v, None).unwrap();
                let sum = t.add(first, second, None).unwrap();
                y = Known(t.add(sum, c, None).unwrap(), y.1 * y.1 + y.1 + 1.0);
                if y.1 > LARGEST {
                    break;
                }
                made.push(y);
            }
            return made;
        }
    };
    Vec::from_iter((made.1 <= LARGEST).then_some(made))
}

fn program<F: FnMut() -> f64>(draw: &mut Draw<F>) -> (MacroProgram, Vec<InputRange>) {
    let mut t = TraceBuilder::new("random", SLOTS).unwrap();
    let mut known = Vec::new();
    let mut ranges = Vec::new();
    for name in ["x", "y", "z"] {
        let (a, b) = (1.5 * draw.number(), 1.5 * draw.number());
        let range = match draw.below(4) {
            0 => (-1.0, 1.0),
            1 => (0.0, a.abs()),
            _ => (a.min(b), a.max(b)),
        };
        let (lowest, highest) = range;
        ranges.push(InputRange::Real { lowest, highest });
        let input = t.input(name, Visibility::Encrypted, None).unwrap();
        known.push(Known(input, lowest.abs().max(highest.abs())));
    }
    for _ in 0..4 + draw.below(20) {
        let made = step(&mut t, draw, &known);
        known.extend(made);
    }
    for (n, last) in known.iter().rev().take(3).enumerate() {
        t.output(&format!("out{n}"), last.0, None).unwrap();
    }
    (t.finish(), ranges)
}

fn spans<'a>(mut spans: Spans<'a>, program: &MacroProgram) -> Spans<'a> {
    for instr in &program.instrs {
        spans.step(instr).unwrap();
    }
    spans
}

fn ends(span: &Span, slot: usize) -> (f64, f64) {
    match span {
        Span::Real { lowest, highest } => (lowest.at(slot), highest.at(slot)),
        Span::Complex(ball) => panic!("{ball:?} is not real"),
    }
}

/// Checks programs at points each of whose numbers is random or an end of its range. Returns how many slots of values
/// have an interval that relations make narrower by more than a tenth. A program whose declared bounds hold at none of
/// the points does not count.
fn check(seeds: std::ops::Range<u64>) -> usize {
    let mut narrower = 0;
    for seed in seeds {
        let mut draw = Draw(numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        (draw.0)();
        let (program, ranges) = program(&mut draw);
        let by_slot = draw.below(4) > 0;
        let related = spans(Spans::new(&program, &ranges, by_slot), &program);
        let before = spans(Spans::new(&program, &ranges, by_slot).unrelated(), &program);
        let mut size: f64 = 1.0;
        let mut held = 0;
        for point in 0..24 {
            let mut value = |range: &InputRange| {
                let &InputRange::Real { lowest, highest } = range else {
                    panic!("{range} is not real")
                };
                let at = match (point + draw.below(2)) % 3 {
                    0 => draw.below(2) as f64,
                    _ => ((draw.0)() + 1.0) / 2.0,
                };
                let x = (lowest + at * (highest - lowest)).clamp(lowest, highest);
                Complex64::new(x, 0.0)
            };
            let inputs: Vec<Vec<Complex64>> = ranges
                .iter()
                .map(|range| (0..SLOTS).map(|_| value(range)).collect())
                .collect();
            // The bounds that the program declares need not hold at every point.
            if bounded::evaluate(&program, &inputs).unwrap().1.is_some() {
                continue;
            }
            held += 1;
            evaluate_observed(&program, &inputs, &mut |v, slots| {
                let span = related.get(v);
                for (i, z) in slots.iter().enumerate() {
                    size = size.max(z.re.abs());
                    let (l, h) = ends(&span, i);
                    let room = 1e-13 * size;
                    let inside = (l - room..=h + room).contains(&z.re);
                    assert!(inside, "seed {seed}: {v:?} is {z} and not from {l} to {h}");
                }
            })
            .unwrap();
        }
        // Declared bounds that hold at no point may contradict the ranges, and leave a number outside of these.
        if held == 0 {
            continue;
        }
        for instr in &program.instrs {
            for &v in &instr.dst {
                let (now, before) = (related.get(v), before.get(v));
                for i in 0..SLOTS as usize {
                    let ((l, h), (low, high)) = (ends(&now, i), ends(&before, i));
                    let room = 1e-13 * (high - low).abs().max(size);
                    let within = low - room <= l && h <= high + room;
                    assert!(
                        within,
                        "seed {seed}: {v:?} was from {low} to {high}, and is from {l} to {h}"
                    );
                    narrower += usize::from(h - l < 0.9 * (high - low));
                }
            }
        }
    }
    narrower
}

#[test]
fn no_real_value_leaves_its_span_and_no_span_is_wider_than_without_relations() {
    let narrower = check(0..1500);
    assert!(narrower > 10_000, "{narrower}");
}

#[test]
#[ignore = "minutes; `make full` runs it"]
fn no_value_of_very_many_programs_leaves_its_span() {
    check(10_000..300_000);
}

/// Returns the ends of the first slot of the value that `body` computes from an input in `range`.
fn last(range: (f64, f64), body: impl Fn(&mut TraceBuilder, Traced) -> Traced) -> (f64, f64) {
    let mut t = TraceBuilder::new("one", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = body(&mut t, x);
    t.output("y", y, None).unwrap();
    let program = t.finish();
    let (lowest, highest) = range;
    let ranges = [InputRange::Real { lowest, highest }];
    let spans = spans(Spans::new(&program, &ranges, true), &program);
    let result = program.instrs[program.instrs.len() - 1].src[0];
    ends(&spans.get(result), 0)
}

fn near((low, high): (f64, f64), wanted: (f64, f64)) {
    let close = (low - wanted.0).abs() < 1e-9 && (high - wanted.1).abs() < 1e-9;
    assert!(close, "from {low} to {high}, not {wanted:?}");
}

/// Checks relations whose argument is a computed value, in one case a value with 200 products before it.
#[test]
fn a_value_is_an_argument_however_it_was_computed() {
    let iterated = |t: &mut TraceBuilder, x: Traced, turns: usize| {
        (0..turns).fold(x, |y, _| {
            let (square, c) = (t.square(y, None).unwrap(), t.scalar(0.3, None).unwrap());
            t.sub(square, c, None).unwrap()
        })
    };
    let (low, high) = last((-1.0, 1.0), |t, x| iterated(t, x, 200));
    assert!(-0.31 < low && high < 0.0, "{low} {high}");
    near(
        last((-0.3, 0.7), |t, x| {
            let y = iterated(t, x, 1);
            let sum = t.add(y, x, None).unwrap();
            let minus = t.sub(sum, y, None).unwrap();
            t.sub(minus, x, None).unwrap()
        }),
        (0.0, 0.0),
    );
    // The logistic map stays in [0, 1], y^2 - y above -1/4, and y - y / 2 is y / 2.
    near(
        last((0.0, 1.0), |t, x| {
            (0..6).fold(x, |y, _| {
                let square = t.square(y, None).unwrap();
                let rest = t.sub(y, square, None).unwrap();
                let four = t.scalar(4.0, None).unwrap();
                t.mul(rest, four, None).unwrap()
            })
        }),
        (0.0, 1.0),
    );
    near(
        last((0.0, 1.0), |t, x| {
            let turned = t.rotate(x, 1, None).unwrap();
            let (product, three) = (
                t.mul(x, turned, None).unwrap(),
                t.scalar(3.0, None).unwrap(),
            );
            let y = t.mul(product, three, None).unwrap();
            let square = t.square(y, None).unwrap();
            t.sub(square, y, None).unwrap()
        }),
        (-0.25, 6.0),
    );
    near(
        last((-1.0, 1.0), |t, x| {
            let turned = t.rotate(x, 1, None).unwrap();
            let y = t.mul(x, turned, None).unwrap();
            let half = t.scalar(0.5, None).unwrap();
            let part = t.mul(y, half, None).unwrap();
            t.sub(y, part, None).unwrap()
        }),
        (-0.5, 0.5),
    );
}
