// SPDX-License-Identifier: Apache-2.0
//! Reads and writes files of plaintexts, polynomials modulo the plaintext modulus t.
#![deny(clippy::arithmetic_side_effects)]

use super::plaintext::{ExactParams, Plaintext};
use crate::file::{FileError, Kind, Writer, open};
use crate::size;

/// Returns the content of a file of a plaintext: its N residues, each in 8 bytes. The file does not say which plaintext
/// modulus they belong to, and [`read_plaintext`] takes them as residues modulo the modulus t of messages.
pub fn write_plaintext(plain: &Plaintext) -> Vec<u8> {
    let residues = plain.residues();
    let mut w = Writer::new(
        Kind::Plaintext,
        plain.origin(),
        size::of_words(residues.len()),
    );
    w.residues(residues);
    w.finish()
}

/// Reads the content of a file that [`write_plaintext`] made.
///
/// # Errors
/// Fails for a file that is damaged, of another kind, of another scheme or of other parameters. Also fails for a
/// residue that is not below the plaintext modulus t.
pub fn read_plaintext(bytes: &[u8], params: &impl ExactParams) -> Result<Plaintext, FileError> {
    let ring = params.shared_params();
    let (_, mut r) = open(bytes, Kind::Plaintext, ring.scheme(), Some(ring.id()))?;
    r.expect_remaining(size::of_words(ring.degree()) as u64)?;
    let residues = r.residues(ring.degree())?;
    Ok(Plaintext::new(params, residues)?)
}
