// SPDX-License-Identifier: Apache-2.0
//! Parses rings, moduli and types of values.

use ringmill_math::{Ring, RingKind};

use crate::lex::{Cursor, ParseError};
use crate::limits;
use crate::mid::types::{
    Form, LimbType, LweDimension, LweTableType, LweType, ModulusId, TableModulus, ValueType,
};

/// Parses a ring and its moduli: `ring 2^14 moduli q0=... q1=...`.
pub(super) fn ring(c: &mut Cursor<'_>) -> Result<(u8, Vec<TableModulus>), ParseError> {
    c.expect_word("ring")?;
    let mark = c.mark();
    c.expect_word("2")?;
    c.expect("^")?;
    let log_n: u8 = c.parsed("log2 of the ring degree")?;
    if log_n > Ring::MAX_LOG_N {
        return Err(c.error_at(
            mark,
            format!("a ring degree of at most 2^{}", Ring::MAX_LOG_N),
        ));
    }
    c.expect_word("moduli")?;
    let mut moduli = Vec::new();
    while !c.at_line_end() {
        let mark = c.mark();
        let number: usize = c.numbered("q", "a modulus `qI=VALUE`")?;
        if number != moduli.len() || number >= limits::MAX_MODULI {
            return Err(c.error_at(
                mark,
                format!(
                    "q{}, of at most {} moduli",
                    moduli.len(),
                    limits::MAX_MODULI
                ),
            ));
        }
        c.expect("=")?;
        moduli.push(modulus(c)?);
    }
    Ok((log_n, moduli))
}

/// Parses a modulus, such as `97`, `plain 65537` or `2^64`.
fn modulus(c: &mut Cursor<'_>) -> Result<TableModulus, ParseError> {
    if c.accept_word("plain") {
        return Ok(TableModulus::Plain(c.parsed("the value of the modulus")?));
    }
    let mark = c.mark();
    let value = c.parsed("the value of the modulus")?;
    if !c.accept("^") {
        return Ok(TableModulus::Prime(value));
    }
    if value != 2 {
        return Err(c.error_at(mark, "a prime, `plain M` or a power of 2"));
    }
    Ok(TableModulus::PowerOfTwo(
        c.parsed("log2 of the power of two")?,
    ))
}

/// Parses the type of a limb, such as `q3 half+ coeff`, in a program over the ring of degree
/// 2^`log_n`.
fn limb_type(c: &mut Cursor<'_>, log_n: u8) -> Result<LimbType, ParseError> {
    let modulus = ModulusId(c.numbered("q", "a modulus such as q0")?);
    let full = Ring::full(log_n);
    let ring = match c.peek_word() {
        "half+" => full.halves().0,
        "half-" => full.halves().1,
        _ => full,
    };
    if ring.kind != RingKind::Full {
        c.word("a ring")?;
    }
    let mark = c.mark();
    let form = match c.word("`coeff` or `eval`")? {
        "coeff" => Form::Coeff,
        "eval" => Form::Eval,
        _ => return Err(c.error_at(mark, "`coeff` or `eval`")),
    };
    Ok(LimbType {
        ring,
        modulus,
        form,
    })
}

/// Parses the type of a value: the type of a limb, `lwe 630 q2`, `rows 2048 lwe 630 q2` or
/// `exponent`.
pub(super) fn value_type(c: &mut Cursor<'_>, log_n: u8) -> Result<ValueType, ParseError> {
    if c.accept_word("exponent") {
        return Ok(ValueType::Exponent);
    }
    if c.accept_word("rows") {
        let rows = c.parsed("the rows of a table")?;
        c.expect_word("lwe")?;
        let row = lwe_type(c)?;
        return Ok(ValueType::LweTable(LweTableType { row, rows }));
    }
    if c.accept_word("lwe") {
        return lwe_type(c).map(ValueType::Lwe);
    }
    limb_type(c, log_n).map(ValueType::Limb)
}

/// Parses the dimension and modulus of an LWE vector, such as `630 q2`.
fn lwe_type(c: &mut Cursor<'_>) -> Result<LweType, ParseError> {
    let dimension = LweDimension(c.parsed("the dimension of an LWE vector")?);
    let modulus = ModulusId(c.numbered("q", "a modulus such as q0")?);
    Ok(LweType { dimension, modulus })
}
