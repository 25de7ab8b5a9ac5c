// SPDX-License-Identifier: Apache-2.0
//! Reads and writes one key-switching key (b, a) inside a file: its form, the limbs of b digit by digit, and the seed or
//! the limbs of a. The reader knows the key's shape from the parameters.

use super::FileError;
use super::SEED;
use super::container::{Reader, Writer, limb_bytes};
use crate::rlwe::switching::Shape;
use crate::rlwe::{KSwitchKey, KeyForm, KeyHalf, Params};
use crate::size;
use ringmill_device::KeyId;
use ringmill_device::ResidueVec;
use ringmill_math::Modulus;

/// The form of a key in a file: whether its uniform half is a seed or residues, and the bytes of a residue in files
/// whose residues are not packed. Earlier versions wrote 4 bytes if all primes are below 2^32.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Form {
    half: KeyForm,
    word_bytes: usize,
}

const STORED: u8 = 0;
const SEEDED: u8 = 1;
const STORED_SHORT: u8 = 2;
const SEEDED_SHORT: u8 = 3;

impl Form {
    /// Returns the form of a key that the byte `byte` of a file stands for.
    ///
    /// # Errors
    /// Fails for a number that stands for no form. Fails for one of 4 bytes a residue if residues are packed, or if a
    /// prime is 2^32 or more.
    fn read(byte: u8, packed: bool, params: &Params) -> Result<Self, FileError> {
        let (half, word_bytes) = match byte {
            STORED => (KeyForm::Stored, 8),
            SEEDED => (KeyForm::Seeded, 8),
            STORED_SHORT => (KeyForm::Stored, 4),
            SEEDED_SHORT => (KeyForm::Seeded, 4),
            _ => return Err(Self::refused(byte, packed, params)),
        };
        if word_bytes == 4 && (packed || !params.short_words()) {
            return Err(Self::refused(byte, packed, params));
        }
        Ok(Self { half, word_bytes })
    }

    fn refused(byte: u8, packed: bool, params: &Params) -> FileError {
        FileError::Field {
            what: "form of the key-switching key",
            expected: match (packed, params.short_words()) {
                (true, _) => "0 or 1".into(),
                (false, true) => "0 to 3".into(),
                (false, false) => "0 or 1 (a prime is above 2^32)".into(),
            },
            got: byte.to_string(),
        }
    }
}

/// Returns the moduli of the limbs of a key-switching key.
fn moduli(params: &Params, indices: &[usize]) -> Vec<Modulus> {
    let known = indices.iter().filter_map(|&i| params.reducers().get(i));
    known.copied().collect()
}

/// Returns the number of bytes that a key-switching key takes in a file.
pub(crate) fn key_bytes(params: &Params, key: &KSwitchKey) -> usize {
    let limbs = limb_bytes(&moduli(params, key.moduli()), params.degree());
    let half = key.b().len().saturating_mul(limbs);
    let second = match key.a() {
        KeyHalf::Seed(_) => SEED,
        KeyHalf::Stored(_) => half,
    };
    size::sum([1, half, second])
}

/// Writes a key-switching key. The caller has checked that the key is of these parameters.
pub(crate) fn write_key(w: &mut Writer, params: &Params, key: &KSwitchKey) {
    let moduli = moduli(params, key.moduli());
    let half = |w: &mut Writer, half: &[ResidueVec]| {
        half.iter()
            .for_each(|limbs| w.limbs(&moduli, limbs.residues()));
    };
    match key.a() {
        KeyHalf::Seed(seed) => {
            w.bytes(&[SEEDED]);
            half(w, key.b());
            w.bytes(seed);
        }
        KeyHalf::Stored(a) => {
            w.bytes(&[STORED]);
            half(w, key.b());
            half(w, a);
        }
    }
}

/// Reads a key-switching key of the shape `shape`. It checks that the bytes exist before it allocates memory for
/// the key. The caller checks that no bytes follow the last key.
pub(crate) fn read_key(
    r: &mut Reader<'_>,
    params: &Params,
    shape: &Shape,
    key_id: Option<KeyId>,
) -> Result<KSwitchKey, FileError> {
    let (got, byte) = (r.remaining(), r.u8()?);
    let form = Form::read(byte, r.packed(), params)?;
    let moduli = moduli(params, &shape.moduli);
    let digit_bytes = match r.packed() {
        true => limb_bytes(&moduli, params.degree()),
        false => form.word_bytes.saturating_mul(shape.digit_len(params)),
    };
    let half_bytes = digit_bytes.saturating_mul(shape.digits.len());
    let second = match form.half {
        KeyForm::Stored => half_bytes,
        KeyForm::Seeded => SEED,
    };
    let expected = size::sum([1, half_bytes, second]) as u64;
    if got < expected {
        return Err(FileError::Length {
            what: "key-switching key",
            expected,
            got,
        });
    }
    let digit = |r: &mut Reader<'_>| match form.word_bytes {
        4 => r.words(shape.digit_len(params), form.word_bytes),
        _ => r.limbs(&moduli, params.degree()),
    };
    let half = |r: &mut Reader<'_>| {
        let digits = shape.digits.iter();
        digits.map(|_| digit(r)).collect::<Result<Vec<_>, _>>()
    };
    let b = half(r)?;
    let a = match form.half {
        KeyForm::Seeded => KeyHalf::Seed(r.array()?),
        KeyForm::Stored => KeyHalf::Stored(half(r)?),
    };
    Ok(shape.key(params, b, a, key_id)?)
}
