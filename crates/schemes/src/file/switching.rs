// SPDX-License-Identifier: Apache-2.0
//! Reads and writes one key-switching key (b, a) inside a file: its form, the residues of b digit by digit, and the
//! seed or the residues of a. The reader knows the key's shape from the parameters.

use super::FileError;
use super::container::{Reader, Writer};
use crate::rlwe::switching::Shape;
use crate::rlwe::{KSwitchKey, KeyForm, KeyHalf, Params};
use crate::size;
use ringmill_device::KeyId;
use ringmill_device::ResidueVec;

/// The form of a key in a file: whether its uniform half is a seed or residues, and the width of its words. Keys
/// have 32-bit words in files if their parameters give them 32-bit words in memory. Files of earlier versions, with
/// 64-bit words, can be read too.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Form {
    half: KeyForm,
    word_bytes: usize,
}

impl Form {
    const ALL: [(u8, Self); 4] = [
        (0, Self::of(KeyForm::Stored, 8)),
        (1, Self::of(KeyForm::Seeded, 8)),
        (2, Self::of(KeyForm::Stored, 4)),
        (3, Self::of(KeyForm::Seeded, 4)),
    ];

    const fn of(half: KeyForm, word_bytes: usize) -> Self {
        Self { half, word_bytes }
    }

    /// Returns the form in which the key is stored in memory.
    fn of_key(key: &KSwitchKey) -> Self {
        let half = match key.a() {
            KeyHalf::Seed(_) => KeyForm::Seeded,
            KeyHalf::Stored(_) => KeyForm::Stored,
        };
        match key.b().first() {
            Some(ResidueVec::Short(_)) => Self::of(half, 4),
            Some(ResidueVec::Wide(_)) | None => Self::of(half, 8),
        }
    }

    fn byte(self) -> u8 {
        let found = Self::ALL.iter().find(|(_, form)| *form == self);
        found.map_or(0, |&(byte, _)| byte)
    }

    /// Returns the form of a key that the byte `byte` of a file stands for.
    ///
    /// # Errors
    /// Fails for a number that stands for no form, and for one of 32-bit words if a prime is 2^32 or more.
    fn read(byte: u8, params: &Params) -> Result<Self, FileError> {
        let found = Self::ALL.iter().find(|&&(known, _)| known == byte);
        let found = found.filter(|(_, form)| form.word_bytes == 8 || params.short_words());
        match found {
            Some(&(_, form)) => Ok(form),
            None => Err(FileError::Field {
                what: "form of the key-switching key",
                expected: match params.short_words() {
                    true => "0 to 3".into(),
                    false => "0 or 1 (a prime is above 2^32)".into(),
                },
                got: byte.to_string(),
            }),
        }
    }
}

/// Returns the number of bytes that a key-switching key takes in a file.
pub(super) fn key_bytes(key: &KSwitchKey) -> usize {
    size::sum([1, key.bytes() as usize])
}

pub(crate) fn write_key(w: &mut Writer, key: &KSwitchKey) {
    w.bytes(&[Form::of_key(key).byte()]);
    let half = |w: &mut Writer, half: &[ResidueVec]| {
        half.iter().for_each(|limbs| w.words(limbs.residues()));
    };
    half(w, key.b());
    match key.a() {
        KeyHalf::Seed(seed) => w.bytes(seed),
        KeyHalf::Stored(a) => half(w, a),
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
    let form = Form::read(byte, params)?;
    let residues = shape.digits.len().saturating_mul(shape.digit_len(params));
    let half_bytes = form.word_bytes.saturating_mul(residues);
    let second = match form.half {
        KeyForm::Stored => half_bytes,
        KeyForm::Seeded => 32,
    };
    let expected = size::sum([1, half_bytes, second]) as u64;
    if got < expected {
        return Err(FileError::Length {
            what: "key-switching key",
            expected,
            got,
        });
    }
    let half = |r: &mut Reader<'_>| {
        let digits = shape.digits.iter();
        let digits = digits.map(|_| r.words(shape.digit_len(params), form.word_bytes));
        digits.collect::<Result<Vec<_>, _>>()
    };
    let b = half(r)?;
    let a = match form.half {
        KeyForm::Seeded => KeyHalf::Seed(r.array()?),
        KeyForm::Stored => KeyHalf::Stored(half(r)?),
    };
    Ok(shape.key(params, b, a, key_id)?)
}
