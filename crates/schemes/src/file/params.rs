// SPDX-License-Identifier: Apache-2.0
//! Reads and writes parameter files. The payload is the parameters' canonical form, whose hash is the identity of
//! the parameters.

use super::container::{Header, Writer, open};
use super::{Accepted, FileError, InsecureParams, Kind};
use crate::identity::{Origin, short_id};
use crate::rlwe::{
    ErrorDistribution, Insecure, Params, ParamsBuilder, RingParams, SecretDistribution,
    SecurityLevel, SecurityTable,
};
use crate::scheme::{ParameterSet, SchemeTag};
use ringmill_device::ParamsId;

/// Returns the content of a parameter file of a ring scheme.
pub fn write_params(params: &impl RingParams) -> Vec<u8> {
    write_params_of(params.ring_params().scheme(), params)
}

/// Returns the content of a parameter file of any scheme.
pub fn write_params_of(scheme: SchemeTag, params: &impl ParameterSet) -> Vec<u8> {
    let canonical = params.canonical();
    let origin = Origin {
        scheme,
        params_id: *params.id(),
        key_id: None,
    };
    let mut w = Writer::new(Kind::Params, &origin, canonical.len());
    w.bytes(&canonical);
    w.finish()
}

/// The content of a parameter file of a ring scheme, read as far as all ring schemes agree. The scheme itself
/// interprets the bytes `own`.
pub struct RingParamsFile<const OWN: usize> {
    /// A builder with the choices that all ring schemes have, and with the primes of the file.
    pub builder: ParamsBuilder,
    /// The bytes of the canonical form that are the scheme's own.
    pub own: [u8; OWN],
    /// Whether divisions by primes compute modulo primes alone and never modulo the plaintext modulus t, for schemes
    /// whose messages are in the low bits (BGV).
    pub primes_alone: bool,
    id: ParamsId,
}

impl<const OWN: usize> RingParamsFile<OWN> {
    /// Checks that the parameters that were built from the file have the identity that the file states, and its
    /// choice for divisions by primes.
    ///
    /// # Errors
    /// [`FileError::OtherParams`] for another identity, [`FileError::Field`] for another choice.
    pub fn check(&self, params: &Params) -> Result<(), FileError> {
        // A scheme without low messages cannot take this choice from the file.
        if self.primes_alone != params.primes_alone() {
            return Err(FileError::Field {
                what: "divisions modulo primes alone",
                expected: "0: the scheme has no such divisions".into(),
                got: u8::from(self.primes_alone).to_string(),
            });
        }
        if *params.id() == self.id {
            return Ok(());
        }
        Err(FileError::OtherParams {
            expected: short_id(params.id()),
            got: short_id(&self.id),
        })
    }
}

/// Reads a parameter file of `scheme`, which adds `OWN` bytes to the canonical form. It checks the form of the file and
/// whether `accepted` allows its security table and its insecure opt-out. It checks neither primes nor security. The
/// caller builds the parameters, which checks both, and then calls [`RingParamsFile::check`].
///
/// # Errors
/// Fails for a damaged file or one of another scheme, for a field without a known meaning, and for a security table or
/// an insecure opt-out that `accepted` does not allow.
pub fn read_ring_params<const OWN: usize>(
    bytes: &[u8],
    scheme: SchemeTag,
    accepted: Accepted,
) -> Result<RingParamsFile<OWN>, FileError> {
    let (Header { params_id: id, .. }, mut r) = open(bytes, Kind::Params, scheme, None)?;
    let log_n = r.u8()?;
    let (ciphers, specials, dnum) = (
        usize::from(r.u8()?),
        usize::from(r.u8()?),
        usize::from(r.u8()?),
    );
    let (secret, error, table, opted_out) = (r.u8()?, r.u8()?, r.u8()?, r.u8()?);
    let level = r.u16()?;
    let (tag, reserved) = (r.u8()?, r.u8()?);
    let weight = r.u32()?;
    let own = r.array()?;
    let field = |what, expected: &str, got: u64| FileError::Field {
        what,
        expected: expected.into(),
        got: got.to_string(),
    };
    if tag != scheme.byte {
        return Err(field(
            "scheme of the parameters",
            &scheme.byte.to_string(),
            u64::from(tag),
        ));
    }
    // Only schemes with low messages use this field. For another scheme the check of the identity detects it.
    if reserved > 1 {
        let expected = "0, or 1 for divisions modulo primes alone";
        return Err(field(
            "reserved parameter field",
            expected,
            u64::from(reserved),
        ));
    }
    let secret = match (secret, weight) {
        (0, 0) => SecretDistribution::Ternary,
        (1, weight) => SecretDistribution::SparseTernary { weight },
        (2, 0) => SecretDistribution::Gaussian,
        (3, 0) => SecretDistribution::Binary,
        _ => {
            return Err(field(
                "secret distribution",
                "0, 1 with a weight, 2 or 3",
                u64::from(secret),
            ));
        }
    };
    let error = match error {
        0 => ErrorDistribution::CentredBinomial,
        1 => ErrorDistribution::Gaussian,
        other => return Err(field("error distribution", "0 or 1", u64::from(other))),
    };
    let table = SecurityTable::ALL
        .into_iter()
        .find(|t| *t as u8 == table)
        .ok_or_else(|| field("security table", "0 to 4", u64::from(table)))?;
    let Accepted { tables, insecure } = accepted;
    if !tables.accepts(table) {
        return Err(FileError::Table {
            table,
            accepted: tables,
        });
    }
    let insecure = match (opted_out, insecure) {
        (0, InsecureParams::Refuse) => Insecure::Refused,
        (0, InsecureParams::AllowForTestsOnly) => Insecure::AllowedByReader,
        (1, InsecureParams::AllowForTestsOnly) => Insecure::AllowedByMaker,
        (1, InsecureParams::Refuse) => {
            return Err(field(
                "insecure opt-out",
                "0 (secure parameters; for tests pass InsecureParams::AllowForTestsOnly, in Python allow_insecure_parameters_for_tests_only=True)",
                1,
            ));
        }
        (other, _) => return Err(field("insecure opt-out", "0 or 1", u64::from(other))),
    };
    let cipher = r.residues(ciphers)?;
    let special = r.residues(specials)?;
    r.end()?;
    let level = SecurityLevel::from_bits(u32::from(level))?;
    let builder = Params::builder(log_n)
        .primes(&cipher, &special)
        .dnum(dnum)
        .secret(secret)
        .error(error)
        .security(table, level)
        .insecurity(insecure);
    Ok(RingParamsFile {
        builder,
        own,
        primes_alone: reserved == 1,
        id,
    })
}
