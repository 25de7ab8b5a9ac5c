// SPDX-License-Identifier: Apache-2.0
//! The Chebyshev series of the cosine by which a bootstrap removes multiples of q_0, the lowest prime.

use std::f64::consts::PI;

/// A Chebyshev series of cos(2 pi (K x - 1/4) / 2^r) for x in [-1, 1], with a bound on its error there. K bounds
/// the numbers K x in slots, and r is the number of double angles that follow.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// The coefficients of the series, by which the Chebyshev polynomials T_0, T_1, ... are multiplied.
    pub coefficients: Vec<f64>,
    /// A bound on the difference between the series and the cosine on [-1, 1].
    pub error: f64,
}

/// The number of points at which the cosine is interpolated, far above the degree of the series. The
/// interpolation's coefficients differ from those of the series by coefficients of about twice as high a degree,
/// which are below the rounding of doubles.
const POINTS: usize = 512;

impl Series {
    /// Returns the Chebyshev series of degree below `length` of cos(2 pi (K x - 1/4) / 2^r), for K = `range` and r
    /// = `doublings`.
    pub fn new(range: f64, doublings: u32, length: usize) -> Self {
        let frequency = 2.0 * PI * range / f64::from(doublings).exp2();
        let shift = PI / 2.0 / f64::from(doublings).exp2();
        let angle = |point: usize| PI * (point as f64 + 0.5) / POINTS as f64;
        let values: Vec<f64> = (0..POINTS)
            .map(|point| (frequency * angle(point).cos() - shift).cos())
            .collect();
        let coefficient = |k: usize| {
            let terms = values.iter().enumerate();
            let sum: f64 = terms
                .map(|(point, y)| y * (k as f64 * angle(point)).cos())
                .sum();
            sum * if k == 0 { 1.0 } else { 2.0 } / POINTS as f64
        };
        let coefficients: Vec<f64> = (0..length).map(coefficient).collect();
        Self {
            error: tail(frequency, length) + length as f64 * 8.0 * f64::EPSILON,
            coefficients,
        }
    }
}

/// Returns a bound on the sum of the absolute Chebyshev coefficients of cos(a x + b) from degree `length` on.
/// Coefficient k is at most 2 |J_k(a)| for the Bessel function J_k, and |J_k(a)| <= (a / 2)^k / k!.
fn tail(a: f64, length: usize) -> f64 {
    let log = |k: usize| {
        let factorial: f64 = (1..=k).map(|i| (i as f64).ln()).sum();
        k as f64 * (a / 2.0).ln() - factorial
    };
    let first = 2.0 * log(length).exp();
    // Each later term is smaller than the one before by this factor at most.
    let ratio = a / 2.0 / (length + 1) as f64;
    match ratio < 1.0 {
        true => first / (1.0 - ratio),
        false => f64::INFINITY,
    }
}

/// Returns a bound on the absolute values of a Chebyshev series on [-1, 1].
///
/// At M points that are cosines of equally spaced angles, a cosine polynomial of degree d comes within a factor of cos(pi
/// d / (2 M)) of its largest absolute value (Ehlich and Zeller, 1964).
pub fn largest(series: &[f64]) -> f64 {
    let points = 16 * series.len();
    let angle = |point: usize| PI * (point as f64 + 0.5) / points as f64;
    let value = |angle: f64| {
        let terms = series.iter().enumerate();
        terms
            .map(|(k, c)| c * (k as f64 * angle).cos())
            .sum::<f64>()
    };
    let found = (0..points).map(|point| value(angle(point)).abs());
    found.fold(0.0, f64::max) * 1.01
}
