// SPDX-License-Identifier: Apache-2.0
//! Reads and writes messages between a client and a server: ciphertexts by name, and what is said of them.

use super::container::{Reader, Writer, open};
use super::objects::{cipher_bytes, cipher_kind, read_cipher, write_cipher};
use super::{FileError, Kind};
use crate::rlwe::{Annotation, Ciphertext, Params, RlweError};
use crate::size;
use ringmill_device::KeyId;

/// One part of a message: the ciphertexts of one run of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct Part<A> {
    /// How many inputs share the ciphertexts. It is `None` for a program that takes one input at a time.
    pub batch: Option<u32>,
    /// Texts that belong to the ciphertexts, such as the report of a run.
    pub texts: Vec<String>,
    /// The ciphertexts with their names.
    pub ciphertexts: Vec<(String, Ciphertext<A>)>,
}

/// The numbers by which a file says of which kind the next ciphertext is.
const KINDS: [Kind; 2] = [Kind::Ciphertext, Kind::SeededCiphertext];

fn field(what: &'static str, expected: &str, got: impl ToString) -> FileError {
    FileError::Field {
        what,
        expected: expected.into(),
        got: got.to_string(),
    }
}

/// Returns the content of a file of a message. The payload is the number of parts and the parts. A part is the size of
/// its batch (0 if it has none), the number of texts and the texts, the number of ciphertexts and the ciphertexts. A
/// text is its length and its UTF-8. A ciphertext is the length of its name and the name, then its kind and its payload.
///
/// # Errors
/// Fails for ciphertexts of other parameters or of different secret keys.
pub fn write_message<A: Annotation>(
    params: &Params,
    parts: &[Part<A>],
) -> Result<Vec<u8>, FileError> {
    let every = || parts.iter().flat_map(|part| &part.ciphertexts);
    let ids = every().map(|(_, cipher)| ("ciphertext", cipher.key_id()));
    let key_id = KeyId::common(ids).map_err(RlweError::from)?;
    let texts = parts.iter().flat_map(|part| &part.texts);
    let texts = texts.map(|text| size::sum([4, text.len()]));
    let ciphertexts = every().map(|(name, cipher)| {
        let bytes = cipher_bytes(params, cipher);
        size::sum([6, name.len(), bytes])
    });
    let heads = 4_usize.saturating_add(parts.len().saturating_mul(12));
    let capacity = texts.chain(ciphertexts).fold(heads, usize::saturating_add);
    let mut w = Writer::new(Kind::Message, &params.origin(key_id), capacity);
    let text = |w: &mut Writer, text: &str| {
        w.u32(text.len() as u32);
        w.bytes(text.as_bytes());
    };
    w.u32(parts.len() as u32);
    for part in parts {
        w.u32(part.batch.unwrap_or(0));
        w.u32(part.texts.len() as u32);
        part.texts.iter().for_each(|said| text(&mut w, said));
        w.u32(part.ciphertexts.len() as u32);
        for (name, cipher) in &part.ciphertexts {
            params.check_id("ciphertext", cipher.params_id())?;
            text(&mut w, name);
            w.bytes(&(cipher_kind(cipher) as u16).to_le_bytes());
            write_cipher(&mut w, params, cipher);
        }
    }
    Ok(w.finish())
}

/// Reads the content of a file that [`write_message`] made for the same parameters.
///
/// # Errors
/// Fails for any other content.
pub fn read_message<A: Annotation>(
    bytes: &[u8],
    params: &Params,
) -> Result<Vec<Part<A>>, FileError> {
    let (header, mut r) = open(bytes, Kind::Message, params.scheme(), Some(params.id()))?;
    // Every list is read item by item, and each item takes bytes, so a number that lies allocates nothing.
    let parts = (0..r.u32()?).map(|_| part(&mut r, params, header.key_id));
    let parts = parts.collect::<Result<_, _>>()?;
    r.end()?;
    Ok(parts)
}

fn part<A: Annotation>(
    r: &mut Reader<'_>,
    params: &Params,
    key_id: Option<KeyId>,
) -> Result<Part<A>, FileError> {
    let batch = Some(r.u32()?).filter(|&batch| batch > 0);
    let texts = (0..r.u32()?).map(|_| text(r)).collect::<Result<_, _>>()?;
    let mut ciphertexts: Vec<(String, Ciphertext<A>)> = Vec::new();
    for _ in 0..r.u32()? {
        let (name, number) = (text(r)?, r.u16()?);
        if ciphertexts.iter().any(|(known, _)| *known == name) {
            return Err(field("name of a ciphertext", "each name once", name));
        }
        let kind = KINDS.into_iter().find(|&kind| kind as u16 == number);
        let kind = kind.ok_or_else(|| field("kind of a ciphertext", "3 or 4", number))?;
        let cipher = read_cipher(r, kind, params)?;
        ciphertexts.push((name, cipher.with_key_id(key_id)));
    }
    Ok(Part {
        batch,
        texts,
        ciphertexts,
    })
}

fn text(r: &mut Reader<'_>) -> Result<String, FileError> {
    let length = r.u32()? as usize;
    let bytes = r.take(length)?.to_vec();
    String::from_utf8(bytes).map_err(|e| field("text", "UTF-8", e))
}
