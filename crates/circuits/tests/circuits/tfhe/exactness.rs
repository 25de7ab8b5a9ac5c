// SPDX-License-Identifier: Apache-2.0
//! Tests that the fast bootstrap equals the reference bit for bit on every SIMD backend, and tests the proofs of
//! exactness.

use ringmill_circuits::tfhe::reference::{self, ExpandedKey};
use ringmill_circuits::tfhe::{
    CiphertextModulus, Exactness, FailureRate, Gate, GlweRank, Order, Params, ParamsBuilder,
    TfheError, Transforms, Unrolling, exactness, sets,
};
use ringmill_math::Modulus;
use ringmill_math::kernels::{available_backends, with_backend};
use ringmill_math::torus::{Coefficients, Lift};

use super::setup::{Setup, toy};

/// Tests that a gate's result equals the reference bootstrap followed by a key switch, on every backend and under every
/// kind of parameters.
#[test]
fn bootstraps_are_those_of_the_definition_on_every_backend() {
    let prime = |bits| CiphertextModulus::Prime { bits };
    let mut cases = Vec::new();
    for unrolling in Unrolling::ALL {
        for builder in [
            toy(),
            toy().transforms(Transforms::Solinas),
            toy().transforms(Transforms::TwoPrimes),
            toy().modulus(CiphertextModulus::Torus64),
            toy().modulus(prime(30)),
            toy().modulus(prime(32)),
            toy().modulus(prime(52)),
            toy().sizes(|s| s.k = GlweRank(2)),
        ] {
            cases.push(builder.unrolling(unrolling).sizes(|s| {
                s.log_degree = 7;
                s.n.0 = 7; // the last step has fewer bits than the others
            }));
        }
    }
    for builder in cases {
        let params = builder
            .allow_any_failure_rate_for_tests_only()
            .build()
            .unwrap();
        let setup = Setup::new(params.clone(), 3);
        let expanded = ExpandedKey::new(&params, &setup.bootstrap).unwrap();
        let eighth = params.coefficients().fraction(1, 3);
        let x = setup.client.encrypt_bit(true).unwrap();
        // NAND of x and x: 1/8 - 2 x.
        let q = params.coefficients();
        let mut words: Vec<u64> = x.words().iter().map(|&x| q.neg(q.add(x, x))).collect();
        *words.last_mut().unwrap() = q.add(words[words.len() - 1], eighth);
        let sum = ringmill_circuits::tfhe::LweCiphertext::new(&params, x.key(), words).unwrap();
        let table = vec![eighth; params.sizes().degree()];
        let large = reference::bootstrap(&params, &expanded, &table, &sum).unwrap();
        let rows = setup.switch.rows(&params).unwrap();
        let mut expected = vec![0; params.sizes().n.0 + 1];
        let (body, mask) = large.split_last().unwrap();
        let gadget = params.key_switch_gadget();
        rows.switch(gadget, mask, *body, &mut expected).unwrap();
        for backend in available_backends() {
            let got = with_backend(backend, || {
                let mut work = setup.evaluator.workspace();
                setup.evaluator.gate(&mut work, Gate::Nand, &x, &x).unwrap()
            });
            assert_eq!(got.unwrap().words(), expected, "{params:?} {backend:?}");
        }
    }
}

#[test]
fn transforms_are_proved_for_every_set_and_unrolling() {
    for name in sets::names() {
        for unrolling in Unrolling::ALL {
            let builder = || {
                ParamsBuilder::named(name)
                    .unwrap()
                    .unrolling(unrolling)
                    .allow_any_failure_rate_for_tests_only()
            };
            let params = builder().build().unwrap();
            // Each of the three kinds of proof keeps its promise.
            match params.exactness() {
                Exactness::CiphertextRing => {
                    let prime = matches!(params.sizes().modulus, CiphertextModulus::Prime { .. });
                    assert!(prime, "{name}: a power of two");
                }
                Exactness::WorstCase { bound, room } => assert!(bound < room),
                Exactness::Statistical { failure, .. } => assert!(*failure < -128.0),
            }
            let prime = builder().modulus(CiphertextModulus::Prime { bits: 52 });
            let prime = prime.build().unwrap();
            assert_eq!(*prime.exactness(), Exactness::CiphertextRing);
        }
    }
    // With the set and the prime of Kong and Li's paper the worst case fits without unrolling, and does not fit with
    // it.
    let paper = |unrolling| {
        ParamsBuilder::named("tfhe_library_2020_below_128_bits")
            .unwrap()
            .unrolling(unrolling)
            .transforms(Transforms::Solinas)
            .failing(FailureRate::Below2Minus64)
            .build()
            .unwrap()
    };
    let is_worst = |params: &Params| matches!(params.exactness(), Exactness::WorstCase { .. });
    assert!(is_worst(&paper(Unrolling::One)));
    assert!(!is_worst(&paper(Unrolling::Two)));
    assert!(!is_worst(&paper(Unrolling::Three)));
    // With base 2^10, two levels and rank 3, one prime is too small for an unrolled key.
    let long = ParamsBuilder::named("boolean_p64")
        .unwrap()
        .unrolling(Unrolling::Two);
    assert!(matches!(
        long.clone().transforms(Transforms::Solinas).build(),
        Err(TfheError::Overflow { m: 2, .. })
    ));
    assert_eq!(long.build().unwrap().ring().lanes(), 2);
}

/// Tests that the bound of the worst case is the largest sum, which digits of -B/2 and key coefficients of -q/2 reach.
/// A prime slightly above twice the sum passes the proof, and one slightly below does not.
#[test]
fn the_worst_case_is_the_largest_sum() {
    let sizes = |log_base: u32| {
        let mut sizes = *toy().order(Order::BootstrapFirst).build().unwrap().sizes();
        sizes.bootstrap.log_base = log_base;
        sizes
    };
    let q = Coefficients::word(32).unwrap();
    for log_base in 1..=10 {
        let s = sizes(log_base);
        let largest = s.rows() as f64 * 256.0 * 2f64.powi(log_base as i32 - 1 + 31);
        let lift = |p: u64| Lift::One(Modulus::new(p).unwrap());
        match exactness::prove(&s, q, lift((2.002 * largest) as u64)) {
            Ok(Exactness::WorstCase { bound, room }) => {
                assert!((bound - largest.log2()).abs() < 1e-9 && room > bound);
            }
            other => panic!("{other:?}"),
        }
        let below = exactness::prove(&s, q, lift((1.998 * largest) as u64));
        assert!(!matches!(below, Ok(Exactness::WorstCase { .. })));
        // With far less room the statistical proof fails too.
        let far = exactness::prove(&s, q, lift((largest / 65536.0) as u64));
        assert!(matches!(far, Err(TfheError::Overflow { .. })));
    }
}
