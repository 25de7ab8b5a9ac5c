// SPDX-License-Identifier: Apache-2.0
//! The circuit that a TFHE server runs: a straight-line list of lookups. Each reads a table at a sum of encrypted
//! values.

use std::collections::HashMap;

use ringmill_limits::{Halt, Watch};

use super::error::CircuitError;
use super::sum::{Sum, Wire};
use crate::tfhe::NoiseModel;
use crate::tfhe::shared::noise_factor;

/// The number of bits of a message with its carry: 2 + 2.
pub const BITS: u32 = 4;
/// The number of entries of a lookup table: one for each message with its carry.
pub const ENTRIES: usize = 1 << BITS;

/// The kind of values that a circuit's wires hold. It fixes the unit in which sums count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Basis {
    /// Wires hold digits of 2 message bits and 2 carry bits, and count in halves of a message. The torus has 64 such
    /// halves.
    #[default]
    Digits,
    /// Wires hold single bits, and count in eighths of the torus: 1 for true and -1 for false. Each table is [`SIGN`]:
    /// true for a sum of 1 to 3, false for -1 to -3, modulo 8.
    Bits,
}

/// The table that every gate on bits reads: its entry tells whether the gate's sum of bits is positive.
pub const SIGN: Table = [1; ENTRIES];

/// The results of a lookup, in halves of a message. Entry u is the result for an operand whose value is u messages. For
/// the operand u - 16 the result is the negative of entry u.
pub type Table = [i8; ENTRIES];

/// A lookup of a circuit: the entry of a table at a sum of wires. It takes one bootstrap, or shares one with other
/// lookups.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Lookup {
    /// The sum of wires at which the table is read. In circuits of digits its value is a whole number of messages from
    /// -16 to 15. In circuits of bits its value is not a multiple of half the torus.
    pub operand: Sum,
    pub table: Table,
    /// Whether the lookup shares one blind rotation with all other shared lookups of the same operand. The noise
    /// variance of its result is then [`noise_factor`] times as large. Only lookups of digits are shared.
    pub shared: bool,
}

/// A circuit as a list of lookups. The inputs are wires 0, 1, ..., and lookup i gives wire `inputs` + i. Each operand
/// names earlier wires only.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    pub basis: Basis,
    pub inputs: u32,
    pub lookups: Vec<Lookup>,
    pub outputs: Vec<Sum>,
}

/// The bootstraps, depth and noise of a circuit, which fix the cost of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// The number of bootstraps of a run, which are its blind rotations.
    pub bootstraps: usize,
    /// The number of tables that all blind rotations of a run together look up.
    pub tables: usize,
    /// The number of bootstraps on the circuit's longest path from an input to an output.
    pub depth: usize,
    /// The largest noise variance of a bootstrap's operand, as a multiple of a wire's noise variance ([`Graph::norm`]).
    /// Without shared lookups it is the largest sum of the squared factors of an operand.
    pub norm: u64,
}

impl Graph {
    /// Returns the number of the circuit's wires, which are its inputs and the results of its lookups.
    pub fn wires(&self) -> usize {
        self.inputs as usize + self.lookups.len()
    }

    /// Returns the number of the lookup whose result a wire is, or `None` if the wire is an input.
    pub fn source(&self, wire: Wire) -> Option<usize> {
        (wire.0 as usize).checked_sub(self.inputs as usize)
    }

    /// Returns the circuit without lookups that no output depends on.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn without_dead(self, watch: &Watch) -> Result<Self, Halt> {
        let mut used = vec![false; self.wires()];
        let mark = |used: &mut Vec<bool>, sum: &Sum| {
            for &(wire, _) in sum.terms() {
                used[wire.0 as usize] = true;
            }
        };
        self.outputs.iter().for_each(|sum| mark(&mut used, sum));
        let inputs = self.inputs as usize;
        for (i, lookup) in self.lookups.iter().enumerate().rev() {
            if used[inputs + i] {
                mark(&mut used, &lookup.operand);
            }
        }
        let mut names: Vec<u32> = (0..self.inputs).collect();
        let mut next = self.inputs;
        names.extend(used[inputs..].iter().map(|&used| {
            let name = next;
            next += u32::from(used);
            name
        }));
        let renamed = |sum: &Sum| {
            let zero = Sum::constant(sum.halves());
            let terms = sum.terms().iter();
            terms.fold(zero, |all, &(wire, f)| {
                all.plus(f, &Sum::wire(Wire(names[wire.0 as usize])))
            })
        };
        let lookups = self.lookups.iter().zip(&used[inputs..]);
        let lookups = lookups.filter(|(_, used)| **used).map(|(lookup, _)| {
            watch.check()?;
            Ok(Lookup {
                operand: renamed(&lookup.operand),
                table: lookup.table,
                shared: lookup.shared,
            })
        });
        Ok(Self {
            basis: self.basis,
            inputs: self.inputs,
            lookups: lookups.collect::<Result<_, Halt>>()?,
            outputs: self.outputs.iter().map(renamed).collect(),
        })
    }

    /// Returns for each blind rotation the numbers of its lookups: a single lookup, or all that share the rotation.
    /// Rotations are in the order of their first lookups.
    pub fn rotations(&self) -> Vec<Vec<usize>> {
        let mut rotations: Vec<Vec<usize>> = Vec::with_capacity(self.lookups.len());
        let mut shared = HashMap::new();
        for (at, lookup) in self.lookups.iter().enumerate() {
            if lookup.shared {
                let rotation = *shared.entry(&lookup.operand).or_insert(rotations.len());
                if let Some(rotation) = rotations.get_mut(rotation) {
                    rotation.push(at);
                    continue;
                }
            }
            rotations.push(vec![at]);
        }
        rotations
    }

    /// Returns the noise variance of a sum of wires as a multiple of one wire's: the sum of the squared factors.
    /// Results that share a blind rotation are not independent. Together they count as one result, whose table is the
    /// sum of their tables times their factors ([`noise_factor`]).
    pub fn norm(&self, sum: &Sum) -> u64 {
        let mut norm = 0u64;
        let mut together: Vec<(&Sum, [i64; ENTRIES])> = Vec::new();
        for &(wire, factor) in sum.terms() {
            let source = self.source(wire).map(|at| &self.lookups[at]);
            let Some(lookup) = source.filter(|lookup| lookup.shared) else {
                norm += factor.unsigned_abs().pow(2);
                continue;
            };
            let found = together.iter().position(|(of, _)| *of == &lookup.operand);
            let at = found.unwrap_or(together.len());
            if found.is_none() {
                together.push((&lookup.operand, [0; ENTRIES]));
            }
            for (sum, &entry) in together[at].1.iter_mut().zip(&lookup.table) {
                *sum += factor * i64::from(entry);
            }
        }
        let shared = together.iter().map(|(_, table)| noise_factor(table));
        norm + shared.sum::<u64>()
    }

    /// Returns for each wire the largest number of bootstraps on a path from an input.
    pub fn depths(&self) -> Vec<usize> {
        let mut depths = vec![0; self.inputs as usize];
        for lookup in &self.lookups {
            let terms = lookup.operand.terms().iter();
            let deepest = terms.map(|&(wire, _)| depths[wire.0 as usize]).max();
            depths.push(1 + deepest.unwrap_or(0));
        }
        depths
    }

    pub fn cost(&self) -> Cost {
        Cost {
            bootstraps: self.rotations().len(),
            tables: self.lookups.len(),
            depth: self.depths().into_iter().max().unwrap_or(0),
            norm: self
                .lookups
                .iter()
                .map(|lookup| self.norm(&lookup.operand))
                .max()
                .unwrap_or(0),
        }
    }

    /// Returns log2 of an upper bound on the probability that some bootstrap of a run reads a wrong value, for the
    /// noise of a parameter set. The bound is the sum of the probabilities of all bootstraps.
    pub fn failure(&self, noise: &NoiseModel) -> f64 {
        let rotations = self.rotations();
        let operands = rotations.iter().flat_map(|rotation| rotation.first());
        let each = operands.map(|&at| {
            let operand = &self.lookups[at].operand;
            let norm = self.norm(operand);
            let failure = match self.basis {
                Basis::Digits => noise.sum_failure(BITS, norm),
                Basis::Bits => noise.sign_failure(eighths(operand), norm),
            };
            failure.exp2()
        });
        each.sum::<f64>().log2()
    }

    /// Evaluates the circuit in the clear. Inputs and outputs are whole messages; bits are 0 and 1, and an input other
    /// than 1 counts as 0.
    ///
    /// # Errors
    /// [`CircuitError::Inputs`] for another number of inputs. [`CircuitError::OutOfRange`] for an input of 2^62 or more
    /// in circuits of digits. [`CircuitError::Inconsistent`] if an operand or output of digits is no whole message from
    /// -16 to 15, an operand of bits has no sign, or an output of bits is not 1 or -1. Circuits that this crate makes
    /// never have such a value.
    pub fn evaluate(&self, inputs: &[u64]) -> Result<Vec<i64>, CircuitError> {
        if inputs.len() != self.inputs as usize {
            return Err(CircuitError::Inputs {
                expected: self.inputs as usize,
                got: inputs.len(),
            });
        }
        match self.basis {
            Basis::Digits => self.evaluate_digits(inputs),
            Basis::Bits => self.evaluate_bits(inputs),
        }
    }

    fn evaluate_bits(&self, inputs: &[u64]) -> Result<Vec<i64>, CircuitError> {
        let mut wires: Vec<i64> = inputs
            .iter()
            .map(|&x| if x == 1 { 1 } else { -1 })
            .collect();
        let eighths = |sum: &Sum, wires: &[i64]| sum.value(|wire| wires[wire.0 as usize]);
        for (at, lookup) in self.lookups.iter().enumerate() {
            let halves = eighths(&lookup.operand, &wires);
            wires.push(match halves.rem_euclid(8) {
                1..=3 => 1,
                5..=7 => -1,
                _ => return Err(CircuitError::Inconsistent { at, halves }),
            });
        }
        let outputs = self.outputs.iter().zip(self.lookups.len()..);
        let outputs = outputs.map(|(sum, at)| match eighths(sum, &wires) {
            1 => Ok(1),
            -1 => Ok(0),
            halves => Err(CircuitError::Inconsistent { at, halves }),
        });
        outputs.collect()
    }

    fn evaluate_digits(&self, inputs: &[u64]) -> Result<Vec<i64>, CircuitError> {
        let halves = |(at, &x): (usize, &u64)| {
            let whole = i64::try_from(x).ok();
            let doubled = whole.and_then(|x| x.checked_mul(2));
            doubled.ok_or_else(|| CircuitError::OutOfRange {
                what: format!("input {at}"),
                expected: "a digit of few bits".into(),
                got: x.to_string(),
            })
        };
        let halves = inputs.iter().enumerate().map(halves);
        let mut wires = halves.collect::<Result<Vec<i64>, CircuitError>>()?;
        let whole = |sum: &Sum, wires: &[i64], at: usize| {
            let halves = sum.value(|wire| wires[wire.0 as usize]);
            if halves % 2 == 0 && (-32..32).contains(&halves) {
                return Ok(halves / 2);
            }
            Err(CircuitError::Inconsistent { at, halves })
        };
        for (at, lookup) in self.lookups.iter().enumerate() {
            let u = whole(&lookup.operand, &wires, at)?;
            let entry = |u: i64| i64::from(lookup.table[u as usize]);
            wires.push(if u >= 0 { entry(u) } else { -entry(u + 16) });
        }
        let outputs = self.outputs.iter().enumerate();
        outputs
            .map(|(i, sum)| whole(sum, &wires, self.lookups.len() + i))
            .collect()
    }
}

/// Returns the distance in eighths of the torus from a sum of bits to the nearest point where the sign changes. The
/// parity of the sum does not depend on the bits. Odd sums are 1 away. Even sums are 2 away, since none is 0 or 4.
pub fn eighths(sum: &Sum) -> u32 {
    let odd = sum.terms().iter().map(|&(_, f)| f).sum::<i64>() + sum.halves();
    if odd % 2 == 0 { 2 } else { 1 }
}
