// SPDX-License-Identifier: Apache-2.0
//! Typing rules for notes. A note is what a scheme tracks for a value besides its level: a scale
//! (CKKS), a correction factor (BGV) or nothing (BFV). Notes of different kinds do not mix.

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

/// Checks that the value `v` may have the note `note`: a possible scale, a correction factor other
/// than 0, or nothing.
pub(in crate::macros) fn check(v: Typed, note: Note) -> Result<(), Fault> {
    match note {
        Note::Bare | Note::Factor(1..) => Ok(()),
        Note::Scale(scale) => ckks::check(v, scale),
        Note::Factor(0) => Err(fault(v, "a factor of at least 1".to_owned(), note)),
    }
}

/// Checks that the note `found` of the value `v` is of the same kind as `expected` (a scale, a
/// correction factor or nothing) and equal to it.
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

/// Returns the note of a product of a value with note `a` and the value `b` with note `of_b`.
/// Scales multiply. Correction factors multiply modulo a plaintext modulus that is not known here,
/// so any factor `declared` in the program is accepted. Notes of two kinds are an error.
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

/// Checks the notes `expected` and `found` of two constants of a `SUMPLAIN`, or of two products of a
/// `SUMPROD`. If `expected` is a scale, `found` must be the same scale; otherwise it may be anything.
pub(super) fn expect_alike(v: Typed, expected: Note, found: Note) -> Result<(), Fault> {
    match expected {
        Note::Scale(_) => expect(v, expected, found),
        Note::Bare | Note::Factor(_) => Ok(()),
    }
}

/// Returns the note of a sum of products of ciphertexts with note `a` and constants with note
/// `of_b`. Scales multiply. A correction factor is the ciphertexts', because the constants were
/// made for it.
pub(super) fn of_products(a: Note, of_b: Note) -> Note {
    match (a, of_b) {
        (Note::Scale(x), Note::Scale(y)) => Note::Scale(x * y),
        (Note::Scale(_) | Note::Bare | Note::Factor(_), _) => a,
    }
}

/// Returns the note of the product of a value with note `note` and a constant with the scale
/// `constant`. The constant must have a scale if the value has one, and none otherwise.
pub(super) fn times_constant(note: Note, constant: Option<f64>) -> Result<Note, Fault> {
    match (note, constant) {
        (Note::Scale(scale), constant) => ckks::times_constant(scale, constant).map(Note::Scale),
        (Note::Bare | Note::Factor(_), None) => Ok(note),
        (Note::Bare | Note::Factor(_), Some(scale)) => no_scale(scale).map(|()| note),
    }
}

/// Returns the note of a value with note `note` after the division by `prime`. A scale is divided
/// by the prime. A correction factor, and a scale if the prime is not known, is the one `declared`
/// in the program for the result.
pub(super) fn rescaled(note: Note, prime: Option<u64>, declared: Note) -> Note {
    match (note, declared) {
        (Note::Scale(scale), Note::Scale(declared)) => {
            Note::Scale(ckks::rescaled(scale, prime, declared))
        }
        (Note::Scale(_) | Note::Bare, _) => note,
        (Note::Factor(_), _) => any_factor(note, declared),
    }
}

/// Returns the note `declared` in the program for a value whose correction factor is multiplied by
/// an integer. A value with another kind of note is an error.
pub(super) fn refactored(a: Typed, note: Note, declared: Note) -> Result<Note, Fault> {
    match note {
        Note::Factor(_) => Ok(any_factor(note, declared)),
        Note::Bare | Note::Scale(_) => Err(fault(a, "a factor".to_owned(), note)),
    }
}

/// Returns the note of a bootstrapped value. It is the note `declared` in the program if that is of
/// the same kind as the operand's (a scale or a correction factor), and the operand's otherwise. An
/// operand with neither is an error.
pub(super) fn refreshed(a: Typed, note: Note, declared: Note) -> Result<Note, Fault> {
    match (note, declared) {
        (Note::Factor(_), Note::Factor(_)) | (Note::Scale(_), Note::Scale(_)) => Ok(declared),
        (Note::Factor(_) | Note::Scale(_), _) => Ok(note),
        (Note::Bare, _) => Err(fault(a, "a scale or a factor".to_owned(), note)),
    }
}

/// Returns the note of a value after the division by several primes. A scale is divided by them or,
/// if they are not known, is the one `declared` in the program. A correction factor may be any
/// `declared` one of the same plaintext modulus. A note that is neither is an error.
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

/// Returns the note `declared` in the program for a result, if that is a correction factor.
/// Otherwise returns `note`.
fn any_factor(note: Note, declared: Note) -> Note {
    match declared {
        Note::Factor(_) => declared,
        Note::Bare | Note::Scale(_) => note,
    }
}

/// How many low bits of a correction factor's note hold the factor. The bits above them hold the
/// index of the factor's plaintext modulus in the list of plaintext moduli, whose entry 0 is the
/// modulus of messages.
const MODULUS_SHIFT: u32 = 60;

/// Returns the index, in the list of plaintext moduli, of the modulus to which a correction factor
/// belongs. Another kind of note is an error.
fn modulus(v: Typed, note: Note) -> Result<u64, Fault> {
    match note {
        Note::Factor(factor) => Ok(factor >> MODULUS_SHIFT),
        Note::Bare | Note::Scale(_) => Err(fault(v, "a factor".to_owned(), note)),
    }
}

/// Checks that the notes `expected` and `found` are correction factors of the same plaintext
/// modulus.
pub(super) fn expect_modulus(v: Typed, expected: Note, found: Note) -> Result<(), Fault> {
    of_number(v, modulus(v, expected)?, found)
}

/// Checks that values with the notes `expected` and `found` may be operands of one sum of integer multiples. Scales
/// may be any, because the integers bring them to one scale. Correction factors must belong to the same plaintext
/// modulus.
pub(super) fn expect_of_one_sum(v: Typed, expected: Note, found: Note) -> Result<(), Fault> {
    match (expected, found) {
        (Note::Scale(_), Note::Scale(_)) => Ok(()),
        (Note::Scale(_) | Note::Bare | Note::Factor(_), _) => expect_modulus(v, expected, found),
    }
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
