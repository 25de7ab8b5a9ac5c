// SPDX-License-Identifier: Apache-2.0
//! Reads and writes SEAL's files of plaintexts modulo the plaintext modulus t, which are alike in SEAL's BFV and
//! BGV.

use super::context::{SealContext, SealParams};
use super::error::SealError;
use super::{Compression, emit, raw};
use crate::exact::{ExactParams, Plaintext};

/// Reads a file of SEAL's `Plaintext::save` in coefficient form, the form that SEAL's
/// encoders of integers make.
pub fn read_integers<P: ExactParams + SealParams>(
    context: &SealContext<P>,
    bytes: &[u8],
) -> Result<Plaintext, SealError> {
    let residues = raw::read_coefficients(&context.chain, bytes)?;
    Ok(Plaintext::new(&**context.params(), residues)?)
}

/// Returns the content of a file of a plaintext in coefficient form for SEAL's `Plaintext::load`. The plaintext must be
/// modulo t; nothing checks that.
pub fn write_integers<P: ExactParams + SealParams>(
    context: &SealContext<P>,
    plain: &Plaintext,
    compression: Compression,
) -> Result<Vec<u8>, SealError> {
    context.ring().check_id("plaintext", plain.params_id())?;
    emit::coefficients(plain.residues(), compression)
}
