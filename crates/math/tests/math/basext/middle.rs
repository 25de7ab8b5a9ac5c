// SPDX-License-Identifier: Apache-2.0
//! Tests the base extension of integers below Q/4 in magnitude, near this bound and beyond it.

use num_bigint::BigInt;
use ringmill_math::basext::MiddleHalf;
use ringmill_math::{Modulus, Prng, RnsBasis, primes};

#[test]
fn the_middle_half_is_exact_and_the_rest_is_refused() {
    let mut prng = Prng::from_seed_for_reproducible_tests_only([9; 32]);
    for (bits, l) in [(30, 1), (60, 1), (54, 7), (61, 17), (36, 64)] {
        let moduli = primes::ntt_primes(bits, 8, l + 2).unwrap();
        let moduli: Vec<_> = moduli.iter().map(|&q| Modulus::new(q).unwrap()).collect();
        let (to, from) = moduli.split_at(2);
        let to = [to[0], to[1], Modulus::new(65537).unwrap()];
        let basis = RnsBasis::new(from.to_vec()).unwrap();
        let extension = MiddleHalf::new(&basis, &to).unwrap();
        let q = BigInt::from(basis.product().clone());
        let quarter: BigInt = &q >> 2u32;
        // The bound on how far the sums of fractions are short, times Q.
        let margin: BigInt = (&q * (3 * l + 1)) >> 51u32;
        let mut scratch = vec![0; extension.scratch_len()];
        let mut check = |a: &BigInt| {
            let residue = |p: &Modulus| {
                let p = BigInt::from(p.value());
                u64::try_from(((a % &p) + &p) % &p).unwrap()
            };
            // The length is no multiple of a vector, so that SIMD and scalar code both run.
            let limbs: Vec<Vec<u64>> = from.iter().map(|p| vec![residue(p); 13]).collect();
            let limbs: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
            let mut out = vec![vec![0; 13]; to.len()];
            let mut rows: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
            let fits = extension.convert(&limbs, &mut rows, &mut scratch).unwrap();
            for (p, row) in to.iter().zip(&out) {
                assert!(!fits || row.iter().all(|&x| x == residue(p)), "{a}");
            }
            fits
        };
        for near in [BigInt::ZERO, &quarter - &margin - 1, &margin - &quarter + 1] {
            for step in -3..=3 {
                let a: BigInt = &near + step;
                if a.magnitude() < (&quarter - &margin).magnitude() {
                    assert!(check(&a), "{bits} bits, {l}: {a}");
                }
            }
        }
        // Integers just beyond Q/4 and near Q/2, of both signs.
        let beyond: BigInt = &quarter + &margin + 2;
        for far in [beyond, &q >> 1u32] {
            for step in 0..3 {
                for a in [&far - step, step - &far] as [BigInt; 2] {
                    if a.magnitude() > (&quarter + &margin).magnitude() {
                        assert!(!check(&a), "{bits} bits, {l}: {a}");
                    }
                }
            }
        }
        for _ in 0..300 {
            let limbs: Vec<u64> = from.iter().map(|p| prng.next_u64() % p.value()).collect();
            let a = basis.compose_centred(&limbs).unwrap();
            for a in [&a >> 1u32, &a >> (u64::from(bits) / 2), a] {
                let small = a.magnitude() < (&quarter - &margin).magnitude();
                let large = a.magnitude() > (&quarter + &margin).magnitude();
                let fits = check(&a);
                assert!(
                    (!small || fits) && (!large || !fits),
                    "{bits} bits, {l}: {a}"
                );
            }
        }
    }
}
