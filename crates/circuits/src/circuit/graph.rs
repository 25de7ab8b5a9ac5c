// SPDX-License-Identifier: Apache-2.0
//! A circuit of lookups, as the server runs it: straight-line, each step a table at a sum.

use std::collections::HashMap;

use ringmill_limits::{Halt, Watch};

use super::error::CircuitError;
use super::sum::{Sum, Wire};
use crate::tfhe::NoiseModel;
use crate::tfhe::shared::noise_factor;

/// Messages with their carry: 2 + 2 bits.
pub const BITS: u32 = 4;
/// Entries of a table.
pub const ENTRIES: usize = 1 << BITS;

/// What wires hold, and so what sums are counted in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Basis {
    /// 2 + 2 bits. Wires count in halves of a message, of which the torus has 64.
    #[default]
    Digits,
    /// A bit each. Wires count in eighths of the torus: 1 for true and -1 for false. Each table is [`SIGN`]: true for a sum
    /// of 1 to 3, false for -1 to -3, modulo 8.
    Bits,
}

/// The table of gates: whether a sum is positive.
pub const SIGN: Table = [1; ENTRIES];

/// What a lookup gives, in halves of a message: entry u for an operand of u messages, and its negative for u - 16.
pub type Table = [i8; ENTRIES];

/// A table at a sum: one bootstrap, or a part of one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Lookup {
    /// Whole messages from -16 to 15; of bits, what is no multiple of half the torus.
    pub operand: Sum,
    pub table: Table,
    /// Whether it is made by one rotation with all others of this operand that are shared, and has the noise of that
    /// ([`noise_factor`]). Of digits alone.
    pub shared: bool,
}

/// Inputs are wires 0, 1, ...; lookup i gives the wire behind them. Sums name earlier wires alone.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    pub basis: Basis,
    pub inputs: u32,
    pub lookups: Vec<Lookup>,
    pub outputs: Vec<Sum>,
}

/// What running a circuit takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// Rotations, a bootstrap each.
    pub bootstraps: usize,
    /// Tables that they look up.
    pub tables: usize,
    /// Bootstraps of the longest chain.
    pub depth: usize,
    /// The largest sum of squared factors in front of a bootstrap.
    pub norm: u64,
}

impl Graph {
    /// The number of the first wire that a lookup gives.
    pub fn wires(&self) -> usize {
        self.inputs as usize + self.lookups.len()
    }

    /// The lookup that gives a wire; `None` for an input.
    pub fn source(&self, wire: Wire) -> Option<usize> {
        (wire.0 as usize).checked_sub(self.inputs as usize)
    }

    /// Leaves out lookups that no output depends on.
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

    /// The lookups of each rotation, in the order of the first of each: one, or all that share it.
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

    /// How many times the noise variance of an input or of a bootstrap alone a sum has. Entries that share a rotation are not
    /// independent: together they are one entry of the sum of their tables.
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

    /// Bootstraps from an input to each wire.
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

    /// log2 of the probability that any bootstrap of a run is read wrong, with the noise of these parameters.
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

    /// The outputs' values in whole messages (bits as 0 and 1), for inputs in whole messages: the circuit in the clear.
    ///
    /// # Errors
    /// [`CircuitError::Inconsistent`] where an operand is no whole message from -16 to 15, which no circuit of this crate
    /// comes to; [`CircuitError::Inputs`].
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
        let mut wires: Vec<i64> = inputs.iter().map(|&x| 2 * x as i64).collect();
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

/// How far in eighths of the torus a sum of bits is from where the sign changes. Whether it is odd does not depend on the
/// bits: odd ones are 1 away; even ones are 2 away, as none of 0 or 4 is made.
pub fn eighths(sum: &Sum) -> u32 {
    let odd = sum.terms().iter().map(|&(_, f)| f).sum::<i64>() + sum.halves();
    if odd % 2 == 0 { 2 } else { 1 }
}
