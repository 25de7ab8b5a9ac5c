// SPDX-License-Identifier: Apache-2.0
//! Tests the transform against its definition, and the transforms of half rings against that of the full ring.

mod from;

use crate::common;

use crate::common::random_limb;
use proptest::prelude::*;
use ringmill_math::bits::bit_reverse;
use ringmill_math::plans::Task;
use ringmill_math::{
    AutoEvalPlan, Backend, MathError, Modulus, Ntt32, NttPlan, Prng, Ring, RingKind, kernels,
    primes,
};

fn evaluate(q: Modulus, a: &[u64], point: u64) -> u64 {
    a.iter()
        .rev()
        .fold(0, |sum, &c| q.add(q.mul(sum, point), c))
}

#[test]
fn psi_is_the_smallest_primitive_root() {
    // No number below psi has order 2N; all of them are tried.
    for (q, log_n) in [
        (17u64, 2u8),
        (17, 3),
        (97, 4),
        (257, 5),
        (257, 7),
        (12289, 8),
    ] {
        let modulus = Modulus::new(q).unwrap();
        let psi = NttPlan::new(modulus, Ring::full(log_n)).unwrap().psi();
        let n = 1u64 << log_n;
        let primitive = |x: u64| modulus.pow(x, n) == q - 1;
        assert!(primitive(psi));
        assert!((1..psi).all(|x| !primitive(x)), "q {q} n {n}");
    }
}

#[test]
fn every_position_holds_its_evaluation() {
    for log_n in 1..=7u8 {
        for bits in [20, 30, 50, 60, 61] {
            let q =
                Modulus::new(primes::ntt_primes(bits, u32::from(log_n), 1).unwrap()[0]).unwrap();
            let plan = NttPlan::new(q, Ring::full(log_n)).unwrap();
            let a = random_limb(q, 1 << log_n, 7 + u64::from(log_n));
            let mut evaluations = a.clone();
            plan.forward(&mut evaluations).unwrap();
            for (i, &value) in evaluations.iter().enumerate() {
                let point = q.pow(plan.psi(), 2 * bit_reverse(i, u32::from(log_n)) as u64 + 1);
                assert_eq!(value, evaluate(q, &a, point));
            }
            plan.inverse(&mut evaluations).unwrap();
            assert_eq!(evaluations, a);
        }
    }
}

/// The transform is exact on all 17^4 polynomials modulo 17 and x^4 + 1, and on all 97^2 modulo 97 and x^2 + 1.
#[test]
fn exhaustive_at_tiny_parameters() {
    for (q, log_n) in [(17u64, 2u8), (97, 1)] {
        let modulus = Modulus::new(q).unwrap();
        let plan = NttPlan::new(modulus, Ring::full(log_n)).unwrap();
        let n = 1u32 << log_n;
        let points: Vec<u64> = (0..n as usize)
            .map(|i| modulus.pow(plan.psi(), 2 * bit_reverse(i, u32::from(log_n)) as u64 + 1))
            .collect();
        for code in 0..q.pow(n) {
            let a: Vec<u64> = (0..n).map(|i| code / q.pow(i) % q).collect();
            let mut x = a.clone();
            plan.forward(&mut x).unwrap();
            assert!(
                x.iter()
                    .zip(&points)
                    .all(|(&value, &point)| value == evaluate(modulus, &a, point))
            );
            plan.inverse(&mut x).unwrap();
            assert_eq!(x, a);
        }
    }
}

#[test]
fn halves_are_the_two_halves_of_the_evaluation_form() {
    for log_n in [2u8, 3, 6, 9] {
        let ring = Ring::full(log_n);
        let (ring_p, ring_m) = ring.halves();
        let q = Modulus::new(primes::ntt_primes(54, u32::from(log_n), 1).unwrap()[0]).unwrap();
        let plan = NttPlan::shared(q, ring).unwrap();
        let (plan_p, plan_m) = (
            NttPlan::shared(q, ring_p).unwrap(),
            NttPlan::shared(q, ring_m).unwrap(),
        );
        let a = random_limb(q, ring.len(), 3);
        let (mut p, mut m) = (vec![0; ring_p.len()], vec![0; ring_m.len()]);
        kernels::split(q, ring, &mut p, &mut m, &a).unwrap();
        // p = a mod x^n - zeta, by the definition of a remainder.
        for i in 0..p.len() {
            let t = q.mul(plan.zeta(), a[i + p.len()]);
            assert_eq!((p[i], m[i]), (q.add(a[i], t), q.sub(a[i], t)));
        }
        assert_eq!(q.mul(plan.zeta(), plan.zeta()), q.value() - 1);
        let mut joined = vec![0; a.len()];
        kernels::join(q, ring, &mut joined, &p, &m).unwrap();
        assert_eq!(joined, a);

        let (coeff_p, coeff_m) = (p.clone(), m.clone());
        let mut full = a.clone();
        plan.forward(&mut full).unwrap();
        plan_p.forward(&mut p).unwrap();
        plan_m.forward(&mut m).unwrap();
        assert_eq!(full, [p.clone(), m.clone()].concat());
        plan_p.inverse(&mut p).unwrap();
        plan_m.inverse(&mut m).unwrap();
        assert_eq!((p, m), (coeff_p, coeff_m));
    }
}

/// Splitting halves again and again gives quarters and smaller parts. Their transforms are the parts of the full ring's
/// evaluation form.
#[test]
fn parts_are_the_parts_of_the_evaluation_form() {
    for (log_n, depth) in [(3u8, 2u32), (6, 2), (6, 3), (9, 4)] {
        let q = Modulus::new(primes::ntt_primes(54, u32::from(log_n), 1).unwrap()[0]).unwrap();
        let whole = Ring::full(log_n);
        let a = random_limb(q, whole.len(), 7);
        let mut parts = vec![(whole, a.clone())];
        for _ in 0..depth {
            let mut next = Vec::new();
            for (ring, limb) in parts {
                let (ring_p, ring_m) = ring.halves();
                let (mut p, mut m) = (vec![0; ring_p.len()], vec![0; ring_m.len()]);
                kernels::split(q, ring, &mut p, &mut m, &limb).unwrap();
                let mut joined = vec![0; limb.len()];
                kernels::join(q, ring, &mut joined, &p, &m).unwrap();
                assert_eq!(joined, limb);
                next.extend([(ring_p, p), (ring_m, m)]);
            }
            parts = next;
        }
        let mut expected = a;
        NttPlan::shared(q, whole)
            .unwrap()
            .forward(&mut expected)
            .unwrap();
        for (i, (ring, limb)) in parts.iter().enumerate() {
            assert_eq!(
                ring.kind,
                RingKind::of_number((1 << depth) + i as u8).unwrap()
            );
            assert_eq!((ring.parent(), ring.first()), (whole, i * ring.len()));
            let plan = NttPlan::shared(q, *ring).unwrap();
            let mut x = limb.clone();
            plan.forward(&mut x).unwrap();
            assert_eq!(x, expected[ring.first()..ring.first() + ring.len()]);
            plan.inverse(&mut x).unwrap();
            assert_eq!(&x, limb);
        }
        // An automorphism takes all values of a part from one part.
        for galois in [3, 5, 15, (2 << log_n) - 1] {
            let plan = AutoEvalPlan::shared(log_n.into(), galois).unwrap();
            let mut turned = vec![0; whole.len()];
            plan.apply(&mut turned, &expected).unwrap();
            for (ring, _) in &parts {
                let from = Ring {
                    kind: plan.source(*ring),
                    ..*ring
                };
                let mut out = vec![0; ring.len()];
                let a = &expected[from.first()..from.first() + from.len()];
                plan.apply_part(*ring, &mut out, a).unwrap();
                assert_eq!(out, turned[ring.first()..ring.first() + ring.len()]);
            }
        }
    }
    let q = Modulus::new(primes::ntt_primes(54, 9, 1).unwrap()[0]).unwrap();
    for kind in [RingKind::Part(0), RingKind::Part(3)] {
        assert!(NttPlan::new(q, Ring { log_n: 5, kind }).is_err());
    }
    let deepest = Ring {
        log_n: 10,
        kind: RingKind::Part(255),
    };
    assert_eq!(deepest.halves().0.kind, RingKind::Part(0));
}

#[test]
fn bad_plans_are_refused() {
    let q = |x| Modulus::new(x).unwrap();
    // 17 has no root of order 32, and 65 is not prime.
    assert!(matches!(
        NttPlan::new(q(17), Ring::full(4)),
        Err(MathError::NoRootOfUnity {
            modulus: 17,
            order: 32
        })
    ));
    assert!(matches!(
        NttPlan::new(q(65), Ring::full(4)),
        Err(MathError::NotPrime { modulus: 65 })
    ));
    assert!(NttPlan::new(q(17), Ring::full(0)).is_err());
    assert!(NttPlan::new(q(17), Ring::full(200)).is_err());
    let plan = NttPlan::new(q(17), Ring::full(3)).unwrap();
    assert!(plan.forward(&mut [0; 4]).is_err());
    assert!(plan.inverse(&mut [0; 16]).is_err());
    let (p, _) = Ring::full(3).halves();
    assert!(NttPlan::new(q(17), p).is_ok());
    assert!(kernels::split(q(17), p, &mut [0; 4], &mut [0; 4], &[0; 8]).is_err());
}

/// Returns a b modulo x^n + 1, computed term by term.
fn schoolbook(q: Modulus, a: &[u64], b: &[u64]) -> Vec<u64> {
    let n = a.len();
    let mut out = vec![0; n];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            let product = q.mul(x, y);
            let k = (i + j) % n;
            out[k] = if i + j < n {
                q.add(out[k], product)
            } else {
                q.sub(out[k], product)
            };
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn products_agree_with_schoolbook(log_n in 1u8..=8, bits in 20u32..=61, seed: u64) {
        let q = Modulus::new(primes::ntt_primes(bits, u32::from(log_n), 1).unwrap()[0]).unwrap();
        let plan = NttPlan::shared(q, Ring::full(log_n)).unwrap();
        let (a, b) = (random_limb(q, 1 << log_n, seed), random_limb(q, 1 << log_n, !seed));
        let expected = schoolbook(q, &a, &b);
        for backend in kernels::available_backends() {
            let product = kernels::with_backend(backend, || {
                let (mut x, mut y) = (a.clone(), b.clone());
                plan.forward(&mut x).unwrap();
                plan.forward(&mut y).unwrap();
                kernels::mul_assign(q, &mut x, &y).unwrap();
                plan.inverse(&mut x).unwrap();
                x
            });
            prop_assert_eq!(&product.unwrap(), &expected);
        }
    }
}

/// All backends give the bits of the scalar one, on random and edge limbs, for full rings and halves of many sizes.
#[test]
fn backends_agree_bit_for_bit() {
    // Sizes of moduli on both sides of each arithmetic's limit.
    let sizes = [14u32, 30, 34, 35, 46, 47, 50, 51, 54, 60, 61];
    for log_n in 1..=12u8 {
        for &bits in &sizes {
            let Ok(list) = primes::ntt_primes(bits, u32::from(log_n) + 1, 1) else {
                continue;
            };
            let q = Modulus::new(list[0]).unwrap();
            check_backends(q, log_n);
        }
    }
    for log_n in 13..=17u8 {
        // A half ring needs a root of twice the order; at 2^17 there is only the full ring.
        let order = (u32::from(log_n) + 1).min(u32::from(Ring::MAX_LOG_N));
        for bits in [34, 46, 50, 51, 54, 60, 61] {
            let q = Modulus::new(primes::ntt_primes(bits, order, 1).unwrap()[0]).unwrap();
            check_backends(q, log_n);
        }
    }
}

/// The prime of the torus engine, 2^52 - 2^12 + 1, has roots of unity for N up to 2^11, and for halves of that.
#[test]
fn backends_agree_modulo_the_torus_prime() {
    let q = Modulus::new((1 << 52) - (1 << 12) + 1).unwrap();
    for log_n in 1..=10 {
        check_backends(q, log_n);
    }
    check_ring(q, Ring::full(11));
    assert!(NttPlan::new(q, Ring::full(12)).is_err());
}

#[test]
fn batches_are_limb_by_limb() {
    let q = Modulus::new(primes::ntt_primes(60, 8, 1).unwrap()[0]).unwrap();
    let plan = NttPlan::new(q, Ring::full(8)).unwrap();
    let limbs: Vec<Vec<u64>> = (0..3).map(|seed| random_limb(q, 256, seed)).collect();
    let mut batch = limbs.clone();
    let mut slices: Vec<&mut [u64]> = batch.iter_mut().map(Vec::as_mut_slice).collect();
    plan.forward_batch(&mut slices).unwrap();
    for (limb, slice) in limbs.iter().zip(&slices) {
        let mut x = limb.clone();
        plan.forward(&mut x).unwrap();
        assert_eq!(x, **slice);
    }
    plan.inverse_batch(&mut slices).unwrap();
    assert_eq!(batch, limbs);
    // If one limb has a wrong length, no limb changes.
    let mut short = vec![0; 128];
    let mut slices: Vec<&mut [u64]> = batch.iter_mut().map(Vec::as_mut_slice).collect();
    slices.push(&mut short);
    assert!(plan.forward_batch(&mut slices).is_err());
    assert!(plan.inverse_batch(&mut slices).is_err());
    assert_eq!(batch, limbs);
}

fn check_backends(q: Modulus, log_n: u8) {
    let (half_p, half_m) = Ring::full(log_n + 1).halves();
    let with_halves = log_n < Ring::MAX_LOG_N;
    for ring in [Ring::full(log_n), half_p, half_m]
        .into_iter()
        .take(if with_halves { 3 } else { 1 })
    {
        check_ring(q, ring);
    }
}

fn check_ring(q: Modulus, ring: Ring) {
    let plan = NttPlan::new(q, ring).unwrap();
    for limb in common::limbs(q, ring.len(), 11) {
        let run = |backend, forward| {
            kernels::with_backend(backend, || {
                let mut x = limb.clone();
                if forward {
                    plan.forward(&mut x).unwrap()
                } else {
                    plan.inverse(&mut x).unwrap()
                }
                x
            })
            .unwrap()
        };
        for forward in [true, false] {
            let expected = run(Backend::Scalar, forward);
            for backend in kernels::available_backends() {
                assert!(
                    run(backend, forward) == expected,
                    "{backend:?} {ring:?} {q:?} forward {forward}"
                );
            }
        }
    }
}

/// The 32-bit transform gives the residues of the 64-bit one on every backend, at every length from 4 on.
#[test]
fn narrow_limbs_agree_with_wide_ones() {
    for log_n in 2..=17u8 {
        for bits in [20u32, 29, 30, 31, 32] {
            let order = (u32::from(log_n) + 1).min(u32::from(Ring::MAX_LOG_N));
            let Ok(list) = primes::ntt_primes(bits, order, 1) else {
                continue;
            };
            let q = Modulus::new(list[0]).unwrap();
            let (half_p, half_m) = Ring::full(log_n + 1).halves();
            let halves = log_n < Ring::MAX_LOG_N;
            for ring in [Ring::full(log_n), half_p, half_m]
                .into_iter()
                .take(if halves { 3 } else { 1 })
            {
                let (narrow, wide) = (Ntt32::new(q, ring).unwrap(), NttPlan::new(q, ring).unwrap());
                assert_eq!(u64::from(narrow.psi()), wide.psi());
                for limb in common::limbs(q, ring.len(), 5) {
                    let mut forward = limb.clone();
                    wide.forward(&mut forward).unwrap();
                    for backend in kernels::available_backends() {
                        kernels::with_backend(backend, || {
                            let mut x: Vec<u32> = limb.iter().map(|&a| a as u32).collect();
                            narrow.forward(&mut x).unwrap();
                            let same = x.iter().zip(&forward).all(|(&a, &b)| u64::from(a) == b);
                            assert!(same, "{backend:?} {ring:?} {q:?}");
                            narrow.inverse(&mut x).unwrap();
                            let same = x.iter().zip(&limb).all(|(&a, &b)| u64::from(a) == b);
                            assert!(same, "inverse {backend:?} {ring:?} {q:?}");
                        })
                        .unwrap();
                    }
                }
            }
        }
    }
}

#[test]
fn narrow_plans_refuse_what_does_not_fit() {
    let large = Modulus::new(primes::ntt_primes(33, 4, 1).unwrap()[0]).unwrap();
    assert!(Ntt32::new(large, Ring::full(4)).is_err());
    let plan = Ntt32::shared(Modulus::new(97).unwrap(), Ring::full(4)).unwrap();
    assert!(plan.forward(&mut [0; 8]).is_err());
    assert!(plan.inverse(&mut [0; 17]).is_err());
}

/// All kernels for a modulus and a length give the bits of the scalar one, in words of 64 and of 32 bits. A name that
/// no kernel has is refused.
#[test]
fn every_kernel_gives_the_same_bits() {
    for bits in [30u32, 31, 32, 34, 46, 50, 51, 52, 53, 54, 55, 59, 60, 61] {
        for log_n in [3u8, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16] {
            let Ok(list) = primes::ntt_primes(bits, u32::from(log_n) + 1, 1) else {
                continue;
            };
            let q = Modulus::new(list[0]).unwrap();
            let ring = match log_n % 3 {
                0 => Ring::full(log_n),
                1 => Ring::full(log_n + 1).halves().0,
                _ => Ring::full(log_n + 1).halves().1,
            };
            check_kernels(q, ring, &common::limbs(q, ring.len(), 23)[..2]);
            check_kernels(q, ring, &common::limbs(q, ring.len(), 24)[6..]);
        }
    }
    let plan = NttPlan::shared(Modulus::new(97).unwrap(), Ring::full(4)).unwrap();
    assert!(plan.run_on("abacus", Task::Forward, &mut [0; 16]).is_err());
    assert!(plan.run_on("scalar", Task::Forward, &mut [0; 8]).is_err());
}

/// Doubles and words of 52 and 54 bits have the least room for the largest primes of each range. The residues are at
/// both ends of their range and next to its middle.
#[test]
fn transforms_of_extreme_residues_are_exact() {
    let largest = |bits| primes::ntt_primes(bits, 13, 1).unwrap()[0];
    let primes = [
        largest(50),
        largest(51),
        (1 << 52) - (1 << 12) + 1,
        largest(52),
        largest(54),
    ];
    for (case, q) in primes.into_iter().enumerate() {
        let mut prng = Prng::from_seed_for_reproducible_tests_only([case as u8; 32]);
        let extremes = [0, 1, q / 2 - 1, q / 2, q / 2 + 1, q - 2, q - 1];
        let q = Modulus::new(q).unwrap();
        for log_n in [5, 6, 7, 8, 11] {
            let n = 1usize << log_n;
            let mut any = || extremes[(prng.next_u64() % extremes.len() as u64) as usize];
            let limbs: Vec<Vec<u64>> = (0..20).map(|_| (0..n).map(|_| any()).collect()).collect();
            check_kernels(q, Ring::full(log_n), &limbs);
        }
    }
}

fn check_kernels(q: Modulus, ring: Ring, limbs: &[Vec<u64>]) {
    let wide = NttPlan::new(q, ring).unwrap();
    let narrow = (q.bits() <= 32).then(|| Ntt32::new(q, ring).unwrap());
    for limb in limbs {
        for task in [Task::Forward, Task::Inverse] {
            let mut expected = limb.clone();
            kernels::with_backend(Backend::Scalar, || match task {
                Task::Inverse => wide.inverse(&mut expected).unwrap(),
                _ => wide.forward(&mut expected).unwrap(),
            })
            .unwrap();
            for name in wide.kernels() {
                let mut x = limb.clone();
                wide.run_on(&name, task, &mut x).unwrap();
                assert!(x == expected, "{name} {task:?} {ring:?} {q:?}");
            }
            for name in narrow.iter().flat_map(Ntt32::kernels) {
                let mut x: Vec<u32> = limb.iter().map(|&x| x as u32).collect();
                narrow
                    .iter()
                    .for_each(|plan| plan.run_on(&name, task, &mut x).unwrap());
                let same = x.iter().zip(&expected).all(|(&a, &b)| u64::from(a) == b);
                assert!(same, "32-bit words, {name} {task:?} {ring:?} {q:?}");
            }
        }
    }
}
