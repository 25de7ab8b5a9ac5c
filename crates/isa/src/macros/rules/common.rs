// SPDX-License-Identifier: Apache-2.0
//! Typing rules of macro instructions that hold for every scheme: kinds of values, numbers of
//! polynomials, levels and calls.

use super::super::program::{LevelNote, MacroProc, MacroType, MacroValue, Visibility};
use super::super::text::{shorten, type_text};
use super::{Typed, note};
use crate::def::Arity;
use crate::error::Fault;
use crate::numbers::{Galois, Level};

/// Checks that a call's arguments and results have the number and the types of the procedure's
/// parameters and results.
pub(super) fn call(proc: &MacroProc, arguments: &[Typed], results: &[Typed]) -> Result<(), Fault> {
    for (what, own, given) in [
        ("operands", &proc.params, arguments),
        ("results", &proc.results, results),
    ] {
        if own.len() != given.len() {
            return Err(Fault::Count {
                what,
                expected: Arity::Exactly(own.len()),
                found: given.len(),
            });
        }
        for (own, given) in own.iter().zip(given) {
            match proc.types.get(own.0 as usize) {
                Some(&MacroType::Cipher { size, at }) => expect_cipher(*given, size, at)?,
                Some(&MacroType::Plain { at }) => {
                    plain(*given)?;
                    expect_at(*given, at)?;
                }
                Some(&MacroType::Morphed { by, at }) => expect_morphed(*given, by, at)?,
                Some(&own @ MacroType::Distant { of, at }) => match given.ty {
                    MacroType::Distant { of: found, .. } if found == of => expect_at(*given, at)?,
                    other => return Err(wrong(*given, kind(own), kind(other))),
                },
                // The results of KEY and LIFT stay inside their procedure.
                Some(&own @ (MacroType::Key { .. } | MacroType::Lifted { .. })) => {
                    let expected = "a ciphertext or a plaintext as a parameter or a result";
                    return Err(wrong(*given, expected, kind(own)));
                }
                None => {
                    let item = format!("%{}", own.0);
                    return Err(Fault::Undefined { item });
                }
            }
        }
    }
    Ok(())
}

/// Checks that `REPEAT` can call a procedure: the procedure's first parameters must have exactly
/// the types of its results, so that each call's results can be the next call's arguments.
pub(super) fn carries(proc: &MacroProc) -> Result<(), Fault> {
    if proc.results.len() > proc.params.len() {
        return Err(Fault::Illegal {
            what: "carried values",
            expected: format!("at most the procedure's {} parameters", proc.params.len()),
            found: format!("its {} results", proc.results.len()),
        });
    }
    let ty = |v: MacroValue| proc.types.get(v.0 as usize);
    for (number, (&param, &result)) in proc.params.iter().zip(&proc.results).enumerate() {
        let (expected, found) = (ty(param), ty(result));
        if expected.is_none() || expected != found {
            return Err(Fault::Carried {
                number,
                procedure: format!("{:?}", shorten(proc.name.clone())),
                expected: type_text(expected),
                found: type_text(found),
            });
        }
    }
    Ok(())
}

pub(super) fn no_scale(scale: f64) -> Result<(), Fault> {
    Err(Fault::Immediate {
        expected: "a constant without a scale".to_owned(),
        found: format!("scale {scale}"),
    })
}

/// Returns what a value of this type is, such as "a ciphertext", for error messages.
pub(super) fn kind(ty: MacroType) -> &'static str {
    match ty {
        MacroType::Cipher { .. } => "a ciphertext",
        MacroType::Plain { .. } => "a plaintext",
        MacroType::Morphed { .. } => "a ciphertext under another secret, which KSW takes",
        MacroType::Distant {
            of: Visibility::Encrypted,
            ..
        } => "a ciphertext in distant memory, which LOAD brings near",
        MacroType::Distant {
            of: Visibility::Plain,
            ..
        } => "a plaintext in distant memory, which LOAD brings near",
        MacroType::Key { .. } => "a key, which RAISE takes",
        MacroType::Lifted { .. } => "a lifted constant, which SUMPLAIN and MATVEC take",
    }
}

pub(super) fn wrong(v: Typed, expected: &'static str, found: &'static str) -> Fault {
    Fault::Kind {
        item: v.item(),
        expected,
        found,
    }
}

/// Returns the number of polynomials of the ciphertext `v`. Refuses a value that is no ciphertext,
/// that lies in distant memory, or that is under another secret than the program's.
pub(super) fn cipher(v: Typed) -> Result<u32, Fault> {
    match v.ty {
        MacroType::Cipher { size, .. } => Ok(size),
        MacroType::Plain { .. }
        | MacroType::Morphed { .. }
        | MacroType::Distant { .. }
        | MacroType::Key { .. }
        | MacroType::Lifted { .. } => Err(wrong(v, "a ciphertext", kind(v.ty))),
    }
}

/// Checks that the value `v` is a plaintext that does not lie in distant memory.
pub(super) fn plain(v: Typed) -> Result<(), Fault> {
    match v.ty {
        MacroType::Plain { .. } => Ok(()),
        MacroType::Cipher { .. }
        | MacroType::Morphed { .. }
        | MacroType::Distant { .. }
        | MacroType::Key { .. }
        | MacroType::Lifted { .. } => Err(wrong(v, "a plaintext", kind(v.ty))),
    }
}

/// Checks that the value `v` is a ciphertext under the secret s(x^g), for the Galois element g in
/// `expected`. It must have the level and note (scale or correction factor) in `at`, or neither if
/// that is `None`.
pub(super) fn expect_morphed(
    v: Typed,
    expected: Galois,
    at: Option<LevelNote>,
) -> Result<(), Fault> {
    match v.ty {
        MacroType::Morphed { by, .. } if by == expected => expect_at(v, at),
        MacroType::Morphed { by, .. } => Err(Fault::Secret {
            item: v.item(),
            expected,
            found: by,
        }),
        MacroType::Cipher { .. }
        | MacroType::Plain { .. }
        | MacroType::Distant { .. }
        | MacroType::Key { .. }
        | MacroType::Lifted { .. } => {
            Err(wrong(v, "a ciphertext under another secret", kind(v.ty)))
        }
    }
}

pub(super) fn expect_size(v: Typed, expected: u32, found: u32) -> Result<(), Fault> {
    if expected == found {
        Ok(())
    } else {
        Err(Fault::Size {
            item: v.item(),
            expected,
            found,
        })
    }
}

pub(super) fn expect_level(v: Typed, expected: Level, found: Level) -> Result<(), Fault> {
    if expected == found {
        return Ok(());
    }
    Err(Fault::Level {
        item: v.item(),
        expected: expected.to_string(),
        found: found.to_string(),
    })
}

/// Checks that the value `v` has the level and note (scale or correction factor) in `expected`, or
/// neither if that is `None`.
pub(super) fn expect_at(v: Typed, expected: Option<LevelNote>) -> Result<(), Fault> {
    match (expected, v.ty.at()) {
        (None, None) => Ok(()),
        (Some(expected), Some(found)) => {
            expect_level(v, expected.level, found.level)?;
            note::expect(v, expected.note, found.note)
        }
        (expected, found) => {
            let text =
                |at: Option<LevelNote>| at.map_or("none".to_owned(), |at| at.level.to_string());
            Err(Fault::Level {
                item: v.item(),
                expected: text(expected),
                found: text(found),
            })
        }
    }
}

pub(super) fn expect_cipher(v: Typed, size: u32, expected: Option<LevelNote>) -> Result<(), Fault> {
    expect_size(v, size, cipher(v)?)?;
    expect_at(v, expected)
}
