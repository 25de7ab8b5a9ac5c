// SPDX-License-Identifier: Apache-2.0
//! The CKKS scheme in SEAL's RNS variant. A ciphertext of level l has l + 1 primes, and all limbs are in evaluation
//! form. Slot i of a polynomial m is m(zeta^(3^i)), where zeta is the complex number e^(pi I / N), I the imaginary unit
//! and N the ring degree.

pub mod bootstrap;
pub mod chain;
mod embedding;
pub mod encoder;
pub mod error;
pub mod evaluator;
pub mod file;
pub mod flooding;
mod lift;
pub mod noise;
pub mod ops;
pub mod params;
mod params_builder;
pub mod scale;

pub use crate::rlwe::{Charge, LedgerError};
pub use crate::rlwe::{
    Decryptor, Encryptor, ErrorDistribution, Galois, GaloisKeys, KSwitchKey, KeyForm, KeyGenerator,
    KeyHalf, Level, Poly, PublicKey, RelinKey, SecretDistribution, SecretKey, SecurityLevel,
    SecurityTable,
};
pub use crate::rlwe::{identity, key, security};
pub use encoder::Encoder;
pub use error::CkksError;
pub use evaluator::Evaluator;
pub use flooding::Flooding;
pub use noise::{Ball, Domain, FAILURE_BITS, Factor, Noise, NoiseModel, Origin, Polynomial, Slots};
pub use ops::{Op, OpKey, ProcCache};
pub use params::Params;
pub use params_builder::ParamsBuilder;
pub use ringmill_device::KeyId;
pub use scale::Scale;

use std::sync::Arc;

use num_complex::Complex64;

use crate::rlwe::{self, EvaluationKeys, KeyRequest, RingScheme};
use crate::scheme::{At, Scheme, SchemeTag};

/// A CKKS plaintext: an encoded vector at a level and a scale.
pub type Plaintext = rlwe::Plaintext<Scale>;
/// A CKKS ciphertext at a level and a scale.
pub type Ciphertext = rlwe::Ciphertext<Scale>;
/// The holder of a CKKS secret key, who encrypts under it.
pub type KeyHolder = rlwe::KeyHolder<Ckks>;
/// The party that computes on CKKS ciphertexts, without the secret key.
pub type Operator = rlwe::Operator<Ckks>;

/// The CKKS scheme, as a type by which generic code names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ckks {}

impl Scheme for Ckks {
    const TAG: SchemeTag = SchemeTag {
        name: "CKKS",
        byte: 0,
    };
    type Params = Params;
    type Operation = OpKey;
    type Annotation = Scale;
    type Plaintext = Plaintext;
    type Ciphertext = Ciphertext;
    type Key = KSwitchKey;
    type Message = Vec<Complex64>;
    type KeyName = KeyRequest;
    type Keys = EvaluationKeys;
    type Error = CkksError;
    type Holder = KeyHolder;
    type Operator = Operator;
    const FRESH_POLYS: usize = 2;

    fn agree(a: &At<Scale>, b: &At<Scale>) -> bool {
        a.level == b.level && a.annotation.agrees(b.annotation)
    }

    fn place(at: &At<Scale>) -> String {
        format!(
            "level {} and scale 2^{:.2}",
            at.level,
            at.annotation.0.log2()
        )
    }
}

impl RingScheme for Ckks {
    type Encoder = Encoder;
    type Encryptor = Encryptor;
    type Decryptor = Decryptor;

    fn encoder(params: &Arc<Params>) -> Result<Encoder, CkksError> {
        Ok(Encoder::new(Arc::clone(params)))
    }

    fn public_encryptor(params: &Arc<Params>, key: &PublicKey) -> Result<Encryptor, CkksError> {
        Ok(Encryptor::with_public_key(Arc::clone(params), key)?)
    }

    fn secret_encryptor(params: &Arc<Params>, secret: SecretKey) -> Result<Encryptor, CkksError> {
        Ok(Encryptor::with_secret_key(Arc::clone(params), secret)?)
    }

    fn seeded_for_reproducible_tests_only(encryptor: Encryptor, seed: [u8; 32]) -> Encryptor {
        encryptor.seed_for_reproducible_tests_only(seed)
    }

    fn decryptor(params: &Arc<Params>, secret: SecretKey) -> Result<Decryptor, CkksError> {
        Ok(Decryptor::new(Arc::clone(params), secret)?)
    }

    fn encoded(
        encoder: &Encoder,
        message: &Vec<Complex64>,
        at: &At<Scale>,
    ) -> Result<Plaintext, CkksError> {
        encoder.encode(message, at.level, at.annotation.0)
    }

    fn encrypted(
        encryptor: &Encryptor,
        plain: &Plaintext,
        _: &At<Scale>,
    ) -> Result<Ciphertext, CkksError> {
        Ok(encryptor.encrypt(plain)?)
    }

    fn decrypted(decryptor: &Decryptor, cipher: &Ciphertext) -> Result<Plaintext, CkksError> {
        Ok(decryptor.decrypt(cipher)?)
    }

    fn decoded(
        encoder: &Encoder,
        plain: &Plaintext,
        length: usize,
    ) -> Result<Vec<Complex64>, CkksError> {
        encoder.decode(plain, length)
    }
}
