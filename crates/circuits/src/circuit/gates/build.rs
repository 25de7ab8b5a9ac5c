// SPDX-License-Identifier: Apache-2.0
//! Bits, and gates of them: each once, none noisier than a bootstrap bears.

use std::collections::HashMap;

use ringmill_limits::{Halt, Watch};

use super::form::{INPUTS, form};
use crate::circuit::error::CircuitError;
use crate::circuit::graph::{Basis, Graph, Lookup, SIGN, eighths};
use crate::circuit::sum::{Sum, Wire};
use crate::tfhe::NoiseModel;

/// An encrypted bit: a sum, in eighths of the torus, that is 1 or -1.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Bit(Sum);

impl Bit {
    pub fn constant(value: bool) -> Self {
        Self(Sum::constant(if value { 1 } else { -1 }))
    }

    /// Its value where that is known.
    pub fn known(&self) -> Option<bool> {
        self.0.is_constant().then_some(self.0.halves() > 0)
    }

    pub fn sum(&self) -> &Sum {
        &self.0
    }

    /// The other bit: for nothing.
    #[must_use]
    pub fn inverted(&self) -> Self {
        Self(Sum::default().plus(-1, &self.0))
    }
}

/// The largest sums of squared factors in front of a bootstrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Of sums that are an eighth of the torus away from where the sign changes.
    pub near: u64,
    /// Of sums that are two eighths away.
    pub far: u64,
}

impl Limits {
    /// Those with which each bootstrap fails with a probability of at most 2^`failure`.
    ///
    /// # Errors
    /// [`CircuitError::Fails`] where an output alone fails more often.
    pub fn of(noise: &NoiseModel, failure: f64) -> Result<Self, CircuitError> {
        let norms = (
            noise.largest_sign_norm(1, failure),
            noise.largest_sign_norm(2, failure),
        );
        match norms {
            (Some(near), Some(far)) => Ok(Self { near, far }),
            (None, _) | (_, None) => Err(CircuitError::Fails {
                asked: failure,
                got: noise.sign_failure(1, 1),
            }),
        }
    }

    pub(in crate::circuit) fn at(self, eighths: u32) -> u64 {
        if eighths == 1 { self.near } else { self.far }
    }
}

/// Gathers the gates of a circuit, each once.
pub struct Gates {
    graph: Graph,
    seen: HashMap<Sum, Wire>,
    limits: Limits,
    watch: Watch,
}

impl Gates {
    /// Bootstraps bear sums up to `limits`. Each gate asks `watch` for its memory.
    pub fn new(limits: Limits, watch: &Watch) -> Self {
        let graph = Graph {
            basis: Basis::Bits,
            ..Graph::default()
        };
        Self {
            graph,
            seen: HashMap::new(),
            limits,
            watch: watch.clone(),
        }
    }

    /// All inputs come before the first gate.
    pub fn input(&mut self) -> Bit {
        let wire = Wire(self.graph.inputs);
        self.graph.inputs += 1;
        Bit(Sum::wire(wire))
    }

    /// The circuit with these outputs.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn finish(self, outputs: Vec<Sum>) -> Result<Graph, Halt> {
        drop(self.seen);
        Graph {
            outputs,
            ..self.graph
        }
        .without_dead(&self.watch)
    }

    /// A function of up to four bits.
    ///
    /// # Errors
    /// As all here: [`CircuitError::Noise`] where the parameters have too much of it.
    pub fn of<const K: usize>(
        &mut self,
        inputs: [&Bit; K],
        f: impl Fn([bool; K]) -> bool,
    ) -> Result<Bit, CircuitError> {
        const { assert!(K <= INPUTS) }
        let row = |row: usize| f(std::array::from_fn(|i| row >> i & 1 == 1));
        let table = (0..1 << K).fold(0, |table, r| table | u16::from(row(r)) << r);
        self.table(&inputs.map(Bit::clone), table)
    }

    pub fn and(&mut self, a: &Bit, b: &Bit) -> Result<Bit, CircuitError> {
        self.of([a, b], |[a, b]| a & b)
    }

    pub fn or(&mut self, a: &Bit, b: &Bit) -> Result<Bit, CircuitError> {
        self.of([a, b], |[a, b]| a | b)
    }

    pub fn xor(&mut self, a: &Bit, b: &Bit) -> Result<Bit, CircuitError> {
        self.of([a, b], |[a, b]| a ^ b)
    }

    /// a where the bit is 1, else b: two bootstraps.
    pub fn mux(&mut self, bit: &Bit, a: &Bit, b: &Bit) -> Result<Bit, CircuitError> {
        self.of([bit, a, b], |[bit, a, b]| if bit { a } else { b })
    }

    /// a + b - c, where c is one of the two: for nothing, unless that is too noisy to be read.
    pub fn other(&self, [a, b]: [&Bit; 2], c: &Bit) -> Option<Bit> {
        let sum = a.0.plus(1, &b.0).plus(-1, &c.0);
        (sum.norm() <= self.limits.near).then_some(Bit(sum))
    }

    /// The function of up to four bits whose value for inputs `row` is bit `row` of a table.
    pub fn table(&mut self, inputs: &[Bit], table: u16) -> Result<Bit, CircuitError> {
        let (bits, table) = reduced(inputs, table);
        match bits.as_slice() {
            [] => return Ok(Bit::constant(table & 1 == 1)),
            [bit] => {
                return Ok(if table == 0b10 {
                    bit.clone()
                } else {
                    bit.inverted()
                });
            }
            _ => {}
        }
        let form = form(bits.len(), table);
        match form.map(|form| (form, self.limits.at(form.eighths()))) {
            Some((form, limit)) if form.norm() <= limit => {
                let sum = form.sum(&bits);
                if sum.norm() <= self.limits.at(eighths(&sum)) {
                    return self.lookup(&sum);
                }
                let bits = self.refreshed(bits)?;
                self.table(&bits, table)
            }
            // Nothing smaller computes a gate of two bits.
            Some((form, limit)) if bits.len() == 2 => Err(CircuitError::Noise {
                limit,
                needed: form.norm(),
            }),
            _ => self.decomposed(&bits, table),
        }
    }

    /// The same bits, the noisiest anew from a bootstrap.
    fn refreshed(&mut self, mut bits: Vec<Bit>) -> Result<Vec<Bit>, CircuitError> {
        let noisiest = bits.iter_mut().max_by_key(|bit| bit.0.norm());
        let Some(bit) = noisiest else {
            return Ok(bits);
        };
        // One of norm 1 is as quiet as it gets.
        let (limit, needed) = (self.limits.near, bit.0.norm());
        if !(2..=limit).contains(&needed) {
            return Err(CircuitError::Noise { limit, needed });
        }
        *bit = self.lookup(&bit.0.clone())?;
        Ok(bits)
    }

    /// A function of three or four bits as functions of fewer.
    fn decomposed(&mut self, bits: &[Bit], table: u16) -> Result<Bit, CircuitError> {
        let rows = 1u32 << (bits.len() - 1);
        let ones = ((1u32 << rows) - 1) as u16;
        let split = |i: usize| {
            let mut rest = bits.to_vec();
            let bit = rest.remove(i);
            (
                bit,
                rest,
                cofactor(table, rows, i, false),
                cofactor(table, rows, i, true),
            )
        };
        // One that flips the rest; one that decides alone; else the one that leaves least to be chosen from.
        if let Some((bit, rest, zero, _)) = (0..bits.len())
            .map(split)
            .find(|(_, _, zero, one)| zero ^ one == ones)
        {
            let inner = self.table(&rest, zero)?;
            return self.xor(&bit, &inner);
        }
        let sides = |zero: u16, one: u16| {
            reduced_inputs(bits.len() - 1, zero) + reduced_inputs(bits.len() - 1, one)
        };
        let best = (0..bits.len()).map(split);
        let Some((bit, rest, zero, one)) = best.min_by_key(|&(_, _, zero, one)| sides(zero, one))
        else {
            return Ok(Bit::constant(table & 1 == 1));
        };
        let (a, b) = (self.table(&rest, one)?, self.table(&rest, zero)?);
        self.chosen(&bit, &a, &b)
    }

    /// a where the bit is 1, else b: what is left of a is 1 at most where what is left of b is not.
    fn chosen(&mut self, bit: &Bit, a: &Bit, b: &Bit) -> Result<Bit, CircuitError> {
        const MUX: u16 = 0b1101_1000; // rows are bit, a, b from the lowest
        let (left, table) = reduced(&[bit.clone(), a.clone(), b.clone()], MUX);
        if left.len() < 3 {
            return self.table(&left, table);
        }
        let a = self.and(bit, a)?;
        let b = self.and(&bit.inverted(), b)?;
        Ok(Bit(a.0.plus(1, &b.0).shifted(1)))
    }

    /// The sign of a sum by a bootstrap, or by one that gave it or its opposite before.
    fn lookup(&mut self, sum: &Sum) -> Result<Bit, CircuitError> {
        let (operand, flipped) = canonical(sum);
        let wire = match self.seen.get(&operand) {
            Some(&wire) => wire,
            None => {
                self.watch.check()?;
                let wire = Wire(self.graph.wires() as u32);
                self.graph.lookups.push(Lookup {
                    operand: operand.clone(),
                    table: SIGN,
                    shared: false,
                });
                self.seen.insert(operand, wire);
                wire
            }
        };
        let bit = Bit(Sum::wire(wire));
        Ok(if flipped { bit.inverted() } else { bit })
    }
}

/// A sum whose sign is the same, or with `true` the opposite, for all that are so related: twice a bit and minus twice a bit
/// differ by half the torus, which turns the sign, as minus does.
fn canonical(sum: &Sum) -> (Sum, bool) {
    let negative = sum.terms().first().is_some_and(|&(_, f)| f < 0);
    let sign = if negative { -1 } else { 1 };
    let mut flipped = negative;
    let mut constant = sign * sum.halves();
    let mut terms = Sum::default();
    for &(wire, factor) in sum.terms() {
        let mut factor = sign * factor;
        if factor == -2 {
            factor = 2;
            flipped = !flipped;
        }
        terms = terms.plus(factor, &Sum::wire(wire));
    }
    constant = constant.rem_euclid(8);
    if constant >= 4 {
        constant -= 4;
        flipped = !flipped;
    }
    (terms.shifted(constant), flipped)
}

/// The rows of a table in which input i has a value.
fn cofactor(table: u16, rows: u32, i: usize, value: bool) -> u16 {
    let below = (1u32 << i) - 1;
    (0..rows).fold(0, |found, row| {
        let from = (row & !below) << 1 | u32::from(value) << i | row & below;
        found | (table >> from & 1) << row
    })
}

/// How many inputs a table depends on.
fn reduced_inputs(inputs: usize, table: u16) -> usize {
    let rows = 1u32 << inputs.saturating_sub(1);
    (0..inputs)
        .filter(|&i| cofactor(table, rows, i, false) != cofactor(table, rows, i, true))
        .count()
}

/// The function of those inputs alone that are not known, not one of the others or its opposite, and that matter.
fn reduced(inputs: &[Bit], table: u16) -> (Vec<Bit>, u16) {
    let mut bits: Vec<Bit> = Vec::new();
    // For each input where it is among them, and whether it is its opposite.
    let mut places: Vec<Result<(usize, bool), bool>> = Vec::new();
    for input in inputs {
        places.push(match input.known() {
            Some(value) => Err(value),
            None => {
                let inverse = input.inverted();
                let found = bits.iter().position(|bit| bit == input || *bit == inverse);
                let at = found.unwrap_or(bits.len());
                if found.is_none() {
                    bits.push(input.clone());
                }
                Ok((at, bits[at] == inverse))
            }
        });
    }
    let row_of = |row: usize| {
        let values = places.iter().enumerate().map(|(i, place)| {
            let value = match *place {
                Ok((at, opposite)) => (row >> at & 1 == 1) != opposite,
                Err(known) => known,
            };
            usize::from(value) << i
        });
        values.sum::<usize>()
    };
    let mut table = (0..1usize << bits.len())
        .fold(0u16, |found, row| found | (table >> row_of(row) & 1) << row);
    for i in (0..bits.len()).rev() {
        let rows = 1u32 << (bits.len() - 1);
        let (zero, one) = (
            cofactor(table, rows, i, false),
            cofactor(table, rows, i, true),
        );
        if zero == one {
            bits.remove(i);
            table = zero;
        }
    }
    (bits, table)
}
