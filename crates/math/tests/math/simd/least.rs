// SPDX-License-Identifier: Apache-2.0
//! Tests the function that takes the lesser of two words by a comparison of doubles.

#![allow(unsafe_code)] // SIMD, and the control register of vectors

use std::arch::asm;
use std::arch::x86_64::*;

use ringmill_math::internals::{compares_words, lesser};
use ringmill_math::plans::Task;
use ringmill_math::{Backend, Modulus, NttPlan, Prng, Ring, kernels, primes};

/// The bit of the vector units' control register that makes denormal doubles count as zeros.
const DENORMALS_ARE_ZEROS: u32 = 1 << 6;

#[target_feature(enable = "avx512f")]
fn lesser_of(x: u64, m: u64) -> u64 {
    // SAFETY: the features are enabled here. A test's thread has the default control register, so
    // words compare as doubles.
    unsafe {
        let all = |x: u64| _mm512_set1_epi64(x as i64);
        let lesser = lesser(all(x), all(m));
        _mm_cvtsi128_si64(_mm512_castsi512_si128(lesser)) as u64
    }
}

#[test]
fn lesser_is_correct() {
    if !kernels::available_backends().contains(&Backend::Avx512) {
        return;
    }
    for m in [1, 2, 3, 1 << 20, (1 << 50) - 27, (1 << 51) - 2, 1 << 51] {
        let mut prng = Prng::from_seed_for_reproducible_tests_only([1; 32]);
        for round in 0..20_000u64 {
            let edges = [0, m - 1, m, 2 * m - 1, m / 2, m + m / 2];
            let x = *edges
                .get(round as usize)
                .unwrap_or(&(prng.next_u64() % (2 * m)));
            // SAFETY: the processor has AVX-512.
            let got = unsafe { lesser_of(x, m) };
            let expected = if x >= m { x - m } else { x };
            assert_eq!(got, expected, "{x} {m}");
        }
    }
}

/// A thread on which denormal doubles count as zeros gets the same transforms.
#[test]
fn a_host_without_denormals_gets_the_same_bits() {
    if !kernels::available_backends().contains(&Backend::Avx512Ifma) {
        return;
    }
    let q = Modulus::new(primes::ntt_primes(50, 10, 1).unwrap()[0]).unwrap();
    let plan = NttPlan::shared(q, Ring::full(10)).unwrap();
    let name = plan
        .kernels()
        .into_iter()
        .find(|name| name.starts_with("ifma 50 spread"));
    let name = name.expect("the kernel is in the table");
    for task in [Task::Forward, Task::Inverse] {
        let limb: Vec<u64> = (0..1 << 10)
            .map(|i| q.reduce(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(i)))
            .collect();
        let (mut expected, mut got) = (limb.clone(), limb);
        kernels::with_backend(Backend::Scalar, || match task {
            Task::Inverse => plan.inverse(&mut expected).unwrap(),
            Task::Forward | Task::ForwardFrom => plan.forward(&mut expected).unwrap(),
        })
        .unwrap();
        let mut before = 0u32;
        // SAFETY: the register is as it was before anything else runs on this thread.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut before, options(nostack));
            let changed = before | DENORMALS_ARE_ZEROS;
            asm!("ldmxcsr [{}]", in(reg) &raw const changed, options(nostack));
            assert!(!compares_words());
            plan.run_on(&name, task, &mut got).unwrap();
            asm!("ldmxcsr [{}]", in(reg) &raw const before, options(nostack));
        }
        assert!(compares_words());
        assert!(got == expected);
    }
}
