// SPDX-License-Identifier: Apache-2.0
//! Tests sums of products in a torus ring against schoolbook multiplication, and the inputs that a ring
//! refuses.

use ringmill_math::kernels::{available_backends, with_backend};
use ringmill_math::modmul::Solinas52;
use ringmill_math::primes::primes_one_mod;
use ringmill_math::torus::{Coefficients, Gadget, KeyRows, KeyShape, Lift, TorusRing, rotate_sub};
use ringmill_math::{Modulus, Prng};

fn prime(bits: u32) -> Modulus {
    Modulus::new(primes_one_mod(bits, 1 << 12, 1, &[]).unwrap()[0]).unwrap()
}

fn solinas() -> Modulus {
    Modulus::new(Solinas52::P).unwrap()
}

/// Adds the product of the polynomials `digits` and b to acc, modulo X^N + 1 and q, term by term.
fn schoolbook(q: Coefficients, acc: &mut [u64], digits: &[i64], b: &[u64]) {
    let n = acc.len();
    for (i, &d) in digits.iter().enumerate() {
        let d = q.from_i64(d);
        for (j, &b) in b.iter().enumerate() {
            let product = q.mul(d, b);
            let at = (i + j) % n;
            acc[at] = if i + j < n {
                q.add(acc[at], product)
            } else {
                q.sub(acc[at], product)
            };
        }
    }
}

fn rings() -> Vec<(Coefficients, Lift)> {
    let native = |q| (Coefficients::Prime(q), Lift::Native);
    vec![
        (Coefficients::word(32).unwrap(), Lift::One(solinas())),
        (Coefficients::word(32).unwrap(), Lift::One(prime(50))),
        (
            Coefficients::word(64).unwrap(),
            Lift::Two([prime(50), solinas()]),
        ),
        (
            Coefficients::word(64).unwrap(),
            Lift::Two([solinas(), prime(50)]),
        ),
        native(prime(30)),
        native(prime(32)),
        native(prime(40)),
        native(prime(50)),
        native(solinas()),
    ]
}

/// External products of two polynomials with keys of two columns, weighed by transforms of X^a - 1, are
/// right on each backend.
#[test]
fn sums_of_products_are_those_of_schoolbook_multiplication() {
    for (case, (q, lift)) in rings().into_iter().enumerate() {
        for log_n in [3, 4, 7, 8] {
            let ring = TorusRing::new(q, log_n, lift).unwrap();
            let n = ring.degree();
            let gadget = Gadget::new(q, 7, 3).unwrap();
            let (rows, cols, terms) = (6, 2, 3);
            let shape = KeyShape::new(n, rows, cols).unwrap();
            let mut prng = Prng::from_seed_for_reproducible_tests_only([case as u8; 32]);
            let mut poly = || -> Vec<u64> {
                let any = |_| (u128::from(prng.next_u64()) % q.modulus()) as u64;
                (0..n).map(any).collect()
            };
            let mut key = ring.key(shape, terms).unwrap();
            let mut plain = Vec::new();
            for at in 0..terms {
                for row in 0..rows {
                    for col in 0..cols {
                        let x = poly();
                        ring.put(&mut key, at, [row, col], &x).unwrap();
                        plain.push(x);
                    }
                }
            }
            let inputs = [poly(), poly()];
            let start = poly();
            let exponents = [1, n + 3, 2 * n - 1];
            let mut expected = vec![start.clone(); cols];
            for (at, &a) in exponents.iter().enumerate() {
                for row in 0..rows {
                    let digits: Vec<i64> = inputs[row / 3]
                        .iter()
                        .map(|&x| gadget.digits(x).nth(row % 3).unwrap())
                        .collect();
                    for (col, expected) in expected.iter_mut().enumerate() {
                        let mut product = vec![0; n];
                        let b = &plain[(at * rows + row) * cols + col];
                        schoolbook(q, &mut product, &digits, b);
                        let mut turned = vec![0; n];
                        rotate_sub(q, &mut turned, &product, a).unwrap();
                        q.add_assign(expected, &turned).unwrap();
                    }
                }
            }
            for backend in available_backends() {
                let got = with_backend(backend, || {
                    let mut sums = vec![vec![0; cols * n]; 2];
                    for (lane, sums) in sums.iter_mut().enumerate().take(ring.lanes()) {
                        let mut digits = vec![0; rows * n];
                        for (x, digits) in inputs.iter().zip(digits.chunks_mut(3 * n)) {
                            ring.decompose(lane, &gadget, digits, x).unwrap();
                        }
                        ring.forward(lane, &mut digits).unwrap();
                        let mut each = vec![0; terms * cols * n];
                        let mut weights = vec![0; terms * n];
                        for (at, sums) in each.chunks_mut(cols * n).enumerate() {
                            let rows = key.rows(lane, at);
                            ring.accumulate(lane, shape, &digits, rows, sums).unwrap();
                            let weight = &mut weights[at * n..][..n];
                            ring.monomial(lane, exponents[at], weight).unwrap();
                        }
                        ring.combine(lane, cols, &weights, &each, sums).unwrap();
                    }
                    let (first, second) = sums.split_at_mut(1);
                    (0..cols)
                        .map(|c| {
                            let mut acc = start.clone();
                            let range = c * n..(c + 1) * n;
                            let second = match ring.lanes() {
                                1 => &mut [][..],
                                _ => &mut second[0][range.clone()],
                            };
                            ring.inverse_add(&mut first[0][range], second, &mut acc)
                                .unwrap();
                            acc
                        })
                        .collect::<Vec<_>>()
                })
                .unwrap();
                assert_eq!(got, expected, "{q:?} {lift:?} 2^{log_n} {backend:?}");
            }
        }
    }
}

#[test]
fn sums_of_the_largest_residues_are_reduced() {
    for p in [
        prime(30),
        prime(32),
        prime(33),
        prime(40),
        prime(50),
        prime(51),
        solinas(),
    ] {
        let most = p.value() - 1;
        let ring = TorusRing::new(Coefficients::Prime(p), 4, Lift::Native).unwrap();
        for rows in [1, 2, 31, 32] {
            let shape = KeyShape::new(16, rows, 5).unwrap();
            let digits = vec![most; rows * 16];
            let narrow = vec![most as u32; shape.words()];
            let wide = vec![most; shape.words()];
            let key = match p.bits() <= 32 {
                true => KeyRows::Narrow(&narrow),
                false => KeyRows::Wide(&wide),
            };
            // Each product is (-1)^2.
            let expected = vec![rows as u64; 5 * 16];
            for backend in available_backends() {
                let mut out = vec![0; 5 * 16];
                let mut weighed = vec![0; 16];
                with_backend(backend, || {
                    ring.accumulate(0, shape, &digits, key, &mut out).unwrap();
                    ring.combine(0, 1, &digits, &digits, &mut weighed).unwrap();
                })
                .unwrap();
                assert_eq!(out, expected, "{p:?} {backend:?}");
                assert_eq!(weighed, expected[..16], "{p:?} {backend:?}");
            }
        }
    }
}

#[test]
fn rings_and_operands_that_cannot_be_are_refused() {
    let (word, q) = (Coefficients::word(32).unwrap(), prime(30));
    assert!(TorusRing::new(word, 4, Lift::Native).is_err());
    assert!(TorusRing::new(Coefficients::Prime(q), 4, Lift::One(q)).is_err());
    assert!(TorusRing::new(word, 4, Lift::Two([q, q])).is_err());
    assert!(TorusRing::new(word, 4, Lift::One(prime(53))).is_err());
    assert!(TorusRing::new(word, 14, Lift::One(q)).is_err());
    let ring = TorusRing::new(word, 4, Lift::One(q)).unwrap();
    let shape = KeyShape::new(16, 2, 2).unwrap();
    let key = ring.key(shape, 1).unwrap();
    let (digits, mut out) = ([0; 32], [0; 32]);
    let add =
        |key, digits: &[u64], out: &mut [u64]| ring.accumulate(0, shape, digits, key, out).is_ok();
    assert!(add(key.rows(0, 0), &digits, &mut out));
    assert!(!add(key.rows(0, 1), &digits, &mut out));
    assert!(!add(key.rows(1, 0), &digits, &mut out));
    assert!(!add(key.rows(0, 0), &digits[1..], &mut out));
    assert!(!add(key.rows(0, 0), &digits, &mut out[1..]));
    assert!(ring.forward(1, &mut out).is_err());
    assert!(
        ring.inverse_add(&mut [0; 16], &mut [0; 16], &mut [0; 16])
            .is_err()
    );
    for (n, rows, cols) in [(4, 2, 2), (24, 2, 2), (16, 0, 2), (16, 33, 2), (16, 2, 9)] {
        assert!(KeyShape::new(n, rows, cols).is_err());
    }
}
