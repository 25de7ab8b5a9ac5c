// SPDX-License-Identifier: Apache-2.0
//! The Chebyshev series by which a bootstrap removes multiples of q_0, the lowest prime. It is near t - I for every
//! integer I up to a bound and every t close to I. Its values between these intervals do not matter (ePrint 2020/488).

use std::f64::consts::PI;

use super::least_squares::least_squares;

/// The numbers t from which a series removes the nearest integer I: those in an interval around each integer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NearIntegers {
    /// The largest absolute value of I.
    pub integers: u32,
    /// The largest distance of t to I.
    pub width: f64,
}

impl NearIntegers {
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
/// [`NearIntegers::range`].
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
/// interval. An interval of width up to 2^-7 is short beside the waves of the T_k(t / K) for k up to 255. So a sum of
/// them is a polynomial of degree 20 there, up to less than 2^-50. Of such a polynomial, 128 points find the largest
/// value but for this factor, 1 / cos(20 pi / 256) (Ehlich and Zeller, 1964).
pub(super) const BETWEEN: f64 = 1.032;

/// The number of times that a series is fitted, each time with more weight where its errors were large.
const ROUNDS: usize = 5;

impl Series {
    /// Returns the series of degree below `length`, an even number, for which `error + noise * sum of the absolute
    /// coefficients` is least, among several of [`Samples::fitted`].
    pub fn best(domain: NearIntegers, length: usize, noise: f64) -> Option<Self> {
        let cost = |series: &Self| series.error + noise * series.size();
        let samples = Samples::new(domain, length);
        let weights = (3..10).map(|quarter| f64::from(-4 * quarter).exp2());
        let candidates = weights.flat_map(|weight| samples.fitted(weight));
        candidates.min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }

    /// Returns the sum of the absolute coefficients.
    fn size(&self) -> f64 {
        self.coefficients.iter().map(|c| c.abs()).sum()
    }
}

/// The Chebyshev polynomials of odd degree at points t / K, each with the distance of t to its integer.
type Rows = Vec<(Vec<f64>, f64)>;

/// The Chebyshev polynomials of odd degree at the points where series are fitted and where their errors are measured.
pub struct Samples {
    fitted: Rows,
    measured: Rows,
}

impl Samples {
    /// Makes the samples for series of degree below `length`, an even number.
    pub fn new(domain: NearIntegers, length: usize) -> Self {
        let row = |(t, distance): (f64, f64)| {
            let angle = (t / domain.range()).acos();
            let degrees = (1..length).step_by(2);
            let row = degrees.map(|degree| (degree as f64 * angle).cos());
            (row.collect(), distance)
        };
        Self {
            fitted: points(domain, FITTED).map(row).collect(),
            measured: points(domain, MEASURED).map(row).collect(),
        }
    }

    /// Returns series with the least sum of squares: of their errors on the domain, and of their coefficients times
    /// `weight`. A rounding error of a Chebyshev polynomial is multiplied by its coefficient, so large coefficients
    /// cost precision too. In the first series all errors count alike. In the next ones errors count the more, the
    /// larger they were, which evens them out (Lawson's iteration).
    pub fn fitted(&self, weight: f64) -> Vec<Series> {
        let unknowns = self.fitted.first().map_or(0, |(row, _)| row.len());
        let mut weights = vec![1.0; self.fitted.len()];
        let mut all = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let weighted = self.fitted.iter().zip(&weights);
            let weighted = weighted.map(|((row, value), w)| {
                let row = row.iter().map(|entry| entry * w).collect::<Vec<f64>>();
                (row, value * w)
            });
            let small = (0..unknowns).map(|at| {
                let entry = |column| if column == at { weight } else { 0.0 };
                ((0..unknowns).map(entry).collect(), 0.0)
            });
            let odd = least_squares(weighted.chain(small).collect());
            let errors: Vec<f64> = errors(&self.fitted, &odd).collect();
            let largest = errors.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            for (w, error) in weights.iter_mut().zip(errors) {
                *w *= (0.25 + 0.75 * error / largest).sqrt();
            }
            all.push(self.series(&odd));
        }
        all
    }

    /// Returns the series with these coefficients of odd degree, and a bound on its error.
    fn series(&self, odd: &[f64]) -> Series {
        let mut series = Series {
            coefficients: odd.iter().flat_map(|&c| [0.0, c]).collect(),
            error: errors(&self.measured, odd).fold(0.0, f64::max) * BETWEEN,
        };
        series.error += series.size() * series.coefficients.len() as f64 * 4.0 * f64::EPSILON;
        series
    }
}

/// Returns the errors of the series with these coefficients of odd degree at the points of the rows.
fn errors(rows: &Rows, odd: &[f64]) -> impl Iterator<Item = f64> {
    rows.iter().map(move |(row, distance)| {
        let terms = row.iter().zip(odd).map(|(a, c)| a * c);
        (terms.sum::<f64>() - distance).abs()
    })
}

/// Returns points of the intervals around 0 and the positive integers of a domain, each with its distance to the
/// integer. In each interval they are the zeros of a Chebyshev polynomial. An odd series needs no others.
fn points(domain: NearIntegers, each: usize) -> impl Iterator<Item = (f64, f64)> {
    let distance = move |at: usize| domain.width * (PI * (at as f64 + 0.5) / each as f64).cos();
    let integers = 0..=domain.integers;
    integers.flat_map(move |i| (0..each).map(move |at| (f64::from(i) + distance(at), distance(at))))
}
