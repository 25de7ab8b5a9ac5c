// SPDX-License-Identifier: Apache-2.0
//! Reads SEAL's encryption parameters.

use ringmill_math::Ring;

use super::exact_size;
use crate::seal::chain::SealScheme;
use crate::seal::error::{Object, SealError};
use crate::seal::source::Source;

/// The most primes that SEAL's parameters may have.
const MAX_PRIMES: u64 = 256;
/// The most bytes to which a parameter file may be decompressed.
const PARAMETERS_BUDGET: u64 = 32 * (MAX_PRIMES + 2);

const MODULUS_MEMBERS: usize = 8;

/// Encryption parameters as SEAL's file has them, before Ringmill checks their security.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawParameters {
    pub n: usize,
    pub moduli: Vec<u64>,
    /// The plaintext modulus, which is 0 for CKKS.
    pub plain: u64,
}

/// Reads the content of a SEAL parameter file. The file must be of the scheme `scheme`.
pub fn read_parameters(bytes: &[u8], scheme: SealScheme) -> Result<RawParameters, SealError> {
    let object = Object::Parameters;
    let mut source = Source::open(object, bytes, PARAMETERS_BUDGET)?;
    let (expected, found) = (scheme as u8, source.u8()?);
    if found != expected {
        let hint = scheme.hint();
        return Err(SealError::hinted(object, "scheme", expected, found, hint));
    }
    let n = source.u64()?;
    let max = Ring::full(Ring::MAX_LOG_N).len();
    let n = usize::try_from(n)
        .ok()
        .filter(|&n| n.is_power_of_two() && (2..=max).contains(&n))
        .ok_or_else(|| {
            SealError::field(
                object,
                "ring degree",
                format_args!("a power of two from 2 to {max}"),
                n,
            )
        })?;
    let count = source.u64()?;
    if !(1..=MAX_PRIMES).contains(&count) {
        return Err(SealError::field(
            object,
            "number of primes",
            format_args!("1 to {MAX_PRIMES}"),
            count,
        ));
    }
    let mut moduli = Vec::new();
    for _ in 0..count {
        moduli.push(modulus(&mut source)?);
    }
    let plain = modulus(&mut source)?;
    if scheme == SealScheme::Ckks && plain != 0 {
        return Err(SealError::field(
            object,
            "plain modulus",
            "0 (CKKS has none)",
            plain,
        ));
    }
    source.finish()?;
    Ok(RawParameters { n, moduli, plain })
}

fn modulus(source: &mut Source<'_>) -> Result<u64, SealError> {
    exact_size(source, Object::Modulus, MODULUS_MEMBERS)?;
    source.u64()
}
