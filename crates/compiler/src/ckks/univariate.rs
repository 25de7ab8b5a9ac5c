// SPDX-License-Identifier: Apache-2.0
//! Encloses the values of a real polynomial on an interval.
//!
//! Ends and vertices give the range of a single power and of a quadratic. For other polynomials the Bernstein
//! coefficients of a part of the interval enclose the values there, and the parts that may hold the largest value are
//! halved until they are narrow enough.

/// The highest degree of a polynomial of two or more powers that [`range`] encloses.
pub const DEGREE: usize = 16;
/// The most rounds of the search for the range of a polynomial, each of which halves parts of the interval.
const ROUNDS: usize = 20;
/// The most parts of the interval that the search keeps at a time.
const PARTS: usize = 64;

/// Returns the ends of an interval that holds all values of `c[0] + c[1] x + c[2] x^2 + ...` for x from `lowest` to
/// `highest`. It is the narrowest one up to rounding for a single power and for degree 2, and may be wider otherwise.
/// Returns `None` for several powers of a degree above [`DEGREE`], if `lowest` is above `highest`, and for numbers that
/// are not finite.
pub fn range(c: &[f64], lowest: f64, highest: f64) -> Option<(f64, f64)> {
    let ends = [lowest, highest];
    let finite = |x: &f64| x.is_finite();
    if !c.iter().chain(&ends).all(finite) || lowest > highest {
        return None;
    }
    let degree = c.iter().rposition(|&x| x != 0.0).unwrap_or(0);
    let first = c.first().copied().unwrap_or(0.0);
    let most = lowest.abs().max(highest.abs());
    let size = c.iter().rev().fold(0.0, |sum, c| sum * most + c.abs());
    let mut powers = (1..=degree).filter(|&k| c.get(k).is_some_and(|&x| x != 0.0));
    let (low, high, rounding) = match (powers.next(), powers.next()) {
        (None, _) => return Some((first, first)),
        (Some(k), None) => {
            let (low, high) = multiple(*c.get(k)?, k, ends);
            let rounding = if first == 0.0 { 0.0 } else { 4.0 };
            (first + low, first + high, rounding)
        }
        _ => match c {
            &[c0, c1, c2, ..] if degree == 2 => {
                let (low, high) = quadratic([c0, c1, c2], ends);
                (low, high, 16.0)
            }
            c if degree <= DEGREE => {
                let (low, high) = by_parts(c.get(..=degree)?, ends)?;
                (low, high, 16.0 * (degree * degree) as f64)
            }
            _ => return None,
        },
    };
    let room = rounding * f64::EPSILON * size;
    let (low, high) = (low - room, high + room);
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

/// Returns the least and the largest value of c x^k for x between two ends, rounded outwards.
fn multiple(c: f64, k: usize, ends: [f64; 2]) -> (f64, f64) {
    let [a, b] = ends.map(|x| c * x.powi(k as i32));
    let (mut low, mut high) = (a.min(b), a.max(b));
    if k.is_multiple_of(2) && ends[0] <= 0.0 && ends[1] >= 0.0 {
        (low, high) = (low.min(0.0), high.max(0.0));
        if c > 0.0 {
            low = 0.0;
        } else {
            high = 0.0;
        }
    }
    if k == 1 && c.abs() == 1.0 {
        return (low, high);
    }
    // Rounding moves each end outwards by a part of its size, which keeps its sign.
    let room = (k + 1) as f64 * f64::EPSILON;
    (low - low.abs() * room, high + high.abs() * room)
}

fn quadratic([c0, c1, c2]: [f64; 3], ends: [f64; 2]) -> (f64, f64) {
    let [a, b] = ends.map(|x| (c2 * x + c1) * x + c0);
    let vertex = -c1 / (2.0 * c2);
    let (low, high) = (a.min(b), a.max(b));
    if ends[0] < vertex && vertex < ends[1] {
        let value = c0 - c1 / (4.0 * c2) * c1;
        return (low.min(value), high.max(value));
    }
    (low, high)
}

/// Returns the ends of an interval that holds the values of a polynomial from `lowest` to `highest`, from its Bernstein
/// coefficients on the two halves.
fn by_parts(c: &[f64], [lowest, highest]: [f64; 2]) -> Option<(f64, f64)> {
    let (middle, radius) = ((lowest + highest) / 2.0, (highest - lowest) / 2.0);
    // An end that the halves miss by a rounding would be left out.
    let radius = radius * (1.0 + 4.0 * f64::EPSILON) + 4.0 * f64::EPSILON * middle.abs();
    let shifted = shifted(c, middle);
    let halves: Vec<Vec<f64>> = [-radius, radius]
        .iter()
        .map(|&by| bernstein(&scaled(&shifted, by)))
        .collect();
    let negated: Vec<Vec<f64>> = halves
        .iter()
        .map(|part| part.iter().map(|x| -x).collect())
        .collect();
    Some((-largest(negated)?, largest(halves)?))
}

/// Returns the polynomial with x replaced by x + `by`, by Horner's rule.
fn shifted(c: &[f64], by: f64) -> Vec<f64> {
    let mut shifted = c.to_vec();
    for done in 0..c.len() {
        for k in (done..c.len().saturating_sub(1)).rev() {
            let higher = shifted.get(k + 1).copied().unwrap_or(0.0);
            if let Some(x) = shifted.get_mut(k) {
                *x += higher * by;
            }
        }
    }
    shifted
}

/// Returns the polynomial with x replaced by `by` x.
fn scaled(c: &[f64], by: f64) -> Vec<f64> {
    let mut power = 1.0;
    let one = |&x: &f64| {
        let x = x * power;
        power *= by;
        x
    };
    c.iter().map(one).collect()
}

/// Returns the Bernstein coefficients of a polynomial c of degree n on [0, 1]: coefficient j is the sum of C(j, i) /
/// C(n, i) c_i.
fn bernstein(c: &[f64]) -> Vec<f64> {
    let degree = c.len().saturating_sub(1);
    let one = |j: usize| {
        let mut weight = 1.0;
        let terms = c.iter().take(j + 1).enumerate().map(|(i, x)| {
            if i > 0 {
                weight *= (j + 1 - i) as f64 / (degree + 1 - i) as f64;
            }
            weight * x
        });
        terms.sum()
    };
    (0..=degree).map(one).collect()
}

/// Returns a bound on the largest value of some polynomials on [0, 1], given by their Bernstein coefficients.
fn largest(mut parts: Vec<Vec<f64>>) -> Option<f64> {
    let most = |part: &[f64]| part.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let size = parts.iter().flatten().map(|x| x.abs()).fold(0.0, f64::max);
    let close = size * 1e-12;
    let mut taken = f64::NEG_INFINITY;
    for _ in 0..ROUNDS {
        for part in &parts {
            taken = taken.max(*part.first()?).max(*part.last()?);
        }
        parts.retain(|part| most(part) > taken + close);
        if parts.is_empty() || parts.len() > PARTS / 2 {
            break;
        }
        parts = parts.iter().flat_map(|part| halves(part)).collect();
    }
    let left = parts.iter().map(|part| most(part));
    Some(left.fold(taken + close, f64::max))
}

/// Returns the Bernstein coefficients of a polynomial on the two halves of its interval, by De Casteljau's rule.
fn halves(part: &[f64]) -> [Vec<f64>; 2] {
    let mut row = part.to_vec();
    let (mut left, mut right) = (Vec::with_capacity(row.len()), Vec::with_capacity(row.len()));
    while let (Some(&first), Some(&last)) = (row.first(), row.last()) {
        left.push(first);
        right.push(last);
        row = row
            .windows(2)
            .map(|pair| pair.iter().sum::<f64>() / 2.0)
            .collect();
    }
    right.reverse();
    [left, right]
}
