// SPDX-License-Identifier: Apache-2.0
//! Tests every homomorphic operation of CKKS against values in the clear, for each number of key-switching digits.

use crate::common::{Setup, close, digit_choices};
use num_complex::Complex64;
use ringmill_isa::Level;
use ringmill_schemes::ckks::key::KeyForm;
use ringmill_schemes::ckks::{Ciphertext, GaloisKeys};

#[test]
fn encryption_round_trips_at_every_level() {
    for s in digit_choices() {
        let values = s.values(1);
        for level in Level::LOWEST.to(s.params.max_level()) {
            let plain = s
                .encoder
                .encode(&values, level, s.params.default_scale())
                .unwrap();
            for cipher in [
                s.public.encrypt(&plain).unwrap(),
                s.secret.encrypt(&plain).unwrap(),
            ] {
                assert_eq!((cipher.level(), cipher.size()), (level, 2));
                close(&s.decrypt(&cipher), &values, 1e-6);
            }
        }
    }
}

#[test]
fn arithmetic_matches_plaintext() {
    for mut s in digit_choices() {
        let (x, y) = (s.values(1), s.values(2));
        let (cx, cy) = (s.encrypt(&x), s.encrypt(&y));
        let zip = |f: fn(Complex64, Complex64) -> Complex64| -> Vec<Complex64> {
            x.iter().zip(&y).map(|(&a, &b)| f(a, b)).collect()
        };
        close(
            &s.decrypt(&s.evaluator.add(&cx, &cy).unwrap()),
            &zip(|a, b| a + b),
            1e-6,
        );
        close(
            &s.decrypt(&s.evaluator.sub(&cx, &cy).unwrap()),
            &zip(|a, b| a - b),
            1e-6,
        );
        close(
            &s.decrypt(&s.evaluator.negate(&cx).unwrap()),
            &zip(|a, _| -a),
            1e-6,
        );
        let product = s.evaluator.mul(&cx, &cy).unwrap();
        close(&s.decrypt(&product), &zip(|a, b| a * b), 1e-5);
        close(
            &s.decrypt(&s.evaluator.square(&cx).unwrap()),
            &zip(|a, _| a * a),
            1e-5,
        );
        let m = s.encode(&y);
        close(
            &s.decrypt(&s.evaluator.add_plain(&cx, &m).unwrap()),
            &zip(|a, b| a + b),
            1e-6,
        );
        close(
            &s.decrypt(&s.evaluator.sub_plain(&cx, &m).unwrap()),
            &zip(|a, b| a - b),
            1e-6,
        );
        close(
            &s.decrypt(&s.evaluator.mul_plain(&cx, &m).unwrap()),
            &zip(|a, b| a * b),
            1e-5,
        );
        close(
            &s.decrypt(&s.evaluator.add_scalar(&cx, -2.5).unwrap()),
            &zip(|a, _| a - 2.5),
            1e-6,
        );
        let scaled = s.evaluator.mul_scalar(&cx, -1.75, 1024.0).unwrap();
        close(&s.decrypt(&scaled), &zip(|a, _| a * -1.75), 1e-6);
        // A ciphertext of three polynomials and one of two, in both orders.
        let wide = s
            .evaluator
            .mul_scalar(&cy, 1.0, s.params.default_scale())
            .unwrap();
        close(
            &s.decrypt(&s.evaluator.add(&product, &wide).unwrap()),
            &zip(|a, b| a * b + b),
            1e-5,
        );
        close(
            &s.decrypt(&s.evaluator.add(&wide, &product).unwrap()),
            &zip(|a, b| a * b + b),
            1e-5,
        );
        close(
            &s.decrypt(&s.evaluator.sub(&wide, &product).unwrap()),
            &zip(|a, b| b - a * b),
            1e-5,
        );
        close(
            &s.decrypt(&s.evaluator.sub(&product, &wide).unwrap()),
            &zip(|a, b| a * b - b),
            1e-5,
        );
    }
}

#[test]
fn key_switching_matches_plaintext_at_every_level() {
    for mut s in digit_choices() {
        let (x, y) = (s.values(1), s.values(2));
        let (top_x, top_y) = (s.encrypt(&x), s.encrypt(&y));
        let product: Vec<_> = x.iter().zip(&y).map(|(a, b)| a * b).collect();
        let square: Vec<_> = x.iter().map(|a| a * a).collect();
        for level in Level(1).to(s.params.max_level()) {
            let cx = s.evaluator.mod_switch(&top_x, level).unwrap();
            let cy = s.evaluator.mod_switch(&top_y, level).unwrap();
            let mut products = Vec::new();
            for key in [&s.relin, &s.relin_stored] {
                let fused = s.evaluator.mul_relin(&cx, &cy, key).unwrap();
                let apart = s
                    .evaluator
                    .relinearise(&s.evaluator.mul(&cx, &cy).unwrap(), key)
                    .unwrap();
                assert_eq!(fused, apart);
                products.push(fused);
            }
            // The stored key is the seeded one, expanded.
            assert_eq!(products[0], products[1]);
            let rescaled = s.evaluator.rescale(&products[0]).unwrap();
            assert_eq!(rescaled.level(), level.below().unwrap());
            close(&s.decrypt(&rescaled), &product, 1e-4);
            let squared = s.evaluator.square_relin(&cx, &s.relin).unwrap();
            assert_eq!(
                squared,
                s.evaluator
                    .relinearise(&s.evaluator.square(&cx).unwrap(), &s.relin)
                    .unwrap()
            );
            close(
                &s.decrypt(&s.evaluator.rescale(&squared).unwrap()),
                &square,
                1e-4,
            );
        }
        assert!(
            s.evaluator
                .rescale(&s.evaluator.mod_switch(&top_x, Level(0)).unwrap())
                .is_err()
        );
    }
}

#[test]
fn rotations_match_plaintext() {
    for mut s in digit_choices() {
        let x = s.values(3);
        let n = x.len();
        let top = s.encrypt(&x);
        let steps = [1i64, -1, 5];
        let shifted = |step: i64| -> Vec<Complex64> {
            (0..n as i64)
                .map(|i| x[(i + step).rem_euclid(n as i64) as usize])
                .collect()
        };
        for level in [Level::LOWEST, s.params.max_level()] {
            let c = s.evaluator.mod_switch(&top, level).unwrap();
            for step in steps {
                close(
                    &s.decrypt(&s.evaluator.rotate(&c, step, &s.galois).unwrap()),
                    &shifted(step),
                    1e-4,
                );
            }
            let hoisted = s.evaluator.rotate_hoisted(&c, &steps, &s.galois).unwrap();
            for (r, step) in hoisted.iter().zip(steps) {
                close(&s.decrypt(r), &shifted(step), 1e-4);
            }
            let real: Vec<_> = x.iter().map(|z| z + z.conj()).collect();
            let sum = s.evaluator.two_real(&c, &s.galois).unwrap();
            close(&s.decrypt(&sum), &real, 1e-4);
            let apart = s.evaluator.conjugate(&c, &s.galois).unwrap();
            assert_eq!(sum, s.evaluator.add(&c, &apart).unwrap());
            let conjugate: Vec<_> = x.iter().map(|z| z.conj()).collect();
            close(
                &s.decrypt(&s.evaluator.conjugate(&c, &s.galois).unwrap()),
                &conjugate,
                1e-4,
            );
        }
        assert!(s.evaluator.rotate(&top, 7, &s.galois).is_err());
        assert!(s.evaluator.rotate(&top, n as i64, &s.galois).is_err());
    }
}

#[test]
fn mismatched_operands_are_refused() {
    let mut s = Setup::new(&[50, 40, 40], &[50], 7);
    let mut other = Setup::new(&[50, 40], &[50], 8);
    let (x, y) = (s.values(1), other.values(1));
    let (a, foreign) = (s.encrypt(&x), other.encrypt(&y));
    let low = s.evaluator.mod_switch(&a, Level(0)).unwrap();
    let e = &s.evaluator;
    assert!(e.add(&a, &low).is_err() && e.mul(&a, &low).is_err());
    assert!(e.add(&a, &foreign).is_err() && e.rescale(&foreign).is_err());
    assert!(e.add(&a, &a.clone().with_scale(3.0)).is_err());
    assert!(e.mod_switch(&low, Level(1)).is_err());
    assert!(e.relinearise(&a, &s.relin).is_err());
    assert!(e.mul_relin(&a, &a, &other.relin).is_err());
    let product = e.mul(&a, &a).unwrap();
    assert!(e.mul(&product, &a).is_err() && e.rotate(&product, 1, &s.galois).is_err());
    assert!(s.decryptor.decrypt(&foreign).is_err());
    assert!(format!("{:?}", s.keygen.secret_key()).contains("redacted"));
}

#[test]
fn every_distribution_works_and_only_uniform_ternary_is_secure_by_default() {
    use ringmill_schemes::ckks::{ErrorDistribution, Params, SecretDistribution};
    for secret in [
        SecretDistribution::Ternary,
        SecretDistribution::SparseTernary { weight: 16 },
        SecretDistribution::Gaussian,
    ] {
        for error in [
            ErrorDistribution::CentredBinomial,
            ErrorDistribution::Gaussian,
        ] {
            let builder = Params::builder(13)
                .prime_bits(&[50, 40], &[50])
                .secret(secret)
                .error(error);
            assert_eq!(
                builder.clone().build().is_ok(),
                secret == SecretDistribution::Ternary
            );
            let params = builder
                .allow_insecure_parameters_for_tests_only()
                .build()
                .unwrap();
            let mut s = Setup::of(params);
            let x = s.values(4);
            let c = s.encrypt(&x);
            let square: Vec<_> = x.iter().map(|a| a * a).collect();
            let squared = s
                .evaluator
                .rescale(&s.evaluator.square_relin(&c, &s.relin).unwrap());
            close(&s.decrypt(&squared.unwrap()), &square, 1e-4);
        }
    }
}

#[test]
fn what_seal_refuses_is_refused() {
    use ringmill_schemes::ckks::CkksError;
    use ringmill_schemes::rlwe::RlweError;
    for mut s in digit_choices() {
        let x = s.values(1);
        let a = s.encrypt(&x);
        let top = s.params.max_level();
        // Transparent: c_1 is zero.
        let zero = s.encode(&vec![Complex64::ZERO; x.len()]);
        for refused in [
            s.evaluator.sub(&a, &a),
            s.evaluator.add(&a, &s.evaluator.negate(&a).unwrap()),
            s.evaluator.mul_plain(&a, &zero),
            s.evaluator.mul_scalar(&a, 0.0, 1024.0),
        ] {
            assert_eq!(refused, Err(RlweError::Transparent.into()));
        }
        let c0 = a.polys()[0].clone().into_wide();
        let polys = vec![c0.clone(), vec![0; c0.len()]];
        let shown = Ciphertext::new(&s.params, top, a.scale(), polys).unwrap();
        assert!(shown.is_transparent() && !a.is_transparent());
        assert_eq!(
            s.evaluator.negate(&shown),
            Err(RlweError::Transparent.into())
        );
        assert_eq!(
            s.evaluator.mod_switch(&shown, Level(0)),
            Err(RlweError::Transparent.into())
        );
        // Scales: the modulus of level 0 has 50 bits, of the top level 130.
        let low = s.evaluator.mod_switch(&a, Level(0)).unwrap();
        let m = s.encoder.encode(&x, Level(0), 2f64.powi(10)).unwrap();
        let at = |c: &Ciphertext, log: i32| c.clone().with_scale(2f64.powi(log));
        let out_of_bounds = |r: Result<Ciphertext, CkksError>| {
            assert!(matches!(r, Err(CkksError::Scale { .. })), "{r:?}");
        };
        assert!(s.evaluator.mul(&at(&low, 24), &at(&low, 25)).is_ok());
        out_of_bounds(s.evaluator.mul(&at(&low, 25), &at(&low, 25)));
        out_of_bounds(s.evaluator.square(&at(&low, 25)));
        out_of_bounds(s.evaluator.square_relin(&at(&low, 25), &s.relin));
        out_of_bounds(
            s.evaluator
                .mul_relin(&at(&low, 20), &at(&low, 30), &s.relin),
        );
        assert!(s.evaluator.mul_plain(&at(&low, 39), &m).is_ok());
        out_of_bounds(s.evaluator.mul_plain(&at(&low, 40), &m));
        out_of_bounds(s.evaluator.mul_scalar(&at(&low, 40), 1.0, 1024.0));
        let product = s.evaluator.mul(&at(&a, 60), &at(&a, 60)).unwrap();
        out_of_bounds(s.evaluator.mod_switch(&product, Level(0)));
        assert!(s.evaluator.mod_switch(&at(&a, 49), Level(0)).is_ok());
    }
}

#[test]
fn rotations_go_by_powers_of_two_where_their_own_key_is_missing() {
    for mut s in digit_choices() {
        let x = s.values(1);
        let a = s.encrypt(&x);
        assert_eq!(s.evaluator.rotate(&a, 0, &GaloisKeys::new()), Ok(a.clone()));
        let keys = s
            .keygen
            .rotation_keys(&[1, -1, 4, 8], KeyForm::Seeded)
            .unwrap();
        let by = |step| s.evaluator.rotate(&a, step, &keys);
        // 7 = -1 + 8 and 11 = -1 - 4 + 16, the least first.
        let one = |c: &Ciphertext, step| s.evaluator.rotate(c, step, &keys).unwrap();
        assert_eq!(by(7), Ok(one(&one(&a, -1), 8)));
        assert_eq!(by(5), Ok(one(&one(&a, 1), 4)));
        let mut turned = x.clone();
        turned.rotate_left(7);
        close(&s.decrypt(&by(7).unwrap()), &turned, 1e-4);
        // A rotation by all slots but one is a rotation by -1 and one by all slots, which changes nothing.
        let slots = s.params.slots() as i64;
        assert_eq!(by(slots - 1), Ok(one(&a, -1)));
        for missing in [2, 6, 11] {
            let error = by(missing).unwrap_err().to_string();
            assert!(error.contains(&format!("rotation by {missing}")), "{error}");
        }
        for outside in [slots, -slots, i64::MAX, i64::MIN] {
            assert!(by(outside).is_err());
        }
    }
}
