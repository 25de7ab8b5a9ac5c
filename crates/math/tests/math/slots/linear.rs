// SPDX-License-Identifier: Apache-2.0
//! Tests that the linear maps of thin bootstrapping move integers between slots and coefficients.

use ringmill_math::slots::linear::*;
use ringmill_math::slots::{SlotEncoder, SlotError};

use crate::common::random_limb;
use crate::slots::encoding::{SHAPES, encoder};

fn max_depth(encoder: &SlotEncoder) -> usize {
    (encoder.structure().slots().trailing_zeros() as usize - 1).max(1)
}

fn shapes(encoder: &SlotEncoder) -> Vec<Shape> {
    let costs = [
        Costs::default(),
        Costs {
            hoisted: 1,
            switched: 4,
            product: 1,
        },
        Costs {
            hoisted: 5,
            switched: 1,
            product: 0,
        },
    ];
    let depths = 1..=max_depth(encoder);
    depths
        .flat_map(|depth| costs.map(|costs| Shape { depth, costs }))
        .collect()
}

/// Returns the polynomial with the integer of each slot at the coefficient that
/// [`coefficient_of_slot`] names.
fn held(encoder: &SlotEncoder, integers: &[u64]) -> Vec<u64> {
    let mut polynomial = vec![0; encoder.structure().ring_degree()];
    for (slot, &x) in integers.iter().enumerate() {
        polynomial[coefficient_of_slot(encoder, slot)] = x;
    }
    polynomial
}

#[test]
fn each_slot_has_a_coefficient_of_its_own() {
    for shape in SHAPES {
        let encoder = encoder(shape);
        let s = encoder.structure();
        let mut places: Vec<_> = (0..s.slots())
            .map(|slot| coefficient_of_slot(&encoder, slot))
            .collect();
        places.sort_unstable();
        let all: Vec<_> = (0..s.slots()).map(|i| i * s.degree()).collect();
        assert_eq!(places, all);
    }
}

#[test]
fn integers_go_from_slots_to_coefficients_and_back() {
    for shape in SHAPES {
        let encoder = encoder(shape);
        let (q, s) = (encoder.modulus(), encoder.structure());
        for layout in shapes(&encoder) {
            let there = slots_to_coefficients(&encoder, layout).unwrap();
            let back = coefficients_to_slots(&encoder, s.slots(), layout).unwrap();
            for seed in 0..3 {
                let integers = random_limb(q, s.slots(), seed);
                let thin = encoder.encode(&integers).unwrap();
                let coefficients = there.apply(q, &thin).unwrap();
                assert_eq!(
                    coefficients,
                    held(&encoder, &integers),
                    "{shape:?} {layout:?}"
                );
                assert_eq!(
                    back.apply(q, &coefficients).unwrap(),
                    thin,
                    "{shape:?} {layout:?}"
                );
            }
            for map in [&there, &back] {
                assert_eq!(map.count().depth, layout.depth);
                for stage in &map.stages {
                    assert_eq!(stage.babies[0], 1);
                    assert!(
                        stage.giants[0].galois == 1 || stage.giants.iter().all(|g| g.galois != 1)
                    );
                }
            }
        }
    }
}

#[test]
fn what_other_coefficients_hold_is_traced_away() {
    for shape in SHAPES {
        let encoder = encoder(shape);
        let (q, s) = (encoder.modulus(), encoder.structure());
        let n = s.ring_degree();
        let mut from = s.slots();
        while from <= n {
            let mut noisy = random_limb(q, n, 7);
            for (i, c) in noisy.iter_mut().enumerate() {
                if i % (n / from) != 0 {
                    *c = 0;
                }
            }
            let wanted: Vec<_> = (0..s.slots())
                .map(|slot| noisy[coefficient_of_slot(&encoder, slot)])
                .collect();
            let factor = q.reduce((from / s.slots()) as u64);
            for log_radix in 1..=4 {
                let trace = trace(&encoder, from, log_radix).unwrap();
                let traced = trace.apply(q, &noisy).unwrap();
                let scaled: Vec<_> = wanted.iter().map(|&x| q.mul(x, factor)).collect();
                assert_eq!(traced, held(&encoder, &scaled));
                let back = coefficients_to_slots(&encoder, from, Shape::default()).unwrap();
                assert_eq!(
                    encoder.decode(&back.apply(q, &traced).unwrap()).unwrap(),
                    wanted
                );
                let count = trace.count();
                assert_eq!((count.depth, count.products), (0, 0));
                if log_radix == 1 {
                    assert_eq!(
                        count.automorphisms() as u32,
                        (from / s.slots()).trailing_zeros()
                    );
                }
            }
            from *= 2;
        }
    }
}

#[test]
fn halving_takes_all_coefficients_apart() {
    for shape in SHAPES {
        let encoder = encoder(shape);
        let (q, s) = (encoder.modulus(), encoder.structure());
        let whole = random_limb(q, s.ring_degree(), 3);
        // For each part, the power of x by which it has been divided, and the part itself.
        let mut parts = vec![(0, whole.clone())];
        for halving in halvings(&encoder) {
            parts = parts
                .into_iter()
                .flat_map(|(power, part)| {
                    let [even, odd] = halving.apply(q, &part).unwrap();
                    [(power, even), (power + halving.spacing, odd)]
                })
                .collect();
        }
        assert_eq!(parts.len(), s.degree());
        let back = coefficients_to_slots(&encoder, s.ring_degree(), Shape::default()).unwrap();
        for (power, part) in parts {
            let integers = encoder.decode(&back.apply(q, &part).unwrap()).unwrap();
            let expected: Vec<_> = (0..s.slots())
                .map(|slot| whole[power + coefficient_of_slot(&encoder, slot)])
                .collect();
            assert_eq!(integers, expected, "{shape:?} {power}");
        }
    }
}

/// In the BASALISC paper's ring, with 64 slots, the maps of a bootstrap take 11 + 10 + 11
/// automorphisms and are right.
#[test]
fn the_paper_s_ring_takes_thirty_two_automorphisms() {
    let encoder = encoder((16, 127, 4));
    let (q, s) = (encoder.modulus(), encoder.structure());
    let n = s.ring_degree();
    let there = slots_to_coefficients(&encoder, Shape::default()).unwrap();
    let trace_all = trace(&encoder, n, 1).unwrap();
    let back = coefficients_to_slots(&encoder, n, Shape::default()).unwrap();
    for (map, automorphisms, products) in [(&there, 11, 32), (&trace_all, 10, 0), (&back, 11, 32)] {
        let count = map.count();
        assert_eq!(
            (count.automorphisms(), count.products),
            (automorphisms, products)
        );
        assert!(count.depth <= 1);
    }
    let hoisted = trace(&encoder, n, 3).unwrap().count();
    assert_eq!((hoisted.hoisted, hoisted.switched), (21, 1));
    let integers = random_limb(q, s.slots(), 1);
    let coefficients = there.apply(q, &encoder.encode(&integers).unwrap()).unwrap();
    assert_eq!(coefficients, held(&encoder, &integers));
    let mut noisy = random_limb(q, n, 2);
    for (slot, &x) in integers.iter().enumerate() {
        noisy[coefficient_of_slot(&encoder, slot)] = x;
    }
    let slots = back.apply(q, &trace_all.apply(q, &noisy).unwrap()).unwrap();
    assert_eq!(encoder.decode(&slots).unwrap(), integers);
}

/// With many slots and more depth, the number of constants grows as the depth times a root of the
/// number of slots.
#[test]
fn many_slots_take_few_constants_at_more_depth() {
    for (shape, depth) in [((10, 8191, 2), 2), ((10, 8191, 2), 3), ((10, 12289, 1), 3)] {
        let encoder = encoder(shape);
        let (q, s) = (encoder.modulus(), encoder.structure());
        let layout = Shape {
            depth,
            ..Shape::default()
        };
        let there = slots_to_coefficients(&encoder, layout).unwrap();
        let back = coefficients_to_slots(&encoder, s.slots(), layout).unwrap();
        let integers = random_limb(q, s.slots(), 5);
        let thin = encoder.encode(&integers).unwrap();
        let coefficients = there.apply(q, &thin).unwrap();
        assert_eq!(coefficients, held(&encoder, &integers));
        assert_eq!(back.apply(q, &coefficients).unwrap(), thin);
        assert!(there.count().products < s.slots() / 2);
    }
}

#[test]
fn maps_that_cannot_be_are_refused() {
    let encoder = encoder((6, 127, 2));
    let slots = encoder.structure().slots();
    for depth in [0, max_depth(&encoder) + 1, usize::MAX] {
        let shape = Shape {
            depth,
            ..Shape::default()
        };
        assert!(matches!(
            slots_to_coefficients(&encoder, shape),
            Err(SlotError::Depth { .. })
        ));
        assert!(matches!(
            coefficients_to_slots(&encoder, 64, shape),
            Err(SlotError::Depth { .. })
        ));
    }
    for from in [0, 1, slots / 2, slots + 1, 63, 128, usize::MAX] {
        assert!(
            matches!(trace(&encoder, from, 1), Err(SlotError::TraceDegree { .. })),
            "{from}"
        );
        assert!(coefficients_to_slots(&encoder, from, Shape::default()).is_err());
    }
    let map = slots_to_coefficients(&encoder, Shape::default()).unwrap();
    assert!(map.apply(encoder.modulus(), &[0; 32]).is_err());
}

/// Checks the figures of the table in docs/bgv.md: log2 N, p, e, depth, automorphisms and products.
#[test]
#[ignore = "half a minute: constants of maps with tens of thousands of slots"]
fn maps_at_full_size_take_what_the_page_says() {
    for (shape, depth, automorphisms, products) in [
        ((15, 8191, 2), 1, 90, 2048),
        ((15, 8191, 2), 2, 29, 127),
        ((15, 8191, 2), 3, 23, 62),
        ((16, 8191, 2), 3, 23, 62),
        ((16, 65537, 2), 3, 37, 157),
        ((16, 65537, 2), 4, 31, 92),
    ] {
        let encoder = encoder(shape);
        let layout = Shape {
            depth,
            ..Shape::default()
        };
        for map in [
            slots_to_coefficients(&encoder, layout).unwrap(),
            coefficients_to_slots(&encoder, encoder.structure().ring_degree(), layout).unwrap(),
        ] {
            let count = map.count();
            assert_eq!(
                (count.automorphisms(), count.products),
                (automorphisms, products)
            );
        }
    }
}

/// Checks encodings, Galois elements and linear maps for `cases` random rings, moduli, depths and
/// costs.
fn random_rings(seed: u64, cases: usize) {
    let mut draw = crate::common::numbers(seed);
    let mut draw = |n: u64| draw.next().unwrap() % n;
    for _ in 0..cases {
        let log_n = 3 + draw(7) as u32;
        let bits = 2 + draw(28) as u32;
        let multiple = 1 << draw(u64::from(log_n) + 2);
        // Half of the primes are 1 or -1 modulo a power of two, so that there are slots.
        let sign = draw(2) * 2;
        let p = (0..)
            .map(|_| 3 + draw(1 << bits))
            .map(|x| {
                if x % 2 == 0 {
                    x | 1
                } else {
                    x / multiple * multiple + sign + multiple - 1
                }
            })
            .find(|&p| p > 2 && ringmill_math::primes::is_prime(p))
            .unwrap();
        let most = (1..)
            .take_while(|&e| p.checked_pow(e).is_some_and(|q| q < 1 << 60))
            .count() as u64;
        let shape = (log_n, p, 1 + draw(most) as u32);
        let encoder = encoder(shape);
        let (q, s) = (encoder.modulus(), encoder.structure());
        let integers = random_limb(q, s.slots(), draw(1 << 40));
        let thin = encoder.encode(&integers).unwrap();
        let g = 2 * draw(s.ring_degree() as u64) + 1;
        let moved = crate::slots::polynomials::automorphism(q, &thin, g);
        let expected: Vec<_> = s
            .permutation(g)
            .iter()
            .map(|&from| integers[from])
            .collect();
        assert_eq!(encoder.decode(&moved).unwrap(), expected, "{shape:?} {g}");
        let layout = Shape {
            depth: 1 + draw(max_depth(&encoder) as u64) as usize,
            costs: Costs {
                hoisted: 1 + draw(5),
                switched: 1 + draw(9),
                product: draw(3),
            },
        };
        let from = s.slots() << draw(u64::from(s.degree().trailing_zeros()) + 1);
        let there = slots_to_coefficients(&encoder, layout).unwrap();
        let trace = trace(&encoder, from, 1 + draw(4) as u32).unwrap();
        let back = coefficients_to_slots(&encoder, from, layout).unwrap();
        let mut coefficients = there.apply(q, &thin).unwrap();
        assert_eq!(
            coefficients,
            held(&encoder, &integers),
            "{shape:?} {layout:?}"
        );
        let step = s.ring_degree() / from;
        for (i, c) in coefficients.iter_mut().enumerate().step_by(step) {
            if i % s.degree() != 0 {
                *c = draw(q.value());
            }
        }
        let traced = trace.apply(q, &coefficients).unwrap();
        assert_eq!(
            back.apply(q, &traced).unwrap(),
            thin,
            "{shape:?} {layout:?} {from}"
        );
    }
}

#[test]
fn rings_at_random_have_right_maps() {
    random_rings(1, 40);
}

#[test]
#[ignore = "4 s: 2,000 rings"]
fn many_rings_at_random_have_right_maps() {
    random_rings(2, 2_000);
}
