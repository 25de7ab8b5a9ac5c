//! Run-time dispatch of the SIMD kernels. Each function processes a prefix of its operands and returns its length, a
//! multiple of the vector width; 0 when the scalar backend is in force.

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::backend::Backend;
use crate::{Modulus, Shoup};

macro_rules! dispatch {
    ($(unsafe fn $name:ident($($arg:ident: $ty:ty),*);)*) => {$(
        /// # Safety
        /// Every pointer and slice must be valid for `len` words. The output may equal an input.
        pub(super) unsafe fn $name(q: Modulus, $($arg: $ty,)* len: usize) -> usize {
            match Backend::current() {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Backend::current` only gives backends whose features the processor has; the pointers are
                // the caller's promise.
                Backend::Avx512 | Backend::Avx512Ifma => unsafe { avx512::$name(q, $($arg,)* len) },
                _ => {
                    let _ = (q, $($arg,)* len); // nothing else uses them off x86-64
                    0
                }
            }
        }
    )*};
}

dispatch! {
    unsafe fn add(out: *mut u64, a: *const u64, b: *const u64);
    unsafe fn sub(out: *mut u64, a: *const u64, b: *const u64);
    unsafe fn mul(out: *mut u64, a: *const u64, b: *const u64);
    unsafe fn neg(out: *mut u64, a: *const u64);
    unsafe fn mac(out: *mut u64, acc: *const u64, a: *const u64, b: *const u64);
    unsafe fn mul_shoup(out: *mut u64, a: *const u64, w: Shoup);
    unsafe fn add_scalar(out: *mut u64, a: *const u64, w: u64);
    unsafe fn dot(out: *mut u64, terms: &[(&[u64], &[u64])]);
    unsafe fn dot_scalars(out: *mut u64, limbs: &[&[u64]], constants: &[Shoup]);
}
