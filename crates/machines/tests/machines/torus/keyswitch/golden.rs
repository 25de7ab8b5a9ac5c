// SPDX-License-Identifier: Apache-2.0
//! Results of the key switch that the engine computes.

use ringmill_circuits::tfhe::{Client, Params};
use ringmill_machines::torus::keyswitch::{Digits, golden};
use ringmill_math::Prng;

/// Compares the engine's key switch, from the seed and bodies of a real key, with the evaluator's.
#[test]
fn it_is_the_evaluators_key_switch() {
    let params = Params::toy_for_tests_only().unwrap();
    let s = params.sizes();
    let key = Client::new(params.clone())
        .unwrap()
        .key_switch_key()
        .unwrap();
    let digits = Digits {
        log_base: s.key_switch.log_base,
        levels: s.key_switch.levels,
    };
    let bodies: Vec<u32> = key.bodies().iter().map(|&x| x as u32).collect();
    let mut prng = Prng::from_seed_for_reproducible_tests_only([3; 32]);
    let ciphertexts: Vec<Vec<u32>> = (0..5)
        .map(|_| {
            let words = 0..=s.large_dimension();
            words.map(|_| prng.next_u64() as u32).collect()
        })
        .collect();
    let found = golden(digits, key.seed(), &bodies, s.n.0, &ciphertexts).unwrap();
    let rows = key.rows(&params).unwrap();
    for (found, ciphertext) in found.iter().zip(&ciphertexts) {
        let words: Vec<u64> = ciphertext.iter().map(|&x| x.into()).collect();
        let (body, mask) = words.split_last().unwrap();
        let mut expected = vec![0; s.n.0 + 1];
        rows.switch(params.key_switch_gadget(), mask, *body, &mut expected)
            .unwrap();
        let found: Vec<u64> = found.iter().map(|&x| x.into()).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let digits = Digits {
        log_base: 1,
        levels: 2,
    };
    let of = |bodies: usize, words: usize| {
        golden(digits, &[1; 32], &vec![7; bodies], 3, &[vec![5; words]])
    };
    assert_eq!(of(8, 5).unwrap()[0].len(), 4);
    for (bodies, words) in [(8, 4), (8, 6), (7, 4), (7, 5), (8, 0)] {
        assert!(of(bodies, words).is_err(), "{bodies} {words}");
    }
}
