// SPDX-License-Identifier: Apache-2.0
//! Reads and writes several ciphertexts, and encrypted integers with their types.

use std::sync::Arc;

use ringmill_device::KeyId;
use ringmill_limits::Watch;
use ringmill_schemes::file::{FileError, Header, Kind, Reader, Writer, peek_kind};
use ringmill_schemes::identity::Origin;
use ringmill_schemes::size;

use super::{SEED, field, of, read_key, read_words, width, words_of, write_words};
use crate::tfhe::TfheError;
use crate::tfhe::integer::{EncryptedIntegers, IntegerType};
use crate::tfhe::lwe::{LweCiphertext, LweKey};
use crate::tfhe::params::Params;
use crate::tfhe::seeded::{SeededCiphertexts, expanded_bytes};

/// The number of bytes of an integer's type in a file.
const TYPE: usize = 18;

/// Returns the key that all ciphertexts are under, and the origin that all have.
pub(super) fn common(
    params: &Params,
    all: &[LweCiphertext],
) -> Result<(LweKey, Origin), TfheError> {
    let key = (all.first()).map_or(LweKey::resting(params), LweCiphertext::key);
    all.iter().try_for_each(|x| x.check(params, key))?;
    let ids = all.iter().map(|x| ("ciphertext", x.key_id()));
    Ok((key, params.origin(KeyId::common(ids)?)))
}

/// Writes a file of several ciphertexts under one key. The payload is the key (0 small, 1 large) and the number of
/// ciphertexts, in 4 bytes each, then mask and body of each ciphertext.
///
/// # Errors
/// [`TfheError::OtherParams`] for a ciphertext of other parameters; [`TfheError::OtherKeys`] if the ciphertexts belong
/// to different secret keys; [`TfheError::WrongKey`] if some are under the small key and some under the large key.
pub fn write_ciphertexts(params: &Params, all: &[LweCiphertext]) -> Result<Vec<u8>, TfheError> {
    let (key, origin) = common(params, all)?;
    let mut w = Writer::new(Kind::Ciphertexts, &origin, several_bytes(params, key, all));
    write_several(&mut w, params, key, all);
    Ok(w.finish())
}

/// Returns the number of bytes that [`write_several`] writes.
fn several_bytes(params: &Params, key: LweKey, all: &[LweCiphertext]) -> usize {
    let words = all.len().saturating_mul(words_of(params, key));
    size::sum([8, words.saturating_mul(width(params))])
}

fn write_several(w: &mut Writer, params: &Params, key: LweKey, all: &[LweCiphertext]) {
    w.u32((key == LweKey::Large).into());
    w.u32(all.len() as u32);
    for x in all {
        write_words(w, params, x.words());
    }
}

/// Writes a file of encrypted integers. The payload is the number of integers (4 bytes), then four fields for each
/// integer. They are the number of its bits and whether it is signed (1 byte each), the mask of encrypted bits, and the
/// values of the other bits (8 bytes each). For fresh integers the seed of their masks and the body of each ciphertext
/// follow, and the file is of its own kind. For others the payload of [`write_ciphertexts`] follows. Integers without
/// types are written by [`write_ciphertexts`].
///
/// # Errors
/// Those of [`write_ciphertexts`].
pub fn write_integers(params: &Params, all: &EncryptedIntegers) -> Result<Vec<u8>, TfheError> {
    let (key, origin) = common(params, all.ciphertexts())?;
    let mut w = Writer::new(kind_of(all), &origin, payload_bytes(params, key, all));
    write_payload(&mut w, params, key, all);
    Ok(w.finish())
}

/// Returns the number of bytes that [`write_payload`] writes.
pub(super) fn payload_bytes(params: &Params, key: LweKey, all: &EncryptedIntegers) -> usize {
    let types = |of: &[IntegerType]| size::sum([4, of.len().saturating_mul(TYPE)]);
    let bodies = |of: &SeededCiphertexts| of.ciphertexts().len().saturating_mul(width(params));
    let ciphertexts = match all.seeded() {
        Some(seeded) => size::sum([SEED, bodies(seeded)]),
        None => several_bytes(params, key, all.ciphertexts()),
    };
    size::sum([all.types().map_or(0, types), ciphertexts])
}

/// Returns the kind of file that holds the integers.
pub(super) fn kind_of(all: &EncryptedIntegers) -> Kind {
    match (all.types(), all.seeded()) {
        (None, _) => Kind::Ciphertexts,
        (Some(_), None) => Kind::Integers,
        (Some(_), Some(_)) => Kind::SeededIntegers,
    }
}

pub(super) fn write_payload(w: &mut Writer, params: &Params, key: LweKey, all: &EncryptedIntegers) {
    if let Some(types) = all.types() {
        w.u32(types.len() as u32);
        for integer in types {
            w.bytes(&[integer.bits() as u8, integer.signed().into()]);
            w.bytes(&integer.encrypted().to_le_bytes());
            w.bytes(&integer.known().to_le_bytes());
        }
    }
    match all.seeded() {
        None => write_several(w, params, key, all.ciphertexts()),
        Some(seeded) => {
            w.bytes(seeded.seed());
            for x in seeded.ciphertexts() {
                write_words(w, params, &[x.parts().1]);
            }
        }
    }
}

/// Reads a file of [`write_ciphertexts`], with the ciphertexts in the order of the file.
///
/// # Errors
/// [`FileError`] for a file of another kind or of other parameters, a damaged file, or a word that is no residue modulo
/// q.
pub fn read_ciphertexts(bytes: &[u8], params: &Params) -> Result<Vec<LweCiphertext>, FileError> {
    let (header, mut r) = of(bytes, Kind::Ciphertexts, params)?;
    read_several(&header, &mut r, params)
}

/// Reads a file of encrypted integers: of [`write_integers`], or of [`write_ciphertexts`], which older versions wrote
/// without types.
///
/// # Errors
/// [`FileError`] for a file of another kind or of other parameters, a damaged file, a word that is no residue modulo q,
/// or the type of an integer that does not exist. [`FileError::Halt`] if `watch` does not admit the ciphertexts of a
/// seed, which take more memory than the file.
pub fn read_integers(
    bytes: &[u8],
    params: &Params,
    watch: &Watch,
) -> Result<EncryptedIntegers, FileError> {
    let kind = match peek_kind(bytes)? {
        found @ (Kind::Ciphertexts | Kind::SeededIntegers) => found,
        _ => Kind::Integers,
    };
    let (header, mut r) = of(bytes, kind, params)?;
    read_payload(kind, &header, &mut r, params, watch)
}

/// Reads the payload of a file of kind `kind`, which is a kind of encrypted integers. The payload must be all that is
/// left of the bytes.
pub(super) fn read_payload(
    kind: Kind,
    header: &Header,
    r: &mut Reader<'_>,
    params: &Params,
    watch: &Watch,
) -> Result<EncryptedIntegers, FileError> {
    let types = match kind {
        Kind::Ciphertexts => None,
        _ => Some(read_types(r)?),
    };
    match types {
        Some(types) if kind == Kind::SeededIntegers => {
            let all = read_seeded(header, r, params, watch)?;
            Ok(EncryptedIntegers::fresh(types, all))
        }
        types => Ok(EncryptedIntegers::new(
            types,
            read_several(header, r, params)?,
        )),
    }
}

fn read_types(r: &mut Reader<'_>) -> Result<Arc<[IntegerType]>, FileError> {
    let count = r.u32()? as usize;
    // `take` checks that the bytes exist before memory is allocated for them.
    let types = r.take(count.saturating_mul(TYPE))?;
    types.as_chunks::<TYPE>().0.iter().map(read_type).collect()
}

fn read_type(bytes: &[u8; TYPE]) -> Result<IntegerType, FileError> {
    let [bits, signed, rest @ ..] = *bytes;
    let word = |i: usize| {
        let words = rest.as_chunks::<8>().0;
        u64::from_le_bytes(words[i])
    };
    let (encrypted, known) = (word(0), word(1));
    let read = IntegerType::new(bits.into(), signed == 1, encrypted, known);
    let as_written = read.bits() == u32::from(bits)
        && signed <= 1
        && (read.encrypted(), read.known()) == (encrypted, known);
    if as_written {
        return Ok(read);
    }
    let got = format!("{bits} bits, sign {signed}, encrypted {encrypted:#x}, known {known:#x}");
    let expected = "1 to 64 bits, sign 0 or 1, each bit encrypted or known";
    Err(field("type of an integer", expected, got))
}

fn read_several(
    header: &Header,
    r: &mut Reader<'_>,
    params: &Params,
) -> Result<Vec<LweCiphertext>, FileError> {
    let (key, count) = (read_key(r)?, r.u32()?);
    let each = words_of(params, key);
    let words = read_words(r, params, each.saturating_mul(count as usize))?;
    let one = |words: &[u64]| {
        let read = LweCiphertext::new(params, key, words.to_vec())?;
        Ok(read.with_key_id(header.key_id))
    };
    words.chunks(each).map(one).collect()
}

/// Reads a seed, and the bodies that are left of the payload. Expands the masks.
fn read_seeded(
    header: &Header,
    r: &mut Reader<'_>,
    params: &Params,
    watch: &Watch,
) -> Result<SeededCiphertexts, FileError> {
    let seed = r.array()?;
    let count = r.remaining().div_ceil(width(params) as u64) as usize;
    let bodies = read_words(r, params, count)?;
    watch.admit("encrypted integers", expanded_bytes(params, count))?;
    Ok(SeededCiphertexts::expand(
        params,
        seed,
        &bodies,
        header.key_id,
    )?)
}
