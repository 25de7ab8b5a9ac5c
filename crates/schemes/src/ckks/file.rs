// SPDX-License-Identifier: Apache-2.0
//! Reads and writes files of CKKS objects. The files have the forms of all ring schemes, and plaintexts and
//! ciphertexts also have a scale.
#![deny(clippy::arithmetic_side_effects)]

use std::sync::Arc;

use super::{Ciphertext, Ckks, Params, ParamsBuilder, Plaintext};
use crate::file;
pub use crate::file::{
    Accepted, AcceptedTables, FileError, InsecureParams, Kind, peek_kind, read_galois_keys,
    read_public_key, read_relin_key, read_secret_key_in_the_clear, write_ciphertext,
    write_galois_keys, write_plaintext, write_public_key, write_relin_key,
    write_secret_key_in_the_clear,
};
use crate::scheme::Scheme;

/// Reads a parameter file and checks the parameters as [`ParamsBuilder::build`] does, security included.
///
/// # Errors
/// Fails for a file that is damaged or of another scheme, and for a security table that is not in `accepted`. Also
/// fails for insecure parameters and for the insecure opt-out, unless `accepted` allows them.
pub fn read_params(bytes: &[u8], accepted: impl Into<Accepted>) -> Result<Arc<Params>, FileError> {
    let read = file::read_ring_params::<{ Params::OWN_BYTES }>(bytes, Ckks::TAG, accepted.into())?;
    let scale = f64::from_bits(u64::from_le_bytes(read.own));
    let builder = ParamsBuilder::from(read.builder.clone()).default_scale(scale);
    let params = builder.build()?;
    read.check(&params)?;
    Ok(params)
}

/// Returns the content of a file of these CKKS parameters.
pub fn write_params(params: &Params) -> Vec<u8> {
    file::write_params(params)
}

pub fn read_plaintext(bytes: &[u8], params: &Params) -> Result<Plaintext, FileError> {
    file::read_plaintext(bytes, params)
}

pub fn read_ciphertext(bytes: &[u8], params: &Params) -> Result<Ciphertext, FileError> {
    file::read_ciphertext(bytes, params)
}
