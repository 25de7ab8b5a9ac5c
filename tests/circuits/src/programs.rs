// SPDX-License-Identifier: Apache-2.0
//! Random CKKS programs that use every operation, with a range for each input and inputs within these ranges.

use num_complex::Complex64;
use ringmill_compiler::builder::{TraceBuilder, Traced, Unary};
use ringmill_compiler::ckks::InputRange;
use ringmill_compiler::ckks::reference::evaluate;
use ringmill_isa::macros::{MacroProgram, Visibility};
use ringmill_isa::source::SourceLoc;

use crate::numbers::Numbers;

/// A program, the ranges of its inputs, and inputs within them.
#[derive(Clone, Debug)]
pub struct Case {
    pub program: MacroProgram,
    pub ranges: Vec<InputRange>,
    pub inputs: Vec<Vec<Complex64>>,
}

/// The size of a random program, and the operations that it prefers.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub slots: u32,
    pub operations: usize,
    /// The largest number of products one after another.
    pub depth: u32,
    /// The largest bound on the absolute value of a slot. The bound of each value is computed from the bounds of its
    /// operands.
    pub largest: f64,
    /// Whether about a third of the operations are sums of key switches of one kind, of ciphertexts whose difference is
    /// public.
    pub alike: bool,
}

/// A value, a bound on the absolute value of its slots, and the number of products one after another that made it.
#[derive(Clone, Copy)]
struct Known {
    value: Traced,
    bound: f64,
    depth: u32,
}

struct Maker<'a> {
    numbers: &'a mut Numbers,
    trace: TraceBuilder,
    limits: Limits,
    line: u32,
}

/// Draws a random program within the limits, with inputs near the ends of their ranges if `ends`, else anywhere in
/// them.
///
/// Each output depends on the encrypted inputs, since the compiler would refuse an output such as x - x.
pub fn case(numbers: &mut Numbers, limits: Limits, ends: bool) -> Case {
    loop {
        let case = any_case(numbers, limits, ends);
        if !is_public(numbers, &case) {
            return case;
        }
    }
}

/// Returns whether some output stays the same when the encrypted inputs change.
fn is_public(numbers: &mut Numbers, case: &Case) -> bool {
    let mut others = case.inputs.clone();
    for z in others[..case.inputs.len() - 1].iter_mut().flatten() {
        *z *= Complex64::new(numbers.signed(), numbers.signed());
    }
    let [a, b] = [&case.inputs, &others].map(|inputs| evaluate(&case.program, inputs).unwrap());
    a.iter().zip(&b).any(|(x, y)| {
        let apart = x.iter().zip(y).map(|(x, y)| (x - y).norm());
        apart.fold(0.0, f64::max) < 1e-10
    })
}

fn any_case(numbers: &mut Numbers, limits: Limits, ends: bool) -> Case {
    let trace = TraceBuilder::new("random", limits.slots).unwrap();
    let mut maker = Maker {
        numbers,
        trace,
        limits,
        line: 1,
    };
    let (mut known, ranges) = maker.inputs();
    let plain = known.len() - 1;
    let mut tries = 0;
    while known.len() <= plain + limits.operations && tries < 20 * limits.operations {
        tries += 1;
        maker.line += 1;
        // New values are likelier operands than old ones, so that programs get deep.
        let count = known.len();
        let pick = |numbers: &mut Numbers| {
            let back = numbers.below(count).min(numbers.below(count));
            let at = count - 1 - back;
            known[if at == plain { 0 } else { at }]
        };
        let (a, b) = (pick(maker.numbers), pick(maker.numbers));
        if let Some(next) = maker.step(&a, &b, &known[plain]) {
            known.push(next);
        }
    }
    let made = &known[plain + 1..];
    let outputs = if made.is_empty() { &known[..1] } else { made };
    for (n, output) in outputs.iter().rev().take(2).enumerate() {
        let loc = maker.loc();
        maker
            .trace
            .output(&format!("out{n}"), output.value, loc)
            .unwrap();
    }
    let inputs = maker.data(&ranges, ends);
    Case {
        program: maker.trace.finish(),
        ranges,
        inputs,
    }
}

impl Maker<'_> {
    fn loc(&self) -> Option<SourceLoc> {
        Some(SourceLoc {
            file: "random.py".into(),
            line: self.line,
        })
    }

    /// Declares one to four encrypted inputs of different ranges, and a plain input last.
    fn inputs(&mut self) -> (Vec<Known>, Vec<InputRange>) {
        let encrypted = 1 + self.numbers.below(4);
        let (mut known, mut ranges) = (Vec::new(), Vec::new());
        for i in 0..=encrypted {
            let size = f64::from(self.numbers.between(0, 8)) - 4.0;
            let size = size.exp2() * (1.0 + self.numbers.unit());
            let range = match self.numbers.below(3) {
                0 => InputRange::Disc { radius: size },
                1 => InputRange::Real {
                    lowest: -size,
                    highest: size * self.numbers.unit(),
                },
                _ => InputRange::Real {
                    lowest: size * 0.25,
                    highest: size,
                },
            };
            let visibility = if i == encrypted {
                Visibility::Plain
            } else {
                Visibility::Encrypted
            };
            let loc = self.loc();
            let value = self.trace.input(&format!("x{i}"), visibility, loc).unwrap();
            known.extend(self.known(value, size, 0));
            ranges.push(range);
        }
        (known, ranges)
    }

    /// Draws a vector within each range. If `ends`, slots are near the end of larger absolute value. Else they are
    /// anywhere, and one slot in eight is at an end.
    fn data(&mut self, ranges: &[InputRange], ends: bool) -> Vec<Vec<Complex64>> {
        let slots = self.limits.slots;
        let n = &mut *self.numbers;
        let mut vector = |range: &InputRange| {
            let turn = std::f64::consts::TAU * n.unit();
            let slot = |_| match *range {
                InputRange::Real { lowest, highest } => {
                    let at = match (ends, n.one_in(8)) {
                        (true, _) => {
                            let from_end = 0.1 * n.unit();
                            if lowest.abs() > highest.abs() {
                                from_end
                            } else {
                                1.0 - from_end
                            }
                        }
                        (false, true) => f64::from(n.between(0, 1)),
                        (false, false) => n.unit(),
                    };
                    Complex64::new((lowest + at * (highest - lowest)).min(highest), 0.0)
                }
                InputRange::Disc { radius } => {
                    let (size, turn) = match (ends, n.one_in(8)) {
                        (true, _) => (1.0 - 0.1 * n.unit(), turn),
                        (false, end) => {
                            let size = if end { 1.0 } else { n.unit().sqrt() };
                            (size, std::f64::consts::TAU * n.unit())
                        }
                    };
                    Complex64::from_polar(radius * size, turn)
                }
            };
            (0..slots).map(slot).collect()
        };
        ranges.iter().map(&mut vector).collect()
    }

    /// Adds a random operation on `a`, `b` or `plain`. Returns its result, or `None` if the limits do not allow it.
    fn step(&mut self, a: &Known, b: &Known, plain: &Known) -> Option<Known> {
        let loc = self.loc();
        let deeper = a.depth.max(b.depth);
        if self.limits.alike && self.numbers.one_in(3) {
            return self.alike(a, b);
        }
        match self.numbers.below(17) {
            0 | 1 => {
                let negative = self.numbers.one_in(2);
                self.fits(a.bound + b.bound, deeper)?;
                let value = if negative {
                    self.trace.sub(a.value, b.value, loc)
                } else {
                    self.trace.add(a.value, b.value, loc)
                };
                self.known(value.unwrap(), a.bound + b.bound, deeper)
            }
            2..=4 => {
                self.fits(a.bound * b.bound, deeper + 1)?;
                let value = self.trace.mul(a.value, b.value, loc).unwrap();
                self.known(value, a.bound * b.bound, deeper + 1)
            }
            5 => {
                self.fits(a.bound * a.bound, a.depth + 1)?;
                let value = self.trace.square(a.value, loc).unwrap();
                self.known(value, a.bound * a.bound, a.depth + 1)
            }
            6 => {
                let value = self.trace.neg(a.value, loc).unwrap();
                self.known(value, a.bound, a.depth)
            }
            7 => {
                let value = self.trace.conj(a.value, loc).unwrap();
                self.known(value, a.bound, a.depth)
            }
            8 | 9 => {
                let steps = self.numbers.below(self.limits.slots as usize) as i64;
                let value = self.trace.rotate(a.value, steps, loc).unwrap();
                self.known(value, a.bound, a.depth)
            }
            10 => {
                let factor = match self.numbers.below(3) {
                    0 => f64::from(self.numbers.between(1, 4)),
                    _ => 1.5 * self.numbers.signed(),
                };
                let (bound, depth) = (a.bound * factor.abs(), a.depth + 1);
                self.fits(bound, depth)?;
                let scalar = self.trace.scalar(factor, None).unwrap();
                let value = self.trace.mul(a.value, scalar, loc).unwrap();
                self.known(value, bound, depth)
            }
            11 => {
                let term = 2.0 * self.numbers.signed();
                self.fits(a.bound + term.abs(), a.depth)?;
                let scalar = self.trace.scalar(term, None).unwrap();
                let value = self.trace.add(a.value, scalar, loc).unwrap();
                self.known(value, a.bound + term.abs(), a.depth)
            }
            12 => {
                self.fits(a.bound, a.depth + 1)?;
                let mask = self.numbers.one_in(2);
                let vector = self.vector(1.0, mask);
                let value = self.trace.mul(a.value, vector, loc).unwrap();
                self.known(value, a.bound, a.depth + 1)
            }
            13 => {
                self.fits(a.bound + 2.0, a.depth)?;
                let vector = self.vector(2.0, false);
                let value = self.trace.add(a.value, vector, loc).unwrap();
                self.known(value, a.bound + 2.0, a.depth)
            }
            14 => {
                if self.numbers.one_in(2) {
                    self.fits(a.bound + plain.bound, a.depth)?;
                    let value = self.trace.add(a.value, plain.value, loc).unwrap();
                    self.known(value, a.bound + plain.bound, a.depth)
                } else {
                    self.fits(a.bound * plain.bound, a.depth + 1)?;
                    let value = self.trace.mul(a.value, plain.value, loc).unwrap();
                    self.known(value, a.bound * plain.bound, a.depth + 1)
                }
            }
            15 => self.total(a),
            _ => self.polynomial(a),
        }
    }

    /// Returns `None` if the limits do not allow a value of this bound and depth.
    fn fits(&self, bound: f64, depth: u32) -> Option<()> {
        (bound <= self.limits.largest && depth <= self.limits.depth).then_some(())
    }

    fn known(&self, value: Traced, bound: f64, depth: u32) -> Option<Known> {
        Some(Known {
            value,
            bound,
            depth,
        })
    }

    fn vector(&mut self, size: f64, mask: bool) -> Traced {
        let complex = self.numbers.one_in(3);
        // A mask keeps seven slots in eight, so that two masks after each other keep some slots.
        let gap = self.numbers.below(8);
        let mask = mask && self.limits.slots >= 8;
        let mut slot = |i: usize| {
            if mask {
                return (f64::from(u8::from(i % 8 != gap)), 0.0);
            }
            let part = size * std::f64::consts::FRAC_1_SQRT_2;
            let im = if complex {
                part * self.numbers.signed()
            } else {
                0.0
            };
            (part * self.numbers.signed(), im)
        };
        let values = (0..self.limits.slots as usize).map(&mut slot).collect();
        self.trace.vector(values, None).unwrap()
    }

    /// Adds a sum, with random signs, of 2 to 12 key switches of one kind. They switch values that differ by a public
    /// vector or constant. The kinds are rotations by the same steps, conjugations, and products with one factor of
    /// which each is relinearised.
    fn alike(&mut self, a: &Known, b: &Known) -> Option<Known> {
        let count = self.numbers.between(2, 12);
        let each = a.bound + 1.0;
        let way = self.numbers.below(5);
        let (each, depth) = match way {
            0 => (each, a.depth),
            1 => (2.0 * each, a.depth),
            2 | 3 => (each * b.bound, a.depth.max(b.depth) + 1),
            _ => (each * each, a.depth + 1),
        };
        self.fits(each * f64::from(count), depth)?;
        let steps = self.numbers.below(self.limits.slots as usize) as i64;
        let mut sum: Option<Traced> = None;
        for _ in 0..count {
            let loc = self.loc();
            let other = match self.numbers.below(3) {
                0 => {
                    let term = self.numbers.signed();
                    let scalar = self.trace.scalar(term, None).unwrap();
                    self.trace.add(a.value, scalar, loc.clone()).unwrap()
                }
                _ => {
                    let vector = self.vector(1.0, false);
                    self.trace.add(a.value, vector, loc.clone()).unwrap()
                }
            };
            let trace = &mut self.trace;
            let made = match way {
                0 => trace.rotate(other, steps, loc.clone()),
                1 if count.is_multiple_of(2) => trace.unary(Unary::TwoReal, other, loc.clone()),
                1 => trace.conj(other, loc.clone()),
                2 | 3 => trace.mul(other, b.value, loc.clone()),
                _ => trace.mul(other, a.value, loc.clone()),
            };
            let made = made.unwrap();
            // A rotation or a conjugation of a product makes the compiler relinearise the product first.
            let made = match way {
                0 | 1 => made,
                2 => trace.conj(made, loc.clone()).unwrap(),
                _ => trace.rotate(made, steps, loc.clone()).unwrap(),
            };
            let negative = self.numbers.one_in(4);
            let trace = &mut self.trace;
            sum = Some(match sum {
                None => made,
                Some(sum) if negative => trace.sub(sum, made, loc).unwrap(),
                Some(sum) => trace.add(sum, made, loc).unwrap(),
            });
        }
        self.known(sum?, each * f64::from(count), depth)
    }

    /// Adds in each slot the sum of a number of neighbouring slots that is a power of two, by rotations.
    fn total(&mut self, a: &Known) -> Option<Known> {
        let most = self.limits.slots.trailing_zeros();
        let width = 1u32 << self.numbers.between(1, most);
        let bound = a.bound * f64::from(width);
        self.fits(bound, a.depth)?;
        let mut sum = a.value;
        let mut step = i64::from(width / 2);
        while step > 0 {
            let loc = self.loc();
            let turned = self.trace.rotate(sum, step, loc.clone()).unwrap();
            sum = self.trace.add(sum, turned, loc).unwrap();
            step /= 2;
        }
        self.known(sum, bound, a.depth)
    }

    /// Evaluates a random polynomial of degree 2 to 31 at a value.
    fn polynomial(&mut self, a: &Known) -> Option<Known> {
        let degree = self.numbers.between(2, 31);
        let depth = a.depth + (degree + 1).next_power_of_two().trailing_zeros();
        let size = self.numbers.unit() + 0.1;
        let coefficients: Vec<f64> = (0..=degree).map(|_| size * self.numbers.signed()).collect();
        let terms = coefficients.iter().rev();
        let bound = terms.fold(0.0, |sum, c| sum * a.bound + c.abs());
        self.fits(bound, depth)?;
        let loc = self.loc();
        let value = self.trace.polynomial(a.value, &coefficients, loc).unwrap();
        self.known(value, bound, depth)
    }
}
