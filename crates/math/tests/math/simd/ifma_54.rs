// SPDX-License-Identifier: Apache-2.0
//! Tests multiplication by a constant modulo a number of 52 to 54 bits against wide integers.

#![allow(unsafe_code)] // SIMD

use std::arch::x86_64::*;

use ringmill_math::internals::{Ifma54, LazyMul};
use ringmill_math::{Backend, Modulus, Prng, Shoup, kernels};

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn product_and_residue(q: Modulus, x: u64, w: Shoup) -> (u64, u64) {
    // SAFETY: the features are enabled here.
    unsafe {
        let all = |x: u64| _mm512_set1_epi64(x as i64);
        let first = |x: __m512i| _mm_cvtsi128_si64(_mm512_castsi512_si128(x)) as u64;
        let context = Ifma54::<false>::context(q);
        let w = Ifma54::<false>::constant(all(w.value), all(w.quotient));
        let [residue] = Ifma54::<false>::reduce_fully([all(x)], all(q.value()), all(0), context);
        (
            first(Ifma54::<false>::mul(all(x), w, context)),
            first(residue),
        )
    }
}

/// Products stay below 4q and residues are right for odd moduli of 52 to 54 bits and multiplicands
/// below 16 q, at the edges and at random.
#[test]
fn products_are_below_four_times_the_modulus() {
    if !kernels::available_backends().contains(&Backend::Avx512Ifma) {
        return;
    }
    let mut prng = Prng::from_seed_for_reproducible_tests_only([7; 32]);
    let mut next = || prng.next_u64();
    for round in 0..40_000u64 {
        let q = match round % 4 {
            0 => (1 << 54) - 1 - 2 * (round >> 2),
            1 => (1 << 51) + 1 + 2 * (round >> 2),
            _ => ((1 << 51) + next() % ((7 << 51) - 2)) | 1,
        };
        let q = Modulus::new(q).unwrap();
        let top = 16 * q.value() - 1;
        let x = match round % 5 {
            0 => top - next() % 9,
            1 => (next() % 64) << 52 | ((1 << 52) - 1),
            2 => next() % 5 * q.value(),
            _ => next(),
        } % (top + 1);
        let w = q.shoup(match round % 3 {
            0 => q.value() - 1 - next() % 9,
            _ => next() % q.value(),
        });
        // SAFETY: the processor has AVX-512 IFMA.
        let (product, residue) = unsafe { product_and_residue(q, x, w) };
        assert!(product < 4 * q.value(), "{q:?} {x} {}", w.value);
        let expected = u128::from(x) * u128::from(w.value) % u128::from(q.value());
        assert_eq!(u128::from(product % q.value()), expected);
        assert_eq!(residue, x % q.value());
    }
}
