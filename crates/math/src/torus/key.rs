// SPDX-License-Identifier: Apache-2.0
//! Stores rows of gadget ciphertexts in transform form, in the order in which external products read them.

use zeroize::Zeroize;

use crate::{MathError, Modulus};

/// The number of evaluations of a polynomial that lie together in a key, which is the number of
/// lanes of an AVX-512 vector.
pub(super) const GROUP: usize = 8;

/// The bytes of a cache line.
pub(super) const LINE: usize = 64;

/// The number of bytes by which prefetching is ahead of the reads of a key: the processor's own
/// prefetching stops at every page. The ciphertext that follows in memory is mostly the next one to
/// be read. Prefetches go into the second-level cache, one line at a time between the products. If
/// they were for many lines at once, or for the first-level cache, the loop would wait.
pub(super) const AHEAD: usize = 8192;

/// The shape of one gadget ciphertext: `rows` x `cols` polynomials of `n` coefficients. A GGSW
/// ciphertext with k mask polynomials and l levels of digits has k + 1 columns and (k + 1) l rows.
/// Row c l + j belongs to digit j of polynomial c.
///
/// In transform form, eight evaluations of each polynomial lie together, followed by those of the next polynomial at
/// the same positions: the columns of row 0, then those of row 1, and so on. So one pass over the positions reads the
/// whole ciphertext from its first word to its last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyShape {
    n: usize,
    rows: usize,
    cols: usize,
}

impl KeyShape {
    /// The most rows of a gadget ciphertext. The products of all rows are summed before a
    /// reduction.
    pub const MAX_ROWS: usize = 32;
    /// The most columns of a gadget ciphertext: the polynomials in each row.
    pub const MAX_COLS: usize = 8;

    /// Makes the shape of gadget ciphertexts that have `rows` rows and `cols` columns of polynomials with n
    /// coefficients.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for no rows or more than 32, no columns or more than 8, fewer than 8 coefficients, or
    /// a number of coefficients that is no power of two.
    pub fn new(n: usize, rows: usize, cols: usize) -> Result<Self, MathError> {
        let fits = n >= GROUP
            && n.is_power_of_two()
            && (1..=Self::MAX_ROWS).contains(&rows)
            && (1..=Self::MAX_COLS).contains(&cols);
        if !fits {
            return Err(MathError::OutOfRange {
                what: "shape of a gadget ciphertext",
                expected: "a power of two from 8 coefficients, 1 to 32 rows, 1 to 8 columns",
                got: format!("{n} coefficients, {rows} rows, {cols} columns"),
            });
        }
        Ok(Self { n, rows, cols })
    }

    pub fn n(self) -> usize {
        self.n
    }

    pub fn rows(self) -> usize {
        self.rows
    }

    pub fn cols(self) -> usize {
        self.cols
    }

    /// Returns the number of words of one gadget ciphertext.
    pub fn words(self) -> usize {
        self.n * self.rows * self.cols
    }

    /// Returns the index, in a gadget ciphertext's words, of the evaluations at positions 8 `block`
    /// to 8 `block` + 7 of the polynomial in a row and a column.
    fn place(self, block: usize, row: usize, col: usize) -> usize {
        ((block * self.rows + row) * self.cols + col) * GROUP
    }

    /// Returns the index, in a gadget ciphertext's words, of evaluation i of the polynomial in a row and a column.
    pub fn index(self, row: usize, col: usize, i: usize) -> usize {
        self.place(i / GROUP, row, col) + i % GROUP
    }
}

/// The words of one gadget ciphertext in transform form. They have 32 bits if the prime is below 2^32, otherwise 64.
#[derive(Clone, Copy)]
pub enum KeyRows<'a> {
    Narrow(&'a [u32]),
    Wide(&'a [u64]),
}

/// Gadget ciphertexts of one shape in transform form, modulo one prime, one after the other.
#[derive(Clone)]
pub(super) enum KeyWords {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl KeyWords {
    /// Returns `count` words of value 0, of the width that residues modulo p need.
    pub(super) fn zeroed(p: Modulus, count: usize) -> Self {
        if p.bits() <= 32 {
            Self::Narrow(vec![0; count])
        } else {
            Self::Wide(vec![0; count])
        }
    }

    /// Writes the evaluations x of one polynomial to its place in the key: row `row` and column
    /// `col` of gadget ciphertext number `at`.
    pub(super) fn put(&mut self, shape: KeyShape, at: usize, row: usize, col: usize, x: &[u64]) {
        let start = at * shape.words();
        for (block, x) in x.chunks_exact(GROUP).enumerate() {
            let place = start + shape.place(block, row, col);
            match self {
                Self::Narrow(words) => {
                    for (word, &x) in words[place..place + GROUP].iter_mut().zip(x) {
                        *word = x as u32;
                    }
                }
                Self::Wide(words) => words[place..place + GROUP].copy_from_slice(x),
            }
        }
    }

    /// Returns the words of gadget ciphertext number `at`, or none beyond the last.
    pub(super) fn rows(&self, shape: KeyShape, at: usize) -> KeyRows<'_> {
        let range = at * shape.words()..(at + 1) * shape.words();
        match self {
            Self::Narrow(words) => KeyRows::Narrow(words.get(range).unwrap_or(&[])),
            Self::Wide(words) => KeyRows::Wide(words.get(range).unwrap_or(&[])),
        }
    }

    pub(super) fn wipe(&mut self) {
        match self {
            Self::Narrow(words) => words.zeroize(),
            Self::Wide(words) => words.zeroize(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Narrow(words) => size_of_val(words.as_slice()),
            Self::Wide(words) => size_of_val(words.as_slice()),
        }
    }
}
