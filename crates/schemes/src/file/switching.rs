//! One key of bootstrapping inside a file: its form, b digit by digit, and the seed or a. What it is over the reader knows.

use super::FileError;
use super::container::{Reader, Writer};
use crate::identity::KeyId;
use crate::rlwe::switching::Shape;
use crate::rlwe::{KSwitchKey, KeyForm, KeyHalf, Params};

const STORED: u8 = 0;
const SEEDED: u8 = 1;

pub(crate) fn write_key(w: &mut Writer, key: &KSwitchKey) {
    w.bytes(&[if key.seed().is_some() { SEEDED } else { STORED }]);
    key.b().iter().for_each(|b| w.residues(b));
    match key.a() {
        KeyHalf::Seed(seed) => w.bytes(seed),
        KeyHalf::Stored(a) => a.iter().for_each(|a| w.residues(a)),
    }
}

/// Checks that the bytes are there before anything is allocated.
pub(crate) fn read_key(
    r: &mut Reader<'_>,
    params: &Params,
    shape: &Shape,
    key_id: Option<KeyId>,
) -> Result<KSwitchKey, FileError> {
    let (got, form) = (r.remaining(), r.u8()?);
    let known = match form {
        STORED => KeyForm::Stored,
        SEEDED => KeyForm::Seeded,
        other => {
            return Err(FileError::Field {
                what: "form of the bootstrapping key",
                expected: "0 or 1".into(),
                got: other.to_string(),
            });
        }
    };
    let expected = 1 + shape.bytes(params, known);
    if got < expected {
        return Err(FileError::Length {
            what: "bootstrapping key",
            expected,
            got,
        });
    }
    let half = |r: &mut Reader<'_>| {
        let digits = shape.digits.iter();
        let digits = digits.map(|_| r.residues(shape.digit_len(params)));
        digits.collect::<Result<Vec<_>, _>>()
    };
    let b = half(r)?;
    let a = match known {
        KeyForm::Seeded => KeyHalf::Seed(r.array()?),
        KeyForm::Stored => KeyHalf::Stored(half(r)?),
    };
    Ok(shape.key(params, b, a, key_id)?)
}
