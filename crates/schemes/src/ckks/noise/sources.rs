// SPDX-License-Identifier: Apache-2.0
//! Which random errors a value's error is made of, so that independent ones can be added as variances.
//!
//! A source is one random polynomial (a fresh encryption's error, the rounding of one rescale, ...). Its values in two
//! different slots are uncorrelated, because the embedding of independent coefficients of equal variance is orthogonal.
//! So what matters is a pair: the source, and by how many slots it was turned on its way to the value. Two values whose
//! pairs are disjoint have uncorrelated errors, slot by slot. Conjugation keeps the pair, as a slot and its conjugate
//! are correlated.

use std::collections::HashMap;
use std::sync::Arc;

/// Pairs of a source and a turn, sorted; or anything.
#[derive(Clone, Debug, PartialEq)]
pub struct Sources(Kept);

#[derive(Clone, Debug, PartialEq)]
enum Kept {
    /// `number << 32 | turn`.
    Pairs(Arc<[u64]>),
    /// Too many to keep apart: taken to be correlated with everything.
    Anything,
}

/// How far turns count: over all slots of the ring, or, for the error of an encoding, which repeats with the encoded
/// vector, over that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Ring,
    Vector,
}

/// What an error is a function of, where other errors may be functions of the same: numbers that mean nothing else. The
/// error of a key switch comes from the key and the polynomial that is switched, that of a rescaling from the polynomial
/// that is rounded, that of an encoding from the vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Errors with the same number are the same, sign and all.
    pub same: u64,
    /// Errors with another number are independent; with the same number they may be correlated in any way.
    pub like: u64,
}

/// Numbers sources and counts the work on pairs.
#[derive(Clone, Debug)]
pub(super) struct Registry {
    ring: u32,
    vector: u32,
    next: u32,
    /// Of errors that may be correlated, by what they have in common.
    alike: HashMap<u64, Sources>,
    /// Pairs that may still be handled before values are taken to be correlated with everything.
    budget: u64,
}

/// Half a second's work, or so.
const BUDGET: u64 = 1 << 28;
/// Source numbers are even over the ring, odd over the vector.
const VECTOR: u32 = 1;

impl Registry {
    pub fn new(ring: usize, vector: usize) -> Self {
        Self {
            ring: ring as u32,
            vector: vector as u32,
            next: 0,
            alike: HashMap::new(),
            budget: BUDGET,
        }
    }

    /// A source of its own.
    pub fn fresh(&mut self, reach: Reach) -> Sources {
        let number = match reach {
            Reach::Ring => self.next,
            Reach::Vector => self.next | VECTOR,
        };
        self.next = self.next.saturating_add(2);
        Sources(Kept::Pairs([u64::from(number) << 32].into()))
    }

    /// The source of everything that is like this: a source of its own for the first.
    pub fn of(&mut self, like: u64, reach: Reach) -> Sources {
        if let Some(known) = self.alike.get(&like) {
            return known.clone();
        }
        let fresh = self.fresh(reach);
        self.alike.insert(like, fresh.clone());
        fresh
    }

    pub fn union(&mut self, a: &Sources, b: &Sources) -> Sources {
        let (Kept::Pairs(a), Kept::Pairs(b)) = (&a.0, &b.0) else {
            return Sources(Kept::Anything);
        };
        if b.is_empty() || Arc::ptr_eq(a, b) {
            return Sources(Kept::Pairs(Arc::clone(a)));
        }
        if a.is_empty() {
            return Sources(Kept::Pairs(Arc::clone(b)));
        }
        if !self.afford(a.len() + b.len()) {
            return Sources(Kept::Anything);
        }
        let mut merged = Vec::with_capacity(a.len() + b.len());
        let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(&&x), Some(&&y)) => {
                    if x <= y {
                        a.next();
                    }
                    if y <= x {
                        b.next();
                    }
                    x.min(y)
                }
                (Some(&&x), None) => {
                    a.next();
                    x
                }
                (None, Some(&&y)) => {
                    b.next();
                    y
                }
                (None, None) => break,
            };
            merged.push(next);
        }
        Sources(Kept::Pairs(merged.into()))
    }

    /// All sources turned by `steps` more slots.
    pub fn turned(&mut self, a: &Sources, steps: i64) -> Sources {
        let Kept::Pairs(pairs) = &a.0 else {
            return Sources(Kept::Anything);
        };
        if !self.afford(pairs.len()) {
            return Sources(Kept::Anything);
        }
        let mut turned = Vec::with_capacity(pairs.len());
        for pairs in pairs.chunk_by(|a, b| a >> 32 == b >> 32) {
            let vector = pairs
                .first()
                .is_some_and(|pair| (pair >> 32) as u32 & VECTOR != 0);
            let slots = i64::from(if vector { self.vector } else { self.ring }.max(1));
            let steps = steps.rem_euclid(slots);
            // Those that come round are first, and all stay sorted.
            let round = pairs.partition_point(|&pair| i64::from(pair as u32) + steps < slots);
            let (before, after) = pairs.split_at(round);
            turned.extend(
                after
                    .iter()
                    .map(|pair| pair.wrapping_add_signed(steps - slots)),
            );
            turned.extend(before.iter().map(|pair| pair.wrapping_add_signed(steps)));
        }
        Sources(Kept::Pairs(turned.into()))
    }

    fn afford(&mut self, pairs: usize) -> bool {
        let left = self.budget.checked_sub(pairs as u64);
        self.budget = left.unwrap_or(0);
        left.is_some()
    }
}

impl Sources {
    /// No random error.
    pub fn none() -> Self {
        Self(Kept::Pairs(Arc::from([])))
    }

    /// Whether no source reaches both by the same turn.
    pub fn disjoint(&self, other: &Self) -> bool {
        let (a, b) = match (&self.0, &other.0) {
            (Kept::Pairs(a), Kept::Pairs(b)) => (a, b),
            (Kept::Pairs(known), Kept::Anything) | (Kept::Anything, Kept::Pairs(known)) => {
                return known.is_empty();
            }
            (Kept::Anything, Kept::Anything) => return false,
        };
        let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            match x.cmp(y) {
                std::cmp::Ordering::Less => a.next(),
                std::cmp::Ordering::Greater => b.next(),
                std::cmp::Ordering::Equal => return false,
            };
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_over_rotations_is_of_independent_errors() {
        let mut registry = Registry::new(16, 4);
        let mut x = registry.fresh(Reach::Ring);
        for steps in [8, 4, 2, 1] {
            let turned = registry.turned(&x, steps);
            assert!(x.disjoint(&turned));
            x = registry.union(&x, &turned);
        }
        // Once round.
        let turned = registry.turned(&x, 5);
        assert!(!x.disjoint(&turned));

        let encoded = registry.fresh(Reach::Vector);
        assert!(!encoded.disjoint(&registry.turned(&encoded, 4)));
        assert!(encoded.disjoint(&registry.turned(&encoded, -3)));
        assert!(encoded.disjoint(&x) && Sources::none().disjoint(&encoded));
    }

    #[test]
    fn turned_pairs_stay_sorted_and_come_round() {
        let mut registry = Registry::new(16, 4);
        let (a, b) = (registry.fresh(Reach::Ring), registry.fresh(Reach::Vector));
        let mut x = registry.union(&a, &b);
        for steps in [3, 14, -5, 1] {
            let turned = registry.turned(&x, steps);
            x = registry.union(&x, &turned);
        }
        let Kept::Pairs(pairs) = &x.0 else {
            panic!("few pairs");
        };
        assert!(pairs.is_sorted() && pairs.len() > 12);
        for steps in [-7, 0, 2, 15, 16] {
            let turned = registry.turned(&x, steps);
            let Kept::Pairs(turned_pairs) = &turned.0 else {
                panic!("few pairs");
            };
            assert!(turned_pairs.is_sorted() && turned_pairs.len() == pairs.len());
            assert_eq!(registry.turned(&turned, -steps), x);
        }
    }

    #[test]
    fn what_is_alike_is_one_source() {
        let mut registry = Registry::new(16, 4);
        let [a, b, c] = [7, 7, 8].map(|like| registry.of(like, Reach::Ring));
        assert!(!a.disjoint(&b) && a.disjoint(&c));
        assert!(a.disjoint(&registry.turned(&b, 1)));
    }

    #[test]
    fn past_the_budget_everything_is_correlated() {
        let mut registry = Registry::new(16, 16);
        registry.budget = 5;
        let (a, b) = (registry.fresh(Reach::Ring), registry.fresh(Reach::Ring));
        let both = registry.union(&a, &b);
        assert!(!both.disjoint(&a));
        let c = registry.fresh(Reach::Ring);
        let lost = registry.union(&both, &c);
        let lost = registry.union(&lost, &c);
        assert!(!lost.disjoint(&registry.fresh(Reach::Ring)));
        assert!(lost.disjoint(&Sources::none()));
    }
}
