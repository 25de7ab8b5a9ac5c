// SPDX-License-Identifier: Apache-2.0
//! The levelled BGV scheme in RNS, as SEAL has it, for exact integers modulo the plaintext modulus t. A ciphertext of
//! level l has l + 1 primes. All limbs are in evaluation form. The message m is the low part of the phase c_0 + c_1 s +
//! ..., which modulo t is f m, with the ciphertext's correction [`Factor`] f. A plaintext is a polynomial modulo t, in
//! coefficient form and without a level.

pub mod bootstrap;
mod decrypt;
pub mod error;
pub mod evaluator;
pub mod factor;
pub mod file;
pub mod noise;
pub mod ops;
pub mod params;
mod params_builder;
mod plain;
pub mod scalar;

pub use crate::exact::{BatchEncoder, CoefficientEncoder, Encoder, IntegerEncoder};
pub use crate::exact::{ExactError, ExactParams, Integers, PlainModulus, Plaintext, PrimePower};
pub use crate::rlwe::{
    ErrorDistribution, Galois, GaloisKeys, KSwitchKey, KeyForm, KeyGenerator, KeyHalf, Level, Poly,
    PublicKey, RelinKey, SecretDistribution, SecretKey, SecurityLevel, SecurityTable,
};
pub use error::BgvError;
pub use evaluator::Evaluator;
pub use factor::{Balance, Factor};
pub use noise::{Noise, NoiseModel};
pub use ops::{Op, OpKey, ProcCache};
pub use params::Params;
pub use params_builder::{ParamsBuilder, friendly_primes};
pub use ringmill_device::KeyId;

use ringmill_math::basext::MiddleHalf;
use zeroize::Zeroizing;

use crate::exact::{self, Embedding, ExactScheme};
use crate::rlwe::{self, EvaluationKeys, KeyRequest, RlweError};
use crate::scheme::{At, Scheme, SchemeTag};

/// A BGV ciphertext at a level, with its correction factor.
pub type Ciphertext = rlwe::Ciphertext<Factor>;
/// A BGV encryptor, which encrypts plaintexts.
pub type Encryptor = exact::Encryptor<Bgv>;
/// A BGV decryptor, which holds a secret key and decrypts ciphertexts.
pub type Decryptor = exact::Decryptor<Bgv>;
/// The holder of a BGV secret key, who encrypts under it.
pub type KeyHolder = rlwe::KeyHolder<Bgv>;
/// The party that computes on BGV ciphertexts, without the secret key.
pub type Operator = rlwe::Operator<Bgv>;

/// The BGV scheme, as a type by which generic code names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bgv {}

impl Scheme for Bgv {
    const TAG: SchemeTag = SchemeTag {
        name: "BGV",
        byte: 2,
    };
    type Params = Params;
    type Operation = OpKey;
    type Annotation = Factor;
    type Plaintext = Plaintext;
    type Ciphertext = Ciphertext;
    type Key = KSwitchKey;
    /// A message of integers in the range of [`Integers::Signed`]. They are in slots if the plaintext modulus allows
    /// batching or the parameters bootstrap, otherwise in coefficients. There are at most as many integers as slots or
    /// coefficients.
    type Message = Vec<i64>;
    type KeyName = KeyRequest;
    type Keys = EvaluationKeys;
    type Error = BgvError;
    type Holder = KeyHolder;
    type Operator = Operator;
    const FRESH_POLYS: usize = 2;

    fn agree(a: &At<Factor>, b: &At<Factor>) -> bool {
        a == b
    }

    fn place(at: &At<Factor>) -> String {
        format!("level {} and factor {}", at.level, at.annotation)
    }
}

impl ExactScheme for Bgv {
    type Opening = Vec<MiddleHalf>;
    const FRESH: Factor = Factor::ONE;

    fn embedding(params: &Params, at: &At<Factor>) -> Result<Embedding, RlweError> {
        plain::embedding(params, at)
    }

    fn opening(params: &Params) -> Result<Vec<MiddleHalf>, BgvError> {
        decrypt::extensions(params)
    }

    fn opened(
        extensions: &Vec<MiddleHalf>,
        params: &Params,
        cipher: &Ciphertext,
        phase: Zeroizing<Vec<u64>>,
    ) -> Result<Plaintext, BgvError> {
        decrypt::opened(extensions, params, cipher, &phase)
    }

    /// Returns 1, the factor by which the phase is multiplied before noise is measured. In BGV the noise is the phase
    /// itself, whose low part is the message.
    fn noise_factor(_: &Params) -> u64 {
        1
    }
}
