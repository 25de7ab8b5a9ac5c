// SPDX-License-Identifier: Apache-2.0
//! Encrypted bits, and the builder of gate circuits. The builder makes each gate once, and keeps the noise of each
//! operand within the limits of a bootstrap.

use std::collections::HashMap;

use ringmill_limits::{Halt, Watch};

use super::form::{INPUTS, form};
use crate::circuit::error::CircuitError;
use crate::circuit::graph::{Basis, Graph, Lookup, SIGN, eighths};
use crate::circuit::sum::{Sum, Wire};
use crate::tfhe::NoiseModel;

/// An encrypted bit: a sum, counted in eighths of the torus, whose value is 1 or -1.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Bit(Sum);

impl Bit {
    pub fn constant(value: bool) -> Self {
        Self(Sum::constant(if value { 1 } else { -1 }))
    }

    /// Returns the value of the bit if it does not depend on an input of the circuit, so that it is known without
    /// decryption.
    pub fn known(&self) -> Option<bool> {
        self.0.is_constant().then_some(self.0.halves() > 0)
    }

    pub fn sum(&self) -> &Sum {
        &self.0
    }

    /// Returns the opposite of the encrypted bit, without a bootstrap.
    #[must_use]
    pub fn inverted(&self) -> Self {
        Self(Sum::default().plus(-1, &self.0))
    }
}

/// The limits on the noise of a bootstrap's operand. The operand is a sum of bits times factors, and the limits are the
/// largest sums of squared factors. Such a sum is the operand's noise variance as a multiple of that of one bit, an
/// input or the result of a bootstrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The limit for operands that lie one eighth of the torus from the points where the sign of the phase changes.
    pub near: u64,
    /// The limit for operands that lie two eighths of the torus from the points where the sign of the phase changes.
    pub far: u64,
}

impl Limits {
    /// Returns the limits under which each bootstrap fails with a probability of at most 2^`failure`.
    ///
    /// # Errors
    /// [`CircuitError::Fails`] if the output of a single bootstrap fails more often.
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

/// A builder of a circuit of gates. A gate that equals an earlier one is not added again.
pub struct Gates {
    graph: Graph,
    seen: HashMap<Sum, Wire>,
    limits: Limits,
    watch: Watch,
}

impl Gates {
    /// Makes a builder of gates whose bootstraps read operands with noise within `limits`. Each new gate checks whether
    /// `watch` lets the work go on.
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

    /// Adds an input bit to the circuit. All inputs must come before the first gate.
    pub fn input(&mut self) -> Bit {
        let wire = Wire(self.graph.inputs);
        self.graph.inputs += 1;
        Bit(Sum::wire(wire))
    }

    /// Returns the circuit with these outputs, without gates that no output needs.
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

    /// Computes a Boolean function of up to four encrypted bits.
    ///
    /// # Errors
    /// [`CircuitError::Noise`] if the noise of the parameters is too large; [`CircuitError::Halt`].
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

    /// Returns the encrypted bit a if `bit` is 1, else b, with two bootstraps.
    ///
    /// # Errors
    /// [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn mux(&mut self, bit: &Bit, a: &Bit, b: &Bit) -> Result<Bit, CircuitError> {
        self.of([bit, a, b], |[bit, a, b]| if bit { a } else { b })
    }

    /// Computes a + b - c of encrypted bits, where c equals a or b: the one of the two that c is not. It takes no
    /// bootstrap. Returns `None` if the noise of the sum is too large for the operand of a bootstrap.
    pub fn other(&self, [a, b]: [&Bit; 2], c: &Bit) -> Option<Bit> {
        let sum = a.0.plus(1, &b.0).plus(-1, &c.0);
        (sum.norm() <= self.limits.near).then_some(Bit(sum))
    }

    /// Computes a Boolean function of up to four bits by its truth table. Bit `row` of `table` is the value of the
    /// function if the inputs are the bits of `row`.
    ///
    /// # Errors
    /// [`CircuitError::Noise`], [`CircuitError::Halt`].
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
            // A gate of two bits cannot be split into smaller ones.
            Some((form, limit)) if bits.len() == 2 => Err(CircuitError::Noise {
                limit,
                needed: form.norm(),
            }),
            _ => self.decomposed(&bits, table),
        }
    }

    /// Returns the same encrypted bits after a bootstrap of the one with the most noise.
    fn refreshed(&mut self, mut bits: Vec<Bit>) -> Result<Vec<Bit>, CircuitError> {
        let noisiest = bits.iter_mut().max_by_key(|bit| bit.0.norm());
        let Some(bit) = noisiest else {
            return Ok(bits);
        };
        // A refresh cannot make a bit with norm 1 less noisy.
        let (limit, needed) = (self.limits.near, bit.0.norm());
        if !(2..=limit).contains(&needed) {
            return Err(CircuitError::Noise { limit, needed });
        }
        *bit = self.lookup(&bit.0.clone())?;
        Ok(bits)
    }

    /// Computes a function of three or four bits that one bootstrap cannot compute, by functions of fewer bits.
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
        // If one input flips the function of the others, an XOR splits it off. Otherwise the function becomes a choice
        // by the input for which the two remaining functions together read the fewest inputs.
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

    /// Returns the encrypted bit a if `bit` is 1, else b, as the sum of the two bits (a and `bit`) and (b and not
    /// `bit`), of which at most one is 1.
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

    /// Returns the sign of a sum of bits, by one bootstrap. If an earlier bootstrap of the builder read the same sum or
    /// its opposite, its result is used again.
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

/// Returns the representative of all sums of bits with the same or the opposite sign, and whether this sum's sign is
/// opposite. Twice a bit and minus twice a bit differ by half the torus, which flips the sign, as negation does.
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

/// Returns the truth table of the function that remains if input `i` has a known value.
fn cofactor(table: u16, rows: u32, i: usize, value: bool) -> u16 {
    let below = (1u32 << i) - 1;
    (0..rows).fold(0, |found, row| {
        let from = (row & !below) << 1 | u32::from(value) << i | row & below;
        found | (table >> from & 1) << row
    })
}

/// Returns the number of those inputs of a Boolean function, given by its truth table, on which its
/// value depends.
fn reduced_inputs(inputs: usize, table: u16) -> usize {
    let rows = 1u32 << inputs.saturating_sub(1);
    (0..inputs)
        .filter(|&i| cofactor(table, rows, i, false) != cofactor(table, rows, i, true))
        .count()
}

/// Reduces a Boolean function to the inputs that it needs. It drops known inputs, inputs that equal or invert another,
/// and inputs without influence.
fn reduced(inputs: &[Bit], table: u16) -> (Vec<Bit>, u16) {
    let mut bits: Vec<Bit> = Vec::new();
    // For each input: its place among the kept bits and whether it is the opposite there, or its known value.
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
