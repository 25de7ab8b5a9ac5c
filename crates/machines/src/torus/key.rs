// SPDX-License-Identifier: Apache-2.0
//! Arranges a bootstrapping key in the beats that the engine takes.

use super::{Golden, Schedule, Shape, TorusError};

/// The polynomials of a bootstrapping key, transformed modulo 2^52 - 2^12 + 1, by gadget ciphertext, row and column.
pub struct KeyStream<'a> {
    shape: Shape,
    polynomials: Vec<&'a [u64]>,
    /// The polynomials in coefficient form, if the engine takes the key in that form; otherwise empty.
    coefficients: Vec<Vec<u32>>,
}

impl<'a> KeyStream<'a> {
    /// Makes the stream from the key's polynomials, each of N residues, for the ring degree N. With R rows in a gadget
    /// ciphertext, the polynomial of gadget ciphertext g, row r and column c has the index (g R + r) 2 + c. Column 0 is
    /// the mask's, column 1 the body's. Gadget ciphertext s (2^m - 1) + u - 1 belongs to pattern u (a setting of the m
    /// key bits) of step s of the blind rotation.
    ///
    /// # Errors
    /// [`TorusError::Count`] for a wrong number of polynomials or residues.
    pub fn new(shape: Shape, polynomials: Vec<&'a [u64]>) -> Result<Self, TorusError> {
        let expected = shape.gadgets() * shape.rows() * 2;
        if polynomials.len() != expected {
            return Err(TorusError::Count {
                what: "polynomials of the key",
                expected,
                got: polynomials.len(),
            });
        }
        if let Some(short) = polynomials.iter().find(|p| p.len() != shape.degree()) {
            return Err(TorusError::Count {
                what: "residues of a polynomial of the key",
                expected: shape.degree(),
                got: short.len(),
            });
        }
        let coefficients = match shape.schedule() {
            Schedule::Sums | Schedule::Pairs => Vec::new(),
            Schedule::Coefficients => {
                let golden = Golden::new(shape)?;
                let all = polynomials.iter().map(|p| golden.coefficients(p));
                all.collect::<Result<_, _>>()?
            }
        };
        Ok(Self {
            shape,
            polynomials,
            coefficients,
        })
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    fn index(&self, gadget: usize, row: usize, column: usize) -> usize {
        (gadget * self.shape.rows() + row) * 2 + column
    }

    /// Returns the residues of one polynomial of the bootstrapping key in transform form.
    pub fn polynomial(&self, gadget: usize, row: usize, column: usize) -> &'a [u64] {
        self.polynomials[self.index(gadget, row, column)]
    }

    /// Writes the words of the key's beat with index `at` into `words`, which has [`Shape::beat_words`] of them. The
    /// index is below [`Shape::key_total`]. The words come position by position (of the transform, or of the
    /// coefficients if the engine takes them). A position has two words for each row of the gadget ciphertext: the
    /// mask's, then the body's.
    pub fn beat(&self, at: u64, words: &mut [u64]) {
        let shape = self.shape;
        let step = ((at / shape.beats(0)) as usize).min(shape.steps() - 1);
        let within = (at - step as u64 * shape.beats(0)) as usize;
        let patterns = shape.patterns(step);
        let (group, pattern) = (within / patterns, within % patterns);
        let gadget = step * shape.patterns(0) + pattern;
        for (i, word) in words.iter_mut().enumerate() {
            let (position, row, column) = (i / 2 / shape.rows(), i / 2 % shape.rows(), i % 2);
            let at = group * shape.key_positions() + position;
            *word = match shape.schedule() {
                Schedule::Sums | Schedule::Pairs => self.polynomial(gadget, row, column)[at],
                Schedule::Coefficients => {
                    u64::from(self.coefficients[self.index(gadget, row, column)][at])
                }
            };
        }
    }
}
