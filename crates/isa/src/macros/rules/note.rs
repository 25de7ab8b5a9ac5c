// SPDX-License-Identifier: Apache-2.0
//! What becomes of notes. Those of different schemes do not mix, whatever the schemes are.

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

/// A note that a value may have.
pub(in crate::macros) fn check(v: Typed, note: Note) -> Result<(), Fault> {
    match note {
        Note::Bare | Note::Factor(1..) => Ok(()),
        Note::Scale(scale) => ckks::check(v, scale),
        Note::Factor(0) => Err(fault(v, "a factor of at least 1".to_owned(), note)),
    }
}

/// The note that a value has.
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

/// The note of the product of a value of note `a` with `b` of note `of_b`. Factors multiply modulo the plaintext modulus,
/// which the program does not say, so that any is taken.
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

/// The note of the product with a constant of this scale. Only scales have constants with one.
pub(super) fn times_constant(note: Note, constant: Option<f64>) -> Result<Note, Fault> {
    match (note, constant) {
        (Note::Scale(scale), constant) => ckks::times_constant(scale, constant).map(Note::Scale),
        (Note::Bare | Note::Factor(_), None) => Ok(note),
        (Note::Bare | Note::Factor(_), Some(scale)) => no_scale(scale).map(|()| note),
    }
}

/// The note after the division by a prime.
pub(super) fn rescaled(note: Note, prime: Option<u64>, declared: Note) -> Note {
    match (note, declared) {
        (Note::Scale(scale), Note::Scale(declared)) => {
            Note::Scale(ckks::rescaled(scale, prime, declared))
        }
        (Note::Scale(_) | Note::Bare, _) => note,
        (Note::Factor(_), _) => any_factor(note, declared),
    }
}

/// The note after a multiplication of the factor.
pub(super) fn refactored(a: Typed, note: Note, declared: Note) -> Result<Note, Fault> {
    match note {
        Note::Factor(_) => Ok(any_factor(note, declared)),
        Note::Bare | Note::Scale(_) => Err(fault(a, "a factor".to_owned(), note)),
    }
}

/// The declared factor, if it is one.
fn any_factor(note: Note, declared: Note) -> Note {
    match declared {
        Note::Factor(_) => declared,
        Note::Bare | Note::Scale(_) => note,
    }
}

/// In a factor's note the number of its plaintext modulus stands above this many bits: 0 is the messages' own.
const MODULUS_SHIFT: u32 = 60;

/// The number of the plaintext modulus of a factor.
fn modulus(v: Typed, note: Note) -> Result<u64, Fault> {
    match note {
        Note::Factor(factor) => Ok(factor >> MODULUS_SHIFT),
        Note::Bare | Note::Scale(_) => Err(fault(v, "a factor".to_owned(), note)),
    }
}

/// A factor of the plaintext modulus that `expected` is a factor of.
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

/// The declared factor, which must be one of the same plaintext modulus.
pub(super) fn of_modulus(d: Typed, note: Note, declared: Note) -> Result<Note, Fault> {
    expect_modulus(d, note, declared).map(|()| declared)
}

/// The declared factor, which must be one of the plaintext modulus before.
pub(super) fn lowered(a: Typed, note: Note, declared: Note) -> Result<Note, Fault> {
    let Some(below) = modulus(a, note)?.checked_sub(1) else {
        let expected = "a factor of a plaintext modulus above the messages' own".to_owned();
        return Err(fault(a, expected, note));
    };
    of_number(a, below, declared).map(|()| declared)
}
