// SPDX-License-Identifier: Apache-2.0
//! Reads and writes SEAL's files of BGV: parameters, plaintexts modulo the plaintext modulus t and ciphertexts, which
//! have a correction factor. Keys have [the files of every scheme](super::read_relin_keys).

use std::borrow::Cow;

use super::chain::SealScheme;
use super::context::{SealContext, SealParams, special_and_others};
use super::emit::Note;
use super::error::{Object, SealError};
pub use super::exact::{read_integers as read_plaintext, write_integers as write_plaintext};
use super::{Compression, emit, raw};
use crate::bgv::{Ciphertext, ExactParams, Factor, Params, ParamsBuilder, PlainModulus};

impl SealParams for Params {
    fn seal_scheme(&self) -> Result<(SealScheme, u64), SealError> {
        Ok((SealScheme::Bgv, self.plain_modulus().value()))
    }
}

/// Ringmill's BGV parameters, together with the names by which SEAL's files refer to their levels.
pub type BgvContext = SealContext<Params>;

/// Reads a file that SEAL's `EncryptionParameters::save` wrote for BGV. As with [`super::read_parameters`] for
/// CKKS, the caller chooses the security level.
///
/// # Errors
/// Fails for a file that is not SEAL's, of another scheme, without a special prime, or with a plaintext modulus that
/// BGV cannot have.
pub fn read_parameters(bytes: &[u8]) -> Result<ParamsBuilder, SealError> {
    let raw = raw::read_parameters(bytes, SealScheme::Bgv)?;
    let (special, cipher) = special_and_others(&raw)?;
    let t = PlainModulus::new(raw.plain)?;
    Ok(Params::builder(raw.n.trailing_zeros() as u8, t).primes(cipher, &[special]))
}

/// Reads a file of a BGV ciphertext from SEAL's `Ciphertext::save`. If c_1 is given by a seed, it is expanded.
///
/// # Errors
/// Fails for a file of a SEAL before version 4, which has no correction factor, and for one that is no ciphertext
/// of these parameters.
pub fn read_ciphertext(context: &BgvContext, bytes: &[u8]) -> Result<Ciphertext, SealError> {
    let raw = raw::read_ciphertext(&context.chain, Object::Ciphertext, bytes)?;
    let level = context.level(Object::Ciphertext, raw.primes)?;
    let factor = Factor::new(raw.factor, context.params().plain_modulus().reducer())?;
    Ok(Ciphertext::new(context.ring(), level, factor, raw.polys)?)
}

/// Returns the content of a file of a BGV ciphertext for SEAL's `Ciphertext::load`, in the form of the SEAL version
/// that the [context is for](SealContext::for_seal_of).
///
/// # Errors
/// Fails for a ciphertext of other parameters, or of a message modulo a further plaintext modulus.
pub fn write_ciphertext(
    context: &BgvContext,
    cipher: &Ciphertext,
    compression: Compression,
) -> Result<Vec<u8>, SealError> {
    context.ring().check_id("ciphertext", cipher.params_id())?;
    if cipher.annotation().plain() != 0 {
        return Err(SealError::Unsupported {
            reason: "expected a message modulo the parameters' first plaintext modulus, got one modulo a further one, which SEAL does not have; bootstrap it to the first modulus before it is written".into(),
        });
    }
    let polys = cipher.polys().iter().map(|poly| poly.residues().wide());
    let polys: Vec<Cow<'_, [u64]>> = polys.collect();
    let polys: Vec<&[u64]> = polys.iter().map(|poly| &**poly).collect();
    let primes = cipher.level().primes();
    let note = Note::Factor(cipher.annotation().value(), context.version);
    let (chain, object) = (&context.chain, Object::Ciphertext);
    emit::ciphertext(chain, object, primes, note, &polys, compression)
}
