// SPDX-License-Identifier: Apache-2.0
//! Runs random circuits on BFV ciphertexts and on their messages in the clear, and compares the results.

use ringmill_schemes::bfv::{
    BfvError, Ciphertext, Decryptor, Integers, KeyGenerator, Multiplication,
};
use ringmill_schemes::exact::ExactParams;
use ringmill_schemes::rlwe::RlweError;

use super::setup::{Numbers, STEPS, Setup, params};

/// A value as a ciphertext and in the clear, with the number of products on the way to it.
#[derive(Clone)]
struct Value {
    cipher: Ciphertext,
    clear: Vec<u64>,
    products: u32,
}

struct Circuit {
    setup: Setup,
    t: u64,
    numbers: Numbers,
}

impl Circuit {
    fn fresh(&mut self) -> Value {
        let clear = self.numbers.many(self.setup.params.degree(), self.t);
        Value {
            cipher: self.setup.encrypt(&clear),
            clear,
            products: 0,
        }
    }

    fn zip(a: &[u64], b: &[u64], f: impl Fn(u64, u64) -> u64) -> Vec<u64> {
        a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
    }

    /// Applies an operation, chosen at random, to two values at the lower of their levels. Returns `None` if the result
    /// is transparent.
    fn step(&mut self, a: &Value, b: &Value) -> Option<Value> {
        let (t, half) = (self.t, a.clear.len() / 2);
        let e = &self.setup.evaluator;
        let keys = &self.setup.galois;
        let b_cipher = e.mod_switch(&b.cipher, a.cipher.level().min(b.cipher.level()));
        let (b_cipher, level) = (b_cipher.unwrap(), b.cipher.level());
        let a_cipher = e
            .mod_switch(&a.cipher, a.cipher.level().min(level))
            .unwrap();
        let slots = self.numbers.many(a.clear.len(), t);
        let plain = self.setup.encoder.encode(&slots, Integers::Unsigned);
        let plain = plain.unwrap();
        let mut products = a.products;
        let turned = |step: i64| {
            let turn = |row: &[u64]| -> Vec<u64> {
                let at = |i: usize| (i as i64 + step).rem_euclid(half as i64) as usize;
                (0..half).map(|i| row[at(i)]).collect()
            };
            [turn(&a.clear[..half]), turn(&a.clear[half..])].concat()
        };
        let (cipher, clear) = match self.numbers.below(10) {
            0 => (
                e.add(&a_cipher, &b_cipher),
                Self::zip(&a.clear, &b.clear, |a, b| (a + b) % t),
            ),
            1 => (
                e.sub(&a_cipher, &b_cipher),
                Self::zip(&a.clear, &b.clear, |a, b| (a + t - b) % t),
            ),
            2 => (
                e.negate(&a_cipher),
                a.clear.iter().map(|a| (t - a) % t).collect(),
            ),
            3 => (
                e.add_plain(&a_cipher, &plain),
                Self::zip(&a.clear, &slots, |a, b| (a + b) % t),
            ),
            4 => (
                e.sub_plain(&a_cipher, &plain),
                Self::zip(&a.clear, &slots, |a, b| (a + t - b) % t),
            ),
            5 => {
                products += 1;
                (
                    e.mul_plain(&a_cipher, &plain),
                    Self::zip(&a.clear, &slots, |a, b| a * b % t),
                )
            }
            6 => (e.rotate_rows(&a_cipher, STEPS[0], keys), turned(STEPS[0])),
            7 => (
                e.rotate_columns(&a_cipher, keys),
                [&a.clear[half..], &a.clear[..half]].concat(),
            ),
            8 => {
                let low = a_cipher.level().below().filter(|level| level.0 > 1);
                let level = low.unwrap_or(a_cipher.level());
                (e.mod_switch(&a_cipher, level), a.clear.clone())
            }
            _ => {
                products = a.products.max(b.products) + 1;
                let product = e.mul_relin(&a_cipher, &b_cipher, &self.setup.relin);
                (product, Self::zip(&a.clear, &b.clear, |a, b| a * b % t))
            }
        };
        match cipher {
            Ok(cipher) => Some(Value {
                cipher,
                clear,
                products,
            }),
            Err(BfvError::Rlwe(RlweError::Transparent)) => None,
            Err(e) => panic!("{e}"),
        }
    }
}

#[test]
fn random_circuits_compute_what_they_say() {
    for (round, multiplication) in (0..).zip(Multiplication::ALL) {
        for special in [&[60][..], &[60, 60]] {
            let params = params(6, 7681, &[60, 60, 60, 60, 60], special, multiplication);
            let t = params.plain_modulus().value();
            let mut circuit = Circuit {
                setup: Setup::new(params),
                t,
                numbers: Numbers::new(round + special.len() as u64),
            };
            for _ in 0..12 {
                let mut values = vec![circuit.fresh(), circuit.fresh()];
                for _ in 0..10 {
                    let [i, j] = [0, 1].map(|_| circuit.numbers.below(values.len() as u64));
                    let (a, b) = (values[i as usize].clone(), values[j as usize].clone());
                    if a.products.max(b.products) > 2 {
                        continue;
                    }
                    let Some(value) = circuit.step(&a, &b) else {
                        continue;
                    };
                    assert_eq!(circuit.setup.decrypt(&value.cipher), value.clear);
                    values.push(value);
                }
            }
        }
    }
}

#[test]
fn rotations_go_by_the_keys_that_are_there_and_hoisted_ones_decrypt_alike() {
    let params = params(6, 7681, &[60, 60], &[60], Multiplication::Behz);
    let setup = Setup::new(params);
    let values: Vec<u64> = (0..64).collect();
    let a = setup.encrypt(&values);
    let hoisted = setup
        .evaluator
        .rotate_rows_hoisted(&a, &STEPS, &setup.galois);
    for (step, hoisted) in STEPS.into_iter().zip(hoisted.unwrap()) {
        let turned = setup
            .evaluator
            .rotate_rows(&a, step, &setup.galois)
            .unwrap();
        assert_eq!(setup.decrypt(&turned), setup.decrypt(&hoisted));
        assert_eq!(setup.decrypt(&turned)[0], step.rem_euclid(32) as u64);
        assert_eq!(setup.decrypt(&turned)[32], 32 + step.rem_euclid(32) as u64);
    }
    assert_eq!(
        setup.evaluator.rotate_rows(&a, 0, &setup.galois),
        Ok(a.clone())
    );
    let missing = setup
        .evaluator
        .rotate_rows(&a, 2, &setup.galois)
        .unwrap_err();
    assert!(missing.to_string().contains("rotation by 2"), "{missing}");
    let keys = setup
        .keygen
        .rotation_keys(&[-1, 8], Default::default())
        .unwrap();
    let turned = setup.evaluator.rotate_rows(&a, 7, &keys).unwrap();
    assert_eq!(setup.decrypt(&turned)[0], 7);
}

#[test]
fn a_message_that_is_lost_is_refused() {
    for multiplication in Multiplication::ALL {
        let params = params(6, 7681, &[50, 50], &[50], multiplication);
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
}
