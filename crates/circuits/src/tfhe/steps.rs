// SPDX-License-Identifier: Apache-2.0
//! The steps of a TFHE bootstrap on words, outside of its limb programs: the modulus switch, and the sample extraction
//! from accumulators that no program extracts (Kong and Li's paper, Algorithm 1).

use ringmill_math::torus::extract_mask;

use super::TfheError;
use super::params::{ModulusSwitch, Params};

/// Switches an LWE ciphertext to multiples of 1/2N: the exponents of the mask, then that of the body.
///
/// `words` are mask and body, and `exponents` has as many entries. Each exponent is below 2N (Kong and Li's paper,
/// Algorithm 1, line 2).
pub fn modulus_switch(params: &Params, words: &[u64], exponents: &mut [usize]) {
    let q = params.coefficients();
    let log = u32::from(params.sizes().log_degree) + 1;
    let mut shift = 0;
    if params.sizes().switch == ModulusSwitch::CentredMean
        && let Some((_, mask)) = words.split_last()
    {
        // The rounding error of each word is the representative nearest to 0 of round(x 2N / q) q / 2N - x. The shift
        // is half their sum, as a secret bit is 1 half of the time. For a prime q the multiple of q / 2N is rounded
        // down to an integer, so it is off by less than one unit, far below the noise.
        let sum: i128 = (mask.iter())
            .map(|&x| {
                let rounded = (u128::from(q.switch(x, log)) * q.modulus()) >> log;
                let rounded = (rounded % q.modulus()) as u64;
                i128::from(q.centred(q.sub(rounded, x)))
            })
            .sum();
        shift = q.from_i64((sum / 2) as i64);
    }
    let last = words.len().saturating_sub(1);
    for (i, (exponent, &x)) in exponents.iter_mut().zip(words).enumerate() {
        let x = if i == last { q.add(x, shift) } else { x };
        *exponent = q.switch(x, log) as usize;
    }
}

/// Computes the exponents that the program of a blind rotation takes: 2N less that of the body, modulo 2N, then those
/// of the mask.
pub fn exponents(params: &Params, words: &[u64], exponents: &mut [usize]) {
    modulus_switch(params, words, exponents);
    exponents.rotate_right(1);
    let two_n = 2 * params.sizes().degree();
    if let Some(body) = exponents.first_mut() {
        *body = (two_n - *body) % two_n;
    }
}

/// Extracts the LWE ciphertext of coefficient 0 of the accumulator, under the large key. The mask is (a_0, -a_(N-1),
/// ..., -a_1) of each mask polynomial a, and the body is coefficient 0 of the accumulator's body (Kong and Li's paper,
/// Algorithm 1, line 10). `out` has k N + 1 words.
///
/// # Errors
/// [`TfheError::Math`] if `out` ends inside of a mask polynomial.
///
/// # Panics
/// If `acc` is shorter than k polynomials.
pub fn sample_extract(params: &Params, acc: &[u64], out: &mut [u64]) -> Result<(), TfheError> {
    let (q, n) = (params.coefficients(), params.sizes().degree());
    let large = params.sizes().large_dimension();
    let (masks, body) = acc.split_at(large);
    for (out, mask) in out.chunks_mut(n).zip(masks.chunks(n)) {
        extract_mask(q, out, mask)?;
    }
    if let (Some(out), Some(&body)) = (out.get_mut(large), body.first()) {
        *out = body;
    }
    Ok(())
}
