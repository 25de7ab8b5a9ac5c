// SPDX-License-Identifier: Apache-2.0
//! The BFV scheme in RNS, as SEAL has it, for exact integers modulo the plaintext modulus t. A ciphertext of level l
//! has l + 1 primes. All limbs are in evaluation form; a reader of SEAL's files converts from coefficient form. A
//! plaintext is a polynomial modulo t, in coefficient form and without a level.

mod auxiliary;
mod decrypt;
pub mod error;
pub mod evaluator;
pub mod file;
mod multiply;
pub mod noise;
pub mod ops;
pub mod params;
mod params_builder;
mod plain;
pub mod scalar;

pub use crate::exact::{BatchEncoder, CoefficientEncoder, Encoder, IntegerEncoder};
pub use crate::exact::{Integers, PlainModulus, Plaintext};
pub use crate::rlwe::{
    ErrorDistribution, Galois, GaloisKeys, KSwitchKey, KeyForm, KeyGenerator, KeyHalf, Level, Poly,
    PublicKey, RelinKey, SecretDistribution, SecretKey, SecurityLevel, SecurityTable,
};
pub use decrypt::Division;
pub use error::BfvError;
pub use evaluator::Evaluator;
pub use ops::{Op, OpKey, ProcCache};
pub use params::{Multiplication, Params};
pub use params_builder::ParamsBuilder;
pub use ringmill_device::KeyId;

use zeroize::Zeroizing;

use crate::exact::{self, Embedding, ExactParams, ExactScheme};
use crate::rlwe::{self, EvaluationKeys, KeyRequest, RlweError};
use crate::scheme::{At, Scheme, SchemeTag};

/// A BFV ciphertext at a level.
pub type Ciphertext = rlwe::Ciphertext<()>;
/// A BFV encryptor, which encrypts plaintexts.
pub type Encryptor = exact::Encryptor<Bfv>;
/// A BFV decryptor, which holds a secret key and decrypts ciphertexts.
pub type Decryptor = exact::Decryptor<Bfv>;
/// The holder of a BFV secret key, who encrypts under it.
pub type KeyHolder = rlwe::KeyHolder<Bfv>;
/// The party that computes on BFV ciphertexts, without the secret key.
pub type Operator = rlwe::Operator<Bfv>;

/// The BFV scheme, as a type by which generic code names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bfv {}

impl Scheme for Bfv {
    const TAG: SchemeTag = SchemeTag {
        name: "BFV",
        byte: 1,
    };
    type Params = Params;
    type Operation = OpKey;
    type Annotation = ();
    type Plaintext = Plaintext;
    type Ciphertext = Ciphertext;
    type Key = KSwitchKey;
    /// A message of up to N integers, in the range of [`Integers::Signed`]. They are in slots if the plaintext modulus
    /// allows batching, otherwise in coefficients.
    type Message = Vec<i64>;
    type KeyName = KeyRequest;
    type Keys = EvaluationKeys;
    type Error = BfvError;
    type Holder = KeyHolder;
    type Operator = Operator;
    const FRESH_POLYS: usize = 2;

    fn agree(a: &At<()>, b: &At<()>) -> bool {
        a.level == b.level
    }

    fn place(at: &At<()>) -> String {
        format!("level {}", at.level)
    }
}

impl ExactScheme for Bfv {
    type Opening = Vec<Division>;
    const FRESH: () = ();

    fn embedding(params: &Params, at: &At<()>) -> Result<Embedding, RlweError> {
        plain::embedding(params, at.level)
    }

    fn opening(params: &Params) -> Result<Vec<Division>, BfvError> {
        decrypt::divisions(params)
    }

    fn opened(
        divisions: &Vec<Division>,
        params: &Params,
        cipher: &Ciphertext,
        phase: Zeroizing<Vec<u64>>,
    ) -> Result<Plaintext, BfvError> {
        decrypt::opened(divisions, params, cipher.level(), phase)
    }

    /// Returns the plaintext modulus t, by which the phase c(s) is multiplied before noise is measured. The largest
    /// centred coefficient of t c(s) mod Q, divided by Q, is the invariant noise.
    fn noise_factor(params: &Params) -> u64 {
        params.plain_modulus().value()
    }
}
