// SPDX-License-Identifier: Apache-2.0
//! Tracks the random sources of a value's error, so that independent errors can be added as variances.
//!
//! A source is one random polynomial, such as a fresh encryption's error or the rounding of one rescaling. Its values
//! in two different slots are uncorrelated, because the embedding of independent coefficients of equal variance is
//! orthogonal. So an error is described by pairs: a source, and the number of slots by which it was rotated on its way
//! to the value. Two values without a common pair have uncorrelated errors, slot by slot. Conjugation keeps the pair,
//! because a slot and its conjugate are correlated.

use std::collections::HashMap;
use std::sync::Arc;

/// The random sources of an error: a sorted list of pairs of a source and a rotation, or a mark that it may be any
/// of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Sources(Kept);

#[derive(Clone, Debug, PartialEq)]
enum Kept {
    /// The pairs of a source and a rotation, each packed into one word: the source's number in the upper 32 bits,
    /// the number of slots of the rotation in the lower 32.
    Pairs(Arc<Vec<u64>>),
    /// There are too many pairs of a source and a rotation to list. The error counts as correlated with every other
    /// error.
    Anything,
}

/// The number of slots after which the rotations of a source repeat. It is the number of slots of the ring. For the
/// error of an encoding, which repeats with the encoded vector, it is the vector's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Ring,
    Vector,
}

/// The origin of an error: two numbers that identify the random polynomials of which the error is a function. The
/// error of a key switch comes from the key and the switched polynomial. The error of a rescaling comes from the
/// rounded polynomial, and the error of an encoding from the vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// A number that equal errors share; errors with the same number are equal, including their signs.
    pub same: u64,
    /// A number that errors share if they may be correlated in any way. Errors with different numbers are independent.
    pub like: u64,
}

/// Numbers the random sources of errors, and limits the work on pairs of sources and rotations.
#[derive(Clone, Debug)]
pub struct Registry {
    ring: u32,
    vector: u32,
    next: u32,
    /// The source of the errors that may be correlated with each other. The key is their [`Origin::like`].
    alike: HashMap<u64, Sources>,
    /// How many more pairs of a source and a rotation may be handled. After that, every error counts as correlated
    /// with all others.
    pub budget: u64,
}

/// The number of pairs of a source and a rotation that may be handled for a program, about half a second of work.
const BUDGET: u64 = 1 << 28;
/// A bit of a source's number, set if the source's rotations repeat after the length of the program's vectors. If
/// it is not set, they repeat after the slots of the ring.
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

    /// Returns a new random source of errors, as a list of one pair: the source, without a rotation.
    pub fn fresh(&mut self, reach: Reach) -> Sources {
        let number = match reach {
            Reach::Ring => self.next,
            Reach::Vector => self.next | VECTOR,
        };
        self.next = self.next.saturating_add(2);
        Sources(Kept::Pairs(Arc::new(vec![u64::from(number) << 32])))
    }

    /// Returns the random source of all errors with the number `like`. The first call with this number makes the
    /// source.
    pub fn of(&mut self, like: u64, reach: Reach) -> Sources {
        if let Some(known) = self.alike.get(&like) {
            return known.clone();
        }
        let fresh = self.fresh(reach);
        self.alike.insert(like, fresh.clone());
        fresh
    }

    /// Returns the sources of the sum of two errors, and whether the two have no pair of a source and a rotation in
    /// common.
    pub fn union(&mut self, a: &Sources, b: &Sources) -> (Sources, bool) {
        let (Kept::Pairs(x), Kept::Pairs(y)) = (&a.0, &b.0) else {
            return (Sources(Kept::Anything), a.disjoint(b));
        };
        if x.is_empty() || y.is_empty() {
            let all = if y.is_empty() { a } else { b };
            return (all.clone(), true);
        }
        if Arc::ptr_eq(x, y) {
            return (a.clone(), false);
        }
        if !self.afford(x.len() + y.len()) {
            return (Sources(Kept::Anything), a.disjoint(b));
        }
        let merged = merged(x, y);
        let disjoint = merged.len() == x.len() + y.len();
        (Sources(Kept::Pairs(Arc::new(merged))), disjoint)
    }

    /// Rotates all sources of an error by `steps` more slots.
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
            // Pairs that wrap around come first, and all stay sorted.
            let round = pairs.partition_point(|&pair| i64::from(pair as u32) + steps < slots);
            let (before, after) = pairs.split_at(round);
            turned.extend(
                after
                    .iter()
                    .map(|pair| pair.wrapping_add_signed(steps - slots)),
            );
            turned.extend(before.iter().map(|pair| pair.wrapping_add_signed(steps)));
        }
        Sources(Kept::Pairs(Arc::new(turned)))
    }

    fn afford(&mut self, pairs: usize) -> bool {
        let left = self.budget.checked_sub(pairs as u64);
        self.budget = left.unwrap_or(0);
        left.is_some()
    }
}

impl Sources {
    /// Returns an empty list of sources, for an error that is not random.
    pub fn none() -> Self {
        Self(Kept::Pairs(Arc::default()))
    }

    /// Returns whether two errors have no pair of a source and a rotation in common.
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

/// Merges two sorted lists. An element of both lists is in the result once.
fn merged(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    // Which list goes on is not foreseeable, so both positions move by arithmetic and not by branches.
    while let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) {
        merged.push(x.min(y));
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    merged.extend_from_slice(a.get(i..).unwrap_or_default());
    merged.extend_from_slice(b.get(j..).unwrap_or_default());
    merged
}
