// SPDX-License-Identifier: Apache-2.0
//! Tests of the cosine series of a bootstrap and of the division of series.

use std::f64::consts::PI;

use ringmill_math::chebyshev::divided;
use ringmill_schemes::ckks::bootstrap::cosine::Series;

fn value(series: &[f64], x: f64) -> f64 {
    let angle = x.acos();
    let terms = series.iter().enumerate();
    terms.map(|(k, c)| c * (k as f64 * angle).cos()).sum()
}

#[test]
fn the_series_is_within_its_bound_of_the_cosine() {
    for (range, doublings, length) in [(16.5, 2, 64), (16.5, 3, 48), (4.5, 1, 32), (16.5, 2, 40)] {
        let series = Series::new(range, doublings, length);
        let mut largest = 0f64;
        for step in 0..=4000 {
            let x = f64::from(step) / 2000.0 - 1.0;
            let y = (2.0 * PI * (range * x - 0.25) / f64::from(doublings).exp2()).cos();
            largest = largest.max((value(&series.coefficients, x) - y).abs());
        }
        assert!(largest <= series.error, "{largest} {}", series.error);
        // A large bound is one of the series' degree, not of rounding, and no far bound.
        assert!(series.error < 1e-11 || series.error < 1e4 * largest);
    }
}

#[test]
fn a_series_is_its_quotient_times_t_m_and_its_remainder() {
    let series: Vec<f64> = (0..16).map(|k| 1.0 / f64::from(k + 1)).collect();
    let (quotient, remainder) = divided(&series, 8);
    for step in 0..100 {
        let x = f64::from(step) / 50.0 - 1.0;
        let t = (8.0 * x.acos()).cos();
        let y = value(&quotient, x) * t + value(&remainder, x);
        assert!((y - value(&series, x)).abs() < 1e-12);
    }
}
