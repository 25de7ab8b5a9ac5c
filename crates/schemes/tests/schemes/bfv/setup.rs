// SPDX-License-Identifier: Apache-2.0
//! Makes keys, an encoder and an evaluator for a small BFV parameter set.

use std::sync::Arc;

use ringmill_schemes::bfv::{
    Ciphertext, Decryptor, Encoder, Encryptor, Evaluator, Galois, GaloisKeys, Integers, KeyForm,
    KeyGenerator, Multiplication, Params, PlainModulus, RelinKey,
};

pub struct Setup {
    pub params: Arc<Params>,
    pub keygen: KeyGenerator,
    pub encoder: Encoder<Params>,
    pub public: Encryptor,
    pub secret: Encryptor,
    pub decryptor: Decryptor,
    pub evaluator: Evaluator,
    pub relin: RelinKey,
    pub galois: GaloisKeys,
}

/// The steps of row rotations for which a setup has Galois keys. It also has the key for the exchange of rows.
pub const STEPS: [i64; 2] = [1, -3];

pub fn params(
    log_n: u8,
    t: u64,
    cipher: &[u32],
    special: &[u32],
    multiplication: Multiplication,
) -> Arc<Params> {
    let builder = Params::builder(log_n, PlainModulus::new(t).unwrap())
        .prime_bits(cipher, special)
        .multiplication(multiplication);
    builder
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap()
}

impl Setup {
    pub fn new(params: Arc<Params>) -> Self {
        let keygen =
            KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), [7; 32]).unwrap();
        let secret_key = keygen.secret_key().clone();
        let public_key = keygen.public_key().unwrap();
        let public = Encryptor::with_public_key(params.clone(), &public_key).unwrap();
        let secret = Encryptor::with_secret_key(params.clone(), secret_key.clone()).unwrap();
        let steps = STEPS.iter().map(|&s| params.galois_element(s).unwrap());
        let mut elements: Vec<Galois> = steps.collect();
        elements.push(params.conjugation_element());
        Self {
            encoder: Encoder::new(params.clone()).unwrap(),
            public: public.seed_for_reproducible_tests_only([8; 32]),
            secret: secret.seed_for_reproducible_tests_only([9; 32]),
            decryptor: Decryptor::new(params.clone(), secret_key).unwrap(),
            evaluator: Evaluator::new(params.clone()),
            relin: keygen.relin_key(KeyForm::Seeded).unwrap(),
            galois: keygen.galois_keys(&elements, KeyForm::Seeded).unwrap(),
            params,
            keygen,
        }
    }

    pub fn encrypt(&self, values: &[u64]) -> Ciphertext {
        let plain = self.encoder.encode(values, Integers::Unsigned).unwrap();
        self.public.encrypt(&plain).unwrap()
    }

    pub fn decrypt(&self, cipher: &Ciphertext) -> Vec<u64> {
        let plain = self.decryptor.decrypt(cipher).unwrap();
        self.encoder.decode_unsigned(&plain).unwrap()
    }
}

/// A generator of pseudorandom numbers, which are the same on every run.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(tag: u64) -> Self {
        Self(tag.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * u128::from(bound)) >> 64) as u64
    }

    pub fn many(&mut self, count: usize, bound: u64) -> Vec<u64> {
        (0..count).map(|_| self.below(bound)).collect()
    }
}
