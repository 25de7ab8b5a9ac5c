// SPDX-License-Identifier: Apache-2.0
//! Reads and writes encrypted integers by name: the inputs of a circuit, or the outputs of its run.

use std::collections::HashSet;
use std::sync::Arc;

use ringmill_device::KeyId;
use ringmill_limits::Watch;
use ringmill_schemes::file::{FileError, Kind, Reader, Writer};
use ringmill_schemes::size;

use super::integers::{common, kind_of, payload_bytes, read_payload, write_payload};
use super::{field, of};
use crate::tfhe::TfheError;
use crate::tfhe::integer::EncryptedIntegers;
use crate::tfhe::params::Params;

/// The cost of a run as its file has it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RunCost {
    pub seconds: f64,
    pub bootstraps: u64,
    pub threads: u32,
}

/// Encrypted integers by name, and the cost of the run that they are the outputs of.
pub type NamedIntegers = (Vec<(String, EncryptedIntegers)>, Option<RunCost>);

/// The number of bytes of a [`RunCost`].
const COST: u64 = 20;

/// Writes a file of encrypted integers by name, and for outputs of a run the cost of the run. The payload is the number
/// of names (4 bytes), then five fields for each name. They are the bytes of the name in UTF-8 (2 bytes), the name, the
/// kind of file that holds the integers (2 bytes), the bytes of that file's payload (8 bytes), and that payload
/// ([`super::write_integers`]). The seconds (a double), the bootstraps (8 bytes) and the threads (4 bytes) of a run
/// follow.
///
/// # Errors
/// The errors of [`super::write_ciphertexts`]; [`TfheError::OutOfRange`] for a name of more than 65535 bytes.
pub fn write_named_integers(
    params: &Params,
    all: &[(String, Arc<EncryptedIntegers>)],
    cost: Option<&RunCost>,
) -> Result<Vec<u8>, TfheError> {
    let mut capacity = size::sum([4, COST as usize]);
    let mut parts = Vec::with_capacity(all.len());
    for (name, integers) in all {
        let bytes = u16::try_from(name.len()).map_err(|_| TfheError::OutOfRange {
            what: "the length of a name in UTF-8",
            expected: "at most 65535 bytes".to_owned(),
            got: format!("{} bytes", name.len()),
        })?;
        let (key, origin) = common(params, integers.ciphertexts())?;
        let payload = payload_bytes(params, key, integers);
        capacity = size::sum([capacity, 12, name.len(), payload]);
        parts.push((bytes, key, payload, origin.key_id));
    }
    let ids = parts.iter().map(|(.., id)| ("ciphertext", *id));
    let origin = params.origin(KeyId::common(ids)?);
    let mut w = Writer::new(Kind::NamedIntegers, &origin, capacity);
    w.u32(all.len() as u32);
    for ((name, integers), (bytes, key, payload, _)) in all.iter().zip(parts) {
        w.bytes(&bytes.to_le_bytes());
        w.bytes(name.as_bytes());
        w.bytes(&(kind_of(integers) as u16).to_le_bytes());
        w.bytes(&(payload as u64).to_le_bytes());
        write_payload(&mut w, params, key, integers);
    }
    if let Some(cost) = cost {
        w.f64(cost.seconds);
        w.bytes(&cost.bootstraps.to_le_bytes());
        w.u32(cost.threads);
    }
    Ok(w.finish())
}

/// Reads a file of [`write_named_integers`]. The cost is `None` if the file is not that of a run.
///
/// # Errors
/// [`FileError`] for a file of another kind or of other parameters, a damaged file, a name that is there twice or is not
/// UTF-8, and integers that [`super::read_integers`] refuses.
pub fn read_named_integers(
    bytes: &[u8],
    params: &Params,
    watch: &Watch,
) -> Result<NamedIntegers, FileError> {
    let (header, mut r) = of(bytes, Kind::NamedIntegers, params)?;
    let (mut found, mut names) = (Vec::new(), HashSet::new());
    for _ in 0..r.u32()? {
        watch.check()?;
        let name = read_name(&mut r)?;
        if !names.insert(name.clone()) {
            return Err(field("name of encrypted integers", "each name once", name));
        }
        let number = r.u16()?;
        let kinds = [Kind::Ciphertexts, Kind::Integers, Kind::SeededIntegers];
        let kind = kinds.into_iter().find(|kind| *kind as u16 == number);
        let kind =
            kind.ok_or_else(|| field("kind of encrypted integers", "11, 14 or 17", number))?;
        // A payload too long for memory is longer than the file.
        let payload = usize::try_from(r.u64()?).unwrap_or(usize::MAX);
        let mut part = r.part(kind, payload)?;
        let integers = read_payload(kind, &header, &mut part, params, watch)?;
        found.push((name, integers));
    }
    if r.remaining() == 0 {
        return Ok((found, None));
    }
    r.expect_remaining(COST)?;
    let cost = RunCost {
        seconds: r.f64()?,
        bootstraps: r.u64()?,
        threads: r.u32()?,
    };
    if cost.threads == 0 {
        return Err(field("number of threads", "1 or more", 0));
    }
    Ok((found, Some(cost)))
}

fn read_name(r: &mut Reader<'_>) -> Result<String, FileError> {
    let length = r.u16()?.into();
    let name = str::from_utf8(r.take(length)?);
    Ok(name
        .map_err(|e| field("name of encrypted integers", "UTF-8", e))?
        .to_owned())
}
