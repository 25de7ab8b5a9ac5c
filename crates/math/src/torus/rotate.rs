// SPDX-License-Identifier: Apache-2.0
//! Multiplies polynomials in coefficient form by monomials.

use super::Coefficients;
use super::coefficients::{Sums, with_sums};
use crate::MathError;
use crate::kernels::check_len;

/// Computes out = X^a p modulo X^N + 1 and q, for any a, which counts modulo 2N; N is the length of
/// both polynomials.
///
/// # Errors
/// [`MathError::Length`] if the polynomials have different lengths.
pub fn rotate(q: Coefficients, out: &mut [u64], p: &[u64], a: usize) -> Result<(), MathError> {
    check_len("polynomial", out.len(), p.len())?;
    let n = p.len();
    let Some((negative, shift)) = split(a, n) else {
        return Ok(());
    };
    let (low, high) = out.split_at_mut(shift);
    let (kept, wrapped) = p.split_at(n - shift);
    with_sums!(q, sums => {
        signed(sums, low, wrapped, !negative);
        signed(sums, high, kept, negative);
    });
    Ok(())
}

/// Computes out = (X^a - 1) p modulo X^N + 1 and q, for a polynomial p and any a, which counts
/// modulo 2N. N is the length of both polynomials. It is Algorithm 5 of the paper of Kong and Li,
/// whose exponent is -a.
///
/// # Errors
/// [`MathError::Length`] if the polynomials have different lengths.
pub fn rotate_sub(q: Coefficients, out: &mut [u64], p: &[u64], a: usize) -> Result<(), MathError> {
    check_len("polynomial", out.len(), p.len())?;
    let n = p.len();
    let Some((negative, shift)) = split(a, n) else {
        return Ok(());
    };
    let (low, high) = out.split_at_mut(shift);
    let (kept, wrapped) = p.split_at(n - shift);
    let (below, above) = p.split_at(shift);
    with_sums!(q, sums => {
        differences(sums, low, wrapped, below, !negative);
        differences(sums, high, kept, above, negative);
    });
    Ok(())
}

/// Returns X^a modulo X^n + 1 as a sign, true for minus, and an exponent below n. It is `None` for
/// n = 0.
fn split(a: usize, n: usize) -> Option<(bool, usize)> {
    let shift = a.checked_rem(n)?;
    Some((a / n % 2 == 1, shift))
}

/// Computes out = p modulo q for a polynomial p, or out = -p if `negative` is set. `sums` computes
/// modulo q.
fn signed<S: Sums>(sums: S, out: &mut [u64], p: &[u64], negative: bool) {
    if negative {
        negated(sums, out, p);
    } else {
        out.copy_from_slice(p);
    }
}

/// Computes out = p - r modulo q for polynomials p and r, or out = -p - r if `negative` is set.
/// `sums` computes modulo q.
fn differences<S: Sums>(sums: S, out: &mut [u64], p: &[u64], r: &[u64], negative: bool) {
    if negative {
        negated_difference(sums, out, p, r);
    } else {
        difference(sums, out, p, r);
    }
}

super::levels! {
    fn negated<S: Sums>(sums: S, out: &mut [u64], p: &[u64]) {
        for (out, &p) in out.iter_mut().zip(p) {
            *out = sums.sub(0, p);
        }
    }
}

super::levels! {
    fn difference<S: Sums>(sums: S, out: &mut [u64], p: &[u64], r: &[u64]) {
        for ((out, &p), &r) in out.iter_mut().zip(p).zip(r) {
            *out = sums.sub(p, r);
        }
    }
}

super::levels! {
    fn negated_difference<S: Sums>(sums: S, out: &mut [u64], p: &[u64], r: &[u64]) {
        for ((out, &p), &r) in out.iter_mut().zip(p).zip(r) {
            *out = sums.sub(sums.sub(0, p), r);
        }
    }
}
