// SPDX-License-Identifier: Apache-2.0
//! The part that the schemes of exact integers (BFV, BGV) share in addition to [`rlwe`](crate::rlwe): the plaintext
//! modulus t, plaintexts as polynomials modulo t, the encodings of integers as such polynomials, encryption and
//! decryption. Integers stay integers throughout.

mod batch;
mod budget;
mod coefficients;
mod decrypt;
mod embedding;
mod encoder;
mod encrypt;
mod error;
pub mod file;
mod integer;
mod lift;
pub(crate) mod noise;
mod plain_modulus;
mod plaintext;
mod prime_power;
pub mod scalar;
mod scheme;
mod thin;

pub use batch::BatchEncoder;
pub use coefficients::CoefficientEncoder;
pub use decrypt::Decryptor;
pub use embedding::Embedding;
pub use encoder::Encoder;
pub use encrypt::Encryptor;
pub use error::ExactError;
pub use integer::IntegerEncoder;
pub(crate) use lift::{at_level, lifted, mul_plain, mul_plain_unsigned, plain_index};
pub use plain_modulus::{Integers, PlainModulus};
pub use plaintext::{ExactParams, Plaintext};
pub use prime_power::PrimePower;
pub use scheme::ExactScheme;
pub use thin::ThinEncoder;
