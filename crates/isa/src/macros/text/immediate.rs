// SPDX-License-Identifier: Apache-2.0
//! Prints and parses the immediates of macro instructions.
#![deny(clippy::arithmetic_side_effects)]

use std::fmt::{self, Display, Write};
use std::str::FromStr;

use super::super::linked::{Combination, Elements, Left, Matrix, Products, Turns};
use super::super::op::MacroImmKind;
use super::super::program::{Interval, MacroImm};
use crate::lex::{Cursor, ParseError};
use crate::numbers::{Galois, Level};

/// Prints the immediate of an instruction, with a space before it.
pub(super) fn print(out: &mut impl Write, imm: &MacroImm) -> fmt::Result {
    match imm {
        MacroImm::None => {}
        MacroImm::Input(n) => write!(out, " input {n}")?,
        MacroImm::Output(n) => write!(out, " output {n}")?,
        MacroImm::Data(n) => write!(out, " data {n}")?,
        MacroImm::Constant { value, scale } => {
            write!(out, " by {value:?}")?;
            if let Some(scale) = scale {
                write!(out, " scale {scale:?}")?;
            }
        }
        MacroImm::Integer(value) => write!(out, " by integer {value}")?,
        MacroImm::Level(level) => write!(out, " to level {level}")?,
        MacroImm::Galois(g) => write!(out, " galois {g}")?,
        MacroImm::Interval(interval) => write!(out, " {interval}")?,
        MacroImm::Steps(steps) => list(out, " steps", steps)?,
        MacroImm::Proc(n) => write!(out, " proc {n}")?,
        MacroImm::Repeat { proc, count } => write!(out, " proc {proc} times {count}")?,
        MacroImm::Lifted(n) => write!(out, " lifted {n}")?,
        MacroImm::Elements(elements) => elements_to(out, elements)?,
        MacroImm::Turns(Turns { elements, to }) => {
            elements_to(out, elements)?;
            write!(out, " to level {to}")?;
        }
        MacroImm::Matrix(Matrix { babies, giants, to }) => {
            list(out, " babies", babies)?;
            list(out, " giants", giants)?;
            write!(out, " to level {to}")?;
        }
        MacroImm::Combination(Combination { integers, to }) => {
            list(out, " integers", integers)?;
            write!(out, " to level {to}")?;
        }
        MacroImm::Products(products) => products_to(out, products)?,
    }
    Ok(())
}

/// Prints a list after a word, with commas between its items, such as ` steps 1, 2`.
fn list<T: Display>(out: &mut impl Write, word: &str, items: &[T]) -> fmt::Result {
    for (n, item) in items.iter().enumerate() {
        write!(out, "{} {item}", if n == 0 { word } else { "," })?;
    }
    Ok(())
}

fn elements_to(out: &mut impl Write, elements: &Elements) -> fmt::Result {
    list(out, " elements", &elements.of)?;
    match elements.low {
        true => out.write_str(" low"),
        false => Ok(()),
    }
}

/// Prints the immediate of `SUMPROD`, such as
/// ` combined 2 products 0 1, sum 2 tail integers 1, 2, 3, 4, 5, 6 to level 4`.
fn products_to(out: &mut impl Write, products: &Products) -> fmt::Result {
    write!(out, " combined {}", products.combined)?;
    for (n, (left, right)) in products.factors.iter().enumerate() {
        out.write_str(if n == 0 { " products" } else { "," })?;
        match left {
            Left::Operand(left) => write!(out, " {left} {right}")?,
            Left::Combination => write!(out, " sum {right}")?,
        }
    }
    if products.tail {
        out.write_str(" tail")?;
    }
    list(out, " integers", &products.integers)?;
    write!(out, " to level {}", products.to)
}

pub(super) fn parse(c: &mut Cursor<'_>, kind: MacroImmKind) -> Result<MacroImm, ParseError> {
    Ok(match kind {
        MacroImmKind::None => MacroImm::None,
        MacroImmKind::Input => MacroImm::Input(c.field("input")?),
        MacroImmKind::Output => MacroImm::Output(c.field("output")?),
        MacroImmKind::Data => MacroImm::Data(c.field("data")?),
        MacroImmKind::Constant => {
            c.expect_word("by")?;
            if c.accept_word("integer") {
                return Ok(MacroImm::Integer(c.parsed("an integer of 128 bits")?));
            }
            let value = c.parsed("a number in range after `by`")?;
            let scale = if c.peek_word() == "scale" {
                Some(c.field("scale")?)
            } else {
                None
            };
            MacroImm::Constant { value, scale }
        }
        MacroImmKind::Level => MacroImm::Level(to(c)?),
        MacroImmKind::Galois => MacroImm::Galois(c.field("galois").map(Galois)?),
        MacroImmKind::Interval => {
            c.expect_word("from")?;
            let lowest = c.parsed("the lowest number")?;
            c.expect_word("to")?;
            let highest = c.parsed("the highest number")?;
            MacroImm::Interval(Interval { lowest, highest })
        }
        MacroImmKind::Steps => {
            c.expect_word("steps")?;
            MacroImm::Steps(listed(c, "a rotation step")?)
        }
        MacroImmKind::Procedure => MacroImm::Proc(c.field("proc")?),
        MacroImmKind::Repeat => MacroImm::Repeat {
            proc: c.field("proc")?,
            count: c.field("times")?,
        },
        MacroImmKind::Lifted => MacroImm::Lifted(c.field("lifted")?),
        MacroImmKind::Elements => MacroImm::Elements(elements(c)?),
        MacroImmKind::Turns => MacroImm::Turns(Turns {
            elements: elements(c)?,
            to: to(c)?,
        }),
        MacroImmKind::Matrix => MacroImm::Matrix(Matrix {
            babies: steps(c, "babies")?,
            giants: steps(c, "giants")?,
            to: to(c)?,
        }),
        MacroImmKind::Combination => {
            c.expect_word("integers")?;
            MacroImm::Combination(Combination {
                integers: listed(c, "an integer of 64 bits")?,
                to: to(c)?,
            })
        }
        MacroImmKind::Products => MacroImm::Products(products(c)?),
    })
}

/// Parses a list of items with commas between them, such as `1, 2`.
fn listed<T: FromStr>(c: &mut Cursor<'_>, what: &str) -> Result<Vec<T>, ParseError> {
    let mut items = vec![c.parsed(what)?];
    while c.accept(",") {
        items.push(c.parsed(what)?);
    }
    Ok(items)
}

/// Parses the level down to which an instruction divides, such as `to level 4`.
fn to(c: &mut Cursor<'_>) -> Result<Level, ParseError> {
    c.expect_word("to")?;
    c.field("level")
}

/// Parses a list of Galois elements, such as `elements 3, 9 low`.
fn elements(c: &mut Cursor<'_>) -> Result<Elements, ParseError> {
    c.expect_word("elements")?;
    Ok(Elements {
        of: galois(c)?,
        low: c.accept_word("low"),
    })
}

/// Parses the Galois elements of the steps that `word` names, such as `babies 3, 9`. Without the word there are none.
fn steps(c: &mut Cursor<'_>, word: &str) -> Result<Vec<Galois>, ParseError> {
    match c.accept_word(word) {
        true => galois(c),
        false => Ok(Vec::new()),
    }
}

fn galois(c: &mut Cursor<'_>) -> Result<Vec<Galois>, ParseError> {
    let of: Vec<u32> = listed(c, "a Galois element")?;
    Ok(of.into_iter().map(Galois).collect())
}

fn products(c: &mut Cursor<'_>) -> Result<Products, ParseError> {
    let combined = c.field("combined")?;
    c.expect_word("products")?;
    let mut factors = Vec::new();
    loop {
        let left = match c.accept_word("sum") {
            true => Left::Combination,
            false => Left::Operand(c.parsed("the number of an operand, or `sum`")?),
        };
        factors.push((left, c.parsed("the number of an operand")?));
        if !c.accept(",") {
            break;
        }
    }
    let tail = c.accept_word("tail");
    let integers = match c.accept_word("integers") {
        true => listed(c, "an integer of 64 bits")?,
        false => Vec::new(),
    };
    let to = to(c)?;
    Ok(Products {
        combined,
        factors,
        tail,
        integers,
        to,
    })
}
