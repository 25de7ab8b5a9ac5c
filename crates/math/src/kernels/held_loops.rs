// SPDX-License-Identifier: Apache-2.0
//! The loops over limbs in words of 32 bits, written once for vectors of any width.
//!
//! As in [`super::loops`], each loop computes the coefficients that fill whole vectors and returns their number.
//! Everything is `inline(always)` and `unsafe`, and the function around a loop enables the instructions ([`level`]
//! makes such functions). Residues are below a modulus q < 2^32, so a sum of two may not fit a lane. Therefore a + b is
//! computed as a - (q - b), plus q if that is negative.

use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch, _mm_sfence};

use super::fused::Store;
use crate::{Modulus, Residues, Shoup};

/// The bytes of the widest vector that a loop writes at a time, which is also a cache line.
const LINE: usize = 64;

/// The number of words by which prefetching is ahead of a loop over large operands. It is a page, at whose end the
/// processor stops to prefetch by itself.
const AHEAD: usize = 1024;

/// A vector of words of 32 bits, each a residue modulo q < 2^32.
///
/// # Safety
/// For every function, the processor must have the vector's instructions. For loads and stores, the pointer must be
/// valid for as many words as the vector has lanes: words of 64 bits for `narrowed` and `widened`, otherwise of 32
/// bits. It must be aligned to the vector's bytes if the store goes past the cache.
pub(super) trait Lanes: Copy {
    const LANES: usize;
    unsafe fn load(p: *const u32) -> Self;
    unsafe fn put<const STREAM: bool>(self, p: *mut u32);
    /// Loads as many words of 64 bits as the vector has lanes, and keeps their low halves.
    unsafe fn narrowed(p: *const u64) -> Self;
    unsafe fn widened(self, p: *mut u64);
    unsafe fn splat(x: u32) -> Self;
    /// Returns a + b mod q in each lane.
    unsafe fn sum(self, other: Self, q: Self) -> Self;
    /// Returns a - b mod q in each lane.
    unsafe fn difference(self, other: Self, q: Self) -> Self;
}

/// An elementwise operation on two vectors of residues in words of 32 bits.
///
/// # Safety
/// As for [`Lanes`]: the processor must have the vector's instructions.
pub(super) trait Binary: Copy {
    type V: Lanes;
    unsafe fn of(self, a: Self::V, b: Self::V) -> Self::V;
}

/// An elementwise operation on one vector of residues in words of 32 bits.
///
/// # Safety
/// As for [`Lanes`]: the processor must have the vector's instructions.
pub(super) trait Unary: Copy {
    type V: Lanes;
    unsafe fn of(self, a: Self::V) -> Self::V;
}

/// The elementwise operation a + b modulo q on residues in words of 32 bits. The field is q in
/// every lane.
#[derive(Clone, Copy)]
pub(super) struct Sum<V>(V);

/// The elementwise operation a - b modulo q on residues in words of 32 bits. The field is q in
/// every lane.
#[derive(Clone, Copy)]
pub(super) struct Difference<V>(V);

impl<V: Lanes> Sum<V> {
    #[inline(always)]
    pub unsafe fn new(q: Modulus) -> Self {
        // SAFETY: the caller's promise, as everywhere here.
        Self(unsafe { V::splat(q.value() as u32) })
    }
}

impl<V: Lanes> Difference<V> {
    #[inline(always)]
    pub unsafe fn new(q: Modulus) -> Self {
        // SAFETY: see `Sum::new`.
        Self(unsafe { V::splat(q.value() as u32) })
    }
}

impl<V: Lanes> Binary for Sum<V> {
    type V = V;

    #[inline(always)]
    unsafe fn of(self, a: V, b: V) -> V {
        // SAFETY: see `Sum::new`.
        unsafe { a.sum(b, self.0) }
    }
}

impl<V: Lanes> Binary for Difference<V> {
    type V = V;

    #[inline(always)]
    unsafe fn of(self, a: V, b: V) -> V {
        // SAFETY: see `Sum::new`.
        unsafe { a.difference(b, self.0) }
    }
}

/// Returns whether a limb may be written past the cache: `store` asks for it, and the limb starts
/// at an address that allows it (a multiple of 64 bytes).
#[inline(always)]
fn streams(store: Store, out: &[u32]) -> bool {
    store == Store::Streamed && out.as_ptr().addr().is_multiple_of(LINE)
}

/// If `STREAM` is set, makes words that were written past the cache visible to other threads before
/// any later write.
#[inline(always)]
unsafe fn settle<const STREAM: bool>() {
    if STREAM {
        // SAFETY: an instruction of every x86-64 processor.
        unsafe { _mm_sfence() }
    }
}

/// If `STREAM` is set, prefetches the words [`AHEAD`] places after `p`, for a loop over a limb larger than the caches.
#[inline(always)]
unsafe fn prefetch<const STREAM: bool>(p: *const u32) {
    if STREAM {
        // SAFETY: a hint on an address, which may lie beyond the end.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(p.wrapping_add(AHEAD).cast()) }
    }
}

#[inline(always)]
pub(super) unsafe fn widen<V: Lanes>(out: &mut [u64], a: &[u32]) -> usize {
    let done = a.len() - a.len() % V::LANES;
    for i in (0..done).step_by(V::LANES) {
        // SAFETY: both have a vector from i on.
        unsafe { V::load(a.as_ptr().add(i)).widened(out.as_mut_ptr().add(i)) }
    }
    done
}

#[inline(always)]
pub(super) unsafe fn narrow<V: Lanes>(out: &mut [u32], a: &[u64], store: Store) -> usize {
    // SAFETY: see `Sum::new`.
    unsafe {
        match streams(store, out) {
            true => narrow_with::<V, true>(out, a),
            false => narrow_with::<V, false>(out, a),
        }
    }
}

#[inline(always)]
unsafe fn narrow_with<V: Lanes, const STREAM: bool>(out: &mut [u32], a: &[u64]) -> usize {
    let done = a.len() - a.len() % V::LANES;
    // SAFETY: both have a vector from i on.
    unsafe {
        for i in (0..done).step_by(V::LANES) {
            V::narrowed(a.as_ptr().add(i)).put::<STREAM>(out.as_mut_ptr().add(i));
        }
        settle::<STREAM>();
    }
    done
}

#[inline(always)]
pub(super) unsafe fn binary<B: Binary>(
    by: B,
    out: &mut [u32],
    a: &[u32],
    b: &[u32],
    store: Store,
) -> usize {
    // SAFETY: see `Sum::new`.
    unsafe {
        match streams(store, out) {
            true => binary_with::<B, true>(by, out, a, b),
            false => binary_with::<B, false>(by, out, a, b),
        }
    }
}

#[inline(always)]
unsafe fn binary_with<B: Binary, const STREAM: bool>(
    by: B,
    out: &mut [u32],
    a: &[u32],
    b: &[u32],
) -> usize {
    let done = out.len() - out.len() % B::V::LANES;
    let (out, a, b) = (out.as_mut_ptr(), a.as_ptr(), b.as_ptr());
    // SAFETY: all have a vector from i on.
    unsafe {
        for i in (0..done).step_by(B::V::LANES) {
            prefetch::<STREAM>(a.add(i));
            prefetch::<STREAM>(b.add(i));
            let x = by.of(B::V::load(a.add(i)), B::V::load(b.add(i)));
            x.put::<STREAM>(out.add(i));
        }
        settle::<STREAM>();
    }
    done
}

/// Loads residues of a limb from coefficient i on into a vector's lanes of 32 bits. The limb has
/// words of 32 or 64 bits. With `STREAM`, later words of 32 bits are prefetched.
#[inline(always)]
unsafe fn lanes<V: Lanes, const STREAM: bool>(limb: Residues<'_>, i: usize) -> V {
    // SAFETY: the limb has a vector from there on (caller).
    unsafe {
        match limb {
            Residues::Wide(words) => V::narrowed(words.as_ptr().add(i)),
            Residues::Short(words) => {
                prefetch::<STREAM>(words.as_ptr().add(i));
                V::load(words.as_ptr().add(i))
            }
        }
    }
}

#[inline(always)]
pub(super) unsafe fn sub_scale<U: Unary>(
    (q, by): (Modulus, U),
    out: &mut [u32],
    a: Residues<'_>,
    b: &[u64],
    addend: Option<Residues<'_>>,
    store: Store,
) -> usize {
    // SAFETY: see `Sum::new`.
    unsafe {
        match streams(store, out) {
            true => sub_scale_with::<U, true>((q, by), out, a, b, addend),
            false => sub_scale_with::<U, false>((q, by), out, a, b, addend),
        }
    }
}

#[inline(always)]
unsafe fn sub_scale_with<U: Unary, const STREAM: bool>(
    (q, by): (Modulus, U),
    out: &mut [u32],
    a: Residues<'_>,
    b: &[u64],
    addend: Option<Residues<'_>>,
) -> usize {
    let done = out.len() - out.len() % U::V::LANES;
    let (out, b) = (out.as_mut_ptr(), b.as_ptr());
    // SAFETY: all have a vector from i on.
    unsafe {
        let q = U::V::splat(q.value() as u32);
        for i in (0..done).step_by(U::V::LANES) {
            let x: U::V = lanes::<U::V, STREAM>(a, i);
            let mut x = by.of(x.difference(U::V::narrowed(b.add(i)), q));
            if let Some(c) = addend {
                x = x.sum(lanes::<U::V, STREAM>(c, i), q);
            }
            x.put::<STREAM>(out.add(i));
        }
        settle::<STREAM>();
    }
    done
}

/// Defines the functions of one instruction set: the loops over words of 32 bits, with its
/// instructions enabled. `serves` is a function that tells for which moduli the products of this
/// instruction set are right.
macro_rules! level {
    ($features:literal, $vector:ty, products $products:ty, constants $constants:ty, serves $serves:path) => {
        /// Copies residues in words of 32 bits to words of 64 bits, for the coefficients that fill
        /// whole vectors. Returns the number of these coefficients.
        ///
        /// # Safety
        /// The processor must have this instruction set; all slices must have one length. The same holds for all
        /// functions that this macro defines.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn widen(out: &mut [u64], a: &[u32]) -> usize {
            // SAFETY: the features are enabled here; the rest is the caller's promise.
            unsafe { held_loops::widen::<$vector>(out, a) }
        }

        /// Copies residues in words of 64 bits to words of 32 bits, written as `store` says, for the coefficients that
        /// fill whole vectors. Returns their number.
        ///
        /// # Safety
        /// As for [`widen`]: the processor must have this instruction set; all slices must have one length.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn narrow(out: &mut [u32], a: &[u64], store: Store) -> usize {
            // SAFETY: as above.
            unsafe { held_loops::narrow::<$vector>(out, a, store) }
        }

        /// Computes out = a + b mod q for limbs in words of 32 bits, for the coefficients that fill whole vectors.
        /// Returns their number.
        ///
        /// # Safety
        /// As for [`widen`]: the processor must have this instruction set; all slices must have one length.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn add(
            q: Modulus,
            out: &mut [u32],
            a: &[u32],
            b: &[u32],
            store: Store,
        ) -> usize {
            // SAFETY: as above.
            unsafe { held_loops::binary(Sum::<$vector>::new(q), out, a, b, store) }
        }

        /// Computes out = a - b mod q for limbs in words of 32 bits, for the coefficients that fill whole vectors.
        /// Returns their number.
        ///
        /// # Safety
        /// As for [`widen`]: the processor must have this instruction set; all slices must have one length.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn sub(
            q: Modulus,
            out: &mut [u32],
            a: &[u32],
            b: &[u32],
            store: Store,
        ) -> usize {
            // SAFETY: as above.
            unsafe { held_loops::binary(Difference::<$vector>::new(q), out, a, b, store) }
        }

        /// Computes out = a b mod q, coefficient by coefficient, for limbs in words of 32 bits and the coefficients
        /// that fill whole vectors. Returns their number, which is 0 if `$serves` is false for q.
        ///
        /// # Safety
        /// As for [`widen`]: the processor must have this instruction set; all slices must have one length.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn mul(
            q: Modulus,
            out: &mut [u32],
            a: &[u32],
            b: &[u32],
            store: Store,
        ) -> usize {
            if !$serves(q) {
                return 0;
            }
            // SAFETY: as above.
            unsafe { held_loops::binary(<$products>::new(q), out, a, b, store) }
        }

        /// Computes out = (a - b) w mod q for a constant w, plus an addend if there is one, for the coefficients that
        /// fill whole vectors. Returns their number.
        ///
        /// # Safety
        /// As for [`widen`]: the processor must have this instruction set; all slices must have one length.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn sub_scale(
            q: Modulus,
            out: &mut [u32],
            a: Residues<'_>,
            b: &[u64],
            w: Shoup,
            addend: Option<Residues<'_>>,
            store: Store,
        ) -> usize {
            // SAFETY: as above.
            unsafe {
                let by = (q, <$constants>::new(q, w));
                held_loops::sub_scale(by, out, a, b, addend, store)
            }
        }
    };
}
pub(super) use level;

/// Returns floor(2^32 w / q), the quotient of a constant w that is prepared for products modulo q <
/// 2^32.
pub(super) fn quotient(w: Shoup) -> u64 {
    w.quotient >> 32
}
