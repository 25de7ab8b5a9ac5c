// SPDX-License-Identifier: Apache-2.0
//! Tests the widths and moments of wide Gaussians.

use ringmill_math::Prng;
use ringmill_math::sample::{GaussianTable, WideGaussian};

#[test]
fn the_width_is_what_it_says_and_no_residue_is_preferred() {
    for log in [0, 4, 5, 12, 30, 61, 78, 100] {
        let wanted = f64::from(log).exp2();
        let at_least = WideGaussian::at_least(wanted).unwrap();
        assert!(at_least.sigma() >= wanted);
        assert!(at_least.sigma() <= WideGaussian::widest(wanted));
        let exactly = WideGaussian::exactly(0.97 * wanted).unwrap();
        assert_eq!(exactly.sigma(), 0.97 * wanted);
        check(log, &at_least);
        check(log, &exactly);
    }
}

#[test]
fn the_distance_grows_with_the_samples_and_with_the_steps() {
    for (log, steps) in [
        (3, 0),
        (5, 1),
        (10, 2),
        (20, 3),
        (38, 4),
        (78, 5),
        (79, 6),
        (110, 6),
    ] {
        let gaussian = WideGaussian::at_least(f64::from(log).exp2()).unwrap();
        for log_n in [1, 10, 17] {
            let distance = gaussian.distance(1 << log_n);
            let expected = f64::from(log_n + steps) - 57.0;
            assert_eq!(distance.log2(), expected, "2^{log}");
        }
    }
}

/// All tables have fewer than 114 magnitudes above 0, as [`WideGaussian::distance`] assumes.
#[test]
fn the_table_has_few_magnitudes() {
    // The narrowest Gaussian is that of the table alone, and no other has a wider table.
    let widest = WideGaussian::at_least(0.0).unwrap().sigma();
    assert_eq!(WideGaussian::widest(0.0), widest * std::f64::consts::SQRT_2);
    for narrower in [1.0, 1.1, 1.2, 1.3, std::f64::consts::SQRT_2] {
        let table = GaussianTable::new(widest / narrower).unwrap();
        assert!(table.bound() < 114);
    }
}

fn check(log: i32, gaussian: &WideGaussian) {
    {
        let sigma = gaussian.sigma();
        let mut prng = Prng::from_seed_for_reproducible_tests_only([log as u8; 32]);
        let n = 1 << 14;
        let samples = gaussian.draw(&mut prng, n);
        let scaled = || samples.iter().map(|&x| x as f64 / sigma);
        let mean = scaled().sum::<f64>() / n as f64;
        let square = scaled().map(|x| x * x).sum::<f64>() / n as f64;
        let fourth = scaled().map(|x| x.powi(4)).sum::<f64>() / n as f64;
        // The bounds are six standard errors, which are 1 / sqrt(n), sqrt(2 / n) and sqrt(96 / n).
        assert!(mean.abs() < 6.0 / 128.0, "2^{log}: mean {mean}");
        assert!(
            (square - 1.0).abs() < 6.0 * 1.5 / 128.0,
            "2^{log}: variance {square}"
        );
        assert!(
            (fourth - 3.0).abs() < 6.0 * 10.0 / 128.0,
            "2^{log}: kurtosis {fourth}"
        );
        // Samples are uniform modulo small numbers, so they hide the low bits of a decryption's
        // error.
        for modulus in [2, 3, 8].into_iter().filter(|_| sigma >= 4.0) {
            let mut counts = [0f64; 8];
            for x in samples.iter() {
                counts[x.rem_euclid(modulus) as usize] += 1.0;
            }
            let expected = n as f64 / modulus as f64;
            for count in &counts[..modulus as usize] {
                assert!(
                    (count - expected).abs() < 6.0 * expected.sqrt(),
                    "2^{log} mod {modulus}"
                );
            }
        }
    }
}

#[test]
fn widths_that_cannot_be_are_refused() {
    for sigma in [-1.0, f64::NAN, f64::INFINITY, 111f64.exp2()] {
        assert!(WideGaussian::at_least(sigma).is_err());
        assert!(WideGaussian::exactly(sigma).is_err());
    }
}
