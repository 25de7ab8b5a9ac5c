// SPDX-License-Identifier: Apache-2.0
//! Turns of a rotation on this computer's kernels, without a step between that goes through memory of its own.
//!
//! For one pattern a turn is ACC += K x (X^e - 1) ACC. For several (torus paper, Section III-E; Zhou et al., IEEE Access 2018) it
//! is ACC += the sum over the patterns u of (X^e(u) - 1) (K_u x ACC): the accumulator is decomposed and transformed once for
//! all. Where words of 32 bits serve ([`Params::narrow`]), they do from the first turn to the last.

use std::ops::Range;

use ringmill_math::torus::{Gadget, NarrowKey, NarrowRing, TorusRing, TransformedKey, rotate_sub};

use crate::tfhe::TfheError;
use crate::tfhe::params::Params;

/// A loop of turns, one after another on the same limbs.
pub(in crate::tfhe) struct Turns {
    pub count: usize,
    /// The limbs, which lie together.
    pub limbs: Range<usize>,
    pub gadget: Gadget,
    /// Whether the limbs are turned before they are decomposed.
    pub before: bool,
    /// The first turn's first exponent, and how many each turn has.
    pub exponents: Range<usize>,
    /// The exponents of each pattern, counted from the turn's first.
    pub patterns: Vec<Vec<usize>>,
    /// The first turn's first gadget ciphertext, and the number of that turn among all of the key.
    pub first_key: usize,
    pub first_turn: usize,
}

/// A bootstrapping key in transform form.
pub enum RotationKey {
    Wide(TransformedKey),
    Narrow(NarrowKey),
}

impl RotationKey {
    /// Bytes of all.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Wide(key) => key.bytes(),
            Self::Narrow(key) => key.bytes(),
        }
    }
}

/// What turns work in, made once and used for many.
pub(in crate::tfhe) struct Room {
    wide: Wide,
    narrow: Narrow,
}

/// Buffers of words of 64 bits; empty where those of 32 serve.
#[derive(Default)]
struct Wide {
    /// (X^e - 1) times one polynomial of the accumulator.
    difference: Vec<u64>,
    /// A lane's digits, (k + 1) l polynomials.
    digits: Vec<u64>,
    /// A lane's sums for each pattern, k + 1 polynomials each.
    sums: Vec<u64>,
    /// A lane's X^e(u) - 1 for each pattern.
    weights: Vec<u64>,
    /// The transform of what the accumulator grows by, in each lane.
    update: [Vec<u64>; 2],
}

/// Buffers of words of 32 bits; empty where they do not serve.
#[derive(Default)]
struct Narrow {
    /// k + 1 polynomials.
    acc: Vec<u32>,
    /// (X^e - 1) times one of them.
    difference: Vec<u32>,
    /// (k + 1) l polynomials.
    digits: Vec<u32>,
    /// X^e(u) - 1 for each pattern.
    weights: Vec<u32>,
    /// The transform of what the accumulator grows by.
    update: Vec<u32>,
}

/// The patterns that are weighed in a turn: none of one bit.
fn weighed(params: &Params) -> usize {
    match params.sizes().unrolling.m() {
        1 => 0,
        _ => params.sizes().unrolling.patterns(),
    }
}

impl Room {
    pub fn new(params: &Params) -> Self {
        match params.narrow() {
            None => Self {
                wide: Wide::new(params),
                narrow: Narrow::default(),
            },
            Some(ring) => Self {
                wide: Wide::default(),
                narrow: Narrow::new(params, ring),
            },
        }
    }
}

impl Wide {
    fn new(params: &Params) -> Self {
        let (s, ring, patterns) = (params.sizes(), params.ring(), weighed(params));
        let (n, cols) = (s.degree(), s.k.0 + 1);
        Self {
            difference: vec![0; n],
            digits: vec![0; s.rows() * n],
            sums: vec![0; patterns * cols * n],
            weights: vec![0; patterns * n],
            update: [vec![0; cols * n], vec![0; cols * n * (ring.lanes() - 1)]],
        }
    }
}

impl Narrow {
    fn new(params: &Params, ring: &NarrowRing) -> Self {
        let s = params.sizes();
        let (n, cols) = (s.degree(), s.k.0 + 1);
        Self {
            acc: vec![0; cols * n],
            difference: vec![0; n],
            digits: vec![0; s.rows() * n],
            weights: vec![0; weighed(params) * ring.weight_words()],
            update: vec![0; cols * n],
        }
    }
}

/// The sum of a pattern's exponents.
fn exponent(exponents: &[usize], pattern: &[usize]) -> usize {
    let chosen = pattern.iter().filter_map(|&at| exponents.get(at));
    chosen.fold(0, |sum, &e| sum.wrapping_add(e))
}

impl Turns {
    /// Turns `acc` by the program's exponents.
    pub fn run(
        &self,
        params: &Params,
        key: &RotationKey,
        exponents: &[usize],
        acc: &mut [u64],
        room: &mut Room,
    ) -> Result<(), TfheError> {
        let each = self.exponents.len();
        let all = exponents.get(self.exponents.start..).unwrap_or_default();
        let all = all.chunks_exact(each.max(1)).take(self.count).enumerate();
        match (key, params.narrow()) {
            (RotationKey::Wide(key), _) => {
                for (i, exponents) in all {
                    let at = self.first_key + i * self.patterns.len();
                    self.wide(params.ring(), (key, at), exponents, acc, &mut room.wide)?;
                }
            }
            (RotationKey::Narrow(key), Some(ring)) => {
                let work = &mut room.narrow;
                for (narrow, &x) in work.acc.iter_mut().zip(&*acc) {
                    *narrow = x as u32;
                }
                for (i, exponents) in all {
                    self.narrow(ring, (key, self.first_turn + i), exponents, work)?;
                }
                for (x, &narrow) in acc.iter_mut().zip(&work.acc) {
                    *x = narrow.into();
                }
            }
            (RotationKey::Narrow(key), None) => {
                return Err(TfheError::Dimension {
                    what: "words of 32 bits of a bootstrapping key",
                    expected: 0,
                    got: key.bytes() / size_of::<u32>(),
                });
            }
        }
        Ok(())
    }

    /// One turn, with the gadget ciphertexts from number `at` on.
    fn wide(
        &self,
        ring: &TorusRing,
        (key, at): (&TransformedKey, usize),
        exponents: &[usize],
        acc: &mut [u64],
        work: &mut Wide,
    ) -> Result<(), TfheError> {
        if exponents.iter().all(|&e| e == 0) {
            return Ok(());
        }
        let (n, shape) = (ring.degree(), key.shape());
        let width = shape.cols() * n;
        for (lane, update) in (0..ring.lanes()).zip(&mut work.update) {
            let digits = work.digits.chunks_mut(self.gadget.levels() * n);
            for (digits, x) in digits.zip(acc.chunks(n)) {
                let x = match (self.before, self.patterns.first()) {
                    (true, Some(pattern)) => {
                        let (turned, e) = (&mut work.difference, exponent(exponents, pattern));
                        rotate_sub(ring.coefficients(), turned, x, e)?;
                        &**turned
                    }
                    _ => x,
                };
                ring.decompose(lane, &self.gadget, digits, x)?;
                ring.forward(lane, digits)?;
            }
            if self.before {
                let rows = key.rows(lane, at);
                ring.accumulate(lane, shape, &work.digits, rows, update)?;
                continue;
            }
            let patterns = self.patterns.len();
            let sums = work.sums.get_mut(..patterns * width).unwrap_or_default();
            let weights = work.weights.get_mut(..patterns * n).unwrap_or_default();
            let each = sums.chunks_mut(width).zip(weights.chunks_mut(n));
            for ((u, pattern), (sums, weight)) in self.patterns.iter().enumerate().zip(each) {
                let rows = key.rows(lane, at + u);
                ring.accumulate(lane, shape, &work.digits, rows, sums)?;
                ring.monomial(lane, exponent(exponents, pattern), weight)?;
            }
            ring.combine(lane, shape.cols(), weights, sums, update)?;
        }
        let [first, second] = &mut work.update;
        let mut second = second.chunks_mut(n);
        for (acc, first) in acc.chunks_mut(n).zip(first.chunks_mut(n)) {
            ring.inverse_add(first, second.next().unwrap_or_default(), acc)?;
        }
        Ok(())
    }

    /// The same in words of 32 bits, with the gadget ciphertexts of turn number `at` of the key.
    fn narrow(
        &self,
        ring: &NarrowRing,
        (key, at): (&NarrowKey, usize),
        exponents: &[usize],
        work: &mut Narrow,
    ) -> Result<(), TfheError> {
        if exponents.iter().all(|&e| e == 0) {
            return Ok(());
        }
        let n = ring.degree();
        let digits = work.digits.chunks_mut(self.gadget.levels() * n);
        for (digits, x) in digits.zip(work.acc.chunks(n)) {
            match (self.before, self.patterns.first()) {
                (true, Some(pattern)) => {
                    let e = exponent(exponents, pattern);
                    ring.rotate_sub(&mut work.difference, x, e)?;
                    ring.decompose(&self.gadget, digits, &work.difference)?;
                }
                _ => ring.decompose(&self.gadget, digits, x)?,
            }
            ring.forward(digits)?;
        }
        let weighed = match self.before {
            true => &[][..],
            false => &self.patterns,
        };
        let words = weighed.len() * ring.weight_words();
        let weights = work.weights.get_mut(..words).unwrap_or_default();
        for (pattern, weight) in weighed.iter().zip(weights.chunks_mut(ring.weight_words())) {
            ring.monomial(exponent(exponents, pattern), weight)?;
        }
        ring.accumulate(key.step(at), &work.digits, weights, &mut work.update)?;
        for (acc, update) in work.acc.chunks_mut(n).zip(work.update.chunks_mut(n)) {
            ring.inverse_add(update, acc)?;
        }
        Ok(())
    }
}
