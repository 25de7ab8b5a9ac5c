// SPDX-License-Identifier: Apache-2.0
//! Switches the key of LWE ciphertexts by subtracting a sum of key rows, each times a digit.

use super::{Coefficients, Gadget};
use crate::kernels::check_len;
use crate::{MathError, Modulus};

/// The rows of a key-switching key: LWE ciphertexts of one dimension n. Each has n + 1 words (mask,
/// then body), and they lie one after the other. Row i l + j encrypts bit i of the old secret key
/// times the weight of digit j, for l digits. Words have 32 bits if the modulus q has no more.
#[derive(Clone)]
pub struct SwitchRows {
    words: Words,
    width: usize,
}

#[derive(Clone)]
enum Words {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl SwitchRows {
    /// Makes a key of `rows` rows modulo q, LWE ciphertexts of `width` words each, all zero.
    ///
    /// # Errors
    /// [`MathError::Halt`] if there is no memory for the key.
    pub fn zeroed(q: Coefficients, rows: usize, width: usize) -> Result<Self, MathError> {
        let count = rows.saturating_mul(width);
        ringmill_limits::room("a key-switching key", 8 * count as u64)?;
        let words = if q.bits() <= 32 {
            Words::Narrow(vec![0; count])
        } else {
            Words::Wide(vec![0; count])
        };
        Ok(Self { words, width })
    }

    /// Writes the LWE ciphertext `x` as row number `row` of the key.
    ///
    /// # Errors
    /// [`MathError::Length`] if `x` has another length than a row, [`MathError::OutOfRange`] if the key has no row with
    /// this number.
    pub fn put(&mut self, row: usize, x: &[u64]) -> Result<(), MathError> {
        check_len("row of a key-switching key", self.width, x.len())?;
        let count = match &self.words {
            Words::Narrow(words) => words.len(),
            Words::Wide(words) => words.len(),
        };
        if row >= count / self.width.max(1) {
            return Err(MathError::OutOfRange {
                what: "row of a key-switching key",
                expected: "below the number of rows",
                got: row.to_string(),
            });
        }
        let range = row * self.width..(row + 1) * self.width;
        match &mut self.words {
            Words::Narrow(words) => {
                for (word, &x) in words[range].iter_mut().zip(x) {
                    *word = x as u32;
                }
            }
            Words::Wide(words) => words[range].copy_from_slice(x),
        }
        Ok(())
    }

    /// Returns the bytes of memory that all rows of the key take.
    pub fn bytes(&self) -> usize {
        match &self.words {
            Words::Narrow(words) => size_of_val(words.as_slice()),
            Words::Wide(words) => size_of_val(words.as_slice()),
        }
    }

    /// Switches the key of an LWE ciphertext with this mask and body. It computes out = (0, `body`) minus the sum over
    /// i and j of digit j of mask coefficient i times row i l + j, modulo q. l is the number of digits of `gadget`,
    /// which must be a gadget modulo the q of the key.
    ///
    /// # Errors
    /// [`MathError::Length`] if `out` has another length than a row, or the key does not have l rows for each
    /// coefficient of the mask.
    pub fn switch(
        &self,
        gadget: &Gadget,
        mask: &[u64],
        body: u64,
        out: &mut [u64],
    ) -> Result<(), MathError> {
        check_len("switched ciphertext", self.width, out.len())?;
        match &self.words {
            Words::Narrow(words) => switch(Rows::Narrow(words), gadget, mask, body, out),
            Words::Wide(words) => switch(Rows::Wide(words), gadget, mask, body, out),
        }
    }
}

/// Switches the key of an LWE ciphertext as [`SwitchRows::switch`] does, by a key's rows in words of 64 bits, each as
/// long as `out`.
///
/// # Errors
/// [`MathError::Length`] unless `rows` has l rows for each coefficient of the mask, for l digits.
pub fn switch_words(
    rows: &[u64],
    gadget: &Gadget,
    mask: &[u64],
    body: u64,
    out: &mut [u64],
) -> Result<(), MathError> {
    switch(Rows::Wide(rows), gadget, mask, body, out)
}

/// The words of all rows of a key-switching key.
#[derive(Clone, Copy)]
enum Rows<'a> {
    Narrow(&'a [u32]),
    Wide(&'a [u64]),
}

fn switch(
    rows: Rows<'_>,
    gadget: &Gadget,
    mask: &[u64],
    body: u64,
    out: &mut [u64],
) -> Result<(), MathError> {
    let (levels, width) = (gadget.levels(), out.len());
    let count = match rows {
        Rows::Narrow(words) => words.len(),
        Rows::Wide(words) => words.len(),
    };
    check_len(
        "words of the key-switching key",
        mask.len() * levels * width,
        count,
    )?;
    out.fill(0);
    let q = gadget.coefficients();
    // For `batch` rows, sums stay below 2^63 in magnitude; then they are reduced. Modulo 2^64 they wrap and need no
    // reduction.
    let room = 63u32.saturating_sub(q.bits() + gadget.log_base() - 1);
    let batch = match q {
        Coefficients::Word(word) if word.bits() == u64::BITS => usize::MAX,
        _ => (1usize << room.min(40)).saturating_sub(1).max(1),
    };
    let mut pending = 0;
    let (mut added, mut subtracted) = (Waiting::default(), Waiting::default());
    for (i, &x) in mask.iter().enumerate() {
        for (j, digit) in gadget.digits(x).enumerate() {
            let at = (i * levels + j) * width;
            let magnitude = digit.unsigned_abs() as u32;
            match (rows, digit) {
                (_, 0) => continue,
                (Rows::Narrow(words), 1..) => {
                    subtracted.push(&words[at..at + width], magnitude);
                    if subtracted.is_full() {
                        subtract_narrow(out, subtracted.take());
                    }
                }
                (Rows::Narrow(words), _) => {
                    added.push(&words[at..at + width], magnitude);
                    if added.is_full() {
                        add_narrow(out, added.take());
                    }
                }
                (Rows::Wide(words), _) => {
                    subtract_wide(out, &words[at..at + width], digit as u64);
                }
            }
            pending += 1;
            if pending == batch {
                subtract_narrow(out, subtracted.take());
                add_narrow(out, added.take());
                settle(q, out);
                pending = 1; // the residues are as large as one row, its digit at least 1
            }
        }
    }
    subtract_narrow(out, subtracted.take());
    add_narrow(out, added.take());
    settle(q, out);
    if let Some(last) = out.last_mut() {
        *last = q.add(*last, body);
    }
    Ok(())
}

/// The number of rows of a key-switching key that are added together, so that sums are loaded and stored once for all
/// of them.
const AT_ONCE: usize = 4;

/// Rows of a key-switching key, with the digits that multiply them, that wait until [`AT_ONCE`] of
/// them can be added to the sums together.
#[derive(Clone, Copy, Default)]
struct Waiting<'a> {
    rows: [(&'a [u32], u32); AT_ONCE],
    count: usize,
}

impl<'a> Waiting<'a> {
    /// Adds a row of the key, with the digit that multiplies it, to the rows that wait to be added. The caller adds at
    /// most [`AT_ONCE`] rows between two calls of [`Waiting::take`].
    fn push(&mut self, row: &'a [u32], digit: u32) {
        self.rows[self.count] = (row, digit);
        self.count += 1;
    }

    fn is_full(&self) -> bool {
        self.count == AT_ONCE
    }

    /// Takes the rows of the key that wait, each with its digit. If fewer than [`AT_ONCE`] rows
    /// wait, the first of them with the digit 0 fills the array. If none waits, rows of no words
    /// fill it.
    fn take(&mut self) -> [(&'a [u32], u32); AT_ONCE] {
        let Self { mut rows, count } = std::mem::take(self);
        let first = rows[0].0;
        rows[count..].fill((first, 0));
        rows
    }
}

/// Converts the signed sums of rows times digits to residues modulo q, in place.
fn settle(q: Coefficients, sums: &mut [u64]) {
    match q {
        Coefficients::Word(word) => sums.iter_mut().for_each(|x| *x &= word.mask()),
        Coefficients::Prime(q) => settle_prime(q, sums),
    }
}

fn settle_prime(q: Modulus, sums: &mut [u64]) {
    for x in sums {
        *x = q.from_i64(*x as i64);
    }
}

super::levels! {
    fn add_narrow(out: &mut [u64], rows: [(&[u32], u32); AT_ONCE]) {
        let [(a, p), (b, q), (c, r), (d, s)] = rows;
        for ((((out, &a), &b), &c), &d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let first = (u64::from(a) * u64::from(p)).wrapping_add(u64::from(b) * u64::from(q));
            let second = (u64::from(c) * u64::from(r)).wrapping_add(u64::from(d) * u64::from(s));
            *out = out.wrapping_add(first.wrapping_add(second));
        }
    }
}

super::levels! {
    fn subtract_narrow(out: &mut [u64], rows: [(&[u32], u32); AT_ONCE]) {
        let [(a, p), (b, q), (c, r), (d, s)] = rows;
        for ((((out, &a), &b), &c), &d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let first = (u64::from(a) * u64::from(p)).wrapping_add(u64::from(b) * u64::from(q));
            let second = (u64::from(c) * u64::from(r)).wrapping_add(u64::from(d) * u64::from(s));
            *out = out.wrapping_sub(first.wrapping_add(second));
        }
    }
}

super::levels! {
    fn subtract_wide(out: &mut [u64], row: &[u64], digit: u64) {
        for (out, &x) in out.iter_mut().zip(row) {
            *out = out.wrapping_sub(x.wrapping_mul(digit));
        }
    }
}
