// SPDX-License-Identifier: Apache-2.0
//! Makes keys, an encoder and an evaluator for a small BGV parameter set, and runs random circuits on it.

use std::sync::Arc;

use ringmill_schemes::bgv::{
    BgvError, Ciphertext, Decryptor, Encoder, Encryptor, Evaluator, ExactParams, Factor, Galois,
    GaloisKeys, Integers, KeyForm, KeyGenerator, Level, Noise, NoiseModel, Params, PlainModulus,
    RelinKey,
};

use ringmill_schemes::rlwe::RlweError;

pub struct Setup {
    pub params: Arc<Params>,
    pub keygen: KeyGenerator,
    pub encoder: Encoder<Params>,
    pub public: Encryptor,
    pub secret: Encryptor,
    pub decryptor: Decryptor,
    pub evaluator: Evaluator,
    pub model: NoiseModel,
    pub relin: RelinKey,
    pub galois: GaloisKeys,
}

/// The steps of row rotations for which a setup has Galois keys. It also has the key for the exchange of rows.
pub const STEPS: [i64; 2] = [1, -3];

pub fn params(log_n: u8, t: u64, cipher: &[u32], special: &[u32]) -> Arc<Params> {
    let builder = Params::builder(log_n, PlainModulus::new(t).unwrap()).prime_bits(cipher, special);
    builder
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap()
}

impl Setup {
    pub fn new(params: Arc<Params>) -> Self {
        Self::with_keys(params, KeyForm::Seeded)
    }

    pub fn with_keys(params: Arc<Params>, form: KeyForm) -> Self {
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
            model: NoiseModel::new(&params),
            relin: keygen.relin_key(form).unwrap(),
            galois: keygen.galois_keys(&elements, form).unwrap(),
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

/// A value as a ciphertext, in the clear, and with the bound on its noise.
#[derive(Clone)]
pub struct Value {
    pub cipher: Ciphertext,
    pub clear: Vec<u64>,
    pub noise: Noise,
}

/// Returns the result of an operation, or `None` if the operation refuses it as transparent.
fn opaque(result: Result<Ciphertext, BgvError>) -> Option<Ciphertext> {
    match result {
        Ok(cipher) => Some(cipher),
        Err(BgvError::Rlwe(RlweError::Transparent)) => None,
        Err(e) => panic!("{e}"),
    }
}

/// Random operations on values of one setup, whose plaintext modulus batches.
pub struct Circuit {
    pub setup: Setup,
    pub numbers: Numbers,
    t: u64,
}

impl Circuit {
    pub fn new(setup: Setup, tag: u64) -> Self {
        Self {
            t: setup.params.plain_modulus().value(),
            setup,
            numbers: Numbers::new(tag),
        }
    }

    pub fn fresh(&mut self) -> Value {
        let clear = self.numbers.many(self.setup.params.degree(), self.t);
        let plain = self.setup.encoder.encode(&clear, Integers::Unsigned);
        let (plain, model) = (plain.unwrap(), &self.setup.model);
        let (cipher, noise) = if self.numbers.below(4) > 0 {
            (self.setup.public.encrypt(&plain), model.fresh())
        } else {
            (self.setup.secret.encrypt(&plain), model.fresh_symmetric())
        };
        Value {
            cipher: cipher.unwrap(),
            clear,
            noise,
        }
    }

    /// Divides a value by primes down to a level. Returns `None` if a result is transparent.
    fn down(&self, a: &Value, level: Level) -> Option<Value> {
        let mut a = a.clone();
        while a.cipher.level() > level {
            let (from, polys) = (a.cipher.level(), a.cipher.size());
            a.cipher = opaque(self.setup.evaluator.mod_switch_to_next(&a.cipher))?;
            a.noise = self.setup.model.mod_switch(a.noise, from, polys);
        }
        Some(a)
    }

    fn zip(a: &[u64], b: &[u64], f: impl Fn(u128, u128) -> u128) -> Vec<u64> {
        let pairs = a.iter().zip(b);
        pairs.map(|(&a, &b)| f(a.into(), b.into()) as u64).collect()
    }

    fn sum_noise(&self, a: &Value, b: &Value) -> Noise {
        let (x, y) = (*a.cipher.annotation(), *b.cipher.annotation());
        if x == y {
            return self.setup.model.add(a.noise, b.noise);
        }
        let t = self.setup.params.plain_modulus().reducer();
        let balance = Factor::balance(x, y, t).unwrap();
        self.setup.model.add_balanced(a.noise, b.noise, &balance)
    }

    /// Applies an operation, chosen at random, to two values at the lower of their levels. Returns `None` if the result
    /// is transparent, or if its noise bound leaves no budget.
    pub fn step(&mut self, a: &Value, b: &Value) -> Option<Value> {
        let (t, half) = (u128::from(self.t), a.clear.len() / 2);
        let level = a.cipher.level().min(b.cipher.level());
        let (a, b) = (self.down(a, level)?, self.down(b, level)?);
        let slots = self.numbers.many(a.clear.len(), self.t);
        let plain = self.setup.encoder.encode(&slots, Integers::Unsigned);
        let plain = plain.unwrap();
        let choice = self.numbers.below(15);
        let integer = self.numbers.below(200) as i128 - 100;
        let step = STEPS[self.numbers.below(2) as usize];
        let turned = || {
            let turn = |row: &[u64]| -> Vec<u64> {
                let at = |i: usize| (i as i64 + step).rem_euclid(half as i64) as usize;
                (0..half).map(|i| row[at(i)]).collect()
            };
            [turn(&a.clear[..half]), turn(&a.clear[half..])].concat()
        };
        let (e, model) = (&self.setup.evaluator, &self.setup.model);
        let (relin, galois) = (&self.setup.relin, &self.setup.galois);
        let switched = |noise| model.switch_key(noise, level);
        let (cipher, clear, noise) = match choice {
            0 | 1 => (
                e.add(&a.cipher, &b.cipher),
                Self::zip(&a.clear, &b.clear, |a, b| (a + b) % t),
                self.sum_noise(&a, &b),
            ),
            2 => (
                e.sub(&a.cipher, &b.cipher),
                Self::zip(&a.clear, &b.clear, |a, b| (a + t - b) % t),
                self.sum_noise(&a, &b),
            ),
            3 => (
                e.negate(&a.cipher),
                Self::zip(&a.clear, &a.clear, |a, _| (t - a) % t),
                a.noise,
            ),
            4 => (
                e.add_plain(&a.cipher, &plain),
                Self::zip(&a.clear, &slots, |a, b| (a + b) % t),
                model.add_plain(a.noise),
            ),
            5 => (
                e.sub_plain(&a.cipher, &plain),
                Self::zip(&a.clear, &slots, |a, b| (a + t - b) % t),
                model.add_plain(a.noise),
            ),
            6 => (
                e.mul_plain(&a.cipher, &plain),
                Self::zip(&a.clear, &slots, |a, b| a * b % t),
                model.mul_plain(a.noise),
            ),
            7 => {
                let cipher = e.rotate_rows(&a.cipher, step, galois);
                (cipher, turned(), switched(a.noise))
            }
            8 => {
                let hoisted = e.rotate_rows_hoisted(&a.cipher, &[step], galois);
                let cipher = hoisted.map(|mut all| all.remove(0));
                (cipher, turned(), switched(a.noise))
            }
            9 => (
                e.rotate_columns(&a.cipher, galois),
                [&a.clear[half..], &a.clear[..half]].concat(),
                switched(a.noise),
            ),
            10 => {
                // A ciphertext of three polynomials is divided by primes before its relinearisation.
                let below = level.below()?;
                let product = Value {
                    cipher: e.square(&a.cipher).unwrap(),
                    clear: Self::zip(&a.clear, &a.clear, |a, _| a * a % t),
                    noise: model.mul(a.noise, a.noise),
                };
                let low = self.down(&product, below)?;
                let cipher = e.relinearise(&low.cipher, relin);
                (cipher, low.clear, model.switch_key(low.noise, below))
            }
            11 => {
                let residue = integer.rem_euclid(t as i128) as u128;
                let sum = Self::zip(&a.clear, &slots, |a, _| (a + residue) % t);
                let cipher = e.add_integer(&a.cipher, integer);
                (cipher, sum, model.add_plain(a.noise))
            }
            12 => {
                let residue = integer.rem_euclid(t as i128) as u128;
                let product = Self::zip(&a.clear, &slots, |a, _| a * residue % t);
                let size = integer.unsigned_abs() as u64;
                let cipher = e.mul_integer(&a.cipher, integer);
                (cipher, product, model.mul_integer(a.noise, size))
            }
            _ => (
                e.mul_relin(&a.cipher, &b.cipher, relin),
                Self::zip(&a.clear, &b.clear, |a, b| a * b % t),
                switched(model.mul(a.noise, b.noise)),
            ),
        };
        let cipher = opaque(cipher)?;
        let value = Value {
            cipher,
            clear,
            noise,
        };
        let value = match (self.numbers.below(3), value.cipher.level().below()) {
            (0, Some(below)) => self.down(&value, below)?,
            _ => value,
        };
        (self.setup.model.budget(value.noise, value.cipher.level()) > 0).then_some(value)
    }

    /// Runs a random circuit of at most `steps` operations on two inputs, and calls `check` for each value, the inputs
    /// first.
    pub fn run(&mut self, steps: usize, mut check: impl FnMut(&Setup, &Value)) {
        let mut values = vec![self.fresh(), self.fresh()];
        for value in &values {
            check(&self.setup, value);
        }
        for _ in 0..steps {
            let [i, j] = [0, 1].map(|_| self.numbers.below(values.len() as u64));
            let (a, b) = (values[i as usize].clone(), values[j as usize].clone());
            if let Some(value) = self.step(&a, &b) {
                check(&self.setup, &value);
                values.push(value);
            }
        }
    }
}
