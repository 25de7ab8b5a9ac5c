// SPDX-License-Identifier: Apache-2.0
//! The layout of a limb in the vector machine's ciphertext buffer, and the chunks into which it is cut.
//!
//! A limb is a matrix of `rows` (the radix) by `columns`. Coefficient n lies at row n / columns,
//! column n mod columns. The value at psi^(2k+1), for the primitive 2N-th root of unity psi, lies
//! at row k mod rows, column k / rows. A chunk is `span` = lanes / rows whole columns, or as many
//! residues of whole rows.
//!
//! **Conflict-free.** In a square limb a word lies in bank row xor column (BASALISC paper,
//! section 6.1.1). A bank has `span` sub-banks, and the word lies in sub-bank row mod span. One access
//! moves a whole chunk of any of the following kinds, one word from each sub-bank. Here the span is
//! 8:
//!
//! - Eight rows at once (the BASALISC paper has one): each of them has every column, so every bank, and sub-banks that
//!   differ.
//! - Eight columns 8 c to 8 c + 7 at once: in bank v they have the rows v xor column, which differ in their lowest
//!   three bits, so in their sub-banks.
//! - Rows that an automorphism spreads: k h + b for eight successive k and an odd h, which differ modulo 8 as well.
//!
//! In a limb with m times fewer columns than rows, the low log m bits of the row choose among m sets of banks. Within
//! each set, the rule above holds for row / m.

use ringmill_isa::vector::{MicroOp, Shape};

/// The shape of a chunk in the matrix of rows and columns in which a limb lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Orientation {
    Rows,
    Columns,
    /// The chunk consists of whole rows that are not successive, as an automorphism spreads them.
    Scattered,
}

/// Returns the orientation of the chunks that an instruction reads, and that of the chunks that it writes.
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

/// The position of a word in the banks of the ciphertext buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Word {
    pub bank: u32,
    pub sub_bank: u32,
    /// The address of the word in its sub-bank, counted from the limb's first word there.
    pub address: u32,
}

/// The matrix of rows and columns in which a limb of a given shape lies in the buffer.
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

    /// Returns the number of whole columns in a chunk that consists of columns. It is also the
    /// number of sub-banks of a bank.
    pub fn span(self) -> usize {
        self.lanes() / self.rows()
    }

    /// Returns the position in the buffer's banks of the word at a row and a column.
    pub fn word(self, row: usize, column: usize) -> Word {
        let (rows, columns, span) = (self.rows(), self.columns(), self.span());
        let fewer = rows / columns;
        Word {
            bank: (row ^ (column * fewer)) as u32,
            sub_bank: (row / fewer % span) as u32,
            address: (column / span) as u32,
        }
    }

    /// Returns the positions of the words of chunk `chunk` in a limb that is stored row after row, in the order in
    /// which the units take the words. For [`Orientation::Scattered`] they are those of [`Orientation::Rows`], the rows
    /// before the automorphism moves them.
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

    /// Returns the position, in a limb stored row after row, of the polynomial's value at psi^(2k+1). psi is the
    /// primitive 2N-th root of unity.
    pub fn of_value(self, k: usize) -> usize {
        let rows = self.rows();
        k % rows * self.columns() + k / rows
    }

    /// Returns the index, in a limb stored row after row, of position `position` of the CPU's evaluation form, which is
    /// in bit-reversed order.
    pub fn of_evaluation(self, position: usize) -> usize {
        let bits = u32::from(self.shape.log_n);
        self.of_value(position.reverse_bits() >> (usize::BITS - bits))
    }

    /// Returns where the automorphism x -> x^g, for an odd g, moves the word at a row and a column of a limb in
    /// evaluation form, by the rule of the permutation units. The value of the result at psi^(2k+1) is the operand's at
    /// psi^(g(2k+1)). So with h the inverse of g modulo 2N, the value at k goes to k h + (h - 1) / 2. Within a row,
    /// column i goes to column i h + b, where b depends on the row.
    pub fn turned(self, g: u64, row: usize, column: usize) -> (usize, usize) {
        let (a, b) = self.turn(g, row);
        let (to, offset) = (b % self.rows(), b / self.rows());
        (
            to,
            (column.wrapping_mul(a).wrapping_add(offset)) % self.columns(),
        )
    }

    /// Returns the factor a and the offset b of the automorphism x -> x^g for one row. The row goes to row b mod rows,
    /// and column i to column i a + b / rows.
    fn turn(self, g: u64, row: usize) -> (usize, usize) {
        let order = 2u64 << self.shape.log_n;
        let h = inverse(g, order) as usize;
        (h, row * h + (h - 1) / 2)
    }
}

/// Returns the inverse of an odd number modulo `order`, a power of two.
fn inverse(g: u64, order: u64) -> u64 {
    // Newton's iteration doubles the right bits, from three on.
    let mut x = g;
    for _ in 0..5 {
        x = x.wrapping_mul(2u64.wrapping_sub(g.wrapping_mul(x)));
    }
    x & (order - 1)
}
