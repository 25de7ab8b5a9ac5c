// SPDX-License-Identifier: Apache-2.0
//! Makes random programs of whole numbers and random vectors, in the same way for all schemes.

use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_isa::macros::{MacroProgram, SchemeName, Visibility};

pub use crate::numbers::Draw;

/// The limits of a random program.
#[derive(Clone, Copy)]
pub struct Shape {
    pub scheme: &'static str,
    pub slots: u32,
    /// The most products one after another.
    pub deepest: u32,
    /// The largest absolute value of inputs and of constant vectors.
    pub largest: i64,
    pub operations: u64,
}

impl Draw {
    pub fn vector(&mut self, slots: u32, largest: i64) -> Vec<i64> {
        let values = (0..slots).map(|_| self.below(2 * largest as u64 + 1) as i64 - largest);
        values.collect()
    }

    /// Returns a program with two encrypted inputs x and y, a plain input p, and a few random operations, each on
    /// earlier values.
    pub fn program(&mut self, shape: Shape) -> MacroProgram {
        let slots = shape.slots;
        let mut t = TraceBuilder::new("random", slots).unwrap();
        let x = t.input("x", Visibility::Encrypted, None).unwrap();
        let y = t.input("y", Visibility::Encrypted, None).unwrap();
        let p = t.input("p", Visibility::Plain, None).unwrap();
        let mut values: Vec<(Traced, u32)> = vec![(x, 0), (y, 0)];
        for _ in 0..1 + self.below(shape.operations) {
            let (a, depth) = self.pick(&values);
            let (b, other) = self.pick(&values);
            let made = self.operation(&mut t, shape, p, (a, depth), (b, other));
            values.push(made);
        }
        // Each output contains an encrypted input, because an output such as x + x - 2 x would be transparent.
        let (last, _) = values[values.len() - 1];
        let seven = t.scalar(7.0, None).unwrap();
        let masked = t.mul(x, seven, None).unwrap();
        let shown = t.add(last, masked, None).unwrap();
        t.output("last", last, None).unwrap();
        t.output("shown", shown, None).unwrap();
        let mut program = t.finish();
        program.scheme = named(shape.scheme);
        program
    }

    fn pick(&mut self, values: &[(Traced, u32)]) -> (Traced, u32) {
        // Half of the time the value is one of the later half, so that programs become deep.
        let count = values.len() as u64;
        let early = if self.below(2) == 0 { count / 2 } else { 0 };
        values[(early + self.below(count - early)) as usize]
    }

    fn operation(
        &mut self,
        t: &mut TraceBuilder,
        shape: Shape,
        p: Traced,
        (a, depth): (Traced, u32),
        (b, other): (Traced, u32),
    ) -> (Traced, u32) {
        let Shape {
            slots,
            deepest: limit,
            largest,
            ..
        } = shape;
        let deepest = depth.max(other);
        match self.below(12) {
            0 => (t.add(a, b, None).unwrap(), deepest),
            1 => (t.sub(a, b, None).unwrap(), deepest),
            2 => (t.neg(a, None).unwrap(), depth),
            3 | 4 if deepest < limit => (t.mul(a, b, None).unwrap(), deepest + 1),
            5 if depth < limit => (t.square(a, None).unwrap(), depth + 1),
            6 if depth < limit => (t.mul(a, p, None).unwrap(), depth + 1),
            7 => {
                let data = self.vector(slots, largest).into_iter();
                let data = data.map(|v| (v as f64, 0.0)).collect();
                let data = t.vector(data, None).unwrap();
                (t.add(a, data, None).unwrap(), depth)
            }
            8 => {
                let c = self.below(9) as f64 - 4.0;
                let c = t.scalar(c, None).unwrap();
                (t.add(a, c, None).unwrap(), depth)
            }
            // The operation is a polynomial of degree three, or the sum of three rotations.
            9 if depth + 2 <= limit => {
                let coefficients = [0; 4].map(|_| self.below(5) as f64 - 2.0);
                let [constant, .., first] = coefficients;
                let coefficients = [constant, first, 1.0, 1.0];
                (t.polynomial(a, &coefficients, None).unwrap(), depth + 2)
            }
            10 if slots > 4 => {
                let once = t.rotate(a, 1, None).unwrap();
                let twice = t.rotate(a, -2, None).unwrap();
                let sum = t.add(a, once, None).unwrap();
                (t.add(sum, twice, None).unwrap(), depth)
            }
            _ if slots > 1 => {
                let step = 1 + self.below(u64::from(slots) - 1) as i64;
                (t.rotate(a, step, None).unwrap(), depth)
            }
            _ => (t.sub(b, a, None).unwrap(), deepest),
        }
    }
}

pub fn named(name: &str) -> SchemeName {
    SchemeName::new(name).unwrap()
}

/// Returns the program x y + rotate(x, 3) p.
pub fn product(scheme: &str) -> MacroProgram {
    let mut t = TraceBuilder::new("product", 16).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = t.input("y", Visibility::Encrypted, None).unwrap();
    let p = t.input("p", Visibility::Plain, None).unwrap();
    let xy = t.mul(x, y, None).unwrap();
    let turned = t.rotate(x, 3, None).unwrap();
    let turned = t.mul(turned, p, None).unwrap();
    let z = t.add(xy, turned, None).unwrap();
    t.output("z", z, None).unwrap();
    let mut program = t.finish();
    program.scheme = named(scheme);
    program
}
