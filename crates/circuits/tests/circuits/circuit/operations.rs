// SPDX-License-Identifier: Apache-2.0
//! Makes programs of every operation and random programs, and compares circuits with them, for the tests of circuits.

use ringmill_circuits::circuit::lower::{Circuit, Part};
use ringmill_circuits::circuit::program::{
    Binary, Comparison, Program, ProgramBuilder, Shift, Type, Value,
};

/// Evaluates a circuit without encryption, and returns the integers of its outputs.
pub fn run(circuit: &Circuit, inputs: &[u64]) -> Vec<u64> {
    let mut wires = vec![0; circuit.graph.inputs as usize];
    for (port, value) in circuit.inputs.iter().zip(inputs) {
        for part in &port.parts {
            if let Part::Encrypted { number, at, bits } = part {
                wires[*number as usize] = value >> at & ((1 << bits) - 1);
            }
        }
    }
    let sums = circuit.graph.evaluate(&wires).unwrap();
    let of = |part: &Part| match *part {
        Part::Encrypted { number, at, .. } => (sums[number as usize] as u64) << at,
        Part::Known { value, at } => value << at,
    };
    let outputs = circuit.outputs.iter();
    outputs
        .map(|port| port.parts.iter().map(of).sum())
        .collect()
}

/// A generator of deterministic random numbers for tests.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// Returns a random integer of `bits` bits. Half of them are edge cases, such as 0.
    pub fn value(&mut self, bits: u32) -> u64 {
        let mask = u64::MAX >> (64 - bits);
        let edge = [0, 1, 2, mask, mask - 1, mask >> 1, (mask >> 1) + 1];
        match self.next() % 2 {
            0 => edge[self.next() as usize % edge.len()] & mask,
            _ => self.next() & mask,
        }
    }
}

pub fn kind(bits: u32, signed: bool) -> Type {
    Type::new(bits, signed).unwrap()
}

pub type Make = Box<dyn Fn(&mut ProgramBuilder, Value, Value) -> Value>;

/// Returns all operations that take two integers of one type, each with its name.
pub fn operations(of: Type) -> Vec<(String, Make)> {
    let mut all: Vec<(String, Make)> = Vec::new();
    for op in Binary::ALL {
        let make = move |b: &mut ProgramBuilder, x, y| b.binary(op, x, y).unwrap();
        all.push((format!("{op:?}"), Box::new(make)));
    }
    for op in Comparison::ALL {
        let make = move |b: &mut ProgramBuilder, x, y| b.compare(op, x, y).unwrap();
        all.push((format!("{op:?}"), Box::new(make)));
        let make = move |b: &mut ProgramBuilder, x, y| {
            let bit = b.compare(op, x, y).unwrap();
            let sum = b.binary(Binary::Add, x, y).unwrap();
            b.select(bit, sum, y).unwrap()
        };
        all.push((format!("select by {op:?}"), Box::new(make)));
    }
    for shift in Shift::ALL {
        for by in 0..=of.bits() {
            let make = move |b: &mut ProgramBuilder, x, _| b.shift_by(shift, x, by).unwrap();
            all.push((format!("{shift:?} by {by}"), Box::new(make)));
        }
        if shift == Shift::RotateLeft && !of.bits().is_power_of_two() {
            continue;
        }
        let make = move |b: &mut ProgramBuilder, x, y| {
            let by = b.convert(y, kind(of.bits(), false)).unwrap();
            b.shift(shift, x, by).unwrap()
        };
        all.push((format!("{shift:?}"), Box::new(make)));
    }
    all.push(("not".into(), Box::new(|b, x, _| b.not(x).unwrap())));
    for (bits, signed) in [(1, false), (3, false), (7, true), (12, true), (64, false)] {
        let make = move |b: &mut ProgramBuilder, x, _| b.convert(x, kind(bits, signed)).unwrap();
        all.push((format!("to {bits} bits"), Box::new(make)));
    }
    for terms in [1, 3, 7, 20] {
        let make = move |b: &mut ProgramBuilder, x, y| {
            let terms: Vec<Value> = (0..terms).map(|i| if i % 3 == 1 { y } else { x }).collect();
            b.sum(&terms).unwrap()
        };
        all.push((format!("sum of {terms}"), Box::new(make)));
    }
    // Constants are the left or the right operand.
    for c in [0u64, 1, 5, u64::MAX / 3] {
        let constant = of.read(c);
        for op in [
            Binary::Sub,
            Binary::Mul,
            Binary::Div,
            Binary::Rem,
            Binary::Max,
        ] {
            let make = move |b: &mut ProgramBuilder, x, _| {
                let c = b.constant(constant, of).unwrap();
                b.binary(op, x, c).unwrap()
            };
            all.push((format!("{op:?} with {constant}"), Box::new(make)));
            let make = move |b: &mut ProgramBuilder, x, _| {
                let c = b.constant(constant, of).unwrap();
                b.binary(op, c, x).unwrap()
            };
            all.push((format!("{constant} {op:?}"), Box::new(make)));
        }
    }
    all
}

pub fn of_two(of: Type, make: &Make) -> Program {
    let mut b = ProgramBuilder::new();
    let (x, y) = (b.input("x", of), b.input("y", of));
    let z = make(&mut b, x, y);
    b.output("z", z).unwrap();
    b.finish()
}

pub fn agree(program: &Program, circuit: &Circuit, inputs: &[u64], what: &str) {
    let expected = program.evaluate(inputs).unwrap();
    assert_eq!(run(circuit, inputs), expected, "{what} of {inputs:?}");
}

/// Checks every operation on every pair of integers of four bits, in each circuit that `lowered` makes of its program.
pub fn every_pair_of_four_bits(lowered: impl Fn(&Program) -> Vec<Circuit>) {
    for of in [false, true].map(|signed| kind(4, signed)) {
        for (name, make) in operations(of) {
            let program = of_two(of, &make);
            for circuit in lowered(&program) {
                for x in 0..16 {
                    for y in 0..16 {
                        agree(&program, &circuit, &[x, y], &format!("{name}, {of}"));
                    }
                }
            }
        }
    }
}

/// Checks every operation on random integers of these widths: on `pairs[0]` pairs below 32 bits, on `pairs[1]` from 32 bits
/// on. `lowered` lowers a program and takes a random number by which it may choose a limit.
pub fn other_widths(
    dice: &mut Dice,
    widths: &[u32],
    pairs: [usize; 2],
    lowered: impl Fn(&Program, usize) -> Circuit,
) {
    for &bits in widths {
        for of in [false, true].map(|signed| kind(bits, signed)) {
            for (name, make) in operations(of) {
                let program = of_two(of, &make);
                let circuit = lowered(&program, dice.next() as usize);
                for _ in 0..pairs[usize::from(bits >= 32)] {
                    let inputs = [dice.value(bits), dice.value(bits)];
                    agree(&program, &circuit, &inputs, &format!("{name}, {of}"));
                }
            }
        }
    }
}

/// Checks random tables at every index of one to eight bits, with entries of these widths.
pub fn random_tables(dice: &mut Dice, widths: &[u32], lowered: impl Fn(&Program) -> Circuit) {
    for index in 1..=8 {
        for &bits in widths {
            let (of, to) = (kind(index, false), kind(bits, false));
            let length = 1 + dice.next() % (1 << index);
            let entries: Vec<i128> = (0..length).map(|_| to.read(dice.next())).collect();
            let mut b = ProgramBuilder::new();
            let x = b.input("x", of);
            let y = b.table(x, &entries, to).unwrap();
            b.output("y", y).unwrap();
            let program = b.finish();
            let circuit = lowered(&program);
            for x in 0..1 << index {
                agree(&program, &circuit, &[x], "table");
            }
        }
    }
}

/// Returns a program of a dozen operations on values of one type. Each takes any earlier values, and all are outputs.
pub fn random_program(dice: &mut Dice, of: Type) -> Program {
    let operations = operations(of);
    let mut b = ProgramBuilder::new();
    let mut values = vec![b.input("x", of), b.input("y", of)];
    for _ in 0..12 {
        let pick = |dice: &mut Dice| values[dice.next() as usize % values.len()];
        let (x, y): (Value, Value) = (pick(dice), pick(dice));
        let (_, make) = &operations[dice.next() as usize % operations.len()];
        let z = make(&mut b, x, y);
        values.push(b.convert(z, of).unwrap());
    }
    for value in &values[2..] {
        b.output("z", *value).unwrap();
    }
    b.finish()
}

/// Returns a program of the operation `name` on two integers of 16 bits.
pub fn of_sixteen(name: &str) -> Program {
    let of = kind(16, false);
    let operations = operations(of);
    let (_, make) = operations.iter().find(|(n, _)| n == name).unwrap();
    of_two(of, make)
}
