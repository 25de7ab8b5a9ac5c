// SPDX-License-Identifier: Apache-2.0
//! Linear sums of a circuit's encrypted values, which take no bootstrap.

/// An encrypted value of a circuit: an input, or the result of a lookup. Circuits of digits count it in halves of a
/// message, as carries come from tables of plus and minus one half. Circuits of bits count it in eighths of the torus.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Wire(pub u32);

/// A sum of wires times small factors, and of a constant. It takes no bootstrap.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Sum {
    /// The wires in ascending order, each once, with a factor other than 0.
    terms: Vec<(Wire, i64)>,
    halves: i64,
}

impl Sum {
    pub fn constant(halves: i64) -> Self {
        Self {
            terms: Vec::new(),
            halves,
        }
    }

    pub fn wire(wire: Wire) -> Self {
        Self {
            terms: vec![(wire, 1)],
            halves: 0,
        }
    }

    pub fn terms(&self) -> &[(Wire, i64)] {
        &self.terms
    }

    /// Returns the sum's constant, in halves of a message, or in eighths of the torus in circuits of bits.
    pub fn halves(&self) -> i64 {
        self.halves
    }

    /// Returns the sum of the squared factors of the wires, which is the sum's noise variance as a multiple of a wire's
    /// if no wires share a blind rotation ([`super::graph::Graph::norm`]).
    pub fn norm(&self) -> u64 {
        let squares = self.terms.iter().map(|&(_, f)| f.unsigned_abs().pow(2));
        squares.sum()
    }

    /// Returns whether the sum is a constant without a wire.
    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// Computes self + `factor` * other, term by term, of two sums of wires.
    #[must_use]
    pub fn plus(&self, factor: i64, other: &Self) -> Self {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let (wire, f) = match (a.peek(), b.peek()) {
                (Some(&&(x, f)), Some(&&(y, g))) if x == y => {
                    a.next();
                    b.next();
                    (x, f + factor * g)
                }
                (Some(&&(x, f)), Some(&&(y, _))) if x < y => {
                    a.next();
                    (x, f)
                }
                (Some(&&(x, f)), None) => {
                    a.next();
                    (x, f)
                }
                (_, Some(&&(y, g))) => {
                    b.next();
                    (y, factor * g)
                }
                (None, None) => break,
            };
            if f != 0 {
                terms.push((wire, f));
            }
        }
        Self {
            terms,
            halves: self.halves + factor * other.halves,
        }
    }

    /// Adds a constant to the sum, in halves of a message, or in eighths of the torus in circuits of bits.
    #[must_use]
    pub fn shifted(mut self, halves: i64) -> Self {
        self.halves += halves;
        self
    }

    /// Returns the value of the sum if wire w has the value `of(w)`. All values are in halves of a message, or in
    /// eighths of the torus in circuits of bits.
    pub fn value(&self, of: impl Fn(Wire) -> i64) -> i64 {
        let terms = self.terms.iter().map(|&(wire, f)| f * of(wire));
        self.halves + terms.sum::<i64>()
    }
}
