// SPDX-License-Identifier: Apache-2.0
//! An integer that an operation applies to every slot, as residues modulo the ciphertext's primes.

use ringmill_isa::Level;

use super::plain_modulus::PlainModulus;
use super::plaintext::ExactParams;

/// Returns the integer of [`Integers::Signed`](super::Integers::Signed) that is `value` modulo the plaintext modulus
/// `t`.
pub fn reduced(t: PlainModulus, value: i128) -> i64 {
    t.centred(value.rem_euclid(t.value().into()) as u64)
}

/// Returns the residues of an integer modulo the primes of a level, q_0 first. The integer is the one of
/// [`Integers::Signed`](super::Integers::Signed) that is `value` modulo the plaintext modulus t. An operation
/// multiplies by the residues. BGV also adds them, because its messages are in the low bits of the phase.
pub fn residues(params: &impl ExactParams, value: i128, level: Level) -> Vec<u64> {
    residues_modulo(params, params.plain_modulus(), value, level)
}

/// Returns the residues of an integer modulo the primes of a level, q_0 first. The integer is the one of
/// [`Integers::Signed`](super::Integers::Signed) that is `value` modulo `t`, one of the parameters' plaintext moduli.
pub fn residues_modulo(
    params: &impl ExactParams,
    t: PlainModulus,
    value: i128,
    level: Level,
) -> Vec<u64> {
    let value = i128::from(reduced(t, value));
    let primes = params.shared_params().cipher_moduli().iter();
    let residues = primes
        .take(level.primes())
        .map(|&q| value.rem_euclid(q.into()) as u64);
    residues.collect()
}
