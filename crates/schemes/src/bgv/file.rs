// SPDX-License-Identifier: Apache-2.0
//! Reads and writes files of BGV objects. The files have the forms of all ring schemes. A ciphertext also has a
//! correction factor, and a plaintext has integers modulo the plaintext modulus t.
#![deny(clippy::arithmetic_side_effects)]

use std::sync::Arc;

use super::{Bgv, Ciphertext, Params, ParamsBuilder, PlainModulus, Plaintext};
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
    let read = file::read_ring_params::<{ Params::OWN_BYTES }>(bytes, Bgv::TAG, accepted.into())?;
    let own = u64::from_le_bytes(read.own);
    let t = PlainModulus::new(own & ((1 << PlainModulus::MAX_BITS) - 1))?;
    let further = (own >> PlainModulus::MAX_BITS) as u8;
    let mut params = ParamsBuilder::new(read.builder.clone(), t).further_plain_moduli(further);
    if read.primes_alone {
        params = params.divide_modulo_primes_alone();
    }
    let params = params.build()?;
    read.check(&params)?;
    Ok(params)
}

/// Returns the content of a file of these BGV parameters.
pub fn write_params(params: &Params) -> Vec<u8> {
    file::write_params(params)
}

pub fn read_plaintext(bytes: &[u8], params: &Params) -> Result<Plaintext, FileError> {
    exact::file::read_plaintext(bytes, params)
}

pub fn read_ciphertext(bytes: &[u8], params: &Params) -> Result<Ciphertext, FileError> {
    file::read_ciphertext(bytes, params)
}
