// SPDX-License-Identifier: Apache-2.0
//! The Chebyshev series by which a bootstrap removes multiples of q_0, the lowest prime. It is near t - I for every
//! integer I and every t close to I, and is whatever it is between these intervals (ePrint 2020/488).

use std::f64::consts::PI;

use super::least_squares::least_squares;

/// The numbers t from which a series removes the nearest integer I.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Domain {
    /// The largest absolute value of I.
    pub integers: u32,
    /// The largest distance of t to I.
    pub width: f64,
}

impl Domain {
    /// Returns the numbers t / K at points of the intervals around 0 and the positive integers.
    pub(super) fn arguments(self) -> impl Iterator<Item = f64> {
        points(self, MEASURED).map(move |(t, _)| t / self.range())
    }

    /// Returns a number K that exceeds the absolute values of all t.
    pub fn range(&self) -> f64 {
        f64::from(self.integers) + 2.0 * self.width
    }
}

/// An odd Chebyshev series of t / K that is near t - I for all t of a domain, with a bound on its error there. K is
/// [`Domain::range`].
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// The coefficients of the series, by which the Chebyshev polynomials T_0, T_1, ... are multiplied. Those of even
    /// degree are 0.
    pub coefficients: Vec<f64>,
    /// A bound on the difference between the series and t - I.
    pub error: f64,
}

/// The number of points of an interval at which the series is fitted.
const FITTED: usize = 12;
/// The number of points of an interval at which the error of the series is measured.
const MEASURED: usize = 128;
/// The factor by which a function of a domain may exceed its largest absolute value at [`MEASURED`] points of each
/// interval. An interval of width up to 2^-7 is short beside the waves of the T_k(t / K) for k up to 255. So a sum of them
/// is a polynomial of degree 20 there, up to less than 2^-50. Of such a polynomial, 128 points find the largest value but
/// for this factor, 1 / cos(20 pi / 256) (Ehlich and Zeller, 1964).
pub(super) const BETWEEN: f64 = 1.032;

/// The number of times that a series is fitted, each time with more weight where its errors were large.
const ROUNDS: usize = 5;

impl Series {
    /// Returns series of degree below `length` with the least sum of squares: of their errors on the domain, and of
    /// their coefficients times `weight`. A rounding error of a Chebyshev polynomial is multiplied by its coefficient, so
    /// large coefficients cost precision too. In the first series all errors count alike. In the next ones errors count
    /// the more, the larger they were, which evens them out (Lawson's iteration).
    pub fn fitted(domain: Domain, length: usize, weight: f64) -> Vec<Self> {
        let degrees: Vec<usize> = (1..length).step_by(2).collect();
        let row = |(t, distance): (f64, f64)| {
            let angle = (t / domain.range()).acos();
            let row = degrees.iter().map(|&degree| (degree as f64 * angle).cos());
            (row.collect::<Vec<f64>>(), distance)
        };
        let rows: Vec<(Vec<f64>, f64)> = points(domain, FITTED).map(row).collect();
        let mut weights = vec![1.0; rows.len()];
        let mut all = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let weighted = rows.iter().zip(&weights).map(|((row, value), w)| {
                let row = row.iter().map(|entry| entry * w).collect::<Vec<f64>>();
                (row, value * w)
            });
            let small = (0..degrees.len()).map(|at| {
                let entry = |column| if column == at { weight } else { 0.0 };
                ((0..degrees.len()).map(entry).collect(), 0.0)
            });
            let odd = least_squares(weighted.chain(small).collect());
            let errors = rows.iter().map(|(row, value)| {
                let products = row.iter().zip(&odd).map(|(a, b)| a * b);
                (products.sum::<f64>() - value).abs()
            });
            let errors: Vec<f64> = errors.collect();
            let largest = errors.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            for (w, error) in weights.iter_mut().zip(errors) {
                *w *= (0.25 + 0.75 * error / largest).sqrt();
            }
            let coefficients: Vec<f64> = odd.into_iter().flat_map(|c| [0.0, c]).collect();
            all.push(Self {
                error: error(domain, &coefficients),
                coefficients,
            });
        }
        all
    }

    /// Returns the series of degree below `length`, an even number, for which `error + noise * sum of the absolute
    /// coefficients` is least, among several of [`Series::fitted`].
    pub fn best(domain: Domain, length: usize, noise: f64) -> Option<Self> {
        let cost = |series: &Self| {
            let sum: f64 = series.coefficients.iter().map(|c| c.abs()).sum();
            series.error + noise * sum
        };
        let weights = (3..10).map(|quarter| f64::from(-4 * quarter).exp2());
        let candidates = weights.flat_map(|weight| Self::fitted(domain, length, weight));
        candidates.min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }
}

/// Returns points of the intervals around 0 and the positive integers of a domain, each with its distance to the
/// integer. In each interval they are the zeros of a Chebyshev polynomial. An odd series needs no others.
fn points(domain: Domain, each: usize) -> impl Iterator<Item = (f64, f64)> {
    let distance = move |at: usize| domain.width * (PI * (at as f64 + 0.5) / each as f64).cos();
    let integers = 0..=domain.integers;
    integers.flat_map(move |i| (0..each).map(move |at| (f64::from(i) + distance(at), distance(at))))
}

/// Returns a bound on the difference between an odd series and t - I on a domain.
fn error(domain: Domain, coefficients: &[f64]) -> f64 {
    let at = |t: f64| {
        let angle = (t / domain.range()).acos();
        let terms = coefficients.iter().enumerate();
        let terms = terms.map(|(degree, c)| c * (degree as f64 * angle).cos());
        terms.sum::<f64>()
    };
    let found = points(domain, MEASURED).map(|(t, distance)| (at(t) - distance).abs());
    let sum: f64 = coefficients.iter().map(|c| c.abs()).sum();
    found.fold(0.0, f64::max) * BETWEEN + sum * coefficients.len() as f64 * 4.0 * f64::EPSILON
}
