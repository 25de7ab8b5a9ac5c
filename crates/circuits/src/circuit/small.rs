// SPDX-License-Identifier: Apache-2.0
//! Small encrypted integers, and the builder of lookups on them.

use std::collections::HashMap;

use ringmill_limits::{Halt, Watch};

use super::error::CircuitError;
use super::graph::{ENTRIES, Graph, Lookup, Table};
use super::share::share;
use super::sum::{Sum, Wire};

/// A small encrypted integer: a sum of wires that is a whole number of messages, with the range `low` to `high` of its
/// value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Small {
    sum: Sum,
    low: i64,
    high: i64,
}

impl Small {
    pub fn constant(value: i64) -> Self {
        Self {
            sum: Sum::constant(2 * value),
            low: value,
            high: value,
        }
    }

    pub fn sum(&self) -> &Sum {
        &self.sum
    }

    pub fn low(&self) -> i64 {
        self.low
    }

    pub fn high(&self) -> i64 {
        self.high
    }

    /// Returns the value of the small integer if its sum has no wire, so that it is known without decryption.
    pub fn known(&self) -> Option<i64> {
        self.sum.is_constant().then_some(self.sum.halves() / 2)
    }

    /// Computes self + `factor` * other of two small encrypted integers, without a bootstrap.
    #[must_use]
    pub fn plus(&self, factor: i64, other: &Self) -> Self {
        let (a, b) = (factor * other.low, factor * other.high);
        Self {
            sum: self.sum.plus(factor, &other.sum),
            low: self.low + a.min(b),
            high: self.high + a.max(b),
        }
    }

    /// Computes 1 - self for a small integer that is an encrypted bit, without a bootstrap.
    #[must_use]
    pub fn inverted_bit(&self) -> Self {
        Self::constant(1).plus(-1, self)
    }

    /// Narrows the range of the value to `low` to `high`. The caller must know that the value lies there, which the
    /// ranges of the sum's terms may not tell.
    #[must_use]
    pub fn known_within(mut self, low: i64, high: i64) -> Self {
        (self.low, self.high) = (self.low.max(low), self.high.min(high));
        self
    }
}

/// A builder of a circuit of lookups. A lookup that equals an earlier one is not added again.
pub struct Lookups {
    graph: Graph,
    seen: HashMap<Lookup, Wire>,
    limit: u64,
    watch: Watch,
}

impl Lookups {
    /// Makes a builder whose lookups read operands with at most `limit` times the noise variance of a wire. Each new
    /// lookup checks whether `watch` lets the work go on.
    pub fn new(limit: u64, watch: &Watch) -> Self {
        Self {
            graph: Graph::default(),
            seen: HashMap::new(),
            limit,
            watch: watch.clone(),
        }
    }

    /// Adds an input to the circuit whose value is from 0 to `high`, at most 15. All inputs must come before the first
    /// lookup.
    pub fn input(&mut self, high: i64) -> Small {
        let wire = Wire(self.graph.inputs);
        self.graph.inputs += 1;
        Small {
            sum: Sum::wire(wire),
            low: 0,
            high,
        }
    }

    /// Finishes the circuit with the sums `outputs` as outputs, and drops lookups that no output depends on. Lookups of
    /// one operand share a blind rotation where the noise allows it.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn finish(self, outputs: Vec<Sum>) -> Result<Graph, Halt> {
        let graph = Graph {
            outputs,
            ..self.graph
        };
        drop(self.seen);
        share(graph.without_dead(&self.watch)?, self.limit, &self.watch)
    }

    /// Computes f of a sum of encrypted integers times factors, by one bootstrap. Further bootstraps refresh operands
    /// first if the sum is too noisy ([`Lookups::total`]). f must be defined on the whole range of the sum. The range
    /// may have 17 to 32 values if f(u) + f(u - 16) is the same for all u and u - 16 in it. An f that only adds a
    /// constant to the sum, or subtracts the sum from a constant, takes no bootstrap. Neither does a constant f.
    ///
    /// # Errors
    /// [`CircuitError::Refused`] for functions that no table holds; [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn lookup(
        &mut self,
        terms: &[(i64, &Small)],
        f: impl Fn(i64) -> i64,
    ) -> Result<Small, CircuitError> {
        let sum = self.total(terms)?;
        for factor in [1, -1] {
            let constant = f(sum.low) - factor * sum.low;
            if (sum.low..=sum.high).all(|x| f(x) == constant + factor * x) {
                return Ok(Small::constant(constant).plus(factor, &sum));
            }
        }
        self.table(&sum, f)
    }

    /// Computes a sum of encrypted integers times factors, with no more noise than the operand of a lookup may have. If
    /// the sum has more noise, a bootstrap refreshes operands first, beginning with the one that contributes most.
    ///
    /// # Errors
    /// [`CircuitError::Noise`] if the sum of fresh operands is too noisy; [`CircuitError::Refused`] for an operand of
    /// more than 16 values that must be refreshed; [`CircuitError::Halt`].
    pub fn total(&mut self, terms: &[(i64, &Small)]) -> Result<Small, CircuitError> {
        let mut terms: Vec<(i64, Small)> = terms.iter().map(|&(c, x)| (c, x.clone())).collect();
        loop {
            let zero = Small::constant(0);
            let sum = terms.iter().fold(zero, |sum, (c, x)| sum.plus(*c, x));
            if sum.sum.norm() <= self.limit {
                return Ok(sum);
            }
            let weight = |c: i64, x: &Small| c.unsigned_abs().pow(2) * x.sum.norm();
            let noisy = terms.iter_mut().filter(|(_, x)| x.sum.norm() > 1);
            let Some((_, noisiest)) = noisy.max_by_key(|(c, x)| weight(*c, x)) else {
                return Err(CircuitError::Noise {
                    limit: self.limit,
                    needed: sum.sum.norm(),
                });
            };
            *noisiest = self.table(noisiest, |x| x)?;
        }
    }

    /// Looks up f at an operand, by one bootstrap. A known operand or a constant f takes none. The caller ensures that
    /// the operand's noise is within the limit of a lookup.
    fn table(&mut self, x: &Small, f: impl Fn(i64) -> i64) -> Result<Small, CircuitError> {
        if let Some(value) = x.known() {
            return Ok(Small::constant(f(value)));
        }
        let values: Vec<i64> = (x.low..=x.high).map(&f).collect();
        let (low, high) = values
            .iter()
            .fold((i64::MAX, i64::MIN), |(l, h), &v| (l.min(v), h.max(v)));
        if low == high {
            return Ok(Small::constant(low));
        }
        let Some((first, middle, table)) = tabulate(&values) else {
            return Err(CircuitError::Refused(format!(
                "no table of {ENTRIES} entries holds a function from {} to {}",
                x.low, x.high
            )));
        };
        // With this constant, the operand's least value comes to the argument `first` of the table.
        let lookup = Lookup {
            operand: x.sum.clone().shifted(2 * (first - x.low)),
            table,
            shared: false,
        };
        let wire = match self.seen.get(&lookup) {
            Some(&wire) => wire,
            None => {
                self.watch.check()?;
                let wire = Wire(self.graph.wires() as u32);
                self.graph.lookups.push(lookup.clone());
                self.seen.insert(lookup, wire);
                wire
            }
        };
        Ok(Small {
            sum: Sum::wire(wire).shifted(middle),
            low,
            high,
        })
    }
}

/// Makes a lookup table that gives these values for successive arguments. Returns three things: the argument of the
/// first value, from -16 to 0; a constant in halves of a message to add to each entry; and the entries. Returns `None`
/// if no table gives all values.
pub fn tabulate(values: &[i64]) -> Option<(i64, i64, Table)> {
    let half = ENTRIES;
    let fits = |halves: i64| i8::try_from(halves).ok().filter(|h| h.abs() <= 32);
    let mut sums = (0..values.len().saturating_sub(half)).map(|i| values[i] + values[i + half]);
    // entry = 2 f(u) - k = -(2 f(u - 16) - k), so k = f(u) + f(u - 16).
    let middle = sums.next().unwrap_or(0);
    if sums.any(|other| other != middle) || values.len() > 2 * half {
        return None;
    }
    // The values from index `before` on belong to the arguments from 0 on.
    let before = values.len().saturating_sub(half);
    let mut table = [0i8; ENTRIES];
    for (i, &value) in values.iter().enumerate() {
        let entry = fits(2 * value - middle)?;
        if i >= before {
            table[i - before] = entry;
        } else {
            table[i + half - before] = -entry;
        }
    }
    Some((-(before as i64), middle, table))
}
