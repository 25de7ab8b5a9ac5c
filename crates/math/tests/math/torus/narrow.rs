// SPDX-License-Identifier: Apache-2.0
//! Tests the steps of a blind rotation in words of 32 bits against those of [`TorusRing`], on each backend, and the
//! largest sums against integers.

use ringmill_math::kernels::{available_backends, with_backend};
use ringmill_math::primes::primes_one_mod;
use ringmill_math::torus::{
    Coefficients, Gadget, KeyShape, Lift, NarrowRing, TorusRing, rotate_sub,
};
use ringmill_math::{Modulus, Prng};

fn prime(bits: u32) -> Modulus {
    Modulus::new(primes_one_mod(bits, 1 << 12, 1, &[]).unwrap()[0]).unwrap()
}

fn narrowed(x: &[u64]) -> Vec<u32> {
    x.iter().map(|&x| x as u32).collect()
}

fn widened(x: &[u32]) -> Vec<u64> {
    x.iter().map(|&x| x.into()).collect()
}

/// Steps that take m bits of the secret key give the results of [`TorusRing`], on an accumulator of random residues.
#[test]
fn steps_are_those_of_the_wide_ring() {
    let mut case = 0;
    for (log_n, k, levels, m, bits) in [
        (4, 1, 3, 1, 30),
        (5, 1, 1, 2, 20),
        (6, 1, 3, 2, 30),
        (8, 1, 3, 3, 30),
        (7, 1, 4, 2, 29),
        (7, 1, 5, 3, 30),
        (7, 2, 3, 1, 30),
        (8, 2, 3, 2, 25),
        (9, 2, 4, 3, 30),
        (8, 3, 3, 1, 30),
        (6, 3, 2, 2, 30),
        (4, 3, 3, 3, 30),
    ] {
        case += 1;
        let q = Coefficients::Prime(prime(bits));
        let (n, cols, rows) = (1 << log_n, k + 1, (k + 1) * levels);
        let shape = KeyShape::new(n, rows, cols).unwrap();
        let gadget = Gadget::new(q, 4, levels).unwrap();
        let wide = TorusRing::new(q, log_n, Lift::Native).unwrap();
        let narrow = NarrowRing::serving(q, shape).unwrap().unwrap();
        let mut prng = Prng::from_seed_for_reproducible_tests_only([case; 32]);
        let mut poly = || -> Vec<u64> {
            let any = |_| (u128::from(prng.next_u64()) % q.modulus()) as u64;
            (0..n).map(any).collect()
        };
        // Two steps of m bits, and a last one of m - 1 bits.
        let patterns = (1usize << m) - 1;
        let count = 2 * patterns + patterns / 2;
        let mut wide_key = wide.key(shape, count).unwrap();
        let mut narrow_key = narrow.key(patterns, count).unwrap();
        assert_eq!(narrow_key.bytes(), wide_key.bytes());
        for at in 0..count {
            for place in (0..rows).flat_map(|row| (0..cols).map(move |col| [row, col])) {
                let x = poly();
                wide.put(&mut wide_key, at, place, &x).unwrap();
                narrow.put(&mut narrow_key, at, place, &x).unwrap();
            }
        }
        let acc: Vec<u64> = (0..cols).flat_map(|_| poly()).collect();
        for (step, a) in [(0, n + 3), (1, 1), (2, 2 * n - 1)] {
            let here = patterns.min(count - step * patterns);
            if here == 0 {
                continue;
            }
            let exponents: Vec<usize> = (0..here).map(|u| a * (u + 1) % (2 * n)).collect();
            let mut expected = acc.clone();
            let mut digits = vec![0; rows * n];
            for (x, digits) in acc.chunks(n).zip(digits.chunks_mut(levels * n)) {
                let mut turned = x.to_vec();
                if m == 1 {
                    rotate_sub(q, &mut turned, x, a).unwrap();
                }
                wide.decompose(0, &gadget, digits, &turned).unwrap();
            }
            wide.forward(0, &mut digits).unwrap();
            let (mut each, mut weights) = (vec![0; here * cols * n], vec![0; here * n]);
            for (u, sums) in each.chunks_mut(cols * n).enumerate() {
                let key = wide_key.rows(0, step * patterns + u);
                wide.accumulate(0, shape, &digits, key, sums).unwrap();
                let weight = &mut weights[u * n..][..n];
                wide.monomial(0, exponents[u], weight).unwrap();
            }
            let mut update = each[..cols * n].to_vec();
            if m > 1 {
                wide.combine(0, cols, &weights, &each, &mut update).unwrap();
            }
            for (x, acc) in update.chunks_mut(n).zip(expected.chunks_mut(n)) {
                wide.inverse_add(x, &mut [], acc).unwrap();
            }
            for backend in available_backends() {
                let got = with_backend(backend, || {
                    let mut acc = narrowed(&acc);
                    let mut digits = vec![0; rows * n];
                    for (x, digits) in acc.chunks(n).zip(digits.chunks_mut(levels * n)) {
                        let mut turned = x.to_vec();
                        if m == 1 {
                            narrow.rotate_sub(&mut turned, x, a).unwrap();
                        }
                        narrow.decompose(&gadget, digits, &turned).unwrap();
                    }
                    narrow.forward(&mut digits).unwrap();
                    let words = narrow.weight_words();
                    let mut weights = vec![0; if m == 1 { 0 } else { here * words }];
                    for (weight, &a) in weights.chunks_mut(words).zip(&exponents) {
                        narrow.monomial(a, weight).unwrap();
                    }
                    let mut update = vec![0; cols * n];
                    let rows = narrow_key.step(step);
                    narrow
                        .accumulate(rows, &digits, &weights, &mut update)
                        .unwrap();
                    for (x, acc) in update.chunks_mut(n).zip(acc.chunks_mut(n)) {
                        narrow.inverse_add(x, acc).unwrap();
                    }
                    acc
                })
                .unwrap();
                assert_eq!(
                    widened(&got),
                    expected,
                    "case {case}, step {step}, {backend:?}"
                );
            }
        }
    }
}

/// With digits and keys of q - 1, and weights at the ends of both halves of q, no sum of 64 bits overflows.
#[test]
fn the_largest_sums_are_exact() {
    let q = prime(30);
    let (n, high) = (16, (q.value() - 1) as u32);
    // A constant polynomial has the same evaluation at all positions. With the factor 2^32 of keys it is the largest,
    // q - 1.
    let mut constant = [0; 16];
    constant[0] = q.mul(high.into(), q.inv(q.reduce(1 << 32)).unwrap());
    for (rows, cols) in [
        (1, 2),
        (6, 2),
        (7, 2),
        (8, 2),
        (12, 2),
        (9, 3),
        (12, 3),
        (12, 4),
    ] {
        let shape = KeyShape::new(n, rows, cols).unwrap();
        let ring = NarrowRing::serving(Coefficients::Prime(q), shape);
        let ring = ring.unwrap().unwrap();
        for patterns in [1, 3, 7] {
            let mut key = ring.key(patterns, patterns).unwrap();
            for at in 0..patterns {
                for place in (0..rows).flat_map(|row| (0..cols).map(move |col| [row, col])) {
                    ring.put(&mut key, at, place, &constant).unwrap();
                }
            }
            let digits = vec![high; rows * n];
            let half = (q.value() / 2) as i32;
            for weight in [0, half, -half, 1, -1, 12345] {
                // The factors of high words: 2^32 times the weight, nearest to 0, and the largest numbers.
                let scaled = q.mul(q.from_i64(weight.into()), q.reduce(1 << 32));
                let scaled = Coefficients::Prime(q).centred(scaled) as i32;
                let pair = [[weight as u32; 16], [scaled as u32; 16]];
                let weights = pair.as_flattened().repeat(patterns);
                let sum = (0..patterns * rows).fold(0, |sum, _| q.add(sum, 1));
                let scale = q.inv(q.reduce(1 << 32)).unwrap();
                let expected = q.mul(q.mul(sum, q.from_i64(weight.into())), scale);
                for backend in available_backends() {
                    let mut out = vec![0; cols * n];
                    let step = key.step(0);
                    with_backend(backend, || {
                        ring.accumulate(step, &digits, &weights, &mut out).unwrap();
                    })
                    .unwrap();
                    let all = out.iter().all(|&x| u64::from(x) == expected);
                    assert!(all, "{backend:?} {rows} {cols} {patterns} {weight}");
                }
            }
        }
        let mut key = ring.key(1, 1).unwrap();
        for place in (0..rows).flat_map(|row| (0..cols).map(move |col| [row, col])) {
            ring.put(&mut key, 0, place, &constant).unwrap();
        }
        let scale = q.inv(q.reduce(1 << 32)).unwrap();
        for backend in available_backends() {
            let mut out = vec![0; cols * n];
            let digits = vec![high; rows * n];
            with_backend(backend, || {
                ring.accumulate(key.step(0), &digits, &[], &mut out)
                    .unwrap();
            })
            .unwrap();
            let expected = q.mul(rows as u64, scale);
            assert!(
                out.iter().all(|&x| u64::from(x) == expected),
                "{backend:?} {rows} {cols}"
            );
        }
    }
}

/// The narrow ring refuses moduli and shapes that only the wide ring serves, and wrong lengths.
#[test]
fn what_narrow_rings_do_not_serve() {
    let shape = |n, rows, cols| KeyShape::new(n, rows, cols).unwrap();
    let serving = |q, shape| NarrowRing::serving(q, shape).unwrap();
    let q = Coefficients::Prime(prime(30));
    assert!(serving(Coefficients::word(32).unwrap(), shape(64, 6, 2)).is_none());
    assert!(serving(Coefficients::Prime(prime(31)), shape(64, 6, 2)).is_none());
    for (n, rows, cols) in [(8, 6, 2), (64, 13, 2), (64, 6, 1), (64, 6, 5)] {
        assert!(serving(q, shape(n, rows, cols)).is_none());
    }
    let ring = serving(q, shape(64, 2, 2)).unwrap();
    let mut key = ring.key(3, 4).unwrap();
    ring.put(&mut key, 3, [1, 1], &[5; 64]).unwrap();
    assert!(ring.put(&mut key, 0, [0, 0], &[5; 63]).is_err());
    let (digits, weights, out) = (&[0; 128], &[0; 384], &mut [0; 128]);
    ring.accumulate(key.step(0), digits, weights, out).unwrap();
    ring.accumulate(key.step(1), digits, &weights[..128], out)
        .unwrap();
    ring.accumulate(key.step(1), digits, &[], out).unwrap();
    for (step, digits, weights, out) in [
        (0, &digits[..], &weights[..0], &mut [0; 128][..]),
        (0, digits, &weights[1..], &mut [0; 128]),
        (0, &digits[1..], weights, &mut [0; 128]),
        (0, digits, weights, &mut [0; 127]),
        (1, digits, weights, &mut [0; 128]),
        (2, digits, &[], &mut [0; 128]),
        (usize::MAX, digits, &[], &mut [0; 128]),
    ] {
        assert!(
            ring.accumulate(key.step(step), digits, weights, out)
                .is_err()
        );
    }
    let gadget = Gadget::new(Coefficients::Prime(prime(29)), 7, 3).unwrap();
    assert!(ring.decompose(&gadget, &mut [0; 192], &[0; 64]).is_err());
    assert!(ring.monomial(1, &mut [0; 64]).is_err());
    assert!(ring.rotate_sub(&mut [0; 64], &[0; 32], 1).is_err());
    assert!(ring.inverse_add(&mut [0; 64], &mut [0; 65]).is_err());
}
