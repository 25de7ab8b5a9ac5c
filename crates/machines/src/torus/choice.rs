// SPDX-License-Identifier: Apache-2.0
//! Chooses the schedule with which an engine of given sizes takes the fewest cycles.
#![deny(clippy::arithmetic_side_effects)]

use super::{Schedule, Shape, Sizes, TorusError, run};

impl Shape {
    /// Makes an engine with [`Schedule::Sums`] or, for unrolled keys, [`Schedule::Coefficients`]. It chooses the
    /// schedule with fewer cycles for all places together, by the model, with a key that is never late. Both compute
    /// the same, and both are exact if [`Schedule::Sums`] is. A bundle in coefficient form is one word, so its products
    /// are 2 (2^m - 1) times below those of 2^m - 1 patterns, each of differences of two digits. The engine holds at
    /// least one step of the key, or two.
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
            // Or the other cannot be made, with beats wider than a row.
            Ok(_) | Err(_) => Ok(sums),
        }
    }

    /// Returns `key_beats` of [`Schedule::Coefficients`]: patterns and their sums, of two steps.
    pub fn two_steps(sizes: Sizes) -> usize {
        let log_beats = sizes.log_n.saturating_sub(sizes.log_pos.saturating_add(1));
        let log_patterns = u32::try_from(sizes.unroll).unwrap_or(u32::MAX);
        power(log_beats.saturating_add(log_patterns).saturating_add(1))
    }
}

/// Returns the least `key_beats` of [`Schedule::Sums`] that hold a step.
fn one_step(sizes: Sizes) -> usize {
    let groups = power(sizes.log_n.saturating_sub(sizes.log_pos).min(16));
    let patterns = power(sizes.unroll.min(3) as u32).saturating_sub(1);
    groups.saturating_mul(patterns).next_power_of_two()
}

/// Returns 2 to this power, saturated at the largest number.
fn power(log: u32) -> usize {
    1usize.checked_shl(log).unwrap_or(usize::MAX)
}
