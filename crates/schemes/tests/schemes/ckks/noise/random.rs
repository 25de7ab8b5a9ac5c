// SPDX-License-Identifier: Apache-2.0
//! Tests sums of random errors against linear combinations of independent numbers.

use proptest::prelude::*;
use ringmill_schemes::ckks::noise::{Reach, Slots};
use ringmill_schemes::internals::{Random, Registry};

const RING: usize = 128;
/// The slots in which masks differ, the same in each run of so many slots.
const PERIOD: usize = 8;

/// An error with its exact value: for each source, slot and rotation a factor of the source's number in the slot after
/// the rotation.
#[derive(Clone)]
struct Known {
    bound: Random,
    factors: Vec<Vec<f64>>,
}

fn mask(bits: u8) -> Vec<f64> {
    (0..PERIOD)
        .map(|slot| f64::from(bits >> slot & 1) * (1.0 + slot as f64))
        .collect()
}

impl Known {
    /// Returns an error of one source, with the variance 1 in every slot. Row `slot` of `factors` has a factor for each
    /// number of each source.
    fn fresh(number: usize, sources: usize, registry: &mut Registry) -> Self {
        let one = [Slots::All(1.0), Slots::ZERO, Slots::ZERO];
        let mut factors = vec![vec![0.0; RING * sources]; RING];
        for (slot, row) in factors.iter_mut().enumerate() {
            row[number * RING + slot] = 1.0;
        }
        Self {
            bound: Random::new(one, registry.fresh(Reach::Ring)),
            factors,
        }
    }

    fn rotated(&self, steps: usize, registry: &mut Registry) -> Self {
        let mut factors = self.factors.clone();
        factors.rotate_left(steps % RING);
        Self {
            bound: self.bound.rotated(steps as i64, registry),
            factors,
        }
    }

    fn scaled(&self, gain: &[f64]) -> Self {
        let rows = self.factors.iter().zip(gain.iter().cycle());
        Self {
            bound: self.bound.scaled(&Slots::each(gain.to_vec())),
            factors: rows
                .map(|(row, g)| row.iter().map(|x| x * g).collect())
                .collect(),
        }
    }

    fn plus(&self, other: &Self, registry: &mut Registry) -> Self {
        let rows = self.factors.iter().zip(&other.factors);
        Self {
            bound: self.bound.plus(&other.bound, registry),
            factors: rows
                .map(|(a, b)| a.iter().zip(b).map(|(x, y)| x + y).collect())
                .collect(),
        }
    }

    /// Returns the exact variance of each slot beside its bound.
    fn variances(&self) -> Vec<(f64, f64)> {
        let [bound, _, _] = self.bound.variance();
        let exact = |row: &Vec<f64>| row.iter().map(|x| x * x).sum::<f64>();
        let rows = self.factors.iter().enumerate();
        rows.map(|(slot, row)| (exact(row), bound.at(slot)))
            .collect()
    }
}

#[test]
fn a_masked_sum_that_is_spread_has_the_variance_of_its_parts() {
    let mut registry = Registry::new(RING, RING);
    let mut sum = Known::fresh(0, 2, &mut registry);
    for step in [1, 2, 4] {
        sum = sum.plus(&sum.rotated(step, &mut registry), &mut registry);
    }
    // Only the first slot of eight keeps its sum, and all slots get an error of their own.
    let own = Known::fresh(1, 2, &mut registry);
    let mut spread = sum.scaled(&mask(1)).plus(&own, &mut registry);
    for step in [1, 2, 4] {
        spread = spread.plus(&spread.rotated(RING - step, &mut registry), &mut registry);
    }
    for (exact, bound) in spread.variances() {
        assert_eq!((exact, bound), (16.0, 16.0));
    }
    assert_eq!(spread.bound.largest(), [16.0, 0.0, 0.0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_sum_exceeds_its_bound(
        steps in prop::collection::vec((0..4u8, any::<u8>(), any::<u8>(), 0..RING), 1..24),
    ) {
        let mut registry = Registry::new(RING, RING);
        let mut values: Vec<Known> = (0..3).map(|n| Known::fresh(n, 3, &mut registry)).collect();
        for (kind, a, b, turn) in steps {
            let (a, b) = (a as usize % values.len(), b as usize % values.len());
            let new = match kind {
                0 => values[a].rotated(turn, &mut registry),
                1 => values[a].scaled(&mask(turn as u8)),
                _ => values[a].plus(&values[b], &mut registry),
            };
            for (exact, bound) in new.variances() {
                prop_assert!(exact <= bound * (1.0 + 1e-9), "{exact} {bound}");
                prop_assert!(bound <= new.bound.largest()[0] * (1.0 + 1e-9));
            }
            values.push(new);
        }
    }
}
