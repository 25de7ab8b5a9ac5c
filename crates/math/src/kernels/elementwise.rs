// SPDX-License-Identifier: Apache-2.0
//! Elementwise kernels: coefficient i of the output depends only on the coefficients i of the
//! inputs.
//!
//! Each kernel runs SIMD code on a prefix of the limbs, whose length [`simd`] returns (0 without SIMD),
//! and scalar code on the rest.

use super::{check_len, simd};
use crate::{MathError, Modulus, Shoup};

fn map1(out: &mut [u64], a: &[u64], f: impl Fn(u64) -> u64) {
    for (o, &x) in out.iter_mut().zip(a) {
        *o = f(x);
    }
}

fn map2(out: &mut [u64], a: &[u64], b: &[u64], f: impl Fn(u64, u64) -> u64) {
    for ((o, &x), &y) in out.iter_mut().zip(a).zip(b) {
        *o = f(x, y);
    }
}

fn update1(a: &mut [u64], f: impl Fn(u64) -> u64) {
    for x in a {
        *x = f(*x);
    }
}

fn update2(a: &mut [u64], b: &[u64], f: impl Fn(u64, u64) -> u64) {
    for (x, &y) in a.iter_mut().zip(b) {
        *x = f(*x, y);
    }
}

macro_rules! binary {
    ($name:ident, $assign:ident, $method:ident, $doc:literal, $assign_doc:literal) => {
        #[doc = $doc]
        ///
        /// # Errors
        /// [`MathError::Length`] if a slice has another length than `out`.
        pub fn $name(q: Modulus, out: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), MathError> {
            check_len("a", out.len(), a.len())?;
            check_len("b", out.len(), b.len())?;
            // SAFETY: the three pointers are valid for out.len() words.
            let done =
                unsafe { simd::$name(q, out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), out.len()) };
            map2(&mut out[done..], &a[done..], &b[done..], |x, y| {
                q.$method(x, y)
            });
            Ok(())
        }

        #[doc = $assign_doc]
        ///
        /// # Errors
        /// [`MathError::Length`] if the lengths of the slices differ.
        pub fn $assign(q: Modulus, a: &mut [u64], b: &[u64]) -> Result<(), MathError> {
            check_len("b", a.len(), b.len())?;
            let p = a.as_mut_ptr();
            // SAFETY: the pointers are valid for a.len() words; the kernel loads element i before it stores it.
            let done = unsafe { simd::$name(q, p, p, b.as_ptr(), a.len()) };
            update2(&mut a[done..], &b[done..], |x, y| q.$method(x, y));
            Ok(())
        }
    };
}

binary!(
    add,
    add_assign,
    add,
    "out = a + b mod q.",
    "a = a + b mod q."
);
binary!(
    sub,
    sub_assign,
    sub,
    "out = a - b mod q.",
    "a = a - b mod q."
);
binary!(
    mul,
    mul_assign,
    mul,
    "out = a * b mod q, coefficient by coefficient.",
    "a = a * b mod q."
);

/// Computes out = -a mod q, coefficient by coefficient.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn neg(q: Modulus, out: &mut [u64], a: &[u64]) -> Result<(), MathError> {
    check_len("a", out.len(), a.len())?;
    // SAFETY: both pointers are valid for out.len() words.
    let done = unsafe { simd::neg(q, out.as_mut_ptr(), a.as_ptr(), out.len()) };
    map1(&mut out[done..], &a[done..], |x| q.neg(x));
    Ok(())
}

/// Computes a = -a mod q, coefficient by coefficient.
pub fn neg_assign(q: Modulus, a: &mut [u64]) {
    let p = a.as_mut_ptr();
    // SAFETY: the pointer is valid for a.len() words; the kernel loads element i before it stores it.
    let done = unsafe { simd::neg(q, p, p, a.len()) };
    update1(&mut a[done..], |x| q.neg(x));
}

/// Computes out = acc + a * b mod q, coefficient by coefficient.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn mac(
    q: Modulus,
    out: &mut [u64],
    acc: &[u64],
    a: &[u64],
    b: &[u64],
) -> Result<(), MathError> {
    check_len("acc", out.len(), acc.len())?;
    check_len("a", out.len(), a.len())?;
    check_len("b", out.len(), b.len())?;
    // SAFETY: the four pointers are valid for out.len() words.
    let done = unsafe {
        simd::mac(
            q,
            out.as_mut_ptr(),
            acc.as_ptr(),
            a.as_ptr(),
            b.as_ptr(),
            out.len(),
        )
    };
    for (((o, &s), &x), &y) in out[done..]
        .iter_mut()
        .zip(&acc[done..])
        .zip(&a[done..])
        .zip(&b[done..])
    {
        *o = mac_one(q, s, x, y);
    }
    Ok(())
}

/// Computes acc = acc + a * b mod q, coefficient by coefficient.
///
/// # Errors
/// [`MathError::Length`] if the lengths of the slices differ.
pub fn mac_assign(q: Modulus, acc: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), MathError> {
    check_len("a", acc.len(), a.len())?;
    check_len("b", acc.len(), b.len())?;
    let p = acc.as_mut_ptr();
    // SAFETY: the pointers are valid for acc.len() words; the kernel loads element i before it stores it.
    let done = unsafe { simd::mac(q, p, p, a.as_ptr(), b.as_ptr(), acc.len()) };
    for ((s, &x), &y) in acc[done..].iter_mut().zip(&a[done..]).zip(&b[done..]) {
        *s = mac_one(q, *s, x, y);
    }
    Ok(())
}

fn mac_one(q: Modulus, acc: u64, a: u64, b: u64) -> u64 {
    q.reduce_wide(u128::from(a) * u128::from(b) + u128::from(acc))
}

/// Computes out = a * w mod q for a constant w, coefficient by coefficient. Any w will do, because it is
/// reduced first.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn mul_scalar(q: Modulus, out: &mut [u64], a: &[u64], w: u64) -> Result<(), MathError> {
    mul_constant(q, out, a, q.shoup(w))
}

/// Computes out = a * w mod q, as [`mul_scalar`] does, for a constant w that the caller has
/// prepared. The division that prepares a constant would take much of the time for short slices.
pub(crate) fn mul_constant(
    q: Modulus,
    out: &mut [u64],
    a: &[u64],
    w: Shoup,
) -> Result<(), MathError> {
    check_len("a", out.len(), a.len())?;
    // SAFETY: both pointers are valid for out.len() words.
    let done = unsafe { simd::mul_shoup(q, out.as_mut_ptr(), a.as_ptr(), w, out.len()) };
    map1(&mut out[done..], &a[done..], |x| q.mul_shoup(x, w));
    Ok(())
}

/// Computes a = a * w mod q for a constant w, coefficient by coefficient. Any w will do, because it
/// is reduced first.
pub fn mul_scalar_assign(q: Modulus, a: &mut [u64], w: u64) {
    let w = q.shoup(w);
    let p = a.as_mut_ptr();
    // SAFETY: the pointer is valid for a.len() words; the kernel loads element i before it stores it.
    let done = unsafe { simd::mul_shoup(q, p, p, w, a.len()) };
    update1(&mut a[done..], |x| q.mul_shoup(x, w));
}

/// Computes out = a + w mod q for a constant w, on every coefficient. Any w will do, because it is reduced
/// first.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn add_scalar(q: Modulus, out: &mut [u64], a: &[u64], w: u64) -> Result<(), MathError> {
    check_len("a", out.len(), a.len())?;
    let w = q.reduce(w);
    // SAFETY: both pointers are valid for out.len() words.
    let done = unsafe { simd::add_scalar(q, out.as_mut_ptr(), a.as_ptr(), w, out.len()) };
    map1(&mut out[done..], &a[done..], |x| q.add(x, w));
    Ok(())
}

/// Computes a = a + w mod q for a constant w, on every coefficient. Any w will do, because it is
/// reduced first.
pub fn add_scalar_assign(q: Modulus, a: &mut [u64], w: u64) {
    let w = q.reduce(w);
    let p = a.as_mut_ptr();
    // SAFETY: the pointer is valid for a.len() words; the kernel loads element i before it stores it.
    let done = unsafe { simd::add_scalar(q, p, p, w, a.len()) };
    update1(&mut a[done..], |x| q.add(x, w));
}

/// Reduces residues modulo `from` to residues modulo `to`: out = a mod `to`, for a in [0, from). The residues
/// are taken as they are, not centred.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn conv(from: Modulus, to: Modulus, out: &mut [u64], a: &[u64]) -> Result<(), MathError> {
    check_len("a", out.len(), a.len())?;
    if from <= to {
        out.copy_from_slice(a);
        return Ok(());
    }
    // SAFETY: both pointers are valid for out.len() words.
    let done = unsafe { simd::reduce(to, out.as_mut_ptr(), a.as_ptr(), out.len()) };
    map1(&mut out[done..], &a[done..], |x| to.reduce(x));
    Ok(())
}

/// Reduces residues modulo `from` to residues modulo `to`, in place: a = a mod `to`, for a in [0,
/// from).
pub fn conv_assign(from: Modulus, to: Modulus, a: &mut [u64]) {
    if from > to {
        let p = a.as_mut_ptr();
        // SAFETY: the pointer is valid for a.len() words; the kernel loads element i before it stores it.
        let done = unsafe { simd::reduce(to, p, p, a.len()) };
        update1(&mut a[done..], |x| to.reduce(x));
    }
}
