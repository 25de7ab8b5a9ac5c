// SPDX-License-Identifier: Apache-2.0
//! The TFHE scheme, which encrypts bits and small integers. Every gate of two bits and every table look-up bootstraps;
//! sums and the negation of a bit do not.
//!
//! A message sits in the high bits of the phase b - <a, s> of an LWE ciphertext. Bootstrapping rounds the phase to
//! multiples of 1/2N and turns a table by it under encryption (Kong and Li's paper, Algorithm 1). The entry that comes
//! to the front is the result, with fresh noise.
//!
//! | question | file |
//! | --- | --- |
//! | sizes and their names | [`params`], [`sets`] |
//! | security of a set | [`security`] |
//! | parameters for a bootstrapping engine | [`target`] |
//! | noise, and the probability of failure | [`noise`] |
//! | why products are exact | [`exactness`] |
//! | keys | [`secret`], [`keys`], [`keygen`] |
//! | encryption and messages | [`lwe`], [`client`] |
//! | ciphertexts that share one seed | [`seeded`] |
//! | encrypted integers and their types | [`integer`] |
//! | bootstrapping, as programs of limbs | [`mid`], [`steps`] |
//! | those programs on this computer's kernels | `plan` |
//! | bootstrapping from the definition | [`reference`] |
//! | gates and tables, several by one rotation | [`gates`], [`tables`], [`shared`], [`evaluator`] |
//! | sums, which need no bootstrap | [`linear`] |
//! | the least work of a bootstrap | [`floor`] |
//! | files | [`file`] |
//!
//! ```
//! # fn main() -> Result<(), ringmill_circuits::tfhe::TfheError> {
//! use ringmill_circuits::tfhe::{Client, Evaluator, Gate, Params};
//! # let params = Params::toy_for_tests_only()?;
//! # let _other = || -> Result<_, ringmill_circuits::tfhe::TfheError> {
//! let params = Params::named("boolean_p64")?;
//! # Ok(params) };
//! let client = Client::new(params.clone())?;
//! let evaluator = Evaluator::new(params, &client.bootstrap_key()?, &client.key_switch_key()?)?;
//! let mut work = evaluator.workspace();
//! let (yes, no) = (client.encrypt_bit(true)?, client.encrypt_bit(false)?);
//! let nand = evaluator.gate(&mut work, Gate::Nand, &yes, &no)?;
//! assert!(client.decrypt_bit(&nand)?);
//! # Ok(())
//! # }
//! ```

pub mod client;
pub mod error;
pub mod evaluator;
pub mod exactness;
pub mod file;
pub mod floor;
pub mod gates;
pub mod integer;
pub mod keygen;
pub mod keys;
pub mod linear;
pub mod lwe;
pub mod mid;
pub mod noise;
pub mod params;
mod params_builder;
pub(crate) mod plan;
pub mod reference;
pub mod secret;
pub mod security;
pub mod seeded;
pub mod sets;
pub mod shared;
pub mod steps;
pub mod tables;
pub mod target;

pub use client::Client;
pub use error::TfheError;
pub use evaluator::{Evaluator, Workspace};
pub use exactness::Exactness;
pub use floor::Floor;
pub use gates::Gate;
pub use integer::{EncryptedIntegers, IntegerType};
pub use keys::{BootstrapKey, KeySwitchKey, PublicKey};
pub use linear::LinearEvaluator;
pub use lwe::{LweCiphertext, LweKey};
pub use noise::{NoiseModel, Weights};
pub use params::{
    CiphertextModulus, Decomposition, FailureRate, GlweRank, LweDimension, Messages, ModulusSwitch,
    Order, Params, Unrolling,
};
pub use params_builder::{ParamsBuilder, Transforms};
pub use plan::RotationKey;
pub use secret::SecretKey;
pub use seeded::SeededCiphertexts;
pub use tables::LookupTable;

use ringmill_schemes::scheme::SchemeTag;

/// The name and number of the TFHE scheme in files.
pub const TAG: SchemeTag = SchemeTag {
    name: "TFHE",
    byte: 3,
};
