// SPDX-License-Identifier: Apache-2.0
//! Typing rules of the instructions for the steps of bootstrapping. These occur only in procedures
//! that the compiler links into a program.
//!
//! Correction factors are numbers modulo a plaintext modulus, whose value is not in the program. So
//! a rule accepts any factor, and checks only that it belongs to the right one of the plaintext
//! moduli.

use super::super::linked::{Combination, Left, Products};
use super::super::program::{LevelNote, MacroImm, MacroType, Note};
use super::common::{cipher, expect_at, expect_cipher, expect_level, expect_size, kind, wrong};
use super::note::{self, lowered};
use super::{Scope, Typed};
use crate::error::Fault;
use crate::numbers::Level;

fn immediate(expected: impl Into<String>, found: impl Into<String>) -> Fault {
    Fault::Immediate {
        expected: expected.into(),
        found: found.into(),
    }
}

/// Returns the level and note (correction factor) of the value `v`, which must be an evaluation key
/// in the form of a ciphertext.
fn key(scope: Scope<'_>, v: Typed) -> Result<LevelNote, Fault> {
    match v.ty {
        MacroType::Key { .. } => scope.managed(v),
        MacroType::Cipher { .. }
        | MacroType::Plain { .. }
        | MacroType::Morphed { .. }
        | MacroType::Distant { .. }
        | MacroType::Lifted { .. } => Err(wrong(v, "a key", kind(v.ty))),
    }
}

/// Returns the level and note (scale or correction factor) of the value `v`. It must be a lifted
/// constant: a constant polynomial in evaluation form modulo each prime of its level.
pub(super) fn lifted(scope: Scope<'_>, v: Typed) -> Result<LevelNote, Fault> {
    match v.ty {
        MacroType::Lifted { .. } => scope.managed(v),
        MacroType::Cipher { .. }
        | MacroType::Plain { .. }
        | MacroType::Morphed { .. }
        | MacroType::Distant { .. }
        | MacroType::Key { .. } => Err(wrong(v, "a lifted constant", kind(v.ty))),
    }
}

/// Checks that the result `d` is an evaluation key in the form of a ciphertext. If the program's
/// primes are known, its level must be the highest.
pub(super) fn highest(scope: Scope<'_>, d: Typed) -> Result<(), Fault> {
    let at = key(scope, d)?;
    let top = scope.primes.and_then(|primes| primes.len().checked_sub(1));
    match top {
        Some(top) => expect_level(d, Level(top as u32), at.level),
        None => Ok(()),
    }
}

pub(super) fn raise(scope: Scope<'_>, a: Typed, s: Typed, d: Typed) -> Result<(), Fault> {
    expect_size(a, 2, cipher(a)?)?;
    scope.managed(a)?;
    expect_cipher(d, 2, Some(key(scope, s)?))
}

/// Checks the instruction `DROP`, which divides the ciphertext `a` by two or more of its primes,
/// down to the level in its immediate. The division by one prime is another instruction, `RESCALE`.
pub(super) fn drop(scope: Scope<'_>, imm: &MacroImm, a: Typed, d: Typed) -> Result<(), Fault> {
    let MacroImm::Level(to) = *imm else {
        return Err(immediate("a level", "another immediate"));
    };
    let from = scope.managed(a)?;
    if from.level.0.saturating_sub(to.0) < 2 {
        let expected = format!("a level two or more below {}", from.level);
        return Err(immediate(expected, format!("level {to}")));
    }
    divided(scope, d, cipher(a)?, from, to)
}

/// Checks that `d` may be the result of a division of an operand by primes. `from` is the operand's
/// level and note (scale or correction factor), and `to` the result's level. The result's scale
/// must be the operand's divided by the primes in between, or may be any if the primes are not
/// known. Its correction factor may be any of the operand's plaintext modulus.
fn divided(scope: Scope<'_>, d: Typed, size: u32, from: LevelNote, to: Level) -> Result<(), Fault> {
    if to > from.level {
        let expected = format!("a level up to {}", from.level);
        return Err(immediate(expected, format!("level {to}")));
    }
    let declared = d.ty.at().map_or(from.note, |at| at.note);
    let between = to.primes()..from.level.primes();
    let primes = scope.primes.and_then(|primes| primes.get(between));
    let note = note::divided(d, from.note, primes, declared)?;
    expect_cipher(d, size, Some(LevelNote { level: to, note }))
}

/// Checks that `d` may be a sum of integer multiples of ciphertexts at `from`, divided down to the level `to`. The integers
/// bring about any scale, so the primes tell nothing of it.
fn combined(scope: Scope<'_>, d: Typed, from: LevelNote, to: Level) -> Result<(), Fault> {
    let scope = Scope {
        primes: None,
        ..scope
    };
    divided(scope, d, 2, from, to)
}

/// Returns the level and note (scale or correction factor) that several ciphertexts of two
/// polynomials have in common, or an error if they differ.
fn alike(scope: Scope<'_>, ciphers: &[Typed]) -> Result<LevelNote, Fault> {
    let at = first(scope, ciphers)?;
    for &a in ciphers {
        expect_cipher(a, 2, Some(at))?;
    }
    Ok(at)
}

/// Returns the level and note (scale or correction factor) of the first of several ciphertexts of two polynomials. The
/// others must have the same level. Correction factors must belong to one plaintext modulus.
fn of_one_modulus(scope: Scope<'_>, ciphers: &[Typed]) -> Result<LevelNote, Fault> {
    let at = first(scope, ciphers)?;
    for &a in ciphers {
        expect_size(a, 2, cipher(a)?)?;
        let own = scope.managed(a)?;
        expect_level(a, at.level, own.level)?;
        note::expect_of_one_sum(a, at.note, own.note)?;
    }
    Ok(at)
}

fn first(scope: Scope<'_>, operands: &[Typed]) -> Result<LevelNote, Fault> {
    let none = || Fault::Illegal {
        what: "operands",
        expected: "a ciphertext at least".to_owned(),
        found: "none".to_owned(),
    };
    scope.managed(*operands.first().ok_or_else(none)?)
}

pub(super) fn turn_sum(
    scope: Scope<'_>,
    imm: &MacroImm,
    operands: &[Typed],
    d: Typed,
) -> Result<(), Fault> {
    let MacroImm::Turns(turns) = imm else {
        return Err(immediate(
            "Galois elements and a level",
            "another immediate",
        ));
    };
    let (most, found) = (operands.len(), turns.elements.of.len());
    if most > 1 && found > most {
        let expected = format!("at most {most} Galois elements");
        return Err(immediate(expected, format!("{found} Galois elements")));
    }
    divided(scope, d, 2, alike(scope, operands)?, turns.to)
}

pub(super) fn sum_plain(scope: Scope<'_>, operands: &[Typed], d: Typed) -> Result<(), Fault> {
    let half = operands.len() / 2;
    let (ciphers, constants) = operands.split_at_checked(half).unwrap_or_default();
    if constants.is_empty() || constants.len() != ciphers.len() {
        let expected = "ciphertexts, and a constant for each of them";
        return Err(wrong_count(expected, operands.len()));
    }
    let at = alike(scope, ciphers)?;
    let note = constants_alike(scope, constants, false, at)?;
    expect_cipher(d, 2, Some(LevelNote { note, ..at }))
}

fn wrong_count(expected: impl Into<String>, operands: usize) -> Fault {
    Fault::Illegal {
        what: "operands",
        expected: expected.into(),
        found: format!("{operands} operands"),
    }
}

pub(super) fn matrix(
    scope: Scope<'_>,
    imm: &MacroImm,
    operands: &[Typed],
    d: Typed,
) -> Result<(), Fault> {
    let MacroImm::Matrix(matrix) = imm else {
        return Err(immediate("steps and a level", "another immediate"));
    };
    let wanted = matrix.constants();
    let (&a, constants) = match operands.split_first() {
        Some((a, constants)) if constants.len() == wanted => (a, constants),
        Some(_) | None => {
            let expected = format!("a ciphertext and {wanted} constants");
            return Err(wrong_count(expected, operands.len()));
        }
    };
    let at = alike(scope, &[a])?;
    let note = constants_alike(scope, constants, true, at)?;
    divided(scope, d, 2, LevelNote { note, ..at }, matrix.to)
}

/// Returns the note of products of a ciphertext, of the level and note `at`, with lifted constants. The constants have
/// the ciphertext's level and all one scale, and limbs modulo the special primes if `special` says so.
fn constants_alike(
    scope: Scope<'_>,
    constants: &[Typed],
    special: bool,
    at: LevelNote,
) -> Result<Note, Fault> {
    let mut of = None;
    for &constant in constants {
        let own = lifted(scope, constant)?;
        let found = matches!(constant.ty, MacroType::Lifted { special: true, .. });
        if found != special {
            let words = |special| match special {
                true => "a constant with limbs modulo the special primes",
                false => "a constant without limbs modulo the special primes",
            };
            return Err(wrong(constant, words(special), words(found)));
        }
        expect_level(constant, at.level, own.level)?;
        match of {
            Some(of) => note::expect_alike(constant, of, own.note)?,
            None => of = Some(own.note),
        }
    }
    Ok(of.map_or(at.note, |of| note::of_products(at.note, of)))
}

pub(super) fn combine(
    scope: Scope<'_>,
    imm: &MacroImm,
    operands: &[Typed],
    d: Typed,
) -> Result<(), Fault> {
    let MacroImm::Combination(Combination { integers, to }) = imm else {
        return Err(immediate("integers and a level", "another immediate"));
    };
    let wanted = operands.len().saturating_add(1);
    if integers.len() != wanted {
        return Err(counted(wanted, integers.len()));
    }
    combined(scope, d, of_one_modulus(scope, operands)?, *to)
}

fn counted(wanted: usize, found: usize) -> Fault {
    immediate(format!("{wanted} integers"), format!("{found}"))
}

pub(super) fn sum_products(
    scope: Scope<'_>,
    imm: &MacroImm,
    operands: &[Typed],
    d: Typed,
) -> Result<(), Fault> {
    let MacroImm::Products(products) = imm else {
        return Err(immediate("products and a level", "another immediate"));
    };
    products_fit(products, operands.len())?;
    let at = of_one_modulus(scope, operands)?;
    if let Note::Scale(_) = at.note
        && let Some(note) = of_plain_products(scope, products, operands)?
    {
        return divided(scope, d, 2, LevelNote { note, ..at }, products.to);
    }
    combined(scope, d, at, products.to)
}

/// Returns the scale that all products of two operands of a sum must have. Returns `None` if every product has a
/// combination as its first factor, because the integers of a combination can bring about any scale. A
/// combination is a sum of operands, each times an integer.
fn of_plain_products(
    scope: Scope<'_>,
    products: &Products,
    operands: &[Typed],
) -> Result<Option<Note>, Fault> {
    let mut scale = None;
    for &(left, right) in &products.factors {
        let Left::Operand(left) = left else {
            continue;
        };
        let pair = [left, right].map(|number| operands.get(usize::from(number)));
        let [Some(&left), Some(&right)] = pair else {
            continue;
        };
        let (a, b) = (scope.managed(left)?.note, scope.managed(right)?.note);
        let own = note::product(right, a, b, a)?;
        match scale {
            Some(expected) => note::expect_alike(right, expected, own)?,
            None => scale = Some(own),
        }
    }
    Ok(scale)
}

fn products_fit(products: &Products, operands: usize) -> Result<(), Fault> {
    if products.factors.is_empty() {
        return Err(immediate("a product at least", "none"));
    }
    if products.operands() > operands {
        let expected = format!("numbers of {operands} operands");
        let found = format!("{} operands", products.operands());
        return Err(immediate(expected, found));
    }
    if products.combinations() > 0 && products.combined == 0 {
        return Err(immediate("combinations of an operand at least", "none"));
    }
    match products.integers.len() == products.wanted() {
        true => Ok(()),
        false => Err(counted(products.wanted(), products.integers.len())),
    }
}

/// Checks the instruction `DIVIDE`, which divides every slot and the plaintext modulus by an
/// integer. A program has a list of plaintext moduli; the result's correction factor must belong to
/// the modulus before the operand's.
pub(super) fn divide(scope: Scope<'_>, imm: &MacroImm, a: Typed, d: Typed) -> Result<(), Fault> {
    let MacroImm::Integer(_) = imm else {
        return Err(immediate("an integer", "a real constant"));
    };
    let from = scope.managed(a)?;
    let declared = d.ty.at().map_or(from.note, |at| at.note);
    let note = lowered(a, from.note, declared)?;
    expect_at(d, Some(LevelNote { note, ..from }))?;
    expect_size(d, cipher(a)?, cipher(d)?)
}
