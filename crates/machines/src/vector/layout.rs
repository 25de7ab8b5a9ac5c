// SPDX-License-Identifier: Apache-2.0
//! The layout of a limb in the ciphertext buffer, and the chunks that are cut out of it.
//!
//! A limb is a matrix of `rows` (the radix) by `columns`. Coefficient n lies at row n / columns, column n mod columns.
//! The value at psi^(2k+1) lies at row k mod rows, column k / rows. A chunk is `span` = lanes / rows whole columns, or
//! as many residues of whole rows.
//!
//! **Conflict-free.** In a square limb a word lies in bank row xor column (vector paper, section 6.1.1). A bank has
//! `span` sub-banks, and the word lies in sub-bank row mod span. One access moves a whole chunk of any of these kinds,
//! one word from each sub-bank:
//!
//! - Eight rows at once (the paper has one): each of them has every column, so every bank, and sub-banks that differ.
//! - Eight columns 8 c to 8 c + 7 at once: in bank v they have the rows v xor column, which differ in their lowest
//!   three bits, so in their sub-banks.
//! - Rows that an automorphism spreads: k h + b for eight successive k and an odd h, which differ modulo 8 as well.
//!
//! In a limb with m times fewer columns than rows, the low log m bits of the row choose among m sets of banks. The same
//! holds of row / m within each set.
//! banks, and the same holds of row / m within each.

use ringmill_isa::vector::{MicroOp, Shape};

/// The arrangement of a chunk's words in its limb.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Orientation {
    Rows,
    Columns,
    /// Whole rows that do not follow one another.
    Scattered,
}

/// Returns how an instruction's chunks are read and written.
pub fn orientation(op: MicroOp) -> (Orientation, Orientation) {
    use Orientation::{Columns, Rows, Scattered};
    match op {
        MicroOp::Ntt1 | MicroOp::Intt2 => (Columns, Columns),
        MicroOp::Morph => (Rows, Scattered),
        MicroOp::Ntt2
        | MicroOp::Intt1
        | MicroOp::Load
        | MicroOp::Store
        | MicroOp::Mov
        | MicroOp::Add
        | MicroOp::Sub
        | MicroOp::Mul
        | MicroOp::Muli
        | MicroOp::Mac
        | MicroOp::Maci
        | MicroOp::Acc
        | MicroOp::Acci
        | MicroOp::Hcf => (Rows, Rows),
    }
}

/// The place of a word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Word {
    pub bank: u32,
    pub sub_bank: u32,
    /// The address in its sub-bank, from the limb's first.
    pub address: u32,
}

/// The matrix of a limb.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    shape: Shape,
}

impl Layout {
    pub fn new(shape: Shape) -> Self {
        Self { shape }
    }

    pub fn rows(self) -> usize {
        1 << self.shape.log_radix
    }

    pub fn columns(self) -> usize {
        1 << self.shape.log_columns()
    }

    pub fn lanes(self) -> usize {
        1 << self.shape.log_lanes
    }

    /// Returns the columns of a chunk, which is also the sub-banks of a bank.
    pub fn span(self) -> usize {
        self.lanes() / self.rows()
    }

    /// Returns the place of a word of a limb.
    pub fn word(self, row: usize, column: usize) -> Word {
        let (rows, columns, span) = (self.rows(), self.columns(), self.span());
        let fewer = rows / columns;
        Word {
            bank: (row ^ (column * fewer)) as u32,
            sub_bank: (row / fewer % span) as u32,
            address: (column / span) as u32,
        }
    }

    /// Returns the indices into a limb, kept row after row, of the words of chunk `chunk`, in the order in which units
    /// take them.
    pub fn words(self, orientation: Orientation, chunk: usize) -> Vec<usize> {
        let (rows, columns, lanes) = (self.rows(), self.columns(), self.lanes());
        match orientation {
            Orientation::Rows | Orientation::Scattered => {
                (chunk * lanes..(chunk + 1) * lanes).collect()
            }
            Orientation::Columns => {
                let span = self.span();
                let of = chunk * span..(chunk + 1) * span;
                of.flat_map(|column| (0..rows).map(move |row| row * columns + column))
                    .collect()
            }
        }
    }

    /// Returns the index, row after row, of the value at psi^(2k+1).
    pub fn of_value(self, k: usize) -> usize {
        let rows = self.rows();
        k % rows * self.columns() + k / rows
    }

    /// Returns the index, row after row, of a position of a CPU's evaluation form, which is in bit-reversed order.
    pub fn of_evaluation(self, position: usize) -> usize {
        let bits = u32::from(self.shape.log_n);
        self.of_value(position.reverse_bits() >> (usize::BITS - bits))
    }

    /// Returns where the automorphism x -> x^g takes the word at a row and a column of a limb in evaluation form: the
    /// permutation units' rule. The value of the result at psi^(2k+1) is that at psi^(g(2k+1)). So with h the inverse
    /// of g modulo 2N, the value at k goes to k h + (h - 1) / 2. Within a row that is column h + b, b the row's own: i
    /// -> i a + b.
    pub fn turned(self, g: u64, row: usize, column: usize) -> (usize, usize) {
        let (a, b) = self.turn(g, row);
        let (to, offset) = (b % self.rows(), b / self.rows());
        (
            to,
            (column.wrapping_mul(a).wrapping_add(offset)) % self.columns(),
        )
    }

    /// Returns for a row the factor a, and b. The target row is b mod rows, and the columns' offset is b / rows.
    fn turn(self, g: u64, row: usize) -> (usize, usize) {
        let order = 2u64 << self.shape.log_n;
        let h = inverse(g, order) as usize;
        (h, row * h + (h - 1) / 2)
    }
}

/// Returns the inverse of an odd number modulo a power of two.
fn inverse(g: u64, order: u64) -> u64 {
    // Newton's iteration doubles the right bits, from three on.
    let mut x = g;
    for _ in 0..5 {
        x = x.wrapping_mul(2u64.wrapping_sub(g.wrapping_mul(x)));
    }
    x & (order - 1)
}
