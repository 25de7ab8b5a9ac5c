// SPDX-License-Identifier: Apache-2.0
//! Tests each kernel on each backend against its definition, on random and edge values, with and without a tail
//! after SIMD vectors.

mod backend;

use crate::common;

use ringmill_math::{Modulus, NttPlan, Ring, Shoup, kernels};

fn wide(q: Modulus, x: u128) -> u64 {
    (x % u128::from(q.value())) as u64
}

#[test]
fn elementwise_kernels_agree_with_the_definition() {
    common::on_every_backend(|backend| {
        for q in common::any_moduli() {
            let m = u128::from(q.value());
            for n in [1usize, 8, 64, 83] {
                for a in common::limbs(q, n, 1) {
                    for b in common::limbs(q, n, 2) {
                        let c = common::random_limb(q, n, 3);
                        let context = || format!("{backend:?} {q:?} n {n}");
                        let expect = |f: &dyn Fn(u128, u128, u128) -> u128| -> Vec<u64> {
                            (0..n)
                                .map(|i| wide(q, f(a[i].into(), b[i].into(), c[i].into())))
                                .collect()
                        };
                        let mut out = vec![u64::MAX; n];

                        kernels::add(q, &mut out, &a, &b).unwrap();
                        assert_eq!(out, expect(&|a, b, _| a + b), "add {}", context());
                        let mut x = a.clone();
                        kernels::add_assign(q, &mut x, &b).unwrap();
                        assert_eq!(x, out);

                        kernels::sub(q, &mut out, &a, &b).unwrap();
                        assert_eq!(out, expect(&|a, b, _| a + m - b), "sub {}", context());
                        let mut x = a.clone();
                        kernels::sub_assign(q, &mut x, &b).unwrap();
                        assert_eq!(x, out);

                        kernels::mul(q, &mut out, &a, &b).unwrap();
                        assert_eq!(out, expect(&|a, b, _| a * b), "mul {}", context());
                        let mut x = a.clone();
                        kernels::mul_assign(q, &mut x, &b).unwrap();
                        assert_eq!(x, out);

                        kernels::mac(q, &mut out, &c, &a, &b).unwrap();
                        assert_eq!(out, expect(&|a, b, c| a * b + c), "mac {}", context());
                        let mut x = c.clone();
                        kernels::mac_assign(q, &mut x, &a, &b).unwrap();
                        assert_eq!(x, out);
                    }

                    let mut out = vec![u64::MAX; n];
                    kernels::neg(q, &mut out, &a).unwrap();
                    assert_eq!(
                        out,
                        a.iter()
                            .map(|&x| wide(q, m - u128::from(x)))
                            .collect::<Vec<_>>()
                    );
                    let mut x = a.clone();
                    kernels::neg_assign(q, &mut x);
                    assert_eq!(x, out);

                    for w in [
                        0,
                        1,
                        q.value() - 1,
                        q.value(),
                        u64::MAX,
                        0x1234_5678_9abc_def1,
                    ] {
                        let times: Vec<u64> = a
                            .iter()
                            .map(|&x| wide(q, u128::from(x) * u128::from(w)))
                            .collect();
                        kernels::mul_scalar(q, &mut out, &a, w).unwrap();
                        assert_eq!(out, times);
                        let mut x = a.clone();
                        kernels::mul_scalar_assign(q, &mut x, w);
                        assert_eq!(x, times);

                        let plus: Vec<u64> = a
                            .iter()
                            .map(|&x| wide(q, u128::from(x) + u128::from(w)))
                            .collect();
                        kernels::add_scalar(q, &mut out, &a, w).unwrap();
                        assert_eq!(out, plus);
                        let mut x = a.clone();
                        kernels::add_scalar_assign(q, &mut x, w);
                        assert_eq!(x, plus);
                    }
                }
            }
        }
    });
}

#[test]
fn conversion_between_moduli() {
    common::on_every_backend(|_| {
        for from in common::any_moduli() {
            for to in common::any_moduli() {
                for a in common::limbs(from, 19, 4) {
                    let a: Vec<u64> = a.iter().map(|x| x % from.value()).collect();
                    let expected: Vec<u64> = a.iter().map(|x| x % to.value()).collect();
                    let mut out = vec![0; a.len()];
                    kernels::conv(from, to, &mut out, &a).unwrap();
                    assert_eq!(out, expected);
                    let mut x = a;
                    kernels::conv_assign(from, to, &mut x);
                    assert_eq!(x, expected);
                }
            }
        }
    });
}

#[test]
fn sums_of_products() {
    common::on_every_backend(|backend| {
        for q in common::any_moduli() {
            for terms in [0usize, 1, 2, 3, 8, 31, 32, 33, 63, 64, 65, 130] {
                let n = 85; // four vectors at a time, one at a time, and a tail
                let pick = |seed: u64| {
                    let mut all = common::limbs(q, n, seed);
                    // All limbs hold q - 1 except in few cases, so that accumulators reach their largest values.
                    if seed < 4 {
                        all.swap_remove(0)
                    } else {
                        all.swap_remove(3)
                    }
                };
                let a: Vec<_> = (0..terms as u64).map(pick).collect();
                let b: Vec<_> = (0..terms as u64).map(|k| pick(k * 3)).collect();
                let list: Vec<(&[u64], &[u64])> = a
                    .iter()
                    .zip(&b)
                    .map(|(x, y)| (x.as_slice(), y.as_slice()))
                    .collect();
                let mut out = vec![u64::MAX; n];
                kernels::dot(q, &mut out, &list).unwrap();
                let expected: Vec<u64> = (0..n)
                    .map(|i| {
                        list.iter().fold(0, |s, (x, y)| {
                            wide(q, u128::from(x[i]) * u128::from(y[i]) + u128::from(s))
                        })
                    })
                    .collect();
                assert_eq!(out, expected, "{backend:?} {q:?} {terms} terms");

                // The limbs may hold residues of any modulus; the constants are below q.
                let raw: Vec<Vec<u64>> = (0..terms as u64)
                    .map(|k| {
                        let mut limb: Vec<u64> =
                            common::numbers(k).take(n).map(|x| x >> 3).collect();
                        limb[0] = (1 << 61) - 1;
                        limb
                    })
                    .collect();
                let constants: Vec<Shoup> = (0..terms as u64)
                    .map(|k| q.shoup(if k % 2 == 0 { q.value() - 1 } else { k << 40 }))
                    .collect();
                let limbs: Vec<&[u64]> = raw.iter().map(Vec::as_slice).collect();
                kernels::dot_scalars(q, &mut out, &limbs, &constants).unwrap();
                let expected: Vec<u64> = (0..n)
                    .map(|i| {
                        limbs.iter().zip(&constants).fold(0, |s, (x, w)| {
                            wide(q, u128::from(x[i]) * u128::from(w.value) + u128::from(s))
                        })
                    })
                    .collect();
                assert_eq!(out, expected, "{backend:?} {q:?} {terms} constants");
            }
        }
    });
}

#[test]
fn lengths_must_agree() {
    let q = Modulus::new(97).unwrap();
    let (short, long) = ([0u64; 8], [0u64; 9]);
    let out = &mut [0u64; 9][..];
    assert!(kernels::add(q, out, &short, &long).is_err());
    assert!(kernels::sub(q, out, &long, &short).is_err());
    assert!(kernels::mul(q, out, &short, &short).is_err());
    assert!(kernels::mac(q, out, &long, &long, &short).is_err());
    assert!(kernels::mac(q, out, &short, &long, &long).is_err());
    assert!(kernels::neg(q, out, &short).is_err());
    assert!(kernels::mul_scalar(q, out, &short, 1).is_err());
    assert!(kernels::add_scalar(q, out, &short, 1).is_err());
    assert!(kernels::conv(q, q, out, &short).is_err());
    assert!(kernels::dot(q, out, &[(&long, &short)]).is_err());
    assert!(kernels::dot_scalars(q, out, &[&short], &[q.shoup(1)]).is_err());
    assert!(kernels::dot_scalars(q, out, &[&long], &[]).is_err());
    assert!(kernels::add_assign(q, out, &short).is_err());
    assert!(kernels::mac_assign(q, out, &long, &short).is_err());
}

/// Inputs that are no residues give wrong results, but never a panic.
#[test]
fn unreduced_inputs_do_no_harm() {
    common::on_every_backend(|_| {
        for q in common::moduli() {
            let a = vec![u64::MAX; 1024];
            let mut out = a.clone();
            kernels::add(q, &mut out, &a, &a).unwrap();
            kernels::sub(q, &mut out, &a, &a).unwrap();
            kernels::mul(q, &mut out, &a, &a).unwrap();
            kernels::mac(q, &mut out, &a, &a, &a).unwrap();
            kernels::neg(q, &mut out, &a).unwrap();
            kernels::add_scalar(q, &mut out, &a, u64::MAX).unwrap();
            kernels::mul_scalar(q, &mut out, &a, u64::MAX).unwrap();
            kernels::conv(q, common::moduli()[0], &mut out, &a).unwrap();
            kernels::auto_coeff(q, 3, &mut out, &a).unwrap();
            kernels::dot(q, &mut out, &vec![(a.as_slice(), a.as_slice()); 70]).unwrap();
            kernels::dot_scalars(q, &mut out, &[a.as_slice(); 70], &[q.shoup(u64::MAX); 70])
                .unwrap();
            let plan = NttPlan::shared(q, Ring::full(10)).unwrap();
            plan.forward(&mut a.clone()).unwrap();
            plan.inverse(&mut a.clone()).unwrap();
        }
    });
}
