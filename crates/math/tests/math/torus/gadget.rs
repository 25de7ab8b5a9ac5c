// SPDX-License-Identifier: Apache-2.0
//! Tests signed digits against their definition, on each backend.

use proptest::prelude::*;
use ringmill_math::Modulus;
use ringmill_math::kernels::{available_backends, with_backend};
use ringmill_math::torus::{Coefficients, Gadget};

fn moduli() -> Vec<Coefficients> {
    vec![
        Coefficients::word(32).unwrap(),
        Coefficients::word(64).unwrap(),
        Coefficients::Prime(Modulus::new(1073692673).unwrap()),
        Coefficients::Prime(Modulus::new(4294955009).unwrap()),
        Coefficients::Prime(Modulus::new((1 << 52) - (1 << 12) + 1).unwrap()),
    ]
}

proptest! {
    #[test]
    fn digits_recompose_to_the_nearest_multiple(x: u64, log_base in 1u32..24, levels in 1usize..9) {
        for q in moduli() {
            let Ok(gadget) = Gadget::new(q, log_base, levels) else { continue };
            let x = (u128::from(x) % q.modulus()) as u64;
            let half = 1i64 << (log_base - 1);
            let mut sum = 0i128;
            for (j, digit) in gadget.digits(x).enumerate() {
                let most = if j == 0 && matches!(q, Coefficients::Prime(_)) { half } else { half - 1 };
                prop_assert!((-half..=most).contains(&digit));
                sum += i128::from(digit) * i128::from(gadget.weight(j));
            }
            let mut error = sum - i128::from(q.centred(x));
            if let Coefficients::Word(_) = q {
                let modulus = q.modulus() as i128;
                error = (error + modulus / 2).rem_euclid(modulus) - modulus / 2;
            }
            prop_assert!(2 * error.abs() <= i128::from(gadget.weight(levels - 1)));
        }
    }
}

#[test]
fn every_backend_gives_the_definition() {
    let p = Modulus::new(1125899906826241).unwrap();
    for q in moduli() {
        for (log_base, levels) in [(7, 3), (10, 2), (23, 1), (3, 5), (4, 4), (2, 8)] {
            let gadget = Gadget::new(q, log_base, levels).unwrap();
            let x: Vec<u64> = (0..77u128)
                .map(|i| (i * (q.modulus() - 1) / 76) as u64)
                .collect();
            let mut expected = vec![0; levels * x.len()];
            for (i, &x) in x.iter().enumerate() {
                for (j, digit) in gadget.digits(x).enumerate() {
                    expected[j * 77 + i] = p.from_i64(digit);
                }
            }
            for backend in available_backends() {
                let mut out = vec![0; expected.len()];
                with_backend(backend, || gadget.decompose(p, &mut out, &x))
                    .unwrap()
                    .unwrap();
                assert_eq!(out, expected, "{backend:?} {q:?}");
            }
        }
    }
}

#[test]
fn digits_that_cannot_be_are_refused() {
    let q = Coefficients::word(32).unwrap();
    for (log_base, levels) in [(0, 1), (1, 0), (7, 5), (32, 1), (31, usize::MAX)] {
        assert!(Gadget::new(q, log_base, levels).is_err());
    }
    let gadget = Gadget::new(q, 7, 3).unwrap();
    let p = Modulus::new(97).unwrap();
    assert!(gadget.decompose(p, &mut [0; 6], &[0; 2]).is_err());
    let p = Modulus::new(7681).unwrap();
    assert!(gadget.decompose(p, &mut [0; 5], &[0; 2]).is_err());
}
