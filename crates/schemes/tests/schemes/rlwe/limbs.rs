// SPDX-License-Identifier: Apache-2.0
//! Tests that objects are made only from as many residues as a level has, each below its modulus.

use ringmill_schemes::ckks::{CkksError, Level, Params, Plaintext};
use ringmill_schemes::rlwe::RlweError;

#[test]
fn limbs_of_other_lengths_and_large_residues_are_refused() {
    let params = Params::builder(4)
        .prime_bits(&[40, 40, 40], &[40])
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let plaintext = |limbs| Plaintext::new(&params, Level(1), 1024.0, limbs);
    plaintext(vec![0; 32]).unwrap();
    for got in [0, 16, 31, 33, 48] {
        let refused = plaintext(vec![0; got]).unwrap_err();
        let CkksError::Rlwe(RlweError::Length {
            expected, got: n, ..
        }) = refused
        else {
            panic!("{refused}");
        };
        assert_eq!((expected, n), (32, got));
    }
    for (limb, at) in [(0, 0), (0, 15), (1, 16), (1, 31)] {
        let q = params.moduli()[limb];
        let with = |residue| {
            let mut limbs = vec![0; 32];
            limbs[at] = residue;
            plaintext(limbs)
        };
        with(q - 1).unwrap();
        let refused = with(q).unwrap_err();
        assert!(matches!(
            refused,
            CkksError::Rlwe(RlweError::Residue { modulus, .. }) if modulus == q
        ));
    }
}
