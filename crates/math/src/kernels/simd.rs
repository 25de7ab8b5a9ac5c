// SPDX-License-Identifier: Apache-2.0
//! Calls the SIMD kernels of the backend that is in force. Each function computes a prefix of its operands and returns the
//! prefix's length, a multiple of the vector width. The length is 0 for the scalar backend.

use super::backend::Backend;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512, ifma, narrow::NarrowReducer, short};
use crate::{Modulus, Shoup};

/// Defines a function that calls the SIMD kernel of its name. `ifma when` names a function that
/// tells for which moduli the kernel with IFMA is faster than that with AVX-512 alone. `short` says
/// that there is a kernel with AVX2 for moduli below 2^32.
macro_rules! dispatch {
    (unsafe fn $name:ident($($arg:ident: $ty:ty),*)) => {
        dispatch!(unsafe fn $name($($arg: $ty),*) ifma: avx512 when never, avx2 when never);
    };
    (unsafe fn $name:ident($($arg:ident: $ty:ty),*) ifma when $better:ident) => {
        dispatch!(unsafe fn $name($($arg: $ty),*) ifma: ifma when $better, avx2 when never);
    };
    (unsafe fn $name:ident($($arg:ident: $ty:ty),*) ifma when $better:ident, short) => {
        dispatch!(unsafe fn $name($($arg: $ty),*) ifma: ifma when $better, short when is_short);
    };
    (unsafe fn $name:ident($($arg:ident: $ty:ty),*) ifma: $ifma:ident when $better:ident, $short:ident when $is_short:ident) => {
        /// Runs the SIMD kernel of this name for this thread's backend, modulo q. Returns the
        /// number of coefficients that it computed, the first ones. It is 0 if the backend has no
        /// such kernel.
        ///
        /// # Safety
        /// Every pointer and every slice of a limb must be valid for `len` words. The output may equal an input.
        pub(super) unsafe fn $name(q: Modulus, $($arg: $ty,)* len: usize) -> usize {
            match Backend::current() {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Backend::current` only gives backends whose features the processor has; the pointers are
                // the caller's promise.
                Backend::Avx512Ifma if $better(q) => unsafe { $ifma::$name(q, $($arg,)* len) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                Backend::Avx512 | Backend::Avx512Ifma => unsafe { avx512::$name(q, $($arg,)* len) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                Backend::Avx2 if $is_short(q) => unsafe { $short::$name(q, $($arg,)* len) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                Backend::Avx2 => unsafe { avx2::$name(q, $($arg,)* len) },
                _ => {
                    let _ = (q, $($arg,)* len); // nothing else uses them off x86-64
                    0
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
fn never(_: Modulus) -> bool {
    false
}

/// Returns whether kernels that multiply 32-bit factors by one instruction are right modulo q: q has at most 32 bits
/// and is no power of two.
#[cfg(target_arch = "x86_64")]
fn is_short(q: Modulus) -> bool {
    short::fits(q)
}

/// Returns whether the IFMA kernel for single products is faster than that with AVX-512 alone
/// modulo q. It is, except for those moduli of 51 to 53 bits for which `NarrowReducer` is not
/// right.
#[cfg(target_arch = "x86_64")]
pub(super) fn single_products(q: Modulus) -> bool {
    !(51..54).contains(&q.bits()) || NarrowReducer::fits(q)
}

/// Returns true: for any modulus, the IFMA kernels for sums of products and for products with a
/// constant are faster than those with AVX-512 alone.
#[cfg(target_arch = "x86_64")]
fn always(_: Modulus) -> bool {
    true
}

dispatch!(unsafe fn add(out: *mut u64, a: *const u64, b: *const u64));
dispatch!(unsafe fn sub(out: *mut u64, a: *const u64, b: *const u64));
dispatch!(unsafe fn mul(out: *mut u64, a: *const u64, b: *const u64) ifma when single_products, short);
dispatch!(unsafe fn neg(out: *mut u64, a: *const u64));
dispatch!(unsafe fn mac(out: *mut u64, acc: *const u64, a: *const u64, b: *const u64) ifma when single_products, short);
dispatch!(unsafe fn mul_shoup(out: *mut u64, a: *const u64, w: Shoup) ifma when always, short);
dispatch!(unsafe fn reduce(out: *mut u64, a: *const u64));
dispatch!(unsafe fn add_scalar(out: *mut u64, a: *const u64, w: u64));
dispatch!(unsafe fn dot(out: *mut u64, terms: &[(&[u64], &[u64])]) ifma when always, short);
dispatch!(unsafe fn dot_scalars(out: *mut u64, limbs: &[&[u64]], constants: &[Shoup]) ifma when always);
