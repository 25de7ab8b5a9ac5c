// SPDX-License-Identifier: Apache-2.0
//! Reads and writes files of BFV objects. The files have the forms of all ring schemes. A plaintext has integers
//! modulo the plaintext modulus t.
#![deny(clippy::arithmetic_side_effects)]

use std::sync::Arc;

use super::Plaintext;
use super::{Bfv, Ciphertext, Multiplication, Params, ParamsBuilder, PlainModulus};
use crate::exact;
pub use crate::exact::file::write_plaintext;
use crate::file;
pub use crate::file::{
    Accepted, AcceptedTables, FileError, InsecureParams, Kind, peek_kind, read_galois_keys,
    read_public_key, read_relin_key, read_secret_key_in_the_clear, write_ciphertext,
    write_galois_keys, write_public_key, write_relin_key, write_secret_key_in_the_clear,
};
use crate::scheme::Scheme;

/// Reads a parameter file and checks the parameters as [`ParamsBuilder::build`] does, security included.
///
/// # Errors
/// Fails for a file that is damaged or of another scheme, for a security table that is not in `accepted`, and for
/// insecure parameters.
pub fn read_params(bytes: &[u8], accepted: impl Into<Accepted>) -> Result<Arc<Params>, FileError> {
    let read = file::read_ring_params::<{ Params::OWN_BYTES }>(bytes, Bfv::TAG, accepted.into())?;
    let [t @ .., multiplication] = read.own;
    let t = PlainModulus::new(u64::from_le_bytes(t))?;
    let known = Multiplication::ALL;
    let found = known.into_iter().find(|m| m.byte() == multiplication);
    let found = found.ok_or_else(|| FileError::Field {
        what: "multiplication",
        expected: "0 to 3".into(),
        got: multiplication.to_string(),
    })?;
    let builder = ParamsBuilder::new(read.builder.clone(), t).multiplication(found);
    let params = builder.build()?;
    read.check(&params)?;
    Ok(params)
}

/// Returns the content of a file of these BFV parameters.
pub fn write_params(params: &Params) -> Vec<u8> {
    file::write_params(params)
}

pub fn read_plaintext(bytes: &[u8], params: &Params) -> Result<Plaintext, FileError> {
    exact::file::read_plaintext(bytes, params)
}

pub fn read_ciphertext(bytes: &[u8], params: &Params) -> Result<Ciphertext, FileError> {
    file::read_ciphertext(bytes, params)
}
