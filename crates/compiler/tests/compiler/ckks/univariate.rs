// SPDX-License-Identifier: Apache-2.0
//! Ranges of real polynomials on an interval enclose their known least and largest values closely.

use ringmill_compiler::internals::{DEGREE, range_of_polynomial};

#[test]
fn ends_and_vertices_are_close() {
    let near = |found: Option<(f64, f64)>, low: f64, high: f64| {
        let (l, h) = found.unwrap();
        assert!(l <= low && low - l < 1e-9, "{l} {low}");
        assert!(h >= high && h - high < 1e-9, "{h} {high}");
    };
    near(range_of_polynomial(&[0.0, -1.0, 1.0], 0.0, 1.0), -0.25, 0.0);
    near(range_of_polynomial(&[0.0, 4.0, -4.0], 0.0, 1.0), 0.0, 1.0);
    near(
        range_of_polynomial(&[1.0, 0.0, 0.0, 2.0], -1.0, 2.0),
        -1.0,
        17.0,
    );
    near(
        range_of_polynomial(&[0.0, -3.0, 0.0, 4.0], -1.0, 1.0),
        -1.0,
        1.0,
    );
    near(
        range_of_polynomial(&[0.0, 0.0, -2.0, 0.0, 1.0], -2.0, 1.0),
        -1.0,
        8.0,
    );
    assert_eq!(
        range_of_polynomial(&[0.0, 0.0, 0.0, 0.0, 1.0], -1.0, 0.5)
            .unwrap()
            .0,
        0.0
    );
    assert_eq!(range_of_polynomial(&[7.0], -1.0, 0.5), Some((7.0, 7.0)));
    assert_eq!(range_of_polynomial(&[0.0, f64::NAN], -1.0, 0.5), None);
    assert_eq!(range_of_polynomial(&[1.0; DEGREE + 2], -1.0, 0.5), None);
}

/// Encloses Chebyshev's polynomial of degree 16, which reaches 1 nine times and -1 eight times.
#[test]
fn polynomials_that_wave_are_enclosed_closely() {
    let (mut before, mut now) = (vec![1.0], vec![0.0, 1.0]);
    for _ in 1..DEGREE {
        let mut next = vec![0.0; now.len() + 1];
        for (k, x) in now.iter().enumerate() {
            next[k + 1] += 2.0 * x;
        }
        for (k, x) in before.iter().enumerate() {
            next[k] -= x;
        }
        (before, now) = (now, next);
    }
    let (low, high) = range_of_polynomial(&now, -1.0, 1.0).unwrap();
    assert!((-1.0 - 1e-6..=-1.0).contains(&low), "{low}");
    assert!((1.0..=1.0 + 1e-6).contains(&high), "{high}");
}
