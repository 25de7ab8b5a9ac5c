// SPDX-License-Identifier: Apache-2.0
//! Runs the turns of a blind rotation on the CPU's kernels.
//!
//! With m = 1 ([`crate::tfhe::Unrolling`]) a turn computes ACC += K x (X^e - 1) ACC, for the accumulator ACC, the
//! gadget ciphertext K and the exponent e. With m = 2 or 3 it computes ACC += the sum over the patterns u of
//! (X^e(u) - 1) (K_u x ACC) (Kong and Li's paper, Section III-E; Zhou et al., IEEE Access 2018). It decomposes and
//! transforms the accumulator once for all patterns. If the parameters allow 32-bit words ([`Params::narrow`]), all turns
//! of a line use them.

use std::ops::Range;

use ringmill_math::torus::{Gadget, NarrowKey, NarrowRing, TorusRing, TransformedKey, rotate_sub};

use super::lost;
use crate::tfhe::TfheError;
use crate::tfhe::params::Params;

/// A loop of turns, the steps of a blind rotation, on the same limbs, the accumulator.
pub(in crate::tfhe) struct Turns {
    pub count: usize,
    /// The range of the limbs' words in the program's memory, one limb after another.
    pub limbs: Range<usize>,
    pub gadget: Gadget,
    /// Whether a turn, a step of the blind rotation, multiplies the limbs by X^e - 1 before it decomposes them, where e
    /// is the exponent of its secret bit. Otherwise it multiplies the products, pattern by pattern.
    pub before: bool,
    /// The range of the first turn's exponents among the exponents of the program. Each further turn has as many, which
    /// follow.
    pub exponents: Range<usize>,
    /// For each pattern of secret bits the positions of its exponents among the exponents of a turn (the step of the
    /// blind rotation), from 0 on.
    pub patterns: Vec<Vec<usize>>,
    /// The number of the gadget ciphertext in the bootstrapping key with which the loop's first turn begins.
    pub first_key: usize,
    /// The number of the loop's first turn among all turns that the bootstrapping key has.
    pub first_turn: usize,
}

/// A bootstrapping key in transform form, with words of 64 or of 32 bits.
pub enum RotationKey {
    Wide(TransformedKey),
    Narrow(NarrowKey),
}

impl RotationKey {
    /// Returns the number of bytes of the bootstrapping key in transform form.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Wide(key) => key.bytes(),
            Self::Narrow(key) => key.bytes(),
        }
    }
}

/// The buffers in which the turns of a blind rotation keep digits, products and sums. They are allocated once and serve
/// many turns.
pub(in crate::tfhe) struct Room {
    wide: Wide,
    narrow: Narrow,
}

/// The buffers of a turn, a step of the blind rotation, in 64-bit words. They are empty if turns use 32-bit words. A
/// lane is a prime of the products.
#[derive(Default)]
struct Wide {
    /// (X^e - 1) times one polynomial of the accumulator, where e is the exponent of the turn's secret bit.
    difference: Vec<u64>,
    /// The accumulator's digits modulo the prime of one lane: (k + 1) l polynomials, for k mask polynomials and l
    /// digits.
    digits: Vec<u64>,
    /// The sums of products modulo the prime of one lane: one polynomial for each column of a gadget ciphertext and
    /// each pattern of secret bits. It is empty if m = 1, as such turns sum into `update`.
    sums: Vec<u64>,
    /// The transform of X^e(u) - 1 modulo the prime of one lane, for each pattern u of secret bits with the exponent
    /// e(u). It is empty if m = 1.
    weights: Vec<u64>,
    /// The transform of the increment that a turn adds to the accumulator, for each lane (a prime of the products).
    update: [Vec<u64>; 2],
}

/// The buffers of a turn, a step of the blind rotation, in 32-bit words. They are empty if turns use 64-bit words.
#[derive(Default)]
struct Narrow {
    /// The accumulator in 32-bit words: k mask polynomials and the body.
    acc: Vec<u32>,
    /// (X^e - 1) times one polynomial of the accumulator, where e is the exponent of the turn's secret bit.
    difference: Vec<u32>,
    /// The accumulator's digits: (k + 1) l polynomials, for k mask polynomials and l digits.
    digits: Vec<u32>,
    /// The transform of X^e(u) - 1 for each pattern u of secret bits with the exponent e(u). It is empty if m = 1.
    weights: Vec<u32>,
    /// The transform of the increment that a turn, a step of the blind rotation, adds to the accumulator.
    update: Vec<u32>,
}

/// Returns the number of patterns u of secret bits for which a turn multiplies products by X^e(u) - 1. It is 0 if the
/// unrolling has m = 1.
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

/// Returns the error for buffers that have room for fewer patterns of secret bits than a turn has.
fn no_room() -> TfheError {
    lost("buffers of turns", 1, 0)
}

/// Returns the sum of those exponents that a pattern of secret bits selects.
fn exponent(exponents: &[usize], pattern: &[usize]) -> usize {
    let chosen = pattern.iter().filter_map(|&at| exponents.get(at));
    chosen.fold(0, |sum, &e| sum.wrapping_add(e))
}

impl Turns {
    /// Runs all turns of the loop on the accumulator `acc`.
    ///
    /// # Errors
    /// [`TfheError::Dimension`] or [`TfheError::Math`] for a key or buffers of other parameters.
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
                let words = key.bytes() / size_of::<u32>();
                return Err(lost("words of 32 bits of a bootstrapping key", 0, words));
            }
        }
        Ok(())
    }

    /// Runs one turn of the blind rotation in 64-bit words. The turn's gadget ciphertexts begin at number `at` of the
    /// bootstrapping key.
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
            let sums = work.sums.get_mut(..patterns * width);
            let room = sums.zip(work.weights.get_mut(..patterns * n));
            let (sums, weights) = room.ok_or_else(no_room)?;
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

    /// Runs one turn of the blind rotation in 32-bit words, with the gadget ciphertexts of turn `at` of the
    /// bootstrapping key.
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
        let weights = work.weights.get_mut(..words).ok_or_else(no_room)?;
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
