// SPDX-License-Identifier: Apache-2.0
//! Runs random circuits on BGV ciphertexts and on their messages in the clear, and compares the results.

use ringmill_schemes::bgv::{
    Decryptor, Encoder, Integers, KeyForm, KeyGenerator, Level, Params, PlainModulus,
    SecretDistribution,
};

use super::setup::{Circuit, STEPS, Setup, params};

/// The sizes in bits of special primes for every default dnum of five ciphertext primes: 5, 3, 2 and 1.
const SPECIAL: [&[u32]; 4] = [&[60], &[60, 60], &[58, 60, 59], &[60, 60, 60, 60, 60]];

#[test]
fn random_circuits_compute_what_they_say() {
    for (tag, special) in (1..).zip(SPECIAL) {
        for (t, form) in [(7681, KeyForm::Seeded), (257, KeyForm::Stored)] {
            let params = params(6, t, &[60, 55, 60, 50, 60], special);
            assert_eq!(params.dnum(), 5usize.div_ceil(special.len()));
            let mut circuit = Circuit::new(Setup::with_keys(params, form), tag + t);
            for _ in 0..6 {
                circuit.run(10, |setup, value| {
                    assert_eq!(setup.decrypt(&value.cipher), value.clear);
                });
            }
        }
    }
}

#[test]
fn rotations_go_by_the_keys_that_are_there_and_hoisted_ones_decrypt_alike() {
    for special in [&[60][..], &[60, 60]] {
        let setup = Setup::new(params(6, 7681, &[60, 60], special));
        let values: Vec<u64> = (0..64).collect();
        let a = setup.encrypt(&values);
        let e = &setup.evaluator;
        let hoisted = e.rotate_rows_hoisted(&a, &STEPS, &setup.galois).unwrap();
        for (step, hoisted) in STEPS.into_iter().zip(hoisted) {
            let turned = e.rotate_rows(&a, step, &setup.galois).unwrap();
            assert_eq!(setup.decrypt(&turned), setup.decrypt(&hoisted));
            assert_eq!(setup.decrypt(&turned)[0], step.rem_euclid(32) as u64);
            assert_eq!(setup.decrypt(&turned)[32], 32 + step.rem_euclid(32) as u64);
        }
        assert_eq!(e.rotate_rows(&a, 0, &setup.galois), Ok(a.clone()));
        let missing = e.rotate_rows(&a, 2, &setup.galois).unwrap_err();
        assert!(missing.to_string().contains("rotation by 2"), "{missing}");
        let keys = setup.keygen.rotation_keys(&[-1, 8], KeyForm::Seeded);
        let turned = e.rotate_rows(&a, 7, &keys.unwrap()).unwrap();
        assert_eq!(setup.decrypt(&turned)[0], 7);
    }
}

#[test]
fn sums_of_unequal_factors_are_the_sums_of_their_messages() {
    let setup = Setup::new(params(6, 7681, &[60, 60, 60, 60], &[60]));
    let e = &setup.evaluator;
    let (a, b) = (setup.encrypt(&[7; 64]), setup.encrypt(&[11; 64]));
    // The factor of a square of a product after a division is 1 / q^2. That of a fresh value after a division is 1 / q.
    let product = e.mul_relin(&a, &b, &setup.relin).unwrap();
    let product = e.mod_switch_to_next(&product).unwrap();
    let square = e.square_relin(&product, &setup.relin).unwrap();
    let low = e.mod_switch(&a, Level(2)).unwrap();
    assert_ne!(square.annotation(), low.annotation());
    for (x, y) in [(&square, &low), (&low, &square)] {
        let (sum, difference) = (e.add(x, y).unwrap(), e.sub(x, y).unwrap());
        let values = [setup.decrypt(x)[0], setup.decrypt(y)[0]];
        assert_eq!(setup.decrypt(&sum), [(values[0] + values[1]) % 7681; 64]);
        assert_eq!(
            setup.decrypt(&difference),
            [(values[0] + 7681 - values[1]) % 7681; 64]
        );
        assert_eq!(sum.annotation(), difference.annotation());
    }
    // One ciphertext has three polynomials, the other two.
    let wide = e.mul(&low, &low).unwrap();
    let sum = e.add(&wide, &square).unwrap();
    assert_eq!(sum.size(), 3);
    assert_eq!(setup.decrypt(&sum), [49 + 77 * 77; 64]);
    let difference = e.sub(&square, &wide).unwrap();
    assert_eq!(setup.decrypt(&difference), [77 * 77 - 49; 64]);
}

#[test]
fn plaintext_moduli_that_do_not_batch_do_for_coefficients() {
    for t in [2, 16, 9, 1 << 40, (1 << 59) - 55] {
        let setup = Setup::new(params(5, t, &[60, 60, 60, 60], &[60, 60]));
        assert!(matches!(setup.encoder, Encoder::Coefficients(_)));
        let e = &setup.evaluator;
        let x = setup.encrypt(&[0, 1]);
        // Products of monomials, one of which exceeds the degree N and so changes its sign.
        let mut power = x.clone();
        for _ in 0..2 {
            power = e.square_relin(&power, &setup.relin).unwrap();
            power = e.mod_switch_to_next(&power).unwrap();
        }
        let mut expected = vec![0; 32];
        expected[4] = 1;
        if t < 1 << 50 {
            assert_eq!(setup.decrypt(&power), expected, "{t}");
        }
        let plain = setup.encoder.encode(&[t - 1], Integers::Unsigned).unwrap();
        let negated = e.mul_plain(&x, &plain).unwrap();
        assert_eq!(setup.decrypt(&negated)[1], t - 1);
        let sum = e
            .add_plain(&e.mod_switch_to_next(&x).unwrap(), &plain)
            .unwrap();
        assert_eq!(setup.decrypt(&sum)[..2], [t - 1, 1]);
    }
}

#[test]
fn other_secrets_and_one_prime_do() {
    for secret in [
        SecretDistribution::Binary,
        SecretDistribution::Gaussian,
        SecretDistribution::SparseTernary { weight: 8 },
    ] {
        let builder = Params::builder(5, PlainModulus::new(193).unwrap())
            .prime_bits(&[60, 60, 60], &[60])
            .secret(secret)
            .allow_insecure_parameters_for_tests_only();
        let mut circuit = Circuit::new(Setup::new(builder.build().unwrap()), 3);
        circuit.run(20, |setup, value| {
            assert_eq!(setup.decrypt(&value.cipher), value.clear);
        });
    }
    let setup = Setup::new(params(5, 193, &[60], &[60]));
    let a = setup.encrypt(&[5; 32]);
    let square = setup.evaluator.square_relin(&a, &setup.relin).unwrap();
    assert_eq!(setup.decrypt(&square), [25; 32]);
}

#[test]
fn a_message_that_is_lost_is_refused() {
    let params = params(6, 7681, &[50, 50], &[50]);
    let setup = Setup::new(params.clone());
    let mut a = setup.encrypt(&[3; 64]);
    let mut budgets = vec![setup.decryptor.noise_budget(&a).unwrap()];
    let mut clear = 3u64;
    for _ in 0..6 {
        a = setup.evaluator.square_relin(&a, &setup.relin).unwrap();
        clear = clear * clear % 7681;
        budgets.push(setup.decryptor.noise_budget(&a).unwrap());
        match setup.decryptor.decrypt(&a) {
            Ok(_) => assert_eq!(setup.decrypt(&a), [clear; 64]),
            Err(e) => {
                assert!(e.to_string().contains("no noise budget"), "{e}");
                assert_eq!(budgets.last(), Some(&0));
            }
        }
    }
    assert!(
        budgets[0] > 60 && budgets.is_sorted_by(|a, b| a >= b),
        "{budgets:?}"
    );
    assert_eq!(budgets.last(), Some(&0));
    // A decryptor with another key sees only noise. Without key identities, nothing tells it that the key is wrong.
    let other = KeyGenerator::new(params.clone()).unwrap();
    let key = other.secret_key().clone().with_key_id(None);
    let decryptor = Decryptor::new(params.clone(), key).unwrap();
    let foreign = setup.encrypt(&[1, 2, 3]).with_key_id(None);
    assert!(decryptor.decrypt(&foreign).is_err());
    assert_eq!(decryptor.noise_budget(&foreign), Ok(0));
}
