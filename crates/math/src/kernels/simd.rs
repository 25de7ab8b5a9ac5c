//! Run-time dispatch of the SIMD kernels. Each function processes a prefix of its operands and returns its length, a
//! multiple of the vector width; 0 when the scalar backend is in force.

use crate::{Modulus, Shoup};

macro_rules! dispatch {
    ($(unsafe fn $name:ident($($arg:ident: $ty:ty),*);)*) => {$(
        /// # Safety
        /// Every pointer and slice must be valid for `len` words. The output may equal an input.
        pub(super) unsafe fn $name(q: Modulus, $($arg: $ty,)* len: usize) -> usize {
            let _ = (q, $($arg,)* len);
            0
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
