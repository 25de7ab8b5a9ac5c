// SPDX-License-Identifier: Apache-2.0
//! The elementwise loops over limbs, written once for vectors of any width and every way of multiplying.
//!
//! Each loop computes the coefficients that fill whole vectors and returns their number. Everything is `inline(always)`
//! and `unsafe`: the function around a loop must enable the instructions of its vectors ([`level`] makes such
//! functions). Pointers and slices must be valid for `len` words; the output may be an input.
//!
//! Other kernels have loops of their own, among them two kinds. Sums with constants: [`super::avx512::dot_scalars`]
//! multiplies by prepared constants, which saves the reduction, and [`super::ifma::dot_scalars`] loads each constant
//! once for several vectors. The fused passes of [`super::fused_ifma`] write past the cache, prefetch and compute
//! several sums at a time.

use super::sums::LAZY_TERMS;
use crate::{Modulus, Shoup};

/// A vector of 64-bit words. Numbers that are compared are below 2^63, so that the sign of a difference says which of
/// two is larger.
///
/// # Safety
/// For every function, the processor must have the vector's instructions. For loads and stores, the pointer must be valid for a vector.
pub(super) trait Vector: Copy {
    const LANES: usize;
    unsafe fn load(p: *const u64) -> Self;
    unsafe fn store(self, p: *mut u64);
    unsafe fn splat(x: u64) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    /// Returns x - m in each lane with x >= m, else x.
    unsafe fn correct(self, m: Self) -> Self;
    /// Returns x + q in each lane in which x is negative as a signed number, else x.
    unsafe fn lift(self, q: Self) -> Self;
}

/// Products of two residues modulo q, in the lanes of one kind of vector.
///
/// # Safety
/// As for [`Vector`]: the processor must have the vector's instructions.
pub(super) trait Products: Copy {
    type V: Vector;
    /// Returns a * b mod q in each lane.
    unsafe fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns acc + a * b mod q in each lane.
    unsafe fn mac(self, acc: Self::V, a: Self::V, b: Self::V) -> Self::V;
}

/// Products of residues with one constant w modulo q, in the lanes of one kind of vector.
///
/// # Safety
/// As for [`Vector`]: the processor must have the vector's instructions.
pub(super) trait ByConstant: Copy {
    type V: Vector;
    /// Returns a * w mod q in each lane, for the constant w.
    unsafe fn mul(self, a: Self::V) -> Self::V;
}

/// Sums of up to 32 products of residues modulo q, plus one residue, which are reduced once at the
/// end.
///
/// # Safety
/// As for [`Vector`]: the processor must have the vector's instructions.
pub(super) trait Sums: Copy {
    type V: Vector;
    type Sum: Copy;
    unsafe fn start(self, residue: Self::V) -> Self::Sum;
    unsafe fn add(self, sum: Self::Sum, a: Self::V, b: Self::V) -> Self::Sum;
    unsafe fn reduce(self, sum: Self::Sum) -> Self::V;
}

/// Runs the body once for each full vector of a limb of `$len` words, with `$i` as the offset of
/// the vector's first word. Returns the number of words in full vectors.
macro_rules! vectors {
    ($len:expr, $i:ident => $body:block) => {
        vectors!($len, LANES, $i => $body)
    };
    ($len:expr, $lanes:expr, $i:ident => $body:block) => {{
        let done = $len - $len % $lanes;
        for $i in (0..done).step_by($lanes) {
            $body
        }
        done
    }};
}
pub(super) use vectors;

#[inline(always)]
pub(super) unsafe fn add<V: Vector>(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) -> usize {
    // SAFETY: the caller's promise, as in all loops here.
    unsafe {
        let q = V::splat(q.value());
        vectors!(len, V::LANES, i => { V::load(a.add(i)).add(V::load(b.add(i))).correct(q).store(out.add(i)) })
    }
}

#[inline(always)]
pub(super) unsafe fn sub<V: Vector>(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) -> usize {
    // SAFETY: see `add`.
    unsafe {
        let q = V::splat(q.value());
        vectors!(len, V::LANES, i => { V::load(a.add(i)).sub(V::load(b.add(i))).lift(q).store(out.add(i)) })
    }
}

#[inline(always)]
pub(super) unsafe fn neg<V: Vector>(q: Modulus, out: *mut u64, a: *const u64, len: usize) -> usize {
    // SAFETY: see `add`.
    unsafe {
        let (q, zero) = (V::splat(q.value()), V::splat(0));
        vectors!(len, V::LANES, i => { zero.sub(V::load(a.add(i))).lift(q).store(out.add(i)) })
    }
}

#[inline(always)]
pub(super) unsafe fn add_scalar<V: Vector>(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    w: u64,
    len: usize,
) -> usize {
    // SAFETY: see `add`.
    unsafe {
        let (q, w) = (V::splat(q.value()), V::splat(w));
        vectors!(len, V::LANES, i => { V::load(a.add(i)).add(w).correct(q).store(out.add(i)) })
    }
}

#[inline(always)]
pub(super) unsafe fn mul<P: Products>(
    by: P,
    out: *mut u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) -> usize {
    // SAFETY: see `add`.
    unsafe {
        vectors!(len, P::V::LANES, i => { by.mul(P::V::load(a.add(i)), P::V::load(b.add(i))).store(out.add(i)) })
    }
}

#[inline(always)]
pub(super) unsafe fn mac<P: Products>(
    by: P,
    out: *mut u64,
    acc: *const u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) -> usize {
    // SAFETY: see `add`.
    unsafe {
        vectors!(len, P::V::LANES, i => {
            let (acc, a, b) = (P::V::load(acc.add(i)), P::V::load(a.add(i)), P::V::load(b.add(i)));
            by.mac(acc, a, b).store(out.add(i))
        })
    }
}

#[inline(always)]
pub(super) unsafe fn mul_constant<C: ByConstant>(
    by: C,
    out: *mut u64,
    a: *const u64,
    len: usize,
) -> usize {
    // SAFETY: see `add`.
    unsafe { vectors!(len, C::V::LANES, i => { by.mul(C::V::load(a.add(i))).store(out.add(i)) }) }
}

#[inline(always)]
pub(super) unsafe fn dot<S: Sums>(
    by: S,
    out: *mut u64,
    terms: &[(&[u64], &[u64])],
    len: usize,
) -> usize {
    // SAFETY: see `add`.
    unsafe {
        vectors!(len, S::V::LANES, i => {
            let mut residue = S::V::splat(0);
            for group in terms.chunks(LAZY_TERMS) {
                let mut sum = by.start(residue);
                for (a, b) in group {
                    sum = by.add(sum, S::V::load(a.as_ptr().add(i)), S::V::load(b.as_ptr().add(i)));
                }
                residue = by.reduce(sum);
            }
            residue.store(out.add(i))
        })
    }
}

#[inline(always)]
pub(super) unsafe fn dot_scalars<S: Sums>(
    by: S,
    out: *mut u64,
    limbs: &[&[u64]],
    constants: &[Shoup],
    len: usize,
) -> usize {
    // SAFETY: see `add`.
    unsafe {
        vectors!(len, S::V::LANES, i => {
            let mut residue = S::V::splat(0);
            for (limbs, constants) in limbs.chunks(LAZY_TERMS).zip(constants.chunks(LAZY_TERMS)) {
                let mut sum = by.start(residue);
                for (a, w) in limbs.iter().zip(constants) {
                    sum = by.add(sum, S::V::load(a.as_ptr().add(i)), S::V::splat(w.value));
                }
                residue = by.reduce(sum);
            }
            residue.store(out.add(i))
        })
    }
}

/// Defines functions for one instruction set: the loops that multiply residues, with its
/// instructions enabled. Its arithmetic may be right for some moduli only.
macro_rules! products {
    ($features:literal, products $products:ty, constants $constants:ty) => {
        /// Computes out = a b mod q, coefficient by coefficient, for the coefficients that fill whole vectors. Returns their
        /// number.
        ///
        /// # Safety
        /// The processor must have this instruction set, and the modulus must suit the arithmetic; pointers and slices must be valid for
        /// `len` words.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn mul(
            q: Modulus,
            out: *mut u64,
            a: *const u64,
            b: *const u64,
            len: usize,
        ) -> usize {
            // SAFETY: the features are enabled here; the rest is the caller's promise.
            unsafe { loops::mul(<$products>::new(q), out, a, b, len) }
        }

        /// Computes out = acc + a b mod q, coefficient by coefficient, for the coefficients that fill whole vectors. Returns
        /// their number.
        ///
        /// # Safety
        /// The processor must have this instruction set, and the modulus must suit the arithmetic; pointers and slices must be valid for
        /// `len` words.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn mac(
            q: Modulus,
            out: *mut u64,
            acc: *const u64,
            a: *const u64,
            b: *const u64,
            len: usize,
        ) -> usize {
            // SAFETY: the features are enabled here; the rest is the caller's promise.
            unsafe { loops::mac(<$products>::new(q), out, acc, a, b, len) }
        }

        /// Computes out = a w mod q for a limb a and a constant w, for the coefficients that fill whole vectors. Returns their
        /// number.
        ///
        /// # Safety
        /// The processor must have this instruction set, and the modulus must suit the arithmetic; pointers and slices must be valid for
        /// `len` words.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn mul_shoup(
            q: Modulus,
            out: *mut u64,
            a: *const u64,
            w: Shoup,
            len: usize,
        ) -> usize {
            // SAFETY: the features are enabled here; the rest is the caller's promise.
            unsafe { loops::mul_constant(<$constants>::new(q, w), out, a, len) }
        }
    };
}
pub(super) use products;

/// Defines the functions of one instruction set whose arithmetic is right for all moduli: the loops
/// over limbs, with its instructions enabled.
macro_rules! level {
    ($features:literal, $vector:ty, products $products:ty, constants $constants:ty, sums $sums:ty) => {
        /// Computes out = a + b mod q, coefficient by coefficient, for the coefficients that fill whole vectors. Returns their
        /// number.
        ///
        /// # Safety
        /// The processor must have this instruction set; pointers and slices must be valid for `len` words.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn add(
            q: Modulus,
            out: *mut u64,
            a: *const u64,
            b: *const u64,
            len: usize,
        ) -> usize {
            // SAFETY: the features are enabled here; the rest is the caller's promise.
            unsafe { loops::add::<$vector>(q, out, a, b, len) }
        }

        /// Computes out = a - b mod q, coefficient by coefficient, for the coefficients that fill whole vectors. Returns their
        /// number.
        ///
        /// # Safety
        /// The processor must have this instruction set; pointers and slices must be valid for `len` words.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn sub(
            q: Modulus,
            out: *mut u64,
            a: *const u64,
            b: *const u64,
            len: usize,
        ) -> usize {
            // SAFETY: the features are enabled here; the rest is the caller's promise.
            unsafe { loops::sub::<$vector>(q, out, a, b, len) }
        }

        /// Computes out = -a mod q, coefficient by coefficient, for the coefficients that fill whole vectors. Returns their
        /// number.
        ///
        /// # Safety
        /// The processor must have this instruction set; pointers and slices must be valid for `len` words.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn neg(q: Modulus, out: *mut u64, a: *const u64, len: usize) -> usize {
            // SAFETY: the features are enabled here; the rest is the caller's promise.
            unsafe { loops::neg::<$vector>(q, out, a, len) }
        }

        /// Computes out = a + w mod q for a limb a and a constant w, for the coefficients that fill whole vectors. Returns their
        /// number.
        ///
        /// # Safety
        /// The processor must have this instruction set; pointers and slices must be valid for `len` words.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn add_scalar(
            q: Modulus,
            out: *mut u64,
            a: *const u64,
            w: u64,
            len: usize,
        ) -> usize {
            // SAFETY: the features are enabled here; the rest is the caller's promise.
            unsafe { loops::add_scalar::<$vector>(q, out, a, w, len) }
        }

        loops::products!($features, products $products, constants $constants);

        /// Computes out = a mod q for a limb a of any 64-bit words, as a multiplication by 1, for
        /// the coefficients that fill whole vectors. Returns their number.
        ///
        /// # Safety
        /// The processor must have this instruction set; pointers and slices must be valid for `len` words.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn reduce(q: Modulus, out: *mut u64, a: *const u64, len: usize) -> usize {
            // SAFETY: the features are enabled here; the rest is the caller's promise.
            unsafe { loops::mul_constant(<$constants>::new(q, q.shoup(1)), out, a, len) }
        }

        /// Computes out = the sum of a_k b_k mod q over the pairs of limbs in `terms`, for the coefficients that fill whole
        /// vectors. Returns their number.
        ///
        /// # Safety
        /// The processor must have this instruction set; pointers and slices must be valid for `len` words.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn dot(
            q: Modulus,
            out: *mut u64,
            terms: &[(&[u64], &[u64])],
            len: usize,
        ) -> usize {
            // SAFETY: the features are enabled here; the rest is the caller's promise.
            unsafe { loops::dot(<$sums>::new(q), out, terms, len) }
        }
    };
}
pub(super) use level;
