// SPDX-License-Identifier: Apache-2.0
//! An integer that a BFV operation adds to every slot, as residues modulo the ciphertext's primes.

use ringmill_isa::Level;

use super::auxiliary::product;
use super::error::BfvError;
use super::params::Params;
use crate::exact::ExactParams;

/// Returns the residues of the integer times Q / t for the plaintext modulus t, rounded as a plaintext's coefficient
/// is, modulo each prime of the level.
///
/// # Errors
/// None for checked parameters.
pub fn term(params: &Params, value: i128, level: Level) -> Result<Vec<u64>, BfvError> {
    let t = params.plain_modulus();
    let half = t.value().div_ceil(2);
    let residue = value.rem_euclid(t.value().into()) as u64;
    let whole = (product(params, level) * residue + half) % t.value();
    let rest = whole.iter_u64_digits().next().unwrap_or(0);
    // (half - rest) / t modulo each prime: t z = Q m + half - rest, and Q is zero there.
    let primes = params.reducers().iter().take(level.primes());
    let residues = primes.map(|&q| {
        let difference = q.sub(q.reduce(half), q.reduce(rest));
        Ok(q.mul(difference, q.inv(q.reduce(t.value()))?))
    });
    residues.collect()
}
