// SPDX-License-Identifier: Apache-2.0
//! The probability that a bootstrap fails. It fails if the quotient of the phase by the inner modulus q has more
//! digits than the bootstrap removes (BASALISC paper, appendix B.3; Halevi and Shoup's analysis, as a bound).

/// Returns the base-2 logarithm of Chernoff's bound on the probability that one of `count` sums reaches `bound` in
/// absolute value. Each sum has `terms` independent numbers that are uniform in [-`width` / 2, `width` / 2].
///
/// E exp(l u) = sinh(l w / 2) / (l w / 2) for a number u that is uniform in [-w / 2, w / 2]. So the probability for one
/// sum is at most 2 exp(-l bound) (sinh(l w / 2) / (l w / 2))^terms for every l > 0. The function takes the least of
/// these. It returns minus infinity if `bound` is `terms` times `width` / 2 or more, which a sum almost never reaches.
///
/// ```
/// use ringmill_schemes::bgv::bootstrap::log2_chance;
/// // Sums of 12 uniform numbers have deviation 1; a Gaussian is beyond 6 with chance 2^-28.9, such a sum never.
/// assert_eq!(log2_chance(1.0, 12, 1, 6.0), f64::NEG_INFINITY);
/// let five = log2_chance(1.0, 12, 1, 5.0);
/// assert!(five < -21.0 && five > -40.0, "{five}");
/// ```
pub fn log2_chance(width: f64, terms: u32, count: usize, bound: f64) -> f64 {
    if bound >= width * f64::from(terms) / 2.0 {
        return f64::NEG_INFINITY;
    }
    let exponent = |l: f64| f64::from(terms) * log_sinhc(l * width / 2.0) - l * bound;
    // The exponent is convex in l. Its slope is positive for large l w / 2, as the bound can be reached.
    let mut high = 1.0 / width;
    while exponent(2.0 * high) < exponent(high) && high < 1e9 {
        high *= 2.0;
    }
    let (mut low, mut high) = (0.0, 2.0 * high);
    for _ in 0..200 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if exponent(a) < exponent(b) {
            high = b;
        } else {
            low = a;
        }
    }
    let all = exponent(low) / std::f64::consts::LN_2 + 1.0 + (count.max(1) as f64).log2();
    all.min(0.0)
}

/// Returns ln(sinh(x) / x) for x >= 0.
fn log_sinhc(x: f64) -> f64 {
    if x < 1e-4 {
        x * x / 6.0
    } else {
        x + (-(-2.0 * x).exp_m1()).ln() - (2.0 * x).ln()
    }
}
