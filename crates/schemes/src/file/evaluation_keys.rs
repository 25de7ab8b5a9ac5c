// SPDX-License-Identifier: Apache-2.0
//! Reads and writes files of all evaluation keys of a program.

use super::container::{Writer, open};
use super::further::{further_bytes, read_further, write_further};
use super::objects::{galois_bytes, read_galois, write_galois};
use super::switching::{key_bytes, read_key, write_key};
use super::{FileError, Kind};
use crate::rlwe::switching::Shape;
use crate::rlwe::{EvaluationKeys, Params, RelinKey};
use crate::size;

/// Returns the content of a file of evaluation keys. The payload is 1 and the relinearisation key, or 0 if there is
/// none. Then come the payloads of files of Galois keys and of bootstrapping keys.
///
/// # Errors
/// Fails for keys of other parameters or of different secret keys.
pub fn write_evaluation_keys(params: &Params, keys: &EvaluationKeys) -> Result<Vec<u8>, FileError> {
    let relin = keys.relin.as_ref().map(|key| &key.0);
    let capacity = size::sum([
        1,
        relin.map_or(0, |key| key_bytes(params, key)),
        galois_bytes(params, &keys.galois),
        further_bytes(params, &keys.further),
    ]);
    let mut w = Writer::new(
        Kind::EvaluationKeys,
        &params.origin(keys.key_id()?),
        capacity,
    );
    w.bytes(&[u8::from(relin.is_some())]);
    if let Some(key) = relin {
        params.check_id("relinearisation key", key.params_id())?;
        write_key(&mut w, params, key);
    }
    write_galois(&mut w, params, &keys.galois)?;
    write_further(&mut w, params, &keys.further)?;
    Ok(w.finish())
}

/// Reads the content of a file that [`write_evaluation_keys`] made for the same parameters.
///
/// # Errors
/// Fails for any other content.
pub fn read_evaluation_keys(bytes: &[u8], params: &Params) -> Result<EvaluationKeys, FileError> {
    let kind = Kind::EvaluationKeys;
    let (header, mut r) = open(bytes, kind, params.scheme(), Some(params.id()))?;
    let relin = match r.u8()? {
        0 => None,
        1 => {
            let shape = Shape::at(params, params.max_level());
            Some(RelinKey(read_key(&mut r, params, &shape, header.key_id)?))
        }
        got => {
            return Err(FileError::Field {
                what: "number of relinearisation keys",
                expected: "0 or 1".into(),
                got: got.to_string(),
            });
        }
    };
    let galois = read_galois(&mut r, params, header.key_id)?;
    let further = read_further(&mut r, params, header.key_id)?;
    r.end()?;
    Ok(EvaluationKeys {
        relin,
        galois,
        further,
    })
}
