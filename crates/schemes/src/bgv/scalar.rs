//! An integer that is added to every slot, as operations take it: residues modulo the ciphertext's primes.

use ringmill_isa::Level;

use super::factor::Factor;
use super::params::Params;
use crate::exact::scalar::{reduced, residues};

/// Times the correction factor, modulo t and about zero, as a plaintext's coefficient is.
pub fn term(params: &Params, value: i128, factor: Factor, level: Level) -> Vec<u64> {
    // Both are below 2^60.
    let value = i128::from(reduced(params, value)) * i128::from(factor.value());
    residues(params, value, level)
}
