// SPDX-License-Identifier: Apache-2.0
//! Computes several elementwise steps in one pass over their operands. Registers hold the values that a limb program
//! would write to memory and read back between the steps.
//!
//! Each function computes the bits of its steps done one after the other. With AVX-512 IFMA it has a loop of its own
//! ([`super::fused_ifma`]); [`add_stored`] and [`mul_stored`] have one for [`Store::Streamed`] only. Other backends,
//! and the last coefficients, run the kernels of the single steps one after the other, block by block in the
//! first-level cache. Some functions have loops with other products for moduli below 2^32 ([`super::fused_short`],
//! [`super::short`]).

use super::{
    AutoEvalPlan, add_assign, add_scalar_assign, check_len, dot, elementwise, mac_assign,
    mul_constant, sub, widen,
};
#[cfg(target_arch = "x86_64")]
use super::{Backend, fused_ifma, fused_short, short};
use crate::{MathError, Modulus, Residues, Shoup};

/// The way in which a result is written to memory: into the processor's cache or past it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Store {
    /// The result is written into the cache, because something reads it soon.
    Cached,
    /// The result is written past the cache if the backend has a loop that can do so and every result is aligned to 64
    /// bytes. Otherwise it is written into the cache. Streaming is for large results that are read later or elsewhere.
    /// The processor then need not read the memory before it overwrites it, and the cache keeps what is in use.
    Streamed,
}

/// The number of coefficients of a block, for which a fused operation without a loop of its own
/// calls the kernels of its single steps one after the other.
const BLOCK: usize = 256;

/// Returns the ranges of the blocks, of [`BLOCK`] coefficients each, of a limb of `len`
/// coefficients, from coefficient `done` on.
fn blocks(done: usize, len: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (done..len)
        .step_by(BLOCK)
        .map(move |start| start..len.min(start + BLOCK))
}

/// An elementwise operation on two limbs: addition or multiplication.
#[derive(Clone, Copy)]
pub(super) enum Pairwise {
    Sum,
    Product,
}

/// Computes out = a + b mod q, coefficient by coefficient. `store` says whether the result is written past the cache.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn add_stored(
    q: Modulus,
    out: &mut [u64],
    a: &[u64],
    b: &[u64],
    store: Store,
) -> Result<(), MathError> {
    stored(Pairwise::Sum, q, out, [a, b], store)
}

/// Computes out = a b mod q, coefficient by coefficient. `store` says whether the result is written past the cache.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn mul_stored(
    q: Modulus,
    out: &mut [u64],
    a: &[u64],
    b: &[u64],
    store: Store,
) -> Result<(), MathError> {
    stored(Pairwise::Product, q, out, [a, b], store)
}

fn stored(
    what: Pairwise,
    q: Modulus,
    out: &mut [u64],
    [a, b]: [&[u64]; 2],
    store: Store,
) -> Result<(), MathError> {
    check_len("a", out.len(), a.len())?;
    check_len("b", out.len(), b.len())?;
    #[cfg(target_arch = "x86_64")]
    let done = match store {
        Store::Streamed => fused_ifma::streamed(what, q, out, a, b),
        Store::Cached => 0,
    };
    #[cfg(not(target_arch = "x86_64"))]
    let (done, _) = (0, store);
    let (out, a, b) = (&mut out[done..], &a[done..], &b[done..]);
    match what {
        Pairwise::Sum => elementwise::add(q, out, a, b),
        Pairwise::Product => elementwise::mul(q, out, a, b),
    }
}

/// A term (d, a, b) of the two sums that [`dot_pair`] computes. Both sums have the factor d; a is its other factor in
/// the first sum, and b in the second. a and b are limbs of a switching key.
pub type PairTerm<'a> = (Residues<'a>, Residues<'a>, Residues<'a>);

/// Computes two sums of products that share their first factors, as in key switching. out\[0\] is
/// the sum of d_k * a_k and out\[1\] the sum of d_k * b_k mod q over the terms (d_k, a_k, b_k).
/// With `carry` the sums are added to what `out` holds. With an automorphism `turn`, the d_k are its results on the
/// given limbs, which are in evaluation form in the full ring.
///
/// # Errors
/// [`MathError::Length`] if the two results or a limb of a term differ in length, or if the automorphism's ring has
/// another.
pub fn dot_pair(
    q: Modulus,
    out: [&mut [u64]; 2],
    terms: &[PairTerm<'_>],
    carry: bool,
    turn: Option<&AutoEvalPlan>,
) -> Result<(), MathError> {
    let [a, b] = out;
    check_len("second sum", a.len(), b.len())?;
    let turn = turn.map(AutoEvalPlan::sources);
    if let Some(sources) = turn {
        check_len("the automorphism's ring", a.len(), sources.len())?;
    }
    for (shared, first, second) in terms {
        check_len("shared factor", a.len(), shared.len())?;
        check_len("first factor", a.len(), first.len())?;
        check_len("second factor", a.len(), second.len())?;
    }
    #[cfg(target_arch = "x86_64")]
    let done = match Backend::current() {
        Backend::Avx2 if short::fits(q) && turn.is_none() => {
            let out = [a.as_mut_ptr(), b.as_mut_ptr()];
            // SAFETY: the backend is only in force where the processor has its features; all slices have one length.
            unsafe { short::dot_pair(q, out, terms, carry, a.len()) }
        }
        Backend::Avx512 | Backend::Avx512Ifma if short::fits(q) && turn.is_none() => {
            let out = [a.as_mut_ptr(), b.as_mut_ptr()];
            // SAFETY: as above.
            unsafe { fused_short::dot_pair(q, out, terms, carry, a.len()) }
        }
        Backend::Scalar | Backend::Avx2 | Backend::Avx512 | Backend::Avx512Ifma => {
            fused_ifma::dot_pair(q, [a, b], terms, carry, turn)
        }
    };
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    if done == a.len() {
        return Ok(());
    }
    let (mut sum, mut wide) = ([0; BLOCK], [0; BLOCK]);
    // A block of each shared factor of a group, if they are not read in place.
    let in_place = |shared| matches!((shared, turn), (Residues::Wide(_), None));
    let rooms = match terms.iter().all(|&(shared, _, _)| in_place(shared)) {
        true => 0,
        false => terms.len().min(BLOCK_TERMS),
    };
    let mut rooms = vec![0; BLOCK * rooms];
    for at in blocks(done, a.len()) {
        let sum = &mut sum[..at.len()];
        if !carry {
            a[at.clone()].fill(0);
            b[at.clone()].fill(0);
        }
        for group in terms.chunks(BLOCK_TERMS) {
            for (room, &(shared, _, _)) in rooms.chunks_exact_mut(BLOCK).zip(group) {
                let room = &mut room[..at.len()];
                match (shared, turn) {
                    (shared, Some(sources)) => gathered(shared, &sources[at.clone()], room),
                    (Residues::Wide(_), None) => {}
                    (Residues::Short(words), None) => widen(room, &words[at.clone()])?,
                }
            }
            for (out, pick) in [(&mut *a, 0), (&mut *b, 1)] {
                let out = &mut out[at.clone()];
                let mut pairs: [(&[u64], &[u64]); BLOCK_TERMS] = [(&[], &[]); BLOCK_TERMS];
                let mut count = 0;
                for (k, &(shared, first, second)) in group.iter().enumerate() {
                    let shared = match (shared, turn) {
                        (Residues::Wide(words), None) => &words[at.clone()],
                        (Residues::Short(_), _) | (Residues::Wide(_), Some(_)) => {
                            &rooms[k * BLOCK..k * BLOCK + at.len()]
                        }
                    };
                    match if pick == 0 { first } else { second } {
                        Residues::Wide(own) => {
                            pairs[count] = (shared, &own[at.clone()]);
                            count += 1;
                        }
                        own => mac_assign(q, out, shared, written(&own, &at, &mut wide)?)?,
                    }
                }
                dot(q, sum, &pairs[..count])?;
                add_assign(q, out, sum)?;
            }
        }
    }
    Ok(())
}

/// Writes the residues of a limb at the positions `sources` to `out`.
fn gathered(limb: Residues<'_>, sources: &[u32], out: &mut [u64]) {
    let places = out.iter_mut().zip(sources);
    match limb {
        Residues::Wide(words) => places.for_each(|(x, &i)| *x = words[i as usize]),
        Residues::Short(words) => places.for_each(|(x, &i)| *x = words[i as usize].into()),
    }
}

/// Returns a block of a limb in words of 64 bits. A limb in words of 32 bits is converted into the buffer `room`.
fn written<'a>(
    limb: &Residues<'a>,
    at: &std::ops::Range<usize>,
    room: &'a mut [u64; BLOCK],
) -> Result<&'a [u64], MathError> {
    match limb {
        Residues::Wide(words) => Ok(&words[at.clone()]),
        Residues::Short(words) => {
            let room = &mut room[..at.len()];
            widen(room, &words[at.clone()])?;
            Ok(room)
        }
    }
}

/// The number of terms that [`dot_pair`] collects in an array on the stack when it calls kernels of
/// single steps, block by block. Longer lists are summed in parts.
const BLOCK_TERMS: usize = 32;

/// Computes the product of two polynomials of degree one in a secret s, coefficient by coefficient of the limbs. With a
/// = a_0 + a_1 s and b = b_0 + b_1 s, out = (a_0 b_0, a_0 b_1 + a_1 b_0, a_1 b_1) mod q (Medha paper, Algorithm 2).
/// `store` says whether the results are written past the cache.
///
/// # Errors
/// [`MathError::Length`] if a result or a limb has another length than the first result.
pub fn tensor(
    q: Modulus,
    out: [&mut [u64]; 3],
    a: [Residues<'_>; 2],
    b: [Residues<'_>; 2],
    store: Store,
) -> Result<(), MathError> {
    let [d0, d1, d2] = out;
    let len = d0.len();
    check_len("second result", len, d1.len())?;
    check_len("third result", len, d2.len())?;
    for limb in a.iter().chain(&b) {
        check_len("factor", len, limb.len())?;
    }
    #[cfg(target_arch = "x86_64")]
    let done = match Backend::current() {
        Backend::Avx512 | Backend::Avx512Ifma if short::fits(q) => {
            let out = [&mut *d0, d1, d2].map(|limb| limb.as_mut_ptr());
            // SAFETY: as in `dot_pair`.
            unsafe { fused_short::tensor(q, out, a, b, store, len) }
        }
        Backend::Scalar | Backend::Avx2 | Backend::Avx512 | Backend::Avx512Ifma => {
            fused_ifma::tensor(q, [d0, d1, d2], a, b, store)
        }
    };
    #[cfg(not(target_arch = "x86_64"))]
    let (done, _) = (0, store);
    let mut wide = [[0; BLOCK]; 4];
    for at in blocks(done, len) {
        let [x0, x1, y0, y1] = &mut wide;
        let (a0, a1) = (written(&a[0], &at, x0)?, written(&a[1], &at, x1)?);
        let (b0, b1) = (written(&b[0], &at, y0)?, written(&b[1], &at, y1)?);
        elementwise::mul(q, &mut d0[at.clone()], a0, b0)?;
        dot(q, &mut d1[at.clone()], &[(a0, b1), (a1, b0)])?;
        elementwise::mul(q, &mut d2[at], a1, b1)?;
    }
    Ok(())
}

/// Computes out = (a - b) * w mod q, or out = (a - b) * w + c with an addend c. It is the last step of a division by a
/// modulus. `store` says whether the result is written past the cache.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn sub_scale(
    q: Modulus,
    out: &mut [u64],
    a: &[u64],
    b: &[u64],
    w: Shoup,
    addend: Option<&[u64]>,
    store: Store,
) -> Result<(), MathError> {
    check_len("b", out.len(), b.len())?;
    check_sub_scale(out.len(), a, addend)?;
    #[cfg(target_arch = "x86_64")]
    let done = fused_ifma::sub_scale(q, out.as_mut_ptr(), a, b.as_ptr(), w, addend, store);
    #[cfg(not(target_arch = "x86_64"))]
    let (done, _) = (0, store);
    out[done..].copy_from_slice(&b[done..]);
    sub_scale_blocks(q, out, a, w, addend, done)
}

/// Computes b = (a - b) * w mod q, or b = (a - b) * w + c with an addend c: [`sub_scale`] with the result in the place
/// of the subtrahend.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than b.
pub fn sub_scale_assign(
    q: Modulus,
    b: &mut [u64],
    a: &[u64],
    w: Shoup,
    addend: Option<&[u64]>,
) -> Result<(), MathError> {
    check_sub_scale(b.len(), a, addend)?;
    #[cfg(target_arch = "x86_64")]
    let done = {
        let p = b.as_mut_ptr();
        fused_ifma::sub_scale(q, p, a, p, w, addend, Store::Cached)
    };
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    sub_scale_blocks(q, b, a, w, addend, done)
}

fn check_sub_scale(len: usize, a: &[u64], addend: Option<&[u64]>) -> Result<(), MathError> {
    check_len("a", len, a.len())?;
    addend.map_or(Ok(()), |c| check_len("addend", len, c.len()))
}

/// Computes b = (a - b) * w mod q, plus an addend if there is one, for the coefficients from number
/// `done` on. A SIMD loop has computed the coefficients before them.
fn sub_scale_blocks(
    q: Modulus,
    b: &mut [u64],
    a: &[u64],
    w: Shoup,
    addend: Option<&[u64]>,
    done: usize,
) -> Result<(), MathError> {
    let mut difference = [0; BLOCK];
    for at in blocks(done, b.len()) {
        let (difference, b) = (&mut difference[..at.len()], &mut b[at.clone()]);
        sub(q, difference, &a[at.clone()], b)?;
        mul_constant(q, b, difference, w)?;
        if let Some(c) = addend {
            add_assign(q, b, &c[at])?;
        }
    }
    Ok(())
}

/// Computes out = (a mod `to`) + w mod `to`, for a in [0, from): a change of modulus and the addition of a constant.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn conv_add(
    from: Modulus,
    to: Modulus,
    out: &mut [u64],
    a: &[u64],
    w: u64,
) -> Result<(), MathError> {
    check_len("a", out.len(), a.len())?;
    let w = to.reduce(w);
    #[cfg(target_arch = "x86_64")]
    let done = fused_ifma::conv_add(from, to, out, a, w);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    for at in blocks(done, out.len()) {
        let out = &mut out[at.clone()];
        elementwise::conv(from, to, out, &a[at])?;
        if w != 0 {
            add_scalar_assign(to, out, w);
        }
    }
    Ok(())
}
