// SPDX-License-Identifier: Apache-2.0
//! Reads and writes files of the keys that only bootstrapping needs, by the names that programs have for them. A key's
//! name, level and form determine its size for given parameters.

use std::collections::BTreeMap;

use ringmill_isa::{Galois, Level};

use super::container::{Reader, Writer, open};
use super::switching::{key_bytes, read_key, write_key};
use super::{FileError, Kind};
use crate::rlwe::sparse::encapsulation_shape;
use crate::rlwe::switching::Shape;
use crate::rlwe::{KSwitchKey, KeyRequest, Params};
use crate::size;
use ringmill_device::KeyId;

/// The keys that only bootstrapping needs, by their names ([`crate::rlwe::EvaluationKeys::further`]).
pub type FurtherKeys = BTreeMap<KeyRequest, KSwitchKey>;

const ENCAPSULATION: u8 = 0;
const SPARSE_SECRET: u8 = 1;
const LOW_GALOIS: u8 = 2;
const DECAPSULATION: u8 = 3;

fn field(what: &'static str, expected: &str, got: impl ToString) -> FileError {
    FileError::Field {
        what,
        expected: expected.into(),
        got: got.to_string(),
    }
}

/// Returns the number that stands for a key's name in files, and the key's Galois element, or 0 if it has none.
/// Returns `None` for a relinearisation or Galois key, which have files of their own kind.
fn tag(name: &KeyRequest) -> Option<(u8, u32)> {
    match name {
        KeyRequest::Encapsulation => Some((ENCAPSULATION, 0)),
        KeyRequest::SparseSecret => Some((SPARSE_SECRET, 0)),
        KeyRequest::LowGalois(element) => Some((LOW_GALOIS, element.0)),
        KeyRequest::Decapsulation => Some((DECAPSULATION, 0)),
        KeyRequest::Relin | KeyRequest::Galois(_) => None,
    }
}

/// Returns the shape of the key with the name `name`, for ciphertexts at a level.
fn shape(params: &Params, name: &KeyRequest, level: Level) -> Result<Shape, FileError> {
    params.check_level(level)?;
    let primes = 0..level.primes();
    Ok(match name {
        KeyRequest::Encapsulation => encapsulation_shape(params, level)?,
        KeyRequest::SparseSecret => Shape {
            moduli: primes.clone().collect(),
            special: 0..0,
            digits: vec![primes],
            low: params.key_modulus(),
        },
        KeyRequest::LowGalois(_)
        | KeyRequest::Decapsulation
        | KeyRequest::Relin
        | KeyRequest::Galois(_) => Shape::at(params, level),
    })
}

/// Returns the level that a key is for, from its name and the number `moduli` of its moduli.
fn level_of(params: &Params, name: &KeyRequest, moduli: usize) -> Level {
    let primes = match name {
        KeyRequest::Encapsulation => moduli / 2,
        KeyRequest::SparseSecret => moduli,
        KeyRequest::LowGalois(_)
        | KeyRequest::Decapsulation
        | KeyRequest::Relin
        | KeyRequest::Galois(_) => moduli.saturating_sub(params.special_count()),
    };
    Level(primes.saturating_sub(1) as u32)
}

/// Returns the content of a file of the bootstrapping keys of one secret key. The payload begins with the number of
/// keys. Then come, for each key in ascending order of names, the number of its name, its Galois element or 0, its
/// level and its form. Its half b follows digit by digit, then its half a or the seed from which a is expanded. The
/// file has a key identity only if all keys have one.
///
/// # Errors
/// Fails for keys of other parameters or of different secret keys. Also fails for a name that is
/// [`KeyRequest::Relin`] or [`KeyRequest::Galois`], because these keys have files of their own kind.
pub fn write_further_keys(params: &Params, keys: &FurtherKeys) -> Result<Vec<u8>, FileError> {
    let parts = keys.values().map(|key| ("bootstrapping key", key.key_id()));
    let key_id = KeyId::common(parts).map_err(crate::rlwe::RlweError::from)?;
    let origin = params.origin(key_id);
    let mut w = Writer::new(Kind::FurtherKeys, &origin, further_bytes(params, keys));
    write_further(&mut w, params, keys)?;
    Ok(w.finish())
}

/// Returns the number of bytes of the payload of bootstrapping keys.
pub(super) fn further_bytes(params: &Params, keys: &FurtherKeys) -> usize {
    let each = keys.values();
    let each = each.map(|key| size::sum([9, key_bytes(params, key)]));
    each.fold(4, usize::saturating_add)
}

/// Writes the payload of bootstrapping keys.
///
/// # Errors
/// The errors of [`write_further_keys`] but those for keys of different secret keys.
pub(super) fn write_further(
    w: &mut Writer,
    params: &Params,
    keys: &FurtherKeys,
) -> Result<(), FileError> {
    w.u32(keys.len() as u32);
    for (name, key) in keys {
        params.check_id("bootstrapping key", key.params_id())?;
        let (tag, element) = tag(name).ok_or_else(|| {
            let expected = "one of bootstrapping's own; the others have files of their own";
            field("key to write", expected, name)
        })?;
        w.bytes(&[tag]);
        w.u32(element);
        w.u32(level_of(params, name, key.moduli().len()).0);
        write_key(w, params, key);
    }
    Ok(())
}

/// Reads the content of a file that [`write_further_keys`] made for the same parameters.
///
/// # Errors
/// Fails for any other content.
pub fn read_further_keys(bytes: &[u8], params: &Params) -> Result<FurtherKeys, FileError> {
    let (header, mut r) = open(bytes, Kind::FurtherKeys, params.scheme(), Some(params.id()))?;
    let keys = read_further(&mut r, params, header.key_id)?;
    r.end()?;
    Ok(keys)
}

/// Reads the payload of bootstrapping keys.
pub(super) fn read_further(
    r: &mut Reader<'_>,
    params: &Params,
    key_id: Option<KeyId>,
) -> Result<FurtherKeys, FileError> {
    let (count, mut keys) = (r.u32()?, FurtherKeys::new());
    let mut last = None;
    for _ in 0..count {
        let name = name(r.u8()?, r.u32()?, params)?;
        if last.is_some_and(|last| last >= name) {
            return Err(field("bootstrapping key", "names in ascending order", name));
        }
        last = Some(name);
        let shape = shape(params, &name, Level(r.u32()?))?;
        keys.insert(name, read_key(r, params, &shape, key_id)?);
    }
    Ok(keys)
}

fn name(tag: u8, element: u32, params: &Params) -> Result<KeyRequest, FileError> {
    let below = (params.degree() as u64).saturating_mul(2);
    match (tag, element) {
        (ENCAPSULATION, 0) => Ok(KeyRequest::Encapsulation),
        (SPARSE_SECRET, 0) => Ok(KeyRequest::SparseSecret),
        (DECAPSULATION, 0) => Ok(KeyRequest::Decapsulation),
        (LOW_GALOIS, 3..) if element % 2 == 1 && u64::from(element) < below => {
            Ok(KeyRequest::LowGalois(Galois(element)))
        }
        _ => {
            let got = format!("byte {tag}, element {element}");
            let expected = "byte 0, 1 or 3 with element 0, or 2 with an odd one from 3 to 2N";
            Err(field("name of a bootstrapping key", expected, got))
        }
    }
}
