// SPDX-License-Identifier: Apache-2.0
//! Looks up several tables by one blind rotation (Carpov, Izabachene, Mollimard, CT-RSA 2019).
//!
//! Let a table have the value f_j in block j of N / 2^bits coefficients. It equals the sum of (f_j - f_(j-1)) X^(j N /
//! 2^bits) times half of 1 + X + ... + X^(N-1), with f_0 + f_last at j = 0, as X^N is -1. So a rotation turns the half
//! polynomial once by the phase. Each table is then a sum of few turns of the result, with small integer factors. The
//! sum of the factors' squares is the noise variance of the table's entry as a multiple of a rotation's.

use ringmill_math::torus::rotate;

use super::TfheError;
use super::linear::add_multiple;
use super::params::Params;
use super::tables::{LookupTable, bits};

/// Returns the factors of a table in the result of a shared blind rotation, one for each entry f_j. The table's
/// polynomial is the sum over j of factor j times X^(j N / 2^bits) times half of 1 + X + ... + X^(N-1). Factor 0 is the
/// sum of the first and the last entry, and each other factor is its entry less the entry before.
pub fn factors(entries: &[i64]) -> impl Iterator<Item = i64> {
    let before = entries.iter().map(|x| Some(*x));
    let before = std::iter::once(None).chain(before);
    let last = entries.last().copied().unwrap_or(0);
    let each = entries.iter().zip(before);
    each.map(move |(&x, before)| match before {
        None => x + last,
        Some(before) => x - before,
    })
}

/// Returns the noise variance of a table's entry that shares its blind rotation with other tables, as a multiple of the
/// rotation's own. The entries are in halves of a message.
pub fn noise_factor(entries: &[i64]) -> u64 {
    let squares = factors(entries).map(|f| f.unsigned_abs().saturating_pow(2));
    squares.fold(0, u64::saturating_add)
}

/// Returns the polynomial that a blind rotation shared by several tables turns: a quarter of a message in every
/// coefficient, or for bits an eighth of the torus.
pub fn flat(params: &Params) -> Vec<u64> {
    let bits = bits(params).unwrap_or(0);
    vec![params.coefficients().fraction(1, bits + 3); params.sizes().degree()]
}

/// Computes the accumulator of one table from the accumulator of the shared blind rotation, which turned [`flat`]. It
/// equals the accumulator of a rotation of the table itself, except for noise. `out` receives the accumulator of the
/// table, and `turned` is a buffer of one polynomial.
///
/// # Errors
/// [`TfheError::OtherMessages`] under parameters for booleans; [`TfheError::Math`] if `turned` or a part of `acc` is no
/// polynomial of N words. The caller ensures that `acc` and `out` have the same length.
pub fn weigh(
    params: &Params,
    table: &LookupTable,
    acc: &[u64],
    turned: &mut [u64],
    out: &mut [u64],
) -> Result<(), TfheError> {
    let (q, n) = (params.coefficients(), params.sizes().degree());
    let block = n >> bits(params)?;
    out.fill(0);
    for (j, factor) in factors(table.entries()).enumerate() {
        if factor == 0 {
            continue;
        }
        for (out, acc) in out.chunks_mut(n).zip(acc.chunks(n)) {
            rotate(q, turned, acc, j * block)?;
            add_multiple(q, out, factor, turned)?;
        }
    }
    Ok(())
}
