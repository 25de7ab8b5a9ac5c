// SPDX-License-Identifier: Apache-2.0
//! Looks up the transforms of X^a - 1 in words of 32 bits: one line of the table for sixteen positions.
//!
//! Let psi be the 2N-th root of unity of the transform. Position 16 b + j has the power psi^e with
//! e = a (2 bitrev(16 b + j) + 1). Here bitrev(16 b + j) = B(b) + N/16 bitrev(j), with B reversing
//! the bits of b and `bitrev(j)` four bits. So within sixteen positions, exponents differ by
//! multiples of N/8. The table keeps the sixteen powers together whose exponents are equal modulo
//! N/8, and sixteen positions are a permutation of one of its lines.

use crate::bits::bit_reverse;
use crate::torus::narrow::key::BLOCK;
use crate::{Backend, Modulus};

/// The number of each lane, from 0 to 15, with its four bits reversed.
pub(super) const REVERSED: [u32; BLOCK] = [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15];

/// Two numbers for each of sixteen exponents e: psi^e - 1 modulo q, and 2^32 times it, both nearest to 0, as signed
/// words. psi is the transform's root of unity. The first one multiplies the low words of sums, the second one the high
/// words.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) low: [u32; BLOCK],
    pub(super) high: [u32; BLOCK],
}

/// A table of the numbers psi^e - 1 modulo q, from which transforms of X^a - 1 are looked up. psi
/// is the transform's root of unity.
pub(super) struct Weights {
    /// The lines of the table: lane t of line r has the numbers for the exponent e = r + N/8 t of
    /// the root of unity.
    lines: Vec<Pair>,
    /// The exponent 2 B(b) + 1 for each block b of sixteen positions, where B reverses the bits of b.
    exponents: Vec<u32>,
}

impl Weights {
    pub(super) fn new(q: Modulus, psi: u64, log_n: u32) -> Self {
        let lines = (1 << log_n) / 8;
        let scale = q.shoup(q.reduce(1 << 32));
        let centred = |x: u64| {
            let above = if x > q.value() / 2 { q.value() } else { 0 };
            x.wrapping_sub(above) as u32
        };
        let mut table = vec![
            Pair {
                low: [0; BLOCK],
                high: [0; BLOCK]
            };
            lines
        ];
        let (mut power, step) = (1, q.shoup(psi));
        for e in 0..lines * BLOCK {
            let weight = q.sub(power, 1);
            let (line, lane) = (&mut table[e % lines], e / lines);
            line.low[lane] = centred(weight);
            line.high[lane] = centred(q.mul_shoup(weight, scale));
            power = q.mul_shoup(power, step);
        }
        let blocks = (1usize << log_n) / BLOCK;
        let log_blocks = blocks.trailing_zeros();
        Self {
            lines: table,
            exponents: (0..blocks)
                .map(|b| 2 * bit_reverse(b, log_blocks) as u32 + 1)
                .collect(),
        }
    }

    /// Computes the transform of X^a - 1. For each sixteen positions it writes the factors that
    /// multiply the low words of sums, then those that multiply the high words.
    pub(super) fn of(&self, a: usize, out: &mut [u32]) {
        let a = a as u32;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Backend::current` only gives backends whose features the processor has.
        unsafe {
            use super::loops;
            match Backend::current() {
                Backend::Scalar => {}
                Backend::Avx2 => return loops::avx2::pick(&self.lines, &self.exponents, a, out),
                Backend::Avx512 | Backend::Avx512Ifma => {
                    return loops::avx512::pick(&self.lines, &self.exponents, a, out);
                }
            }
        }
        let turns = REVERSED.map(|r| r.wrapping_mul(a));
        let (mask, log) = (self.lines.len() - 1, self.lines.len().trailing_zeros());
        let blocks = out.as_chunks_mut::<{ 2 * BLOCK }>().0;
        for (out, &e) in blocks.iter_mut().zip(&self.exponents) {
            let e = a.wrapping_mul(e);
            let line = &self.lines[e as usize & mask];
            let (low, high) = out.split_at_mut(BLOCK);
            for ((low, high), turn) in low.iter_mut().zip(high).zip(turns) {
                let lane = turn.wrapping_add(e >> log) as usize % BLOCK;
                (*low, *high) = (line.low[lane], line.high[lane]);
            }
        }
    }
}
