//! Parameter files: the payload is [`Params::canonical`], the identity its hash.

use std::sync::Arc;

use super::container::{Writer, open};
use super::{FileError, Kind};
use crate::ckks::error::short_id;
use crate::ckks::params::{ErrorDistribution, Params, SecretDistribution};
use crate::ckks::security::{SecurityLevel, SecurityTable};

/// Whether a parameter file that took the insecure opt-out is accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InsecureParams {
    #[default]
    Refuse,
    AllowForTestsOnly,
}

/// The parameter file's bytes.
pub fn write_params(params: &Params) -> Vec<u8> {
    let canonical = params.canonical();
    let mut w = Writer::new(Kind::Params, params.id(), None, canonical.len());
    w.bytes(&canonical);
    w.finish()
}

/// Reads parameters and checks them as [`crate::ckks::ParamsBuilder::build`] does, security included.
pub fn read_params(bytes: &[u8], insecure: InsecureParams) -> Result<Arc<Params>, FileError> {
    let (header, mut r) = open(bytes, Kind::Params, None)?;
    let log_n = r.u8()?;
    let (ciphers, specials, dnum) = (
        usize::from(r.u8()?),
        usize::from(r.u8()?),
        usize::from(r.u8()?),
    );
    let (secret, error, table, opted_out) = (r.u8()?, r.u8()?, r.u8()?, r.u8()?);
    let level = r.u16()?;
    let reserved = r.u16()?;
    let weight = r.u32()?;
    let scale = r.f64()?;
    let field = |what, expected: &str, got: u64| FileError::Field {
        what,
        expected: expected.into(),
        got: got.to_string(),
    };
    if reserved != 0 {
        return Err(field("reserved parameter field", "0", u64::from(reserved)));
    }
    let secret = match (secret, weight) {
        (0, 0) => SecretDistribution::Ternary,
        (1, weight) => SecretDistribution::SparseTernary { weight },
        (2, 0) => SecretDistribution::Gaussian,
        _ => {
            return Err(field(
                "secret distribution",
                "0, 1 with a weight, or 2",
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
        .ok_or_else(|| field("security table", "0 to 2", u64::from(table)))?;
    let insecure_flag = match opted_out {
        0 => false,
        1 if insecure == InsecureParams::AllowForTestsOnly => true,
        1 => {
            return Err(field(
                "insecure opt-out",
                "0 (secure parameters; pass AllowForTestsOnly for tests)",
                1,
            ));
        }
        other => return Err(field("insecure opt-out", "0 or 1", u64::from(other))),
    };
    let cipher = r.residues(ciphers)?;
    let special = r.residues(specials)?;
    r.end()?;
    let level = SecurityLevel::from_bits(u32::from(level))?;
    let mut builder = Params::builder(log_n)
        .primes(&cipher, &special)
        .dnum(dnum)
        .default_scale(scale)
        .secret(secret)
        .error(error)
        .security(table, level);
    if insecure_flag {
        builder = builder.allow_insecure_parameters_for_tests_only();
    }
    let params = builder.build()?;
    if *params.id() != header.params_id {
        return Err(FileError::OtherParams {
            expected: short_id(params.id()),
            got: short_id(&header.params_id),
        });
    }
    Ok(params)
}
