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

/// The random sources of an error with their rotations, or a mark that it may be any of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Sources(Kept);

#[derive(Clone, Debug, PartialEq)]
enum Kept {
    /// The pairs of a source and a rotation, in blocks that are sorted by their keys. No block is empty.
    Pairs(Arc<Vec<Block>>),
    /// There are too many pairs of a source and a rotation to list. The error counts as correlated with every other
    /// error.
    Anything,
}

/// Some rotations of one source, among [`BLOCK`] consecutive ones.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    /// The source's number in the upper 32 bits, and in the lower ones the first rotation divided by [`BLOCK`].
    key: u64,
    /// A bit for each rotation, set if the error has it.
    rotations: u64,
}

/// The number of rotations in a block.
const BLOCK: u32 = 64;

/// The number of slots after which the rotations of a source repeat. `Ring` is the number of slots of the ring.
/// `Vector` is the length of the program's vectors, for the error of an encoding, which repeats with the encoded
/// vector.
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

/// Numbers the random sources of errors, and limits the work on blocks of rotations.
#[derive(Clone, Debug)]
pub struct Registry {
    ring: u32,
    vector: u32,
    next: u32,
    /// The source of the errors that may be correlated with each other. The key is their [`Origin::like`].
    alike: HashMap<u64, Sources>,
    /// How many more blocks of rotations may be handled. After that, every error counts as correlated with all others.
    pub budget: u64,
}

/// The number of blocks of rotations that may be handled for a program, about half a second of work.
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
        let unrotated = Block {
            key: u64::from(number) << 32,
            rotations: 1,
        };
        Sources(Kept::Pairs(Arc::new(vec![unrotated])))
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
        let (merged, disjoint) = merged(x, y);
        (Sources(Kept::Pairs(Arc::new(merged))), disjoint)
    }

    /// Rotates all sources of an error by `steps` more slots.
    pub fn turned(&mut self, a: &Sources, steps: i64) -> Sources {
        let Kept::Pairs(blocks) = &a.0 else {
            return Sources(Kept::Anything);
        };
        if !self.afford(blocks.len()) {
            return Sources(Kept::Anything);
        }
        // A block's rotations go to one block, or to two that follow each other.
        let (mut first, mut second) = (Vec::with_capacity(blocks.len()), Vec::new());
        for blocks in blocks.chunk_by(|a, b| a.key >> 32 == b.key >> 32) {
            let vector = blocks
                .first()
                .is_some_and(|block| (block.key >> 32) as u32 & VECTOR != 0);
            let slots = if vector { self.vector } else { self.ring }.max(1);
            let steps = steps.rem_euclid(i64::from(slots)) as u32;
            if slots <= BLOCK {
                first.extend(blocks.iter().map(|block| Block {
                    rotations: turned_within(block.rotations, steps, slots),
                    ..*block
                }));
                continue;
            }
            let (jump, shift) = (steps / BLOCK, steps % BLOCK);
            let count = slots / BLOCK;
            moved(blocks, jump, count, |bits| bits << shift, &mut first);
            if shift != 0 {
                moved(
                    blocks,
                    jump + 1,
                    count,
                    |bits| bits >> (BLOCK - shift),
                    &mut second,
                );
            }
        }
        let all = match second.is_empty() {
            true => first,
            false => merged(&first, &second).0,
        };
        Sources(Kept::Pairs(Arc::new(all)))
    }

    fn afford(&mut self, blocks: usize) -> bool {
        let left = self.budget.checked_sub(blocks as u64);
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
        if Arc::ptr_eq(a, b) {
            return a.is_empty();
        }
        let (mut i, mut j, mut common) = (0, 0, 0);
        while let (Some(x), Some(y)) = (a.get(i), b.get(j))
            && common == 0
        {
            common = x.common(y);
            i += usize::from(x.key <= y.key);
            j += usize::from(y.key <= x.key);
        }
        common == 0
    }
}

impl Block {
    /// Returns a bit for each rotation that both blocks have.
    fn common(&self, other: &Self) -> u64 {
        mask(self.key == other.key) & self.rotations & other.rotations
    }
}

/// Returns a word whose bits are all set if the condition holds, and 0 otherwise.
fn mask(condition: bool) -> u64 {
    u64::from(condition).wrapping_neg()
}

/// Merges two sorted lists, and returns whether they have no pair of a source and a rotation in common.
fn merged(a: &[Block], b: &[Block]) -> (Vec<Block>, bool) {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j, mut common) = (0, 0, 0);
    // Which list goes on is not foreseeable, so positions and blocks are chosen by arithmetic and not by branches.
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let (from_a, from_b) = (x.key <= y.key, y.key <= x.key);
        common |= x.common(y);
        merged.push(Block {
            key: x.key.min(y.key),
            rotations: (mask(from_a) & x.rotations) | (mask(from_b) & y.rotations),
        });
        i += usize::from(from_a);
        j += usize::from(from_b);
    }
    merged.extend_from_slice(a.get(i..).unwrap_or_default());
    merged.extend_from_slice(b.get(j..).unwrap_or_default());
    (merged, common == 0)
}

/// Returns the bits of `slots` rotations, at most [`BLOCK`], after `steps` more slots.
fn turned_within(rotations: u64, steps: u32, slots: u32) -> u64 {
    let wrapped = match steps {
        0 => 0,
        _ => rotations >> (slots - steps),
    };
    ((rotations << steps) | wrapped) & (u64::MAX >> (BLOCK - slots))
}

/// Appends the blocks of one source, moved by `jump` of `count` blocks and sorted, with their bits as `bits` changes
/// them. Blocks without bits are left out.
fn moved(blocks: &[Block], jump: u32, count: u32, bits: impl Fn(u64) -> u64, to: &mut Vec<Block>) {
    let (jump, count) = (u64::from(jump % count), u64::from(count));
    // Blocks that wrap around come first.
    let round = blocks.partition_point(|block| u64::from(block.key as u32) + jump < count);
    let (before, after) = blocks.split_at(round);
    let after = after.iter().map(|block| (block, block.key + jump - count));
    let before = before.iter().map(|block| (block, block.key + jump));
    let all = after.chain(before).map(|(block, key)| Block {
        key,
        rotations: bits(block.rotations),
    });
    to.extend(all.filter(|block| block.rotations != 0));
}
