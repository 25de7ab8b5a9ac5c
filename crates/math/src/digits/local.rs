// SPDX-License-Identifier: Apache-2.0
//! Finds polynomials modulo p^e whose value depends only on the lowest digit of the argument.

use crate::{MathError, Modulus};

/// The polynomials modulo p^e that take x to f(b) if x = b modulo p, where b is one of D <= p
/// consecutive integers. They serve only arguments x with such a b.
///
/// With P the product of (x - b) over these b, every multiple of p^(e - i) P^i is 0 modulo p^e at
/// such x, whatever their other digits: a *null polynomial*. So f has a form sum of g_i P^i, i < e,
/// with deg g_i < D and g_i modulo p^(e - i): degree e D - 1 at most. If e is above p, the product
/// of P(x - p t) over t < i, which p^i i! divides at such x, removes more powers. What remains has
/// the least degree possible. For D = p and f(b) = b it is the polynomial of Chen and Han, at most
/// of degree (e - 1)(p - 1) + 1. For fewer digits it is shorter, and its degree does not depend on
/// p (Ma, Huang, Wang and Wang, *Accelerating BGV bootstrapping for large p using null polynomials
/// over Z_{p^e}*). Null polynomials and functions modulo p^e are treated by Geelen, Iliashenko,
/// Kang and Vercauteren, *On polynomial functions modulo p^e and faster bootstrapping for
/// homomorphic encryption*.
pub(super) struct Local {
    q: Modulus,
    p: u64,
    exponent: u32,
    /// The first of the D consecutive integers b to which arguments of the polynomials are
    /// congruent modulo p.
    first: i64,
    /// The coefficients of P, the product of (x - b) over the D consecutive integers b.
    product: Vec<u64>,
    /// For each i, the product of P(x - p t) over t < i, where P is the polynomial `product`, and a
    /// factor. The factor makes the product a null polynomial: 0 modulo p^e at all arguments that
    /// the type serves. The last product is null by itself.
    null: Vec<(Vec<u64>, u64)>,
}

impl Local {
    /// Makes the polynomials for the `count` consecutive integers from `first` on, at most p. `q`
    /// is the modulus p^`exponent` of their values.
    pub fn new(q: Modulus, p: u64, exponent: u32, first: i64, count: usize) -> Self {
        let mut product = vec![1];
        for i in 0..count {
            product = times_linear(q, &product, q.from_i64(first + i as i64));
        }
        let mut null = vec![(vec![1], q.value())];
        // (x - b)(x - b - p) ... i times is divisible by p^i i! at all x that are b modulo p.
        let (mut shifted, mut valuation) = (vec![1], 0);
        for i in 1.. {
            let shift = p.wrapping_mul(i - 1) as i64;
            for b in (first..).take(count) {
                shifted = times_linear(q, &shifted, q.from_i64(b + shift));
            }
            let of_i = std::iter::successors(Some(i), |&n| n.is_multiple_of(p).then_some(n / p));
            valuation += of_i.count() as u32; // one more than the valuation of i
            let left = exponent.saturating_sub(valuation);
            null.push((shifted.clone(), p.pow(left)));
            if left == 0 {
                break;
            }
        }
        Self {
            q,
            p,
            exponent,
            first,
            product,
            null,
        }
    }

    /// Returns the polynomial that takes x to `values[i]` if x is congruent modulo p to `first` +
    /// i.
    ///
    /// # Errors
    /// Never fails if p is prime.
    pub fn interpolate(&self, values: &[u64]) -> Result<Vec<u64>, MathError> {
        let (q, e) = (self.q, self.exponent as usize);
        let digits: Vec<u64> = (0..values.len())
            .map(|i| q.from_i64(self.first + i as i64))
            .collect();
        // About each digit b, in z = x - b: P, its power P^i, and the sum of g_j P^j for j < i.
        let product = &self.product;
        let local: Vec<Vec<u64>> = digits.iter().map(|&b| taylor(q, product, b, e)).collect();
        let mut power: Vec<Vec<u64>> = vec![unit(e); digits.len()];
        let mut sum = vec![vec![0; e]; digits.len()];
        let mut parts = vec![self.values_at_digits(values)?];
        for i in 1..e {
            let mut at_digits = Vec::with_capacity(digits.len());
            for (n, &b) in digits.iter().enumerate() {
                let part = taylor(q, &parts[i - 1], b, e);
                add_product(q, &mut sum[n], &part, &power[n]);
                let mut next = vec![0; e];
                add_product(q, &mut next, &power[n], &local[n]);
                power[n] = next;
                // The sum is f(b) plus terms from z^i on, and P^i begins at z^i.
                let lead = q.inv(power[n][i])?;
                at_digits.push(q.mul(q.neg(sum[n][i]), lead));
            }
            parts.push(self.values_at_digits(&at_digits)?);
        }
        let mut whole = Vec::new();
        for (i, mut part) in parts.into_iter().enumerate().rev() {
            let modulus = self.p.pow((e - i) as u32);
            part.iter_mut().for_each(|c| *c %= modulus);
            whole = multiply(q, &whole, product);
            if whole.len() < part.len() {
                whole.resize(part.len(), 0);
            }
            for (w, c) in whole.iter_mut().zip(part) {
                *w = q.add(*w, c);
            }
        }
        Ok(self.reduce(whole))
    }

    /// Adds null polynomials, which are 0 at all served arguments, from the highest coefficient of `polynomial` on.
    /// Each coefficient from degree D on ends nearest to 0 modulo the leading coefficient of the null polynomial of its
    /// degree. Lower coefficients only take part in the additions. So higher powers get smaller coefficients, and so
    /// less noise, or none.
    fn reduce(&self, mut polynomial: Vec<u64>) -> Vec<u64> {
        let q = self.q;
        let count = self.product.len() - 1;
        for k in (count..polynomial.len()).rev() {
            let i = (k / count).min(self.null.len() - 1);
            let (null, factor) = &self.null[i];
            let rest = polynomial[k] % factor;
            let wanted = if rest > factor / 2 {
                q.sub(rest, factor % q.value())
            } else {
                rest
            };
            let excess = q.sub(polynomial[k], wanted);
            if excess != 0 {
                for (c, &n) in polynomial[k - i * count..].iter_mut().zip(null) {
                    *c = q.sub(*c, q.mul(excess, n));
                }
            }
        }
        while polynomial.len() > 1 && polynomial.last() == Some(&0) {
            polynomial.pop();
        }
        polynomial
    }

    /// Returns the polynomial that takes `first` + i to `values[i]`, by divided differences. Its
    /// degree is below the number of values. At other numbers congruent to `first` + i modulo p it
    /// may have other values.
    ///
    /// # Errors
    /// Never fails if p is prime, because every difference of two of these integers then has an inverse.
    pub fn values_at_digits(&self, values: &[u64]) -> Result<Vec<u64>, MathError> {
        let q = self.q;
        let mut differences = values.to_vec();
        for k in 1..values.len() {
            let inverse = q.inv(k as u64)?;
            for i in (k..values.len()).rev() {
                let difference = q.sub(differences[i], differences[i - 1]);
                differences[i] = q.mul(difference, inverse);
            }
        }
        let mut polynomial = vec![0];
        for (i, &d) in differences.iter().enumerate().rev() {
            polynomial = times_linear(q, &polynomial, q.from_i64(self.first + i as i64));
            polynomial[0] = q.add(polynomial[0], d);
        }
        polynomial.truncate(values.len().max(1));
        Ok(polynomial)
    }
}

/// Returns the constant polynomial 1, with `length` coefficients.
fn unit(length: usize) -> Vec<u64> {
    let mut one = vec![0; length];
    one[0] = 1;
    one
}

/// Returns the product of the polynomial a and x - b.
fn times_linear(q: Modulus, a: &[u64], b: u64) -> Vec<u64> {
    let mut product = vec![0; a.len() + 1];
    product[1..].copy_from_slice(a);
    for (p, &c) in product.iter_mut().zip(a) {
        *p = q.sub(*p, q.mul(b, c));
    }
    product
}

fn multiply(q: Modulus, a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut product = vec![0; (a.len() + b.len()).saturating_sub(1)];
    if a.is_empty() {
        return product[..0].to_vec();
    }
    add_product(q, &mut product, a, b);
    product
}

/// Adds the product of the polynomials a and b to `sum`, cut at the length of `sum`.
fn add_product(q: Modulus, sum: &mut [u64], a: &[u64], b: &[u64]) {
    for (i, &x) in a.iter().enumerate().take(sum.len()) {
        for (s, &y) in sum[i..].iter_mut().zip(b) {
            *s = q.add(*s, q.mul(x, y));
        }
    }
}

/// Returns the first `terms` coefficients of the polynomial a(b + z) in z, by repeated division of
/// a(x) by x - b.
fn taylor(q: Modulus, a: &[u64], b: u64, terms: usize) -> Vec<u64> {
    let mut rest = a.to_vec();
    let mut coefficients = vec![0; terms];
    for c in coefficients.iter_mut() {
        // rest = quotient (x - b) + remainder.
        let mut carry = 0;
        for r in rest.iter_mut().rev() {
            carry = q.add(*r, q.mul(carry, b));
            *r = carry;
        }
        if rest.is_empty() {
            break;
        }
        *c = rest.remove(0);
    }
    coefficients
}
