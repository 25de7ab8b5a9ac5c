// SPDX-License-Identifier: Apache-2.0
//! Chooses the primes that rescales divide by, such that the scale returns close to its first value at every level.

use ringmill_math::primes::is_prime;

use super::CkksError;
use crate::rlwe::RlweError;

/// Returns the primes q_1, q_2, ... that rescales divide by, one for each entry of `ratios`, which begins at level 1. A
/// product at a level has the square of the level's scale, times the level's ratio, and the division by the level's
/// prime gives the scale below. Each prime is chosen, from the top down, so that the scale below it returns near to
/// `2^scale_bits`, which is the scale of the highest level. With a fixed list of primes the deviation would double at
/// every level. All primes differ, and each is 1 mod 2N for N = `2^log_n`.
///
/// # Errors
/// Fails if there are too few primes near `2^scale_bits`.
pub fn rescaling_primes(
    scale_bits: u32,
    log_n: u32,
    ratios: &[f64],
) -> Result<Vec<u64>, CkksError> {
    let wanted = f64::from(scale_bits).exp2();
    let mut scale = wanted;
    let mut chosen: Vec<u64> = Vec::new();
    for ratio in ratios.iter().rev() {
        let target = scale * scale / wanted * ratio;
        let prime = nearest_prime(target, log_n, &chosen).ok_or(RlweError::Parameter {
            what: "the number of rescaling primes",
            expected: format!(
                "at most {} near 2^{scale_bits} at N = 2^{log_n}",
                chosen.len()
            ),
            got: ratios.len().to_string(),
        })?;
        scale = scale * scale / prime as f64 * ratio;
        chosen.push(prime);
    }
    chosen.reverse();
    Ok(chosen)
}

/// Returns the primes that rescales divide by if each divides by two of them: a pair for each entry of `ratios`, lowest
/// first. An entry is the factor by which the product of the pair exceeds the scale `2^scale_bits`. Of a pair, the
/// prime near the square root of the product comes last, so it is dropped first. All primes differ, none is one of
/// `taken`, and each is 1 mod 2N for N = `2^log_n`.
///
/// # Errors
/// Fails if there are too few primes of half of `scale_bits` bits.
pub fn paired_primes(
    scale_bits: u32,
    log_n: u32,
    ratios: &[f64],
    mut taken: Vec<u64>,
) -> Result<Vec<u64>, CkksError> {
    let wanted = f64::from(scale_bits).exp2();
    let mut scale = wanted;
    let mut chosen: Vec<u64> = Vec::new();
    for ratio in ratios.iter().rev() {
        let together = scale * scale / wanted * ratio;
        let mut product = 1.0;
        for target in [together.sqrt(), together] {
            // The second prime divides what the first leaves of the product.
            let prime = nearest_prime(target / product, log_n, &taken);
            let prime = prime.ok_or(RlweError::Parameter {
                what: "the number of rescaling primes",
                expected: format!(
                    "at most {} of half of 2^{scale_bits} that are 1 mod 2^{}",
                    chosen.len(),
                    log_n + 1
                ),
                got: (2 * ratios.len()).to_string(),
            })?;
            product *= prime as f64;
            taken.push(prime);
            chosen.push(prime);
        }
        scale = scale * scale / product * ratio;
    }
    chosen.reverse();
    Ok(chosen)
}

/// Returns a prime below 2^61 that is 1 mod 2N, not among `taken`, and at most 2N farther from the number `target` than
/// the nearest such prime. Returns `None` if there is none from about half of `target` to one and a half times
/// `target`. N is `2^log_n`.
fn nearest_prime(target: f64, log_n: u32, taken: &[u64]) -> Option<u64> {
    let step = 2u64 << log_n;
    let centre = (target / step as f64).round() as u64;
    let fits = |k: u64| {
        let q = k.checked_mul(step)?.checked_add(1)?;
        (!taken.contains(&q) && q >> 61 == 0 && is_prime(q)).then_some(q)
    };
    (0..centre.div_ceil(2)).find_map(|d| fits(centre - d).or_else(|| fits(centre + d)))
}
