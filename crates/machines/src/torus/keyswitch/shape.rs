// SPDX-License-Identifier: Apache-2.0
//! The parameters for which a key-switching unit is built.
#![deny(clippy::arithmetic_side_effects)]

use ringmill_math::torus::{Coefficients, Gadget};

use super::SwitchError;

/// The mask words of 32 bits that one ChaCha20 block gives: all its 16 words
/// ([`ringmill_math::expand_words`]).
pub const BLOCK_WORDS: usize = 16;
/// The number of rounds of ChaCha20.
const ROUNDS: u32 = 20;
/// The number of steps of a round of ChaCha20. Each step is a sum, an exclusive or and a rotation.
const STEPS_OF_ROUND: u32 = 4;
/// The most ciphertexts that a unit switches at once.
const MAX_BATCH: usize = 128;
/// The most words of the mask of an old ciphertext, and of a new one.
const MAX_DIMENSION: usize = 65534;
/// The most generators that are side by side in a unit.
const MAX_CORES: usize = 256;

/// The generators of the key's masks. There are `cores` generators side by side. Each has hardware
/// for `rounds` of the 20 ChaCha20 rounds, with `steps` 32-bit additions between two pipeline
/// registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Generators {
    pub cores: usize,
    pub rounds: u32,
    pub steps: u32,
}

/// The digits into which a mask word is cut: `levels` digits (t in Kong and Li's paper) in base 2^`log_base`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Digits {
    pub log_base: u32,
    pub levels: usize,
}

/// The parameters of a key-switching unit. Commands must stay within its maxima.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    batch: usize,
    generators: Generators,
    digits: Digits,
    max_large: usize,
    max_small: usize,
}

impl Shape {
    /// Checks the parameters of a unit that switches `batch` ciphertexts at once, from dimensions up to `max_large` to
    /// dimensions up to `max_small`.
    ///
    /// # Errors
    /// [`SwitchError::Shape`] for a number that is zero or too large, for rounds that do not divide 20 or are odd, and
    /// for digits of more than 32 bits together. Errors of `ringmill_math` for digits that the software does not have.
    pub fn new(
        batch: usize,
        generators: Generators,
        digits: Digits,
        (max_large, max_small): (usize, usize),
    ) -> Result<Self, SwitchError> {
        let refuse = |what, expected: String, got: u64| {
            Err(SwitchError::Shape {
                what,
                expected,
                got,
            })
        };
        for (what, most, got) in [
            ("batch", MAX_BATCH, batch),
            ("cores", MAX_CORES, generators.cores),
            ("max_large", MAX_DIMENSION, max_large),
            ("max_small", MAX_DIMENSION, max_small),
        ] {
            if !(1..=most).contains(&got) {
                return refuse(what, format!("1 to {most}"), got as u64);
            }
        }
        if ![2, 4, 10, 20].contains(&generators.rounds) {
            let got = u64::from(generators.rounds);
            return refuse("rounds", "2, 4, 10 or 20".into(), got);
        }
        if ![1, 2].contains(&generators.steps) {
            let got = u64::from(generators.steps);
            return refuse("steps", "1 or 2".into(), got);
        }
        if !(1..=32).contains(&digits.levels) {
            return refuse("levels", "1 to 32".into(), digits.levels as u64);
        }
        let most = 32u32.checked_div(digits.levels as u32).unwrap_or(0);
        if !(1..=most).contains(&digits.log_base) {
            let expected = format!("1 to {most} with {} levels, 32 in all", digits.levels);
            return refuse("log_base", expected, digits.log_base.into());
        }
        // Refuses digits that the software does not have.
        Gadget::new(Coefficients::word(32)?, digits.log_base, digits.levels)?;
        Ok(Self {
            batch,
            generators,
            digits,
            max_large,
            max_small,
        })
    }

    pub fn batch(self) -> usize {
        self.batch
    }

    pub fn generators(self) -> Generators {
        self.generators
    }

    pub fn digits(self) -> Digits {
        self.digits
    }

    pub fn max_large(self) -> usize {
        self.max_large
    }

    pub fn max_small(self) -> usize {
        self.max_small
    }

    /// Returns how many columns of the new mask the unit computes in one pass.
    pub fn lanes(self) -> usize {
        self.generators.cores.saturating_mul(BLOCK_WORDS)
    }

    /// Returns the number of pipeline stages of a generator's ring: `Ring` of `rm_chacha20`.
    pub(super) fn ring(self) -> u64 {
        let steps = self.generators.rounds.saturating_mul(STEPS_OF_ROUND);
        steps.checked_div(self.generators.steps).unwrap_or(0).into()
    }

    /// Returns how many times a ChaCha20 block passes through the generator's ring of pipeline stages, which has
    /// hardware for some of the 20 rounds.
    pub(super) fn turns(self) -> u64 {
        ROUNDS
            .checked_div(self.generators.rounds)
            .unwrap_or(0)
            .into()
    }

    /// Returns the cycles from the issue of a row of the key, through its mask words, to the sum that contains its
    /// product.
    pub fn latency(self) -> u64 {
        let key_stream = self.ring().saturating_mul(self.turns());
        key_stream.saturating_add(self.digits.log_base.into())
    }

    /// Returns how many passes over the key the unit makes for a new dimension of `small`.
    pub fn passes(self, small: usize) -> u64 {
        small.div_ceil(self.lanes()) as u64
    }
}
