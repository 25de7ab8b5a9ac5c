// SPDX-License-Identifier: Apache-2.0
//! Tests whether a function takes the same time for a fixed secret as for random secrets.
//!
//! It is the test of dudect (Reparaz, Balasch and Verbauwhede, DATE 2017). In random order the function gets the same
//! input or one of many inputs. Welch's t compares the times of the two classes, after the slowest are cut off at
//! several places. Noise of the machine affects both classes alike. The test sees differences of any cause, but a pass
//! proves nothing.

use std::hint::black_box;
use std::time::Instant;

use ringmill_math::Prng;

/// The |t| from which two classes count as told apart. Noise alone stays below 5.
pub const TOLD_APART: f64 = 10.0;

/// The most tries. A function passes if one try does not tell the classes apart, so that a burst of other work on the
/// machine does not count.
const TRIES: usize = 4;

/// The number of cuts. A half, three quarters, seven eighths and so on of the times are kept, and at last all.
const CUTS: usize = 6;

/// The class of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    Fixed,
    Random,
}

/// Inputs of both classes, as many of one as of the other, so that both are placed and cached alike.
pub struct Pools<T> {
    pairs: Vec<(T, T)>,
}

impl<T> Pools<T> {
    /// Makes `size` inputs of each class by `make`, which must return the same input for each call with the fixed
    /// class.
    pub fn new(size: usize, mut make: impl FnMut(Class) -> T) -> Self {
        let pairs = (0..size).map(|_| (make(Class::Fixed), make(Class::Random)));
        Self {
            pairs: pairs.collect(),
        }
    }
}

/// Returns the least |t| of at most [`TRIES`] tries; the first |t| below [`TOLD_APART`] ends them. A try times `run`
/// `rounds` times, after a tenth as many runs that do not count. `prepare` makes the argument of `run` from an input,
/// and is not timed.
pub fn least_t<T, U, R>(
    pools: &Pools<T>,
    rounds: usize,
    mut prepare: impl FnMut(&T) -> U,
    mut run: impl FnMut(&mut U) -> R,
) -> f64 {
    let mut least = f64::INFINITY;
    for seed in 0..TRIES {
        let mut prng = Prng::from_seed_for_reproducible_tests_only([seed as u8; 32]);
        let mut times = Vec::with_capacity(rounds);
        for round in 0..rounds + rounds / 10 {
            let bits = prng.next_u64();
            let (fixed, random) = &pools.pairs[(bits >> 1) as usize % pools.pairs.len()];
            let (class, input) = match bits & 1 {
                0 => (Class::Fixed, fixed),
                _ => (Class::Random, random),
            };
            let mut input = prepare(input);
            let start = Instant::now();
            black_box(run(black_box(&mut input)));
            let time = start.elapsed().as_nanos() as f64;
            // The first rounds find caches and predictors cold.
            if round >= rounds / 10 {
                times.push((class, time));
            }
        }
        least = least.min(largest_t(&times));
        if least < TOLD_APART {
            break;
        }
    }
    least
}

/// Returns the largest |t| over the cuts.
fn largest_t(times: &[(Class, f64)]) -> f64 {
    let mut sorted: Vec<f64> = times.iter().map(|&(_, time)| time).collect();
    sorted.sort_by(f64::total_cmp);
    let cuts = (1..CUTS).map(|k| sorted.get(sorted.len() - (sorted.len() >> k)).copied());
    let cuts = cuts.flatten().chain([f64::INFINITY]);
    let t = |cut: f64| {
        let kept = |class| {
            let of_class = times
                .iter()
                .filter(move |&&(c, time)| c == class && time <= cut);
            of_class.map(|&(_, time)| time).collect::<Vec<f64>>()
        };
        welch(&kept(Class::Fixed), &kept(Class::Random)).abs()
    };
    cuts.map(t).fold(0.0, f64::max)
}

/// Returns Welch's t of two samples, or 0 if one has fewer than 100 times.
fn welch(a: &[f64], b: &[f64]) -> f64 {
    if a.len() < 100 || b.len() < 100 {
        return 0.0;
    }
    let moments = |x: &[f64]| {
        let n = x.len() as f64;
        let mean = x.iter().sum::<f64>() / n;
        let squares = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        (mean, squares / (n - 1.0) / n)
    };
    let ((mean_a, error_a), (mean_b, error_b)) = (moments(a), moments(b));
    let error = (error_a + error_b).sqrt();
    if error > 0.0 {
        (mean_a - mean_b) / error
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns times of about 1000 ns with noise and outliers. The random class is slower by `gap` ns.
    fn times(gap: f64) -> Vec<(Class, f64)> {
        let mut prng = Prng::from_seed_for_reproducible_tests_only([1; 32]);
        let mut uniform = || prng.next_u64() as f64 / 2f64.powi(64);
        let one = |i: usize| {
            let class = [Class::Fixed, Class::Random][i % 2];
            let slow = if class == Class::Random { gap } else { 0.0 };
            let outlier = if uniform() < 0.02 {
                1e5 * uniform()
            } else {
                0.0
            };
            (class, 1000.0 + slow + 50.0 * uniform() + outlier)
        };
        (0..20_000).map(one).collect()
    }

    #[test]
    fn a_gap_below_the_noise_is_seen_and_noise_alone_is_not() {
        assert!(largest_t(&times(0.0)) < 5.0);
        assert!(largest_t(&times(5.0)) > TOLD_APART);
    }
}
