// SPDX-License-Identifier: Apache-2.0
//! Makes keys, an encoder and an evaluator for a small CKKS parameter set.
#![allow(dead_code)] // each test file uses its part

use std::sync::Arc;

use num_complex::Complex64;
use ringmill_isa::Galois;
use ringmill_schemes::ckks::key::KeyForm;
use ringmill_schemes::ckks::{
    Ciphertext, Decryptor, Encoder, Encryptor, Evaluator, GaloisKeys, KeyGenerator, Params,
    Plaintext, RelinKey,
};

pub struct Setup {
    pub params: Arc<Params>,
    pub keygen: KeyGenerator,
    pub encoder: Encoder,
    pub public: Encryptor,
    pub secret: Encryptor,
    pub decryptor: Decryptor,
    pub evaluator: Evaluator,
    pub relin: RelinKey,
    pub relin_stored: RelinKey,
    pub galois: GaloisKeys,
}

/// The steps of rotations for which a setup has Galois keys. It also has the key of the conjugation.
pub const STEPS: [i64; 3] = [1, -1, 5];

impl Setup {
    pub fn new(cipher: &[u32], special: &[u32], log_n: u8) -> Self {
        let builder = Params::builder(log_n).prime_bits(cipher, special);
        Self::of(
            builder
                .allow_insecure_parameters_for_tests_only()
                .build()
                .unwrap(),
        )
    }

    pub fn of(params: Arc<Params>) -> Self {
        let keygen =
            KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), [7; 32]).unwrap();
        let secret_key = keygen.secret_key().clone();
        let public_key = keygen.public_key().unwrap();
        let public = Encryptor::with_public_key(params.clone(), &public_key).unwrap();
        let secret = Encryptor::with_secret_key(params.clone(), secret_key.clone()).unwrap();
        let relin = keygen.relin_key(KeyForm::Seeded).unwrap();
        let relin_stored = RelinKey(relin.0.expanded(&params).unwrap());
        let mut elements: Vec<Galois> = STEPS
            .iter()
            .map(|&s| params.galois_element(s).unwrap())
            .collect();
        elements.push(params.conjugation_element());
        let galois = keygen.galois_keys(&elements, KeyForm::Seeded).unwrap();
        Self {
            encoder: Encoder::new(params.clone()),
            public: public.seed_for_reproducible_tests_only([8; 32]),
            secret: secret.seed_for_reproducible_tests_only([9; 32]),
            decryptor: Decryptor::new(params.clone(), secret_key).unwrap(),
            evaluator: Evaluator::new(params.clone()),
            params,
            keygen,
            relin,
            relin_stored,
            galois,
        }
    }

    /// Returns one complex number for each slot, with real and imaginary parts between -1 and 1. They differ for each
    /// `tag`.
    pub fn values(&self, tag: u64) -> Vec<Complex64> {
        let mut state = tag.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
        };
        (0..self.params.slots())
            .map(|_| Complex64::new(next(), next()))
            .collect()
    }

    pub fn encode(&self, values: &[Complex64]) -> Plaintext {
        self.encoder
            .encode(values, self.params.max_level(), self.params.default_scale())
            .unwrap()
    }

    pub fn encrypt(&mut self, values: &[Complex64]) -> Ciphertext {
        let plain = self.encode(values);
        self.public.encrypt(&plain).unwrap()
    }

    pub fn decrypt(&self, cipher: &Ciphertext) -> Vec<Complex64> {
        let plain = self.decryptor.decrypt(cipher).unwrap();
        self.encoder.decode(&plain, self.params.slots()).unwrap()
    }
}

/// Returns setups with all kinds of key-switching digits. The first three have digits of one prime (SEAL), of two
/// primes with a shorter last digit, and one digit of all primes. The others have fewer special primes than a digit has
/// primes, digits of unequal numbers of primes, or more special primes than a digit has primes.
pub fn digit_choices() -> Vec<Setup> {
    let cipher = [50, 40, 40];
    let by_special = [&[50][..], &[50, 50], &[50, 50, 50]];
    let by_special = by_special.map(|special| Setup::new(&cipher, special, 8));
    let by_dnum = [
        (&[50, 30, 30, 30, 30][..], &[60, 60][..], 2),
        (&[50, 35, 35, 35, 35, 35, 35], &[50, 50, 50], 5),
        (&[50, 40, 40], &[60, 60, 60], 3),
    ];
    let by_dnum = by_dnum.map(|(cipher, special, dnum)| {
        let builder = Params::builder(8).prime_bits(cipher, special).dnum(dnum);
        let builder = builder.default_scale(2f64.powi(cipher[1] as i32));
        let builder = builder.allow_insecure_parameters_for_tests_only();
        Setup::of(builder.build().unwrap())
    });
    by_special.into_iter().chain(by_dnum).collect()
}

/// Returns the largest distance between two numbers at one position of two vectors.
pub fn distance(a: &[Complex64], b: &[Complex64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, f64::max)
}

pub fn close(got: &[Complex64], expected: &[Complex64], bound: f64) {
    let error = distance(got, expected);
    assert!(error < bound, "error {error:e} is above {bound:e}");
}
