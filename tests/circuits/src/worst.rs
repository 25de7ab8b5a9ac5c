// SPDX-License-Identifier: Apache-2.0
//! Searches for inputs within their ranges for which the errors of a program's outputs are large. A bound on the error
//! over all inputs is close if some input comes near it.
//!
//! The search evaluates the program in the clear, and adds an error of the right size wherever encryption, rescaling
//! and key switching add one. It draws and changes inputs slot by slot to increase the errors of the outputs.

use num_complex::Complex64;
use ringmill_compiler::ckks::InputRange;
use ringmill_compiler::ckks::reference::{evaluate, evaluate_observed};
use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram, MacroType};
use ringmill_schemes::ckks::Params;

use crate::numbers::Numbers;

/// The factor on all added errors. It is so small that their products do not count, and large beside the roundings of
/// doubles.
const SMALL: f64 = 1e-7;
/// The number of complex Gaussian samples that errors are taken from.
const TABLE: usize = 1 << 15;

/// The error that an operation adds to its result: a part with the same deviation in all slots, and a part that is a
/// key's error times the mean of the digits.
#[derive(Clone, Copy, Default)]
struct Added {
    /// The standard deviation of the first part in each slot.
    even: f64,
    /// The standard deviation of the second part in the slot where it is largest.
    peak: f64,
    /// The key whose error the second part has, and the number of slots by which the mean of the digits is rotated.
    key: usize,
    turn: usize,
}

/// A search for the worst inputs of one managed program.
pub struct Worst<'a> {
    program: &'a MacroProgram,
    ranges: &'a [InputRange],
    /// The error added to each value of the program.
    added: Vec<Added>,
    /// The size of the mean of the digits in each slot, relative to the largest.
    ones: Vec<f64>,
    gaussians: Vec<Complex64>,
    numbers: Numbers,
    /// For each output the largest error so far, and the inputs that gave it.
    found: Vec<(f64, Vec<Vec<Complex64>>)>,
}

impl<'a> Worst<'a> {
    /// Starts a search with the inputs `first`. `managed` is the program after the compiler has placed rescalings, for
    /// `params`.
    pub fn new(
        managed: &'a MacroProgram,
        params: &Params,
        ranges: &'a [InputRange],
        first: &[Vec<Complex64>],
        seed: u64,
    ) -> Self {
        let mut numbers = Numbers::new(seed);
        let gaussians = (0..TABLE).map(|_| gaussian(&mut numbers)).collect();
        let mut worst = Self {
            program: managed,
            ranges,
            added: added(managed, params),
            ones: ones(params),
            gaussians,
            numbers,
            found: vec![(-1.0, Vec::new()); managed.outputs.len()],
        };
        worst.consider(first.to_vec());
        worst
    }

    /// Tries `tries` more inputs, and keeps those with the largest error of some output.
    pub fn search(&mut self, tries: usize) {
        for number in 0..tries {
            let best = number % self.found.len();
            let inputs = if self.numbers.one_in(4) {
                self.ranges.iter().map(|_| Vec::new()).collect()
            } else {
                self.found[best].1.clone()
            };
            let changed = match self.numbers.below(8) {
                0 | 1 if !inputs[0].is_empty() => self.moved(inputs, best),
                _ => self.changed(inputs),
            };
            self.consider(changed);
        }
    }

    /// Returns the inputs with the largest error of an output so far.
    pub fn inputs(&self, output: usize) -> &[Vec<Complex64>] {
        &self.found[output].1
    }

    /// Keeps the inputs for each output whose error they make larger than before.
    fn consider(&mut self, inputs: Vec<Vec<Complex64>>) {
        let exact = outputs(self.program, &inputs);
        let errors = self.errors(&inputs, &exact, true);
        for (found, (error, _)) in self.found.iter_mut().zip(errors) {
            if error > found.0 {
                *found = (error, inputs.clone());
            }
        }
    }

    /// Returns for each output the largest error of a slot and that slot's index. `exact` has the outputs without
    /// errors. If `peaks`, the errors include the part that differs between slots.
    fn errors(
        &self,
        inputs: &[Vec<Complex64>],
        exact: &[Vec<Complex64>],
        peaks: bool,
    ) -> Vec<(f64, usize)> {
        let inexact = evaluate_observed(self.program, inputs, &mut |value, slots| {
            let added = &self.added[value.0 as usize];
            if added.even == 0.0 {
                return;
            }
            let from = value.0 as usize * 7919;
            let peak = if peaks { added.peak } else { 0.0 };
            let peak = peak * self.gaussians[added.key % TABLE];
            for (i, slot) in slots.iter_mut().enumerate() {
                let even = added.even * self.gaussians[(from + i) % TABLE];
                *slot += SMALL * (even + peak * self.ones[(i + added.turn) % self.ones.len()]);
            }
        });
        let pairs = exact.iter().zip(inexact.unwrap());
        let largest = |(x, y): (&Vec<Complex64>, Vec<Complex64>)| {
            let apart = x.iter().zip(&y).map(|(x, y)| (x - y).norm());
            let by_slot = apart.zip(0..);
            by_slot.fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a })
        };
        pairs.map(largest).collect()
    }

    /// Rotates the inputs, or copies one slot to all. So the slots that give the largest error without the part that
    /// differs between slots move to where this part is largest.
    fn moved(&mut self, mut inputs: Vec<Vec<Complex64>>, output: usize) -> Vec<Vec<Complex64>> {
        let exact = outputs(self.program, &inputs);
        let (_, to) = self.errors(&inputs, &exact, true)[output];
        let (_, from) = self.errors(&inputs, &exact, false)[output];
        let slots = self.program.slots as usize;
        let all = self.numbers.one_in(2);
        for x in &mut inputs {
            let worst = x[from];
            if all {
                x.fill(worst);
            } else {
                x.rotate_left((from + slots - to) % slots);
            }
        }
        inputs
    }

    /// Draws some slots of some vectors anew, and all slots of an empty vector.
    fn changed(&mut self, mut inputs: Vec<Vec<Complex64>>) -> Vec<Vec<Complex64>> {
        let slots = self.program.slots as usize;
        let n = &mut self.numbers;
        let chosen = n.below(inputs.len());
        let all = n.one_in(3);
        for (i, (vector, range)) in inputs.iter_mut().zip(self.ranges).enumerate() {
            if !vector.is_empty() && i != chosen && !all {
                continue;
            }
            // The slots to change: all, or those whose number agrees with `same` in the bits of `mask`.
            let (mask, same) = match (vector.is_empty(), n.one_in(2)) {
                (true, _) | (_, true) => (0, 0),
                _ => (n.below(slots), n.below(slots)),
            };
            vector.resize(slots, Complex64::default());
            // The new slots have two numbers of the range, chosen by bits of the slot's number, or a number for each
            // slot.
            let turns = n.below(slots);
            let places = [place(n, range), place(n, range)];
            let apart = n.one_in(3);
            for (slot, x) in vector.iter_mut().enumerate() {
                if (slot ^ same) & mask == 0 {
                    *x = if apart {
                        place(n, range)
                    } else {
                        places[(slot & turns).count_ones() as usize % 2]
                    };
                }
            }
        }
        inputs
    }
}

/// Evaluates the program in the clear and returns its outputs.
fn outputs(program: &MacroProgram, inputs: &[Vec<Complex64>]) -> Vec<Vec<Complex64>> {
    evaluate(program, inputs).unwrap()
}

/// Draws a number within the range. Three of four are at an end of it.
fn place(n: &mut Numbers, range: &InputRange) -> Complex64 {
    let inside = n.one_in(4);
    match *range {
        InputRange::Real { lowest, highest } => {
            let at = if inside {
                n.unit()
            } else {
                f64::from(n.between(0, 1))
            };
            Complex64::new((lowest + at * (highest - lowest)).min(highest), 0.0)
        }
        InputRange::Disc { radius } => {
            let size = if inside { n.unit().sqrt() } else { 1.0 };
            // A third of the numbers are multiples of a quarter turn. Phases matter in a sum with a conjugate.
            let turn = match n.below(3) {
                0 => f64::from(n.between(0, 3)) / 4.0,
                _ => n.unit(),
            };
            Complex64::from_polar(radius * size, std::f64::consts::TAU * turn)
        }
    }
}

/// Returns the absolute value of the polynomial 1 + X + X^2 + ... in each slot of the ring, relative to the largest.
fn ones(params: &Params) -> Vec<f64> {
    let period = 4 * params.slots() as u64;
    let angle = |e: u64| std::f64::consts::PI * e as f64 / period as f64;
    let of = |e: &u64| (angle(1).sin() / angle(*e).sin()).abs();
    let powers = std::iter::successors(Some(1), |e| Some(e * 3 % period));
    powers.take(params.slots()).map(|e| of(&e)).collect()
}

/// Returns the error that each operation of the program adds to its result. The unit is the error of rounding the two
/// polynomials of a ciphertext.
fn added(managed: &MacroProgram, params: &Params) -> Vec<Added> {
    let log = |primes: &[u64]| primes.iter().map(|&p| (p as f64).log2()).sum::<f64>();
    let n = params.degree() as f64;
    let level = params.max_level();
    let digits = 0..params.digits_at(level);
    let digit = digits
        .map(|j| log(&params.moduli()[params.digit(j, level)]))
        .fold(0.0, f64::max);
    // `ratio` is the largest digit over P, times the deviation 3.2 of a key's error. A rounding's deviation is N /
    // sqrt(18). The sum of N products of uniform and Gaussian numbers has N / sqrt(12) times theirs. The mean 1/2 of
    // the digits gives 2 N / pi times a sum of N Gaussians.
    let ratio = 3.2 * (digit - log(params.special_moduli())).exp2();
    let (even, peak) = (
        ratio * 1.5f64.sqrt(),
        ratio * (18.0 * n).sqrt() / std::f64::consts::PI,
    );
    let mut all = vec![Added::default(); managed.types.len()];
    for instr in &managed.instrs {
        for (k, &d) in instr.dst.iter().enumerate() {
            let MacroType::Cipher {
                size: polys,
                at: Some(at),
            } = managed.types[d.0 as usize]
            else {
                continue;
            };
            let steps = match &instr.imm {
                MacroImm::Steps(steps) => steps[k].rem_euclid(params.slots() as i32) as usize,
                _ => 0,
            };
            let scale = params.default_scale() / at.scaled().unwrap().scale;
            let added = match instr.op {
                MacroOp::Rescale if polys > 2 => Added {
                    even: (n * 2.0 / 3.0).sqrt(),
                    ..Added::default()
                },
                MacroOp::Input | MacroOp::Rescale => Added {
                    even: 1.0,
                    ..Added::default()
                },
                MacroOp::Relin | MacroOp::Conj | MacroOp::Rotate | MacroOp::Hrotate => Added {
                    even: 1.0 + even,
                    peak,
                    key: steps + instr.op as usize * params.slots(),
                    turn: if instr.op == MacroOp::Hrotate {
                        steps
                    } else {
                        0
                    },
                },
                _ => Added::default(),
            };
            all[d.0 as usize] = Added {
                even: added.even * scale,
                peak: added.peak * scale,
                ..added
            };
        }
    }
    all
}

/// Draws a complex Gaussian number of variance 1 by the method of Box and Muller.
fn gaussian(n: &mut Numbers) -> Complex64 {
    let size = (-(1.0 - n.unit()).ln()).sqrt();
    Complex64::from_polar(size, std::f64::consts::TAU * n.unit())
}
