// SPDX-License-Identifier: Apache-2.0
//! Computes the ciphertexts that a key-switching unit must return, by the definition of the key switch.

use ringmill_math::torus::{Coefficients, Gadget, SwitchRows};
use ringmill_math::{WordModulus, expand_words};

use super::{Digits, SwitchError};

/// Switches the key of `ciphertexts`, each of N mask words and a body, to ciphertexts of dimension `small` modulo 2^32.
/// With l digits (levels) a word, row i l + j of the key serves digit j of mask word i, the highest digit first. Its
/// mask is stream i l + j of the seed, and its body is `bodies[i l + j]`.
///
/// # Errors
/// [`SwitchError::Length`] for ciphertexts of different lengths, or for a number of bodies that is not that of the
/// key's rows; errors of `ringmill_math`.
pub fn golden(
    digits: Digits,
    seed: &[u8; 32],
    bodies: &[u32],
    small: usize,
    ciphertexts: &[Vec<u32>],
) -> Result<Vec<Vec<u32>>, SwitchError> {
    let q = Coefficients::word(32)?;
    let gadget = Gadget::new(q, digits.log_base, digits.levels)?;
    let word = WordModulus::new(32)?;
    let mut rows = SwitchRows::zeroed(q, bodies.len(), small + 1)?;
    let mut row = vec![0; small + 1];
    for (at, &body) in bodies.iter().enumerate() {
        expand_words(seed, at as u64, word, &mut row[..small]);
        row[small] = body.into();
        rows.put(at, &row)?;
    }
    let switch = |ciphertext: &Vec<u32>| {
        let words: Vec<u64> = ciphertext.iter().map(|&x| x.into()).collect();
        let expected = bodies.len() / digits.levels + 1;
        let fits = words.len() == expected && bodies.len().is_multiple_of(digits.levels);
        let (Some((&body, mask)), true) = (words.split_last(), fits) else {
            return Err(SwitchError::Length {
                what: "a ciphertext to be switched",
                expected,
                got: words.len(),
            });
        };
        let mut out = vec![0; small + 1];
        rows.switch(&gadget, mask, body, &mut out)?;
        Ok(out.into_iter().map(|x| x as u32).collect())
    };
    ciphertexts.iter().map(switch).collect()
}
