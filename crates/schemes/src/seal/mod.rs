// SPDX-License-Identifier: Apache-2.0
//! Reads and writes Microsoft SEAL's binary formats: parameters, plaintexts, ciphertexts and keys of its CKKS, BFV and
//! BGV schemes, as SEAL saves and loads them since version 3.6. Items of CKKS are in this module, those of the other
//! schemes in [`bfv`] and [`bgv`]. Keys of all schemes are read and written alike.
//!
//! SEAL's limbs have the form of Ringmill's: evaluation form in bit-reversed order, smallest primitive root, and
//! ciphertext primes in order with the special prime last. Only BFV's ciphertexts, which SEAL stores in coefficient
//! form, are converted. For parameters that SEAL has too, the homomorphic operations that SEAL has give SEAL's bits.
//! One product in BFV is an exception. For a plaintext of one term, only
//! [`mul_plain_as_seal`](crate::bfv::Evaluator::mul_plain_as_seal) gives SEAL's bits in every case. `docs/seal.md`
//! describes the files byte by byte.
//!
//! A file is hostile until it has been checked. Sizes are checked against the parameters before anything is allocated,
//! and residues against their modulus. Compressed data is unpacked at most to a budget of bytes.
#![deny(clippy::arithmetic_side_effects)]

pub mod bfv;
pub mod bgv;
pub(crate) mod blake;
pub(crate) mod chain;
mod context;
pub(crate) mod emit;
mod error;
mod exact;
mod objects;
pub(crate) mod raw;
pub(crate) mod sink;
mod source;
mod wiped;

pub use chain::{ParmsId, SealScheme};
pub use context::{SealContext, SealParams, read_parameters, write_parameters};
pub use error::{Object, SealError};
pub use exact::{read_integers, write_integers};
pub use objects::{
    read_ciphertext, read_galois_keys, read_plaintext, read_public_key, read_relin_keys,
    read_secret_key, read_single_prime_secret_key, write_ciphertext, write_galois_keys,
    write_plaintext, write_public_key, write_relin_keys, write_secret_key_in_the_clear,
};
pub use sink::Compression;
