// SPDX-License-Identifier: Apache-2.0
//! The common part of the ring schemes (CKKS, BFV, BGV). It has the chain of primes with the distributions of
//! secrets and errors and its security, and the keys and their generation. It has encryptions of zero, decryption
//! to the phase, and ciphertexts with their scheme's annotation. It also emits operations as mid-level procedures.
//! A ciphertext of level l has l + 1 primes, and all limbs are in evaluation form.

pub(crate) mod arith;
pub mod cipher;
pub mod distributions;
pub mod encrypt;
pub mod error;
pub mod evaluation_keys;
pub(crate) mod evaluator;
pub mod key;
pub mod keygen;
pub mod ledger;
pub mod ops;
pub mod params;
pub(crate) mod params_builder;
mod parties;
mod public;
pub mod security;
pub(crate) mod sparse;
pub(crate) mod spread;
pub(crate) mod switching;

pub use crate::identity::{self, Origin};
pub use cipher::{Annotation, Ciphertext, Plaintext};
pub use distributions::{ErrorDistribution, SecretDistribution};
pub(crate) use encrypt::Message;
pub use encrypt::{Decryptor, Encryptor};
pub use error::RlweError;
pub use evaluation_keys::{EvaluationKeys, KeyRequest};
pub use key::{GaloisKeys, KSwitchKey, KeyForm, KeyHalf, PublicKey, RelinKey, SecretKey};
pub use keygen::KeyGenerator;
pub use ledger::{Charge, LedgerError};
pub use ops::{OpKey, Row, Table};
pub(crate) use params::Insecure;
pub use params::{Params, RingParams};
pub use params_builder::{ParamsBuilder, digit_ranges, product_bits};
pub use parties::{KeyHolder, Operator, RingScheme};
pub use ringmill_device::KeyId;
pub use ringmill_isa::{Galois, Level, Poly};
pub use security::{SecurityLevel, SecurityRecord, SecurityTable};
pub use sparse::SparseSecret;
pub use spread::Spread;
