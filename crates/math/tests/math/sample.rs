// SPDX-License-Identifier: Apache-2.0
//! Tests the ranges, moments and shapes of samples, with a fixed seed.

mod signed;
mod wide;

use ringmill_math::sample::{
    GaussianTable, centred_binomial, gaussian, sparse_ternary, ternary, to_limb, to_limb_i64,
    uniform,
};
use ringmill_math::{Modulus, Prng};

const N: usize = 1 << 16;

fn prng() -> Prng {
    Prng::from_seed_for_reproducible_tests_only([42; 32])
}

/// Returns the mean and the variance of samples.
fn moments(samples: &[i8]) -> (f64, f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
    let variance = samples
        .iter()
        .map(|&x| (f64::from(x) - mean).powi(2))
        .sum::<f64>()
        / n;
    (mean, variance)
}

#[test]
fn ternary_is_even() {
    let samples = ternary(&mut prng(), N);
    for value in -1..=1i8 {
        let share = samples.iter().filter(|&&x| x == value).count() as f64 / N as f64;
        // The bound is five standard deviations of a share of 1/3 among 2^16 samples.
        assert!((share - 1.0 / 3.0).abs() < 0.0095, "{value}: {share}");
    }
    assert!(samples.iter().all(|x| (-1..=1).contains(x)));
}

#[test]
fn sparse_ternary_has_its_weight_anywhere() {
    let mut prng = prng();
    let mut hits = [0u32; 64];
    let mut positive = 0u32;
    for _ in 0..4000 {
        let samples = sparse_ternary(&mut prng, 64, 16).unwrap();
        assert_eq!(samples.iter().filter(|&&x| x != 0).count(), 16);
        for (hit, &x) in hits.iter_mut().zip(samples.iter()) {
            *hit += u32::from(x != 0);
            positive += u32::from(x == 1);
        }
    }
    // Each position is chosen with probability 1/4, so 1000 times with a standard deviation of 27.
    // The bounds are six deviations.
    assert!(hits.iter().all(|&h| (835..=1165).contains(&h)), "{hits:?}");
    assert!((31_200..=32_800).contains(&positive), "{positive}");
    for (n, weight) in [(5usize, 0usize), (5, 5), (0, 0)] {
        let samples = sparse_ternary(&mut prng, n, weight).unwrap();
        assert_eq!(samples.iter().filter(|&&x| x != 0).count(), weight);
    }
    assert!(sparse_ternary(&mut prng, 4, 5).is_err());
}

#[test]
fn gaussian_follows_its_density() {
    for sigma in [0.5, 3.19, 3.2, 8.0] {
        let table = GaussianTable::new(sigma).unwrap();
        assert!(table.bound() as f64 >= 6.0 * sigma);
        let samples = gaussian(&mut prng(), N, sigma).unwrap();
        let (mean, variance) = moments(&samples);
        assert!(
            mean.abs() < 5.0 * sigma / 256.0,
            "sigma {sigma}: mean {mean}"
        );
        // The variance of the sample variance is about 2 sigma^4 / N.
        let expected = discrete_variance(sigma);
        assert!(
            (variance / expected - 1.0).abs() < 5.0 * (2.0 / N as f64).sqrt(),
            "{sigma}: {variance}"
        );
        assert!(
            samples
                .iter()
                .all(|&x| usize::from(x.unsigned_abs()) <= table.bound())
        );
        // The count of each value is within five standard deviations of its expected number.
        let total: f64 = (-100..=100).map(|k| density(k, sigma)).sum();
        for k in -6..=6i8 {
            let p = density(i32::from(k), sigma) / total;
            let count = samples.iter().filter(|&&x| x == k).count() as f64;
            let n = N as f64;
            assert!(
                (count - n * p).abs() <= 5.0 * (n * p * (1.0 - p)).sqrt() + 1.0,
                "sigma {sigma} value {k}: {count}"
            );
        }
    }
    for sigma in [0.0, 0.1, -3.2, 100.0, f64::NAN, f64::INFINITY] {
        assert!(GaussianTable::new(sigma).is_err());
    }
}

fn density(k: i32, sigma: f64) -> f64 {
    (-f64::from(k * k) / (2.0 * sigma * sigma)).exp()
}

fn discrete_variance(sigma: f64) -> f64 {
    let total: f64 = (-100..=100).map(|k| density(k, sigma)).sum();
    (-100..=100)
        .map(|k| f64::from(k * k) * density(k, sigma))
        .sum::<f64>()
        / total
}

#[test]
fn binomial_has_its_variance() {
    for eta in [1u32, 2, 21, 32] {
        let samples = centred_binomial(&mut prng(), N, eta).unwrap();
        let (mean, variance) = moments(&samples);
        let expected = f64::from(eta) / 2.0;
        assert!(mean.abs() < 5.0 * expected.sqrt() / 256.0);
        assert!(
            (variance / expected - 1.0).abs() < 0.03,
            "eta {eta}: {variance}"
        );
        assert!(samples.iter().all(|x| u32::from(x.unsigned_abs()) <= eta));
    }
    assert!(centred_binomial(&mut prng(), 1, 0).is_err());
    assert!(centred_binomial(&mut prng(), 1, 33).is_err());
}

#[test]
fn uniform_fills_the_range() {
    let q = Modulus::new((1 << 60) - 93).unwrap();
    let mut limb = vec![0; N];
    uniform(&mut prng(), q, &mut limb);
    assert!(limb.iter().all(|&x| x < q.value()));
    let mut buckets = [0u32; 16];
    for &x in &limb {
        buckets[(x >> 56) as usize] += 1;
    }
    // Each bucket holds 4096 samples, with a standard deviation of 62.
    assert!(
        buckets.iter().all(|&b| (3750..=4450).contains(&b)),
        "{buckets:?}"
    );
    let small = Modulus::new(3).unwrap();
    uniform(&mut prng(), small, &mut limb[..100]);
    assert!(limb[..100].iter().all(|&x| x < 3));
}

#[test]
fn signed_samples_map_to_residues() {
    let q = Modulus::new(97).unwrap();
    let mut limb = [0; 5];
    to_limb(q, &[0, 1, -1, 127, -128], &mut limb).unwrap();
    assert_eq!(limb, [0, 1, 96, 30, 66]);
    to_limb_i64(q, 1 << 63, &[0, -97, i64::MIN, i64::MAX, -1], &mut limb).unwrap();
    let expected = [0, 0, i64::MIN, i64::MAX, -1].map(|x: i64| x.rem_euclid(97) as u64);
    assert_eq!(limb, expected);
    assert!(to_limb(q, &[0], &mut limb).is_err());
}

#[test]
fn gaussian_samples_are_the_same_on_every_backend() {
    let draw = |backend| {
        let table = GaussianTable::new(3.19).unwrap();
        ringmill_math::kernels::with_backend(backend, || table.draw(&mut prng(), 1000).to_vec())
            .unwrap()
    };
    for backend in ringmill_math::kernels::available_backends() {
        assert_eq!(draw(backend), draw(ringmill_math::Backend::Scalar));
    }
}
