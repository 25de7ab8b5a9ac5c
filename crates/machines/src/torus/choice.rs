// SPDX-License-Identifier: Apache-2.0
//! Chooses the schedule with which a TFHE bootstrapping engine of given sizes takes the fewest cycles.
#![deny(clippy::arithmetic_side_effects)]

use super::{Schedule, Shape, Sizes, TorusError, run};

impl Shape {
    /// Makes an engine with [`Schedule::Sums`] or, for unrolled keys, [`Schedule::Coefficients`]. It chooses the one
    /// with fewer cycles of the blind rotation of all ciphertexts together, by the cycle model with a key that is never
    /// late. If both take as many cycles, or the sizes do not allow `Coefficients`, it is `Sums`.
    ///
    /// Both schedules compute the same ciphertexts. A step of m secret bits has 2^m - 1 patterns of
    /// bits that are not all 0. [`Schedule::Coefficients`] first reduces the keys of all patterns
    /// to one bundle with coefficients of one word. Its products are thus bounded 2 (2^m - 1) times
    /// lower than those of `Sums`, so they cannot overflow if those of `Sums` do not.
    ///
    /// The key buffer holds at least one step of the key for `Sums` and two for `Coefficients`.
    ///
    /// # Errors
    /// The errors of [`Shape::new`].
    pub fn cheapest(sizes: Sizes) -> Result<Self, TorusError> {
        let sums = Self::new(Sizes {
            key_beats: sizes.key_beats.max(one_step(sizes)),
            ..sizes
        })?;
        if sizes.unroll == 1 {
            return Ok(sums);
        }
        let bundles = Sizes {
            key_beats: Self::two_steps(sizes),
            ..sizes
        };
        let cycles = |shape| run(shape, sizes.places, || true).cycles;
        match Self::scheduled(bundles, Schedule::Coefficients) {
            Ok(bundles) if cycles(bundles) < cycles(sums) => Ok(bundles),
            // An engine with the other schedule needs more cycles, or its beats would be wider than a row.
            Ok(_) | Err(_) => Ok(sums),
        }
    }

    /// Returns the beats of key buffer (`key_beats`) that [`Schedule::Coefficients`] needs. The
    /// buffer holds, for two steps of the blind rotation, the keys of all patterns of secret bits
    /// and the sums of these keys over the patterns.
    pub fn two_steps(sizes: Sizes) -> usize {
        let log_beats = sizes.log_n.saturating_sub(sizes.log_pos.saturating_add(1));
        let log_patterns = u32::try_from(sizes.unroll).unwrap_or(u32::MAX);
        power(log_beats.saturating_add(log_patterns).saturating_add(1))
    }
}

/// Returns the least size of the key buffer in beats (`key_beats`) with which [`Schedule::Sums`] holds the key of one
/// step of the blind rotation.
fn one_step(sizes: Sizes) -> usize {
    let groups = power(sizes.log_n.saturating_sub(sizes.log_pos).min(16));
    let patterns = power(sizes.unroll.min(3) as u32).saturating_sub(1);
    groups.saturating_mul(patterns).next_power_of_two()
}

/// Returns 2^`log`, or the largest `usize` if the shift is too long.
fn power(log: u32) -> usize {
    1usize.checked_shl(log).unwrap_or(usize::MAX)
}
