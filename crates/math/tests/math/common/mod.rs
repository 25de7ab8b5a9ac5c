// SPDX-License-Identifier: Apache-2.0
//! Numbers, limbs and moduli that the tests share. Random numbers come from a generator of this file, not from the
//! crate.
#![allow(dead_code)] // each test file uses some of these

use ringmill_math::{Backend, Modulus, kernels, primes};

/// Returns the SplitMix64 sequence of a seed.
pub fn numbers(mut seed: u64) -> impl Iterator<Item = u64> {
    std::iter::repeat_with(move || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

pub fn random_limb(q: Modulus, n: usize, seed: u64) -> Vec<u64> {
    numbers(seed).take(n).map(|x| x % q.value()).collect()
}

/// Returns seven limbs: a random one, then all 0, all 1, all q - 1, 0 and q - 1 in turn (twice), and a mix of
/// residues at the edges.
pub fn limbs(q: Modulus, n: usize, seed: u64) -> Vec<Vec<u64>> {
    let top = q.value() - 1;
    let edges = [0, 1 % q.value(), top, top / 2, top - top / 2];
    vec![
        random_limb(q, n, seed),
        vec![0; n],
        vec![1; n],
        vec![top; n],
        (0..n).map(|i| if i % 2 == 0 { 0 } else { top }).collect(),
        (0..n).map(|i| if i % 2 == 0 { top } else { 0 }).collect(),
        numbers(seed ^ 99)
            .take(n)
            .map(|x| edges[(x % 5) as usize])
            .collect(),
    ]
}

/// Returns NTT primes (for N up to 2^10) of many sizes, among them sizes on both sides of the kernels' limits.
pub fn moduli() -> Vec<Modulus> {
    [14, 20, 31, 32, 33, 49, 50, 51, 52, 53, 54, 59, 60, 61]
        .iter()
        .map(|&bits| Modulus::new(primes::ntt_primes(bits, 10, 1).unwrap()[0]).unwrap())
        .collect()
}

/// Returns [`moduli`], then moduli without an NTT: 2, 3, powers of two, composites, and the largest and smallest of a
/// size.
pub fn any_moduli() -> Vec<Modulus> {
    let mut list = moduli();
    let top = 1u64 << 61;
    list.extend(
        [
            2,
            3,
            4,
            5,
            255,
            256,
            257,
            1 << 32,
            (1 << 32) - 1,
            (1 << 50) - 1,
            1 << 50,
            1 << 51,
            1 << 52,
            1 << 60,
            (1 << 60) - 1,
            top - 1,
        ]
        .map(|q| Modulus::new(q).unwrap()),
    );
    list
}

/// Runs `f` once on each backend of this processor.
pub fn on_every_backend(f: impl Fn(Backend)) {
    for backend in kernels::available_backends() {
        kernels::with_backend(backend, || f(backend)).unwrap();
    }
}
