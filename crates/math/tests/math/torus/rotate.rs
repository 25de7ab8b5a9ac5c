// SPDX-License-Identifier: Apache-2.0
//! Tests products with monomials against their definition.

use ringmill_math::Modulus;
use ringmill_math::torus::{Coefficients, rotate, rotate_sub};

#[test]
fn every_rotation_is_the_definition() {
    let n = 16;
    for q in [
        Coefficients::word(32).unwrap(),
        Coefficients::Prime(Modulus::new(97).unwrap()),
    ] {
        let p: Vec<u64> = (0..n as i64).map(|i| q.from_i64(7 * i * i - 40)).collect();
        let (mut rotated, mut difference) = (vec![0; n], vec![0; n]);
        for a in 0..4 * n {
            let mut expected = vec![0; n];
            for (i, &x) in p.iter().enumerate() {
                let at = (i + a) % (2 * n);
                expected[at % n] = if at < n { x } else { q.neg(x) };
            }
            rotate(q, &mut rotated, &p, a).unwrap();
            assert_eq!(rotated, expected, "X^{a}");
            for (e, &x) in expected.iter_mut().zip(&p) {
                *e = q.sub(*e, x);
            }
            rotate_sub(q, &mut difference, &p, a).unwrap();
            assert_eq!(difference, expected, "X^{a} - 1");
        }
    }
    let q = Coefficients::word(64).unwrap();
    assert!(rotate(q, &mut [0; 4], &[0; 8], 1).is_err());
    assert!(rotate_sub(q, &mut [], &[], 1).is_ok());
}
