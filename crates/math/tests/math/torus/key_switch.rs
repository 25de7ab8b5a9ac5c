// SPDX-License-Identifier: Apache-2.0
//! Tests key switches against sums of digits times rows, on each backend.

use ringmill_math::kernels::{available_backends, with_backend};
use ringmill_math::modmul::Solinas52;
use ringmill_math::torus::{Coefficients, Gadget, SwitchRows, switch_words};
use ringmill_math::{Modulus, Prng};

#[test]
fn switches_are_sums_of_digits_times_rows() {
    let prime = |q| Coefficients::Prime(Modulus::new(q).unwrap());
    for (q, log_base, levels) in [
        (Coefficients::word(32).unwrap(), 2, 8),
        (Coefficients::word(64).unwrap(), 3, 5),
        (prime(4294955009), 16, 2),
        // With this modulus and base, sums are reduced after every 15 rows.
        (prime(Solinas52::P), 8, 3),
        (prime(1073692673), 16, 1),
    ] {
        let gadget = Gadget::new(q, log_base, levels).unwrap();
        let (dimension, width) = (50, 19);
        let mut prng = Prng::from_seed_for_reproducible_tests_only([5; 32]);
        let mut any = |n| -> Vec<u64> {
            (0..n)
                .map(|_| (u128::from(prng.next_u64()) % q.modulus()) as u64)
                .collect()
        };
        let (mask, body) = (any(dimension), any(1)[0]);
        let mut rows = SwitchRows::zeroed(q, dimension * levels, width).unwrap();
        let mut words = Vec::new();
        let mut expected = vec![0; width];
        expected[width - 1] = body;
        for (i, &x) in mask.iter().enumerate() {
            for (j, digit) in gadget.digits(x).enumerate() {
                // Words close to q, so that sums would overflow if they were never reduced.
                let row: Vec<u64> = any(width)
                    .into_iter()
                    .map(|x| (q.modulus() - 1) as u64 - x % 97)
                    .collect();
                rows.put(i * levels + j, &row).unwrap();
                words.extend_from_slice(&row);
                for (e, &x) in expected.iter_mut().zip(&row) {
                    *e = q.sub(*e, q.mul(q.from_i64(digit), x));
                }
            }
        }
        for backend in available_backends() {
            let mut out = vec![1; width];
            with_backend(backend, || rows.switch(&gadget, &mask, body, &mut out))
                .unwrap()
                .unwrap();
            assert_eq!(out, expected, "{q:?} {backend:?}");
            out.fill(1);
            with_backend(backend, || {
                switch_words(&words, &gadget, &mask, body, &mut out)
            })
            .unwrap()
            .unwrap();
            assert_eq!(out, expected, "words, {q:?} {backend:?}");
        }
        let row = vec![0; width];
        for beyond in [dimension * levels, usize::MAX] {
            assert!(rows.put(beyond, &row).is_err());
        }
        assert!(
            rows.switch(&gadget, &mask[1..], body, &mut vec![0; width])
                .is_err()
        );
        assert!(
            rows.switch(&gadget, &mask, body, &mut vec![0; width - 1])
                .is_err()
        );
    }
}
