// SPDX-License-Identifier: Apache-2.0
//! Reads SEAL's plaintexts and secret keys.

use zeroize::Zeroizing;

use super::{array_members, equal, exact_size, level, scale, unit_scale};
use crate::seal::chain::{Chain, ParmsId};
use crate::seal::error::{Object, SealError};
use crate::seal::source::{HEADER_BYTES, Source};
use crate::seal::wiped;
use crate::size;

const PLAINTEXT_FIELDS: usize = 32 + 8 + 8;

/// A plaintext or a secret key of SEAL in evaluation form: one limb for each of the first `primes` primes.
pub struct RawPlaintext {
    pub primes: usize,
    pub scale: f64,
    pub data: Zeroizing<Vec<u64>>,
}

/// Reads the content of a SEAL file of a plaintext in evaluation form or a secret key.
pub fn read_plaintext(
    chain: &Chain,
    object: Object,
    bytes: &[u8],
) -> Result<RawPlaintext, SealError> {
    let most = chain.n().saturating_mul(chain.moduli().len());
    let budget = size::sum([PLAINTEXT_FIELDS + HEADER_BYTES, array_members(most)]) as u64;
    let unpacked = wiped::unpacked(object, bytes, budget)?;
    let bytes = unpacked.as_ref().map_or(bytes, |unpacked| unpacked);
    let mut source = Source::open(object, bytes, budget)?;
    let moduli = level(chain, object, &mut source)?;
    let words = chain.n().saturating_mul(moduli.len());
    equal(object, "coefficient count", words as u64, source.u64()?)?;
    let scale = scale(&mut source, object)?;
    exact_size(&mut source, Object::Array, array_members(words))?;
    equal(
        object,
        "length of the data array",
        words as u64,
        source.u64()?,
    )?;
    let mut data = Zeroizing::new(Vec::new());
    source.residues(object, moduli, chain.n(), &mut data)?;
    source.finish()?;
    Ok(RawPlaintext {
        primes: moduli.len(),
        scale,
        data,
    })
}

/// Reads the content of a SEAL file of a plaintext in coefficient form, with up to N residues modulo the plaintext
/// modulus. Returns all N coefficients; those that the file lacks are zero.
pub fn read_coefficients(chain: &Chain, bytes: &[u8]) -> Result<Vec<u64>, SealError> {
    let (object, n) = (Object::Plaintext, chain.n());
    let budget = size::sum([PLAINTEXT_FIELDS + HEADER_BYTES, array_members(n)]);
    let mut source = Source::open(object, bytes, budget as u64)?;
    let id = source.parms_id()?;
    if id != ParmsId::NONE {
        let hint = "save it in coefficient form, as encoders leave it";
        let found = id.hex();
        return Err(SealError::hinted(object, "parms_id", "zero", found, hint));
    }
    let count = source.u64()?;
    let words = usize::try_from(count).ok().filter(|&words| words <= n);
    let words = words.ok_or_else(|| {
        let expected = format_args!("at most {n}").to_string();
        SealError::field(object, "coefficient count", expected, count)
    })?;
    unit_scale(&mut source, object)?;
    exact_size(&mut source, Object::Array, array_members(words))?;
    equal(object, "length of the data array", count, source.u64()?)?;
    let mut data = Vec::new();
    source.residues(object, &[chain.plain()], words, &mut data)?;
    source.finish()?;
    data.resize(n, 0);
    Ok(data)
}
