// SPDX-License-Identifier: Apache-2.0
//! A race between one secret and many: whether the time that a function takes tells them apart.
//!
//! The test of dudect (Reparaz, Balasch and Verbauwhede, DATE 2017): the same input again and again, or another each time,
//! in random order; Welch's t of the two classes' times, after the slowest are cut off at several places. Noise of the
//! machine meets both classes alike. It sees what is slow for whatever reason, and proves nothing of what it does not see.

use std::hint::black_box;
use std::time::Instant;

use ringmill_math::Prng;

/// |t| from which two classes are told apart: noise alone stays below 5.
pub const TOLD_APART: f64 = 10.0;

/// Tries of which one must not tell the classes apart, so that a burst of other work on the machine does not count.
const TRIES: usize = 4;

/// Places at which the slowest times are cut off: a half, a quarter, ... of them are kept; and all.
const CUTS: usize = 6;

/// Whose input is next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    Fixed,
    Random,
}

/// Inputs of both classes, as many of one as of the other: where they lie and whether they are cached is alike.
pub struct Pools<T> {
    pairs: Vec<(T, T)>,
}

impl<T> Pools<T> {
    /// `make` gives one input of a class: of the fixed one always the same.
    pub fn new(size: usize, mut make: impl FnMut(Class) -> T) -> Self {
        let pairs = (0..size).map(|_| (make(Class::Fixed), make(Class::Random)));
        Self {
            pairs: pairs.collect(),
        }
    }
}

/// The least |t| of some tries. `prepare` copies an input to where `run` finds it, outside the time that is taken.
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
            // The first ones find caches and predictors cold.
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

/// The largest |t| over the cuts.
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

/// Welch's t of two samples; 0 where one is too small to tell.
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

    /// Times of a class that is slower by `gap` of a thousand nanoseconds, with noise and outliers.
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
