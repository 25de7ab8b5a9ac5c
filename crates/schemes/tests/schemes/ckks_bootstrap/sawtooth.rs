// SPDX-License-Identifier: Apache-2.0
//! Tests of the Chebyshev series of a CKKS bootstrap, and of the division of such series.

use ringmill_math::chebyshev::divided;
use ringmill_schemes::ckks::bootstrap::sawtooth::{NearIntegers, Samples, Series};

fn value(series: &[f64], x: f64) -> f64 {
    let angle = x.acos();
    let terms = series.iter().enumerate();
    terms.map(|(k, c)| c * (k as f64 * angle).cos()).sum()
}

#[test]
fn the_series_removes_integers_within_its_bound() {
    for (integers, log_width, length, log_error) in [
        (16, 5, 256, -22),
        (16, 6, 256, -27),
        (16, 7, 256, -32),
        (16, 9, 128, -24),
        (16, 11, 128, -31),
        (4, 6, 64, -26),
    ] {
        let width = f64::from(-log_width).exp2();
        let domain = NearIntegers { integers, width };
        let series = Series::best(domain, length, 1e-12).unwrap();
        let mut largest = 0f64;
        for i in -(integers as i32)..=integers as i32 {
            for step in -200..=200 {
                let distance = width * f64::from(step) / 200.0;
                let x = (f64::from(i) + distance) / domain.range();
                largest = largest.max((value(&series.coefficients, x) - distance).abs());
            }
        }
        assert!(largest <= series.error, "{largest} {}", series.error);
        assert!(series.error < 1.2 * largest, "{largest} {}", series.error);
        let bound = f64::from(log_error).exp2();
        assert!(
            series.error < bound,
            "{integers} {log_width} {length}: {}",
            series.error.log2()
        );
        let even = series.coefficients.iter().step_by(2);
        assert!(even.into_iter().all(|&c| c == 0.0));
    }
}

#[test]
fn a_larger_weight_gives_smaller_coefficients() {
    let domain = NearIntegers {
        integers: 16,
        width: 2f64.powi(-7),
    };
    let samples = Samples::new(domain, 256);
    let size = |weight: f64| {
        let series = &samples.fitted(weight)[0];
        series.coefficients.iter().map(|c| c * c).sum::<f64>()
    };
    assert!(size(1e-3) < size(1e-6));
    assert!(size(1e-6) < size(1e-9));
}

#[test]
fn more_rounds_even_out_the_errors() {
    let domain = NearIntegers {
        integers: 16,
        width: 2f64.powi(-11),
    };
    let all = Samples::new(domain, 128).fitted(2f64.powi(-28));
    let errors: Vec<f64> = all.iter().map(|series| series.error).collect();
    assert!(errors[3] < 0.95 * errors[0], "{errors:?}");
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
