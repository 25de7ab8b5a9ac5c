// SPDX-License-Identifier: Apache-2.0
//! Chooses digits and special primes for a program of integers whose ciphertext primes are chosen.

use ringmill_schemes::rlwe;

use super::degree::Found;
use super::primes::Room;
use crate::digits::{Setting, TRIES, Work};
use crate::scheme::Compiles;
use crate::scheme::options::Options;

/// The parameters from which the search for key-switching digits starts: those with one digit for each ciphertext
/// prime.
pub(crate) struct Start<'a, T> {
    pub fit: T,
    pub ring: &'a rlwe::Params,
    pub plain_modulus: u64,
    pub work: &'a Work,
    /// The bits that all primes together may have by the security table.
    pub allowed: u32,
}

/// Tries the key-switching digits that are better than those of `start`, at most [`TRIES`] of them, and returns the
/// first parameters that hold the program's noise. Otherwise it returns those of `start`, or the bytes of
/// [`Found::Keys`] if the user does not allow their keys. `fit` makes parameters with a given number of digits and
/// given special primes, or returns `None` if they do not hold the noise.
///
/// # Errors
/// Returns the errors of `fit`.
pub(crate) fn best<S: Compiles, T, E>(
    start: Start<'_, T>,
    options: &Options<S>,
    room: Room,
    mut fit: impl FnMut(usize, &[u64]) -> Result<Option<T>, E>,
) -> Result<Found<T>, E> {
    let (wishes, ring) = (options.keys, start.ring);
    let target = options.target.as_ref();
    let most = target.map_or(rlwe::Params::MAX_PRIMES, |target| target.moduli.is);
    let setting = Setting {
        log_n: ring.log_n().into(),
        cipher: ring.cipher_moduli(),
        allowed: start.allowed,
        max_bits: room.max_bits,
        max_primes: most.min(rlwe::Params::MAX_PRIMES),
        work: start.work,
        seeded: options.seeded(),
    };
    let there = setting.of_params(ring);
    let choices = match start.work.keys() {
        0 => Vec::new(),
        _ => setting.choices(),
    };
    let taken = [ring.cipher_moduli(), &[start.plain_modulus]].concat();
    let step = room.step(ring.log_n());
    for choice in wishes.better(&choices, &there).iter().take(TRIES) {
        if let Some(special) = choice.special_primes(step, &taken)
            && let Some(found) = fit(choice.dnum, &special)?
        {
            return Ok(Found::Fits(found));
        }
    }
    if wishes.allow(there.bytes) {
        return Ok(Found::Fits(start.fit));
    }
    // Digits whose keys are allowed, but that do not hold the program, do not count here.
    let fewest = choices.iter().map(|choice| choice.bytes).min();
    let refused = fewest.filter(|&bytes| !wishes.allow(bytes));
    Ok(Found::Keys(refused.unwrap_or(there.bytes)))
}
