// SPDX-License-Identifier: Apache-2.0
//! Computes the tables that are loaded into the vector machine before a program (`entry_t` of `rm_vector_top_pkg`).
//! They hold moduli, the factors of a transform's two passes, and the seeds from which other factors follow.

use ringmill_isa::vector::{MicroOp, Shape};
use ringmill_math::modmul::MontgomeryFriendly32;
use ringmill_math::{MathError, Modulus, NttPlan, Ring};

const MODULUS: u64 = 0;
const ONE: u64 = 1;
const BEFORE: u64 = 2;
const WITHIN: u64 = 3;
const SEED_LOW: u64 = 4;
const SEED_HIGH: u64 = 5;

/// A modulus q of a program, the multiplier for q, and psi, a root of unity modulo q whose order is
/// twice the ring degree.
struct Field {
    q: Modulus,
    multiplier: MontgomeryFriendly32,
    psi: u64,
    order: i64,
}

impl Field {
    fn new(q: u64, shape: Shape) -> Result<Self, MathError> {
        let q = Modulus::new(q)?;
        Ok(Self {
            q,
            multiplier: MontgomeryFriendly32::new(q)?,
            psi: NttPlan::shared(q, Ring::full(shape.log_n))?.psi(),
            order: 2i64 << shape.log_n,
        })
    }

    /// Returns psi^e R modulo q, where psi is the root of unity of order twice the ring degree, and
    /// R = 2^32. The factor R cancels the division by R in the machine's multiplier. e may be
    /// negative.
    fn power(&self, e: i64) -> u64 {
        let e = e.rem_euclid(self.order) as u64;
        self.multiplier.to_form(self.q.pow(self.psi, e))
    }
}

/// Returns every word of the machine's tables, modulus by modulus, as the port `table_i` of
/// `rm_vector` takes them.
///
/// # Errors
/// An error for a modulus that the multipliers or the transforms do not support.
pub fn table_words(moduli: &[u64], shape: Shape) -> Result<Vec<u64>, MathError> {
    let mut words = Vec::new();
    for (number, &q) in (0..).zip(moduli) {
        let field = Field::new(q, shape)?;
        let mut put = |kind: u64, pass: u64, index: i64, word: u64| {
            let head = (kind << 10 | number) << 2 | pass;
            words.push((head << 8 | index as u64) << 32 | word);
        };
        put(MODULUS, 0, 0, q);
        put(ONE, 0, 0, field.power(0));
        let (rows, columns) = (1i64 << shape.log_radix, 1i64 << shape.log_columns());
        for j in 1..rows {
            put(BEFORE, 0, j, field.power(columns * j));
            put(BEFORE, 1, j, field.power(j));
        }
        for j in 1..rows / 2 {
            put(WITHIN, 0, j, field.power(2 * columns * j));
            put(WITHIN, 1, j, field.power(-2 * columns * j));
        }
        let log_low = shape.log_radix / 2;
        let passes = [MicroOp::Ntt1, MicroOp::Ntt2, MicroOp::Intt1, MicroOp::Intt2];
        for op in passes {
            // The seed of line c is psi^(step c + first).
            let (step, first) = match op {
                MicroOp::Ntt1 => (2, 0),
                MicroOp::Intt1 => (-2, -1),
                MicroOp::Intt2 => (0, -columns),
                _ => (0, 0),
            };
            let pass = op as u64 & 3;
            for low in 0..1 << log_low {
                put(SEED_LOW, pass, low, field.power(step * low + first));
            }
            for high in 0..1 << (shape.log_radix - log_low) {
                put(SEED_HIGH, pass, high, field.power((step * high) << log_low));
            }
        }
    }
    Ok(words)
}
