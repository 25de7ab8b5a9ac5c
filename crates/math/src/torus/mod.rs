// SPDX-License-Identifier: Apache-2.0
//! Arithmetic of the torus schemes (TFHE): exact products of polynomials modulo X^N + 1, with coefficients modulo a
//! power of two or a prime, and polynomials of small digits.
//!
//! Each step of a blind rotation, and of the extraction and the key switch after it, is a function of its own. So a
//! device may call the steps one by one:
//!
//! | step | function |
//! | --- | --- |
//! | rotate and subtract, (X^a - 1) ACC | [`rotate_sub`] |
//! | decompose into signed digits | [`Gadget::decompose`] |
//! | transform the digits | [`TorusRing::forward`] |
//! | accumulate digits times key rows in transform form | [`TorusRing::accumulate`] |
//! | for unrolled keys, weigh the sums by X^a - 1 | [`TorusRing::monomial`], [`TorusRing::combine`] |
//! | back to coefficients, added to ACC | [`TorusRing::inverse_add`] |
//! | the ciphertext of coefficient 0 | [`extract_mask`] |
//! | key switch | [`SwitchRows::switch`], [`switch_words`] |
//!
//! [`NarrowRing`] has these steps, without the last two, modulo a prime of at most 30 bits, in words of 32 bits.
//!
//! All processors compute the same bits: doubles, where code uses them, hold integers exactly. [`Lift`] says how large results
//! of products may be; the caller chooses primes for which they are not larger.

mod coefficients;
mod extract;
mod gadget;
mod key;
mod key_switch;
mod lane;
mod monomial;
mod narrow;
mod products;
#[cfg(target_arch = "x86_64")]
mod products_avx2;
#[cfg(target_arch = "x86_64")]
mod products_ifma;
mod ring;
mod rotate;

pub use coefficients::Coefficients;
pub use extract::extract_mask;
pub use gadget::Gadget;
pub use key::{KeyRows, KeyShape};
pub use key_switch::{SwitchRows, switch_words};
pub use monomial::Monomials;
pub use narrow::{NarrowKey, NarrowRing, NarrowStep};
pub use ring::{Lift, TorusRing, TransformedKey};
pub use rotate::{rotate, rotate_sub};

/// Defines a function whose plain loop is compiled three times: without SIMD features, for AVX2 and for AVX-512. Each
/// call runs the copy for the backend of its thread.
macro_rules! levels {
    ($(#[$doc:meta])* fn $name:ident$(<$g:ident: $bound:path $(, const $c:ident: usize)?>)?($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$doc])*
        pub(in crate::torus) fn $name$(<$g: $bound $(, const $c: usize)?>)?($($arg: $ty),*) {
            #[inline(always)]
            fn plain$(<$g: $bound $(, const $c: usize)?>)?($($arg: $ty),*) $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2$(<$g: $bound $(, const $c: usize)?>)?($($arg: $ty),*) {
                plain$(::<$g $(, $c)?>)?($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq")]
            fn wide$(<$g: $bound $(, const $c: usize)?>)?($($arg: $ty),*) {
                plain$(::<$g $(, $c)?>)?($($arg),*)
            }

            match $crate::Backend::current() {
                $crate::Backend::Scalar => plain$(::<$g $(, $c)?>)?($($arg),*),
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Backend::current` only gives backends whose features the processor has.
                $crate::Backend::Avx2 => unsafe { avx2$(::<$g $(, $c)?>)?($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                _ => unsafe { wide$(::<$g $(, $c)?>)?($($arg),*) },
                #[cfg(not(target_arch = "x86_64"))]
                _ => plain$(::<$g $(, $c)?>)?($($arg),*),
            }
        }
    };
}
pub(in crate::torus) use levels;
