// SPDX-License-Identifier: Apache-2.0
//! Tests slots, groups and factors against brute force.

use std::collections::BTreeSet;

use ringmill_math::slots::{SlotEncoder, SlotError, SlotStructure, Split};
use ringmill_math::{Modulus, primes};

use crate::slots::polynomials::*;

fn order_by_counting(p: u64, two_n: u64) -> usize {
    let powers = std::iter::successors(Some(p % two_n), |x| Some(x * p % two_n));
    1 + powers.take_while(|&x| x != 1).count()
}

#[test]
fn every_small_group_is_what_counting_gives() {
    for log_n in 3..=7 {
        let n = 1u64 << log_n;
        for p in (3..600).filter(|&p| primes::is_prime(p)) {
            let s = SlotStructure::new(log_n, p).unwrap();
            let d = order_by_counting(p, 2 * n);
            assert_eq!((s.degree(), s.slots()), (d, n as usize / d), "{n} {p}");
            // Each odd number is a representative times a power of p in one way.
            let mut seen = BTreeSet::new();
            for slot in 0..s.slots() {
                let mut g = s.representative(slot);
                for frobenius in 0..d {
                    assert!(seen.insert(g));
                    let place = s.locate(g);
                    assert_eq!(
                        (place.slot, place.frobenius),
                        (slot, frobenius),
                        "{n} {p} {g}"
                    );
                    g = g * p % (2 * n);
                }
                assert_eq!(g, s.representative(slot));
            }
            assert_eq!(seen.len() as u64, n);
            // Each dimension's generator has the dimension's order in the quotient group, and the dimensions have all
            // slots. Only the generator of a good dimension has this order modulo 2N as well.
            let dimensions = s.dimensions();
            let orders: usize = dimensions.iter().map(|dim| dim.order).product();
            assert_eq!(orders, s.slots());
            for dim in dimensions {
                let mut g = 1u64;
                for step in 0..dim.order {
                    assert_eq!(s.slot_of(g) == 0, step == 0);
                    g = g * dim.generator % (2 * n);
                }
                assert_eq!(s.slot_of(g), 0);
                assert_eq!(g == 1, dim.good, "{n} {p} {}", dim.generator);
            }
        }
    }
}

#[test]
fn the_quotient_is_not_always_cyclic() {
    // For p = 17, 16 divides p - 1. The slots are (Z/16)*, which is not cyclic.
    let s = SlotStructure::new(6, 17).unwrap();
    assert_eq!((s.slots(), s.degree(), s.split()), (8, 8, Split::Binomials));
    let orders: Vec<_> = s.dimensions().iter().map(|d| (d.order, d.good)).collect();
    assert_eq!(orders, [(4, false), (2, true)]);
    // The slots of the BASALISC paper.
    let s = SlotStructure::new(16, 127).unwrap();
    assert_eq!(
        (s.slots(), s.degree(), s.split()),
        (64, 1024, Split::Trinomials)
    );
    let dimensions = s.dimensions();
    assert_eq!(dimensions.len(), 1);
    assert_eq!((dimensions[0].order, dimensions[0].good), (64, false));
    for (log_n, p, slots) in [(15, 8191, 4096), (16, 8191, 4096), (16, 65537, 1 << 15)] {
        assert_eq!(SlotStructure::new(log_n, p).unwrap().slots(), slots);
    }
}

/// The factors are irreducible modulo p (Rabin's test), and their product is x^N + 1 modulo p^e.
#[test]
fn the_factors_of_small_rings_are_all_there_is() {
    for log_n in 3..=6 {
        let n = 1usize << log_n;
        for p in (3..200)
            .filter(|&p| primes::is_prime(p))
            .chain([257, 383, 641])
        {
            let s = SlotStructure::new(log_n, p).unwrap();
            for exponent in 1..=4u32 {
                let encoder = SlotEncoder::new(s.clone(), exponent).unwrap();
                let q = encoder.modulus();
                assert_eq!(q.value(), p.pow(exponent));
                let factors: Vec<Vec<u64>> = encoder
                    .factors()
                    .iter()
                    .map(|f| {
                        let mut dense = vec![0; f.degree + 1];
                        dense[f.degree] = 1;
                        dense[f.degree / 2] = q.add(dense[f.degree / 2], f.middle);
                        dense[0] = q.add(dense[0], f.constant);
                        dense
                    })
                    .collect();
                let mut product = vec![1u64];
                let above = {
                    let mut x = vec![0; 2 * n + 1];
                    x[2 * n] = 1;
                    x
                };
                for f in &factors {
                    product = mul_mod(q, &product, f, &above);
                }
                product.truncate(n + 1);
                assert_eq!(product, cyclotomic(n), "{n} {p} {exponent}");
                if exponent > 1 {
                    continue;
                }
                for f in &factors {
                    let d = f.len() - 1;
                    let x = remainder(q, vec![0, 1], f);
                    let mut power = x.clone();
                    for step in 1..=d {
                        power = pow_mod(q, &power, p, f);
                        if step == d / 2 {
                            let difference = power.iter().zip(&x).map(|(&a, &b)| q.sub(a, b));
                            assert!(coprime(q, f.clone(), difference.collect()));
                        }
                    }
                    assert_eq!(power, x);
                }
            }
        }
    }
}

#[test]
fn large_primes_and_powers_have_slots_too() {
    for (log_n, p, exponent) in [
        (16, 127, 8),
        (12, 3, 37),
        (10, (1 << 59) - 55, 1),
        (8, 1_000_003, 3),
        (10, 1073741827, 1),
        (9, 998244353, 2),
    ] {
        assert!(primes::is_prime(p));
        let encoder = SlotEncoder::new(SlotStructure::new(log_n, p).unwrap(), exponent).unwrap();
        let s = encoder.structure();
        let integers = crate::common::random_limb(encoder.modulus(), s.slots(), 3);
        assert_eq!(
            encoder.decode(&encoder.encode(&integers).unwrap()).unwrap(),
            integers
        );
    }
}

#[test]
fn what_has_no_slots_is_refused() {
    for p in [0, 1, 2, 4, 9, 127 * 127, 1 << 40, u64::MAX] {
        assert!(
            matches!(
                SlotStructure::new(8, p),
                Err(SlotError::NotAnOddPrime { .. })
            ),
            "{p}"
        );
    }
    for log_n in [0, 2, 17, 64, u32::MAX] {
        assert!(matches!(
            SlotStructure::new(log_n, 17),
            Err(SlotError::RingDegree { .. })
        ));
    }
    let s = SlotStructure::new(8, 127).unwrap();
    for exponent in [0, 9, 64, u32::MAX] {
        assert!(matches!(
            SlotEncoder::new(s.clone(), exponent),
            Err(SlotError::PowerOutOfRange { .. })
        ));
    }
    assert!(Modulus::new(127u64.pow(8)).unwrap().value() < 1 << 60);
    assert!(SlotEncoder::new(s, 8).is_ok());
}
