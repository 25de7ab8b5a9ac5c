// SPDX-License-Identifier: Apache-2.0
//! Typing rules for notes: a note is a scheme's data for a value, such as its scale. Notes of different schemes do
//! not mix.

use super::super::program::Note;
use super::super::text::note_text;
use super::common::no_scale;
use super::{Typed, ckks};
use crate::error::Fault;

fn fault(v: Typed, expected: String, found: Note) -> Fault {
    Fault::Note {
        item: v.item(),
        expected,
        found: note_text(found),
    }
}

/// Checks that the value `v` may have this note, which is a scale, a correction factor or nothing.
pub(in crate::macros) fn check(v: Typed, note: Note) -> Result<(), Fault> {
    match note {
        Note::Bare | Note::Factor(1..) => Ok(()),
        Note::Scale(scale) => ckks::check(v, scale),
        Note::Factor(0) => Err(fault(v, "a factor of at least 1".to_owned(), note)),
    }
}

/// Checks that the note `found` (a scale or a correction factor) for the value `v` equals `expected`.
pub(super) fn expect(v: Typed, expected: Note, found: Note) -> Result<(), Fault> {
    match (expected, found) {
        (Note::Scale(expected), Note::Scale(found)) => ckks::expect(v, expected, found),
        (Note::Bare, Note::Bare) => Ok(()),
        (Note::Factor(a), Note::Factor(b)) if a == b => Ok(()),
        (Note::Bare | Note::Scale(_) | Note::Factor(_), _) => {
            Err(fault(v, note_text(expected), found))
        }
    }
}

/// Returns the note of a product of a value with note `a` and a value `b` with note `of_b`. Scales multiply. Factors
/// multiply modulo the plaintext modulus, which the program does not name, so any declared factor is accepted.
pub(super) fn product(b: Typed, a: Note, of_b: Note, declared: Note) -> Result<Note, Fault> {
    match (a, of_b) {
        (Note::Scale(x), Note::Scale(y)) => Ok(Note::Scale(x * y)),
        (Note::Bare, Note::Bare) => Ok(Note::Bare),
        (Note::Factor(_), Note::Factor(_)) => Ok(any_factor(a, declared)),
        (Note::Scale(_) | Note::Bare | Note::Factor(_), _) => {
            Err(fault(b, format!("a note such as {}", note_text(a)), of_b))
        }
    }
}

/// Checks that two lifted constants of a sum of products have the same scale, if they have scales.
pub(super) fn expect_alike(v: Typed, expected: Note, found: Note) -> Result<(), Fault> {
    match expected {
        Note::Scale(_) => expect(v, expected, found),
        Note::Bare | Note::Factor(_) => Ok(()),
    }
}

/// Returns the note of a sum of products of ciphertexts and lifted constants, which have the notes `a` and `of_b`.
/// Scales multiply. The maker of the constants has taken a correction factor into account.
pub(super) fn of_products(a: Note, of_b: Note) -> Note {
    match (a, of_b) {
        (Note::Scale(x), Note::Scale(y)) => Note::Scale(x * y),
        (Note::Scale(_) | Note::Bare | Note::Factor(_), _) => a,
    }
}

/// Returns the note of the product of a value and a constant whose scale is `constant`. Only schemes with scales
/// have constants with a scale.
pub(super) fn times_constant(note: Note, constant: Option<f64>) -> Result<Note, Fault> {
    match (note, constant) {
        (Note::Scale(scale), constant) => ckks::times_constant(scale, constant).map(Note::Scale),
        (Note::Bare | Note::Factor(_), None) => Ok(note),
        (Note::Bare | Note::Factor(_), Some(scale)) => no_scale(scale).map(|()| note),
    }
}

/// Returns the note of a value, its scale or correction factor, after the division by `prime`. If that does not
/// follow from the prime, it is the note `declared` that the program states for the result.
pub(super) fn rescaled(note: Note, prime: Option<u64>, declared: Note) -> Note {
    match (note, declared) {
        (Note::Scale(scale), Note::Scale(declared)) => {
            Note::Scale(ckks::rescaled(scale, prime, declared))
        }
        (Note::Scale(_) | Note::Bare, _) => note,
        (Note::Factor(_), _) => any_factor(note, declared),
    }
}

/// Returns the note of a value whose correction factor is multiplied by an integer. It is an error if the note is no
/// correction factor.
pub(super) fn refactored(a: Typed, note: Note, declared: Note) -> Result<Note, Fault> {
    match note {
        Note::Factor(_) => Ok(any_factor(note, declared)),
        Note::Bare | Note::Scale(_) => Err(fault(a, "a factor".to_owned(), note)),
    }
}

/// Returns the note `declared`, which the program states for a bootstrapped value, if it is of the same kind as the
/// operand's: a scale or a correction factor. A value without a note cannot be bootstrapped.
pub(super) fn refreshed(a: Typed, note: Note, declared: Note) -> Result<Note, Fault> {
    match (note, declared) {
        (Note::Factor(_), Note::Factor(_)) | (Note::Scale(_), Note::Scale(_)) => Ok(declared),
        (Note::Factor(_) | Note::Scale(_), _) => Ok(note),
        (Note::Bare, _) => Err(fault(a, "a scale or a factor".to_owned(), note)),
    }
}

/// Returns the note of a value after the division by several primes. A scale is divided by them; if they are not
/// known, it is the one `declared`. A correction factor may be any of its plaintext modulus.
pub(super) fn divided(
    d: Typed,
    note: Note,
    primes: Option<&[u64]>,
    declared: Note,
) -> Result<Note, Fault> {
    match (note, declared) {
        (Note::Scale(scale), Note::Scale(declared)) => Ok(Note::Scale(match primes {
            Some(primes) => primes.iter().fold(scale, |scale, &q| scale / q as f64),
            None => declared,
        })),
        (Note::Scale(_), _) => Ok(note),
        (Note::Bare | Note::Factor(_), _) => of_modulus(d, note, declared),
    }
}

/// Returns the note `declared`, which the program states for the result, if both notes are correction factors.
/// Otherwise returns `note`.
fn any_factor(note: Note, declared: Note) -> Note {
    match declared {
        Note::Factor(_) => declared,
        Note::Bare | Note::Scale(_) => note,
    }
}

/// The number of bits that hold a correction factor in a note. The bits above have the number of the factor's
/// plaintext modulus; number 0 is the modulus of messages.
const MODULUS_SHIFT: u32 = 60;

/// Returns the number of the plaintext modulus to which a correction factor belongs.
fn modulus(v: Typed, note: Note) -> Result<u64, Fault> {
    match note {
        Note::Factor(factor) => Ok(factor >> MODULUS_SHIFT),
        Note::Bare | Note::Scale(_) => Err(fault(v, "a factor".to_owned(), note)),
    }
}

/// Checks that two correction factors belong to the same plaintext modulus.
pub(super) fn expect_modulus(v: Typed, expected: Note, found: Note) -> Result<(), Fault> {
    of_number(v, modulus(v, expected)?, found)
}

fn of_number(v: Typed, expected: u64, found: Note) -> Result<(), Fault> {
    match modulus(v, found)? == expected {
        true => Ok(()),
        false => {
            let expected = format!("a factor of plaintext modulus {expected}");
            Err(fault(v, expected, found))
        }
    }
}

/// Returns the correction factor `declared`, which the program states for a result, if it belongs to the same
/// plaintext modulus as `note`. Otherwise returns an error.
pub(super) fn of_modulus(d: Typed, note: Note, declared: Note) -> Result<Note, Fault> {
    expect_modulus(d, note, declared).map(|()| declared)
}

/// Returns the correction factor `declared`, which the program states for a result, if it belongs to the plaintext
/// modulus before that of `note` in the list of plaintext moduli. Otherwise returns an error.
pub(super) fn lowered(a: Typed, note: Note, declared: Note) -> Result<Note, Fault> {
    let Some(below) = modulus(a, note)?.checked_sub(1) else {
        let expected = "a factor of a plaintext modulus above the messages' own".to_owned();
        return Err(fault(a, expected, note));
    };
    of_number(a, below, declared).map(|()| declared)
}
