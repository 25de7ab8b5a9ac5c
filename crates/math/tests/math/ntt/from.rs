// SPDX-License-Identifier: Apache-2.0
//! Tests transforms that start from residues of another modulus against their steps done one after
//! the other.

#![allow(unsafe_code)] // a kernel by itself

use crate::common;

#[cfg(target_arch = "x86_64")]
use ringmill_math::Backend;
#[cfg(target_arch = "x86_64")]
use ringmill_math::internals::{at, candidates, forward_from, widths};
use ringmill_math::{Difference, Modulus, NttPlan, Ring, kernels, primes};

fn prime(bits: u32, log_n: u8) -> Modulus {
    Modulus::new(primes::ntt_primes(bits, u32::from(log_n), 1).unwrap()[0]).unwrap()
}

#[test]
fn conversion_constant_and_transform_in_one_go() {
    for log_n in [3u8, 6, 7, 8, 11, 12, 13, 14, 15] {
        let ring = Ring::full(log_n);
        let sizes = [30, 50, 52, 53, 54, 60, 61];
        for to in sizes.map(|bits| prime(bits, log_n)) {
            let plan = NttPlan::shared(to, ring).unwrap();
            for from in sizes.map(|bits| prime(bits, log_n)) {
                let limbs = common::limbs(from, ring.len(), u64::from(log_n));
                // Short rings are tested with all limbs; long ones with a random limb, one of all q
                // - 1 and one of mixed edges.
                let chosen: &[usize] = if log_n < 12 {
                    &[0, 1, 2, 3, 4, 5, 6]
                } else {
                    &[0, 3, 6]
                };
                for a in chosen.iter().map(|&i| &limbs[i]) {
                    for w in [0, 1, to.value() - 1] {
                        let mut expected = vec![0; a.len()];
                        kernels::conv(from, to, &mut expected, a).unwrap();
                        kernels::add_scalar_assign(to, &mut expected, w);
                        plan.forward(&mut expected).unwrap();
                        common::on_every_backend(|backend| {
                            let mut out = vec![9; a.len()];
                            plan.forward_from(&mut out, a, from, w).unwrap();
                            assert!(out == expected, "{backend:?} {ring:?} {from:?} {to:?} {w}");
                        });
                    }
                }
            }
        }
    }
}

/// Minuends and addends are random limbs and limbs of edges, and scales are residues at the edges.
#[test]
fn a_transform_that_ends_in_a_difference_is_its_steps() {
    for log_n in [3u8, 6, 7, 8, 11, 12, 15] {
        let ring = Ring::full(log_n);
        for to in [30, 50, 52, 53, 54, 60, 61].map(|bits| prime(bits, log_n)) {
            let plan = NttPlan::shared(to, ring).unwrap();
            let from = prime(if to.bits() == 54 { 60 } else { 54 }, log_n);
            let inputs = common::limbs(from, ring.len(), u64::from(log_n));
            let others = common::limbs(to, ring.len(), 100 + u64::from(log_n));
            for (i, a) in inputs.iter().enumerate() {
                let (minuend, c) = (
                    &others[(i + 3) % others.len()],
                    &others[(i + 5) % others.len()],
                );
                let scale = to.shoup([1, to.value() - 1, to.value() / 3][i % 3]);
                let w = [0, 5, to.value() - 1][i / 2 % 3];
                for addend in [None, Some(&**c)] {
                    let mut expected = vec![0; a.len()];
                    plan.forward_from(&mut expected, a, from, w).unwrap();
                    for (k, x) in expected.iter_mut().enumerate() {
                        let q = u128::from(to.value());
                        let difference = u128::from(minuend[k]) + q - u128::from(*x);
                        let sum = difference * u128::from(scale.value)
                            + addend.map_or(0, |c| u128::from(c[k]));
                        *x = (sum % q) as u64;
                    }
                    common::on_every_backend(|backend| {
                        let end = Difference {
                            minuend,
                            scale,
                            addend,
                        };
                        let mut out = vec![9; a.len()];
                        plan.difference_from(&mut out, a, from, w, end).unwrap();
                        assert!(
                            out == expected,
                            "{backend:?} {ring:?} {from:?} {to:?} {w} {i}"
                        );
                    });
                }
            }
        }
    }
}

#[test]
fn lengths_must_be_the_plan_s() {
    let plan = NttPlan::shared(prime(54, 8), Ring::full(8)).unwrap();
    let q = plan.modulus();
    let (mut out, a) = (vec![0; 256], vec![0; 256]);
    assert!(plan.forward_from(&mut out[1..], &a, q, 0).is_err());
    assert!(plan.forward_from(&mut out, &a[1..], q, 0).is_err());
    let end = |minuend, addend| Difference {
        minuend,
        scale: q.shoup(1),
        addend,
    };
    let short = &a[1..];
    for (a, end) in [
        (short, end(&a, None)),
        (&a, end(short, None)),
        (&a, end(&a, Some(short))),
    ] {
        assert!(plan.difference_from(&mut out, a, q, 0, end).is_err());
    }
}

/// Each candidate kernel gives the bits of a conversion and a transform one after the other.
#[cfg(target_arch = "x86_64")]
#[test]
fn every_candidate_gives_the_same() {
    if !kernels::available_backends().contains(&Backend::Avx512Ifma) {
        return;
    }
    for (to, from) in [(54, 60), (53, 54), (54, 54), (60, 54), (57, 60)] {
        for log_n in [7u8, 12, 13] {
            let [to, from] = [to, from].map(|bits| {
                let q = primes::ntt_primes(bits, 14, 2).unwrap()[1];
                Modulus::new(q).unwrap()
            });
            let ring = Ring::full(log_n);
            let plan = NttPlan::new(to, ring).unwrap();
            let n = ring.len();
            let a: Vec<u64> = (0..n as u64)
                .map(|i| from.value() - 1 - i * 0x9e37_79b9 % 1_000_003)
                .collect();
            let mut expected = vec![0; n];
            kernels::conv_add(from, to, &mut expected, &a, 5).unwrap();
            plan.forward(&mut expected).unwrap();
            let widths = widths(&plan, from);
            let candidates = candidates(widths, 8 * n);
            assert!(candidates.len() > widths.len());
            for how in candidates.into_iter().filter_map(|k| at(widths, k)) {
                let mut out = vec![0; n];
                // SAFETY: the processor has AVX-512 IFMA, and all limbs have the plan's length.
                let done = unsafe { forward_from(&plan, &mut out, &a, from, 5, None, how) };
                assert!(done);
                assert_eq!(out, expected, "{how:?} {to:?} {from:?} {log_n}");
            }
        }
    }
}
