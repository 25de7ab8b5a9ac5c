// SPDX-License-Identifier: Apache-2.0
//! An integer that a BGV operation adds to every slot, as residues modulo the ciphertext's primes.

use ringmill_isa::Level;

use super::factor::Factor;
use super::params::Params;
use crate::exact::scalar::{reduced, residues_modulo};
use crate::rlwe::RlweError;

/// Returns the residues of an integer times a correction factor, modulo each prime of the level. The product is
/// first reduced modulo the plaintext modulus, nearest to 0, as a plaintext's coefficient is.
///
/// # Errors
/// Fails for a factor whose plaintext modulus the parameters do not have.
pub fn term(
    params: &Params,
    value: i128,
    factor: Factor,
    level: Level,
) -> Result<Vec<u64>, RlweError> {
    let t = params.plain_at(factor.plain())?;
    // Both factors are below 2^60, so the product fits.
    let value = i128::from(reduced(t, value)) * i128::from(factor.value());
    Ok(residues_modulo(params, t, value, level))
}
