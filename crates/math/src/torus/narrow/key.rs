// SPDX-License-Identifier: Apache-2.0
//! Stores gadget ciphertexts in transform form in words of 32 bits, in the order in which external products read them.

use crate::MathError;
use crate::torus::KeyShape;

/// The number of evaluations of a polynomial that lie together in a key: the words of one AVX-512
/// vector, and of one cache line.
pub(super) const BLOCK: usize = 16;

/// The 32-bit words of one cache line.
type Line = [u32; BLOCK];

/// A bootstrapping key in words of 32 bits: gadget ciphertexts of one shape. A step of a blind
/// rotation takes m bits of the secret key and has one gadget ciphertext for each *pattern*, a
/// value of the m bits other than 0. The gadget ciphertexts of one step lie together. First come
/// sixteen evaluations of each column of row 0, pattern by pattern, then those of row 1, and so on.
/// The next sixteen evaluations follow in the same way. So one pass over the positions reads a step
/// from its first word to its last.
#[derive(Clone)]
pub struct NarrowKey {
    shape: KeyShape,
    patterns: usize,
    count: usize,
    lines: Vec<Line>,
}

/// The gadget ciphertexts of a bootstrapping key that one step of a blind rotation reads.
#[derive(Clone, Copy)]
pub struct NarrowStep<'a> {
    patterns: usize,
    words: &'a [u32],
}

impl NarrowKey {
    pub(super) fn zeroed(
        shape: KeyShape,
        patterns: usize,
        count: usize,
    ) -> Result<Self, MathError> {
        let words = shape.words().saturating_mul(count);
        ringmill_limits::room("a bootstrapping key in transform form", 4 * words as u64)?;
        Ok(Self {
            shape,
            patterns: patterns.max(1),
            count,
            lines: vec![[0; BLOCK]; words / BLOCK],
        })
    }

    /// Returns the number of gadget ciphertexts of a step of a blind rotation: one for each
    /// pattern, a value other than 0 of the secret bits that the step takes. The last step may have
    /// fewer.
    fn patterns_of(&self, step: usize) -> usize {
        let before = step.saturating_mul(self.patterns).min(self.count);
        (self.count - before).min(self.patterns)
    }

    /// Writes the evaluations x of one polynomial to its place in the key: row `row` and column
    /// `col` of gadget ciphertext number `at`.
    pub(super) fn put(&mut self, at: usize, [row, col]: [usize; 2], x: &[u32]) {
        let (step, pattern) = (at / self.patterns, at % self.patterns);
        let start = step * self.patterns * self.shape.words() / BLOCK;
        let (rows, cols, patterns) = (self.shape.rows(), self.shape.cols(), self.patterns_of(step));
        for (block, x) in x.as_chunks::<BLOCK>().0.iter().enumerate() {
            let place = ((block * rows + row) * patterns + pattern) * cols + col;
            self.lines[start + place] = *x;
        }
    }

    /// Returns the gadget ciphertexts of a step of a blind rotation, or none beyond the last step.
    pub fn step(&self, step: usize) -> NarrowStep<'_> {
        let patterns = self.patterns_of(step);
        let lines = self.shape.words() / BLOCK;
        let start = step.saturating_mul(self.patterns * lines);
        let range = start..start.saturating_add(patterns * lines);
        let words = self.lines.get(range).unwrap_or(&[]).as_flattened();
        NarrowStep { patterns, words }
    }

    /// Returns the bytes of memory that all gadget ciphertexts of the key take.
    pub fn bytes(&self) -> usize {
        size_of_val(self.lines.as_slice())
    }
}

impl<'a> NarrowStep<'a> {
    pub(super) fn patterns(self) -> usize {
        self.patterns
    }

    pub(super) fn words(self) -> &'a [u32] {
        self.words
    }
}
