//! Inputs within their ranges for which a program's errors are large: a bound over all inputs is close where some input
//! comes near it, whatever the others do.
//!
//! The program is evaluated in the clear with an error of the right size wherever encryption, rescaling and key switching
//! make one, and inputs are drawn and changed slot by slot to make the errors of its outputs large.

use num_complex::Complex64;
use ringmill_compiler::InputRange;
use ringmill_compiler::reference::evaluate_observed;
use ringmill_isa::macros::{MacroOp, MacroProgram, MacroType};
use ringmill_schemes::ckks::Params;

use crate::numbers::Numbers;

/// Size of the errors that are put in: small enough that only their first power counts, large beside roundings of doubles.
const SMALL: f64 = 1e-7;
/// Complex Gaussians to take errors from.
const TABLE: usize = 1 << 15;

/// A search for the worst inputs of one managed program.
pub struct Worst<'a> {
    program: &'a MacroProgram,
    ranges: &'a [InputRange],
    /// Deviation of the error that is put into each value.
    sizes: Vec<f64>,
    gaussians: Vec<Complex64>,
    numbers: Numbers,
    /// What each value may be as large as, where the bound is for values no larger than on a sample.
    largest: Option<Vec<f64>>,
    /// Of each output: the largest error and the inputs that gave it.
    found: Vec<(f64, Vec<Vec<Complex64>>)>,
}

impl<'a> Worst<'a> {
    /// `managed` comes with parameters; `first` are inputs to begin with, and with `sampled` no value may become larger
    /// than on them.
    pub fn new(
        managed: &'a MacroProgram,
        params: &Params,
        ranges: &'a [InputRange],
        first: &[Vec<Complex64>],
        sampled: bool,
        seed: u64,
    ) -> Self {
        let mut numbers = Numbers::new(seed);
        let gaussians = (0..TABLE).map(|_| gaussian(&mut numbers)).collect();
        let mut worst = Self {
            program: managed,
            ranges,
            sizes: sizes(managed, params),
            gaussians,
            numbers,
            largest: None,
            found: vec![(-1.0, Vec::new()); managed.outputs.len()],
        };
        worst.consider(first.to_vec());
        if sampled {
            worst.largest = Some(norms(managed, first).1);
        }
        worst
    }

    /// Looks at `tries` more inputs.
    pub fn search(&mut self, tries: usize) {
        for number in 0..tries {
            let best = number % self.found.len();
            let inputs = if self.largest.is_none() && self.numbers.one_in(4) {
                self.ranges.iter().map(|_| Vec::new()).collect()
            } else {
                self.found[best].1.clone()
            };
            let changed = if self.largest.is_some() && !self.numbers.one_in(4) {
                self.rearranged(inputs)
            } else {
                self.changed(inputs)
            };
            self.consider(changed);
        }
    }

    /// The worst inputs for an output.
    pub fn inputs(&self, output: usize) -> &[Vec<Complex64>] {
        &self.found[output].1
    }

    fn consider(&mut self, inputs: Vec<Vec<Complex64>>) {
        let (exact, norms) = norms(self.program, &inputs);
        if let Some(largest) = &self.largest
            && norms
                .iter()
                .zip(largest)
                .any(|(x, most)| *x > most * (1.0 + 1e-9))
        {
            return;
        }
        let errors = self.errors(&inputs, &exact);
        for (found, error) in self.found.iter_mut().zip(errors) {
            if error > found.0 {
                *found = (error, inputs.clone());
            }
        }
    }

    /// The largest error of each output, whose exact values are given.
    fn errors(&self, inputs: &[Vec<Complex64>], exact: &[Vec<Complex64>]) -> Vec<f64> {
        let inexact = evaluate_observed(self.program, inputs, &mut |value, slots| {
            let size = SMALL * self.sizes[value.0 as usize];
            if size > 0.0 {
                let from = value.0 as usize * 7919;
                for (i, slot) in slots.iter_mut().enumerate() {
                    *slot += size * self.gaussians[(from + i) % TABLE];
                }
            }
        });
        let pairs = exact.iter().zip(inexact.unwrap());
        let largest = |(x, y): (&Vec<Complex64>, Vec<Complex64>)| {
            let apart = x.iter().zip(&y).map(|(x, y)| (x - y).norm());
            apart.fold(0.0, f64::max)
        };
        pairs.map(largest).collect()
    }

    /// The inputs with slots moved, or turned in the complex plane: values are likely not to become larger.
    fn rearranged(&mut self, mut inputs: Vec<Vec<Complex64>>) -> Vec<Vec<Complex64>> {
        let slots = self.program.slots as usize;
        let n = &mut self.numbers;
        let (from, to) = (n.below(slots), n.below(slots));
        let chosen = n.below(inputs.len());
        match n.below(4) {
            0 => inputs.iter_mut().for_each(|x| x.rotate_left(from)),
            1 => inputs.iter_mut().for_each(|x| {
                let one = x[from];
                x.fill(one)
            }),
            2 => inputs[chosen].swap(from, to),
            _ => {
                let range = &self.ranges[chosen];
                let by = match range {
                    InputRange::Real { .. } => Complex64::new(-1.0, 0.0),
                    InputRange::Disc { .. } => {
                        Complex64::from_polar(1.0, std::f64::consts::TAU * n.unit())
                    }
                };
                let all = n.one_in(2);
                let vector = inputs[chosen].iter_mut().enumerate();
                for (_, x) in vector.filter(|(slot, _)| all || *slot == from) {
                    let turned = *x * by;
                    // A product with -1 has a zero imaginary part of either sign, which is zero.
                    if range.contains(turned.re, turned.im) {
                        *x = turned;
                    }
                }
            }
        }
        inputs
    }

    /// The inputs with some slots of some vectors drawn anew, all of them of a vector that is empty.
    fn changed(&mut self, mut inputs: Vec<Vec<Complex64>>) -> Vec<Vec<Complex64>> {
        let slots = self.program.slots as usize;
        let n = &mut self.numbers;
        let chosen = n.below(inputs.len());
        let all = n.one_in(3);
        for (i, (vector, range)) in inputs.iter_mut().zip(self.ranges).enumerate() {
            if !vector.is_empty() && i != chosen && !all {
                continue;
            }
            // Which slots: all, or those whose number agrees with another one in some bits.
            let (mask, same) = match (vector.is_empty(), n.one_in(2)) {
                (true, _) | (_, true) => (0, 0),
                _ => (n.below(slots), n.below(slots)),
            };
            vector.resize(slots, Complex64::default());
            // Two places within the range, taken by turns as the bits of the slot's number say, or a place for each slot.
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

/// The outputs, and the largest absolute value of a slot of each value.
fn norms(program: &MacroProgram, inputs: &[Vec<Complex64>]) -> (Vec<Vec<Complex64>>, Vec<f64>) {
    let mut norms = vec![0.0; program.types.len()];
    let outputs = evaluate_observed(program, inputs, &mut |value, slots| {
        norms[value.0 as usize] = slots.iter().map(|x| x.norm()).fold(0.0, f64::max);
    });
    (outputs.unwrap(), norms)
}

/// A number within the range: mostly an end of it.
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
            // Often real: where a conjugate is added, phases count.
            let turn = match n.below(3) {
                0 => f64::from(n.between(0, 3)) / 4.0,
                _ => n.unit(),
            };
            Complex64::from_polar(radius * size, std::f64::consts::TAU * turn)
        }
    }
}

/// Deviation of the error that each value gets of its own, in roundings of two polynomials.
fn sizes(managed: &MacroProgram, params: &Params) -> Vec<f64> {
    let log = |primes: &[u64]| primes.iter().map(|&p| (p as f64).log2()).sum::<f64>();
    let n = params.degree() as f64;
    let level = params.max_level();
    let digits = 0..params.digits_at(level);
    let digit = digits
        .map(|j| log(&params.moduli()[params.digit(j, level)]))
        .fold(0.0, f64::max);
    let switch = 3.2 * (n * 12.0).sqrt() * (digit - log(params.special_moduli())).exp2();
    let mut sizes = vec![0.0; managed.types.len()];
    for instr in &managed.instrs {
        for &d in &instr.dst {
            let MacroType::Cipher {
                size: polys,
                at: Some(at),
            } = managed.types[d.0 as usize]
            else {
                continue;
            };
            let at = at.scaled().unwrap();
            let size = match instr.op {
                MacroOp::Rescale if polys > 2 => (n * 2.0 / 3.0).sqrt(),
                MacroOp::Input | MacroOp::Rescale => 1.0,
                MacroOp::Relin | MacroOp::Conj | MacroOp::Rotate | MacroOp::Hrotate => 1.0 + switch,
                _ => 0.0,
            };
            sizes[d.0 as usize] = size * params.default_scale() / at.scale;
        }
    }
    sizes
}

/// Of variance 1, by Box and Muller.
fn gaussian(n: &mut Numbers) -> Complex64 {
    let size = (-(1.0 - n.unit()).ln()).sqrt();
    Complex64::from_polar(size, std::f64::consts::TAU * n.unit())
}
