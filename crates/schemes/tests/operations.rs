//! Every homomorphic operation against plaintext, for each number of digits.

mod common;

use common::{Setup, close, digit_choices};
use num_complex::Complex64;

#[test]
fn encryption_round_trips_at_every_level() {
    for mut s in digit_choices() {
        let values = s.values(1);
        for level in 0..=s.params.max_level() {
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
        let plain = s
            .encoder
            .encode(&values, 0, s.params.default_scale())
            .unwrap();
        assert!(s.public.encrypt_seeded(&plain).is_err());
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
        // Three polynomials against two, both ways round.
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
        for level in 1..=s.params.max_level() {
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
            assert_eq!(rescaled.level(), level - 1);
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
                .rescale(&s.evaluator.mod_switch(&top_x, 0).unwrap())
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
        for level in [0, s.params.max_level()] {
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
    let low = s.evaluator.mod_switch(&a, 0).unwrap();
    let e = &s.evaluator;
    assert!(e.add(&a, &low).is_err() && e.mul(&a, &low).is_err());
    assert!(e.add(&a, &foreign).is_err() && e.rescale(&foreign).is_err());
    assert!(e.add(&a, &a.clone().with_scale(3.0)).is_err());
    assert!(e.mod_switch(&low, 1).is_err());
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
