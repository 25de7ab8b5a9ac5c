// SPDX-License-Identifier: Apache-2.0
//! Loops over limbs of residues modulo a power of two up to 2^64, in coefficient form. They are word arithmetic and
//! need no SIMD path of their own. The module also converts between such limbs and residues of other moduli.

use super::auto::auto_coeff_by;
use super::check_len;
use crate::{AnyModulus, MathError, WordModulus};

fn each(out: &mut [u64], a: &[u64], f: impl Fn(u64) -> u64) -> Result<(), MathError> {
    check_len("a", out.len(), a.len())?;
    for (o, &a) in out.iter_mut().zip(a) {
        *o = f(a);
    }
    Ok(())
}

fn each_pair(
    out: &mut [u64],
    a: &[u64],
    b: &[u64],
    f: impl Fn(u64, u64) -> u64,
) -> Result<(), MathError> {
    check_len("a", out.len(), a.len())?;
    check_len("b", out.len(), b.len())?;
    for (o, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *o = f(a, b);
    }
    Ok(())
}

/// Computes out = a + b modulo a power of two.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn add(q: WordModulus, out: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), MathError> {
    let mask = q.mask();
    each_pair(out, a, b, |a, b| a.wrapping_add(b) & mask)
}

/// Computes out = a - b modulo a power of two.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn sub(q: WordModulus, out: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), MathError> {
    let mask = q.mask();
    each_pair(out, a, b, |a, b| a.wrapping_sub(b) & mask)
}

/// Computes out = -a modulo a power of two.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn neg(q: WordModulus, out: &mut [u64], a: &[u64]) -> Result<(), MathError> {
    let mask = q.mask();
    each(out, a, |a| a.wrapping_neg() & mask)
}

/// Computes out = a w modulo a power of two, for a constant w.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn mul_scalar(q: WordModulus, out: &mut [u64], a: &[u64], w: u64) -> Result<(), MathError> {
    let mask = q.mask();
    each(out, a, |a| a.wrapping_mul(w) & mask)
}

/// Computes out = a + w at every position, modulo a power of two, for a constant w.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn add_scalar(q: WordModulus, out: &mut [u64], a: &[u64], w: u64) -> Result<(), MathError> {
    let mask = q.mask();
    each(out, a, |a| a.wrapping_add(w) & mask)
}

/// Computes a = a + w at every position, modulo a power of two, for a constant w.
pub fn add_scalar_assign(q: WordModulus, a: &mut [u64], w: u64) {
    for x in a {
        *x = x.wrapping_add(w) & q.mask();
    }
}

/// Computes out(x) = a(x^g) mod x^N + 1, modulo a power of two, for the Galois element g = `galois`. N is the
/// length of the limb.
///
/// # Errors
/// The errors of [`auto_coeff`](super::auto_coeff).
pub fn auto_coeff(
    q: WordModulus,
    galois: u64,
    out: &mut [u64],
    a: &[u64],
) -> Result<(), MathError> {
    let mask = q.mask();
    auto_coeff_by(galois, out, a, |x| x.wrapping_neg() & mask)
}

/// Computes out = a mod `to`, for any words a.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn reduce(to: AnyModulus, out: &mut [u64], a: &[u64]) -> Result<(), MathError> {
    match to {
        AnyModulus::Below61(q) => each(out, a, |a| q.reduce(a)),
        AnyModulus::Word(q) => each(out, a, |a| a & q.mask()),
    }
}

/// Computes out = the sum of w_k * a_k modulo a power of two, over the limbs a_k and the constants w_k: one output limb
/// of a base extension. Limbs without a constant, and constants without a limb, are left out.
///
/// # Errors
/// [`MathError::Length`] if a limb has another length than `out`.
pub(crate) fn dot_scalars<'a>(
    q: WordModulus,
    out: &mut [u64],
    limbs: impl Iterator<Item = &'a [u64]>,
    constants: &[u64],
) -> Result<(), MathError> {
    out.fill(0);
    for (limb, &w) in limbs.zip(constants) {
        check_len("limb", out.len(), limb.len())?;
        for (o, &a) in out.iter_mut().zip(limb) {
            *o = o.wrapping_add(a.wrapping_mul(w));
        }
    }
    for o in out {
        *o &= q.mask();
    }
    Ok(())
}
