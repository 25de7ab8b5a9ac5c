// SPDX-License-Identifier: Apache-2.0
//! Tables of named codes, layouts of words, and numbers: the parts of a binary interface that are no
//! instructions.

use serde::Deserialize;

use super::definition::{Definition, FieldDef};
use crate::codegen::DefinitionError;

/// A table of named codes, such as the operations of a command or the ways in which it ends.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct CodesDef {
    /// The name of the Rust type.
    pub name: String,
    /// The name of the SystemVerilog enumeration. Without it each code is a parameter.
    #[serde(rename = "type")]
    pub enumeration: Option<String>,
    /// The text with which the names of codes begin in SystemVerilog.
    #[serde(default)]
    pub prefix: String,
    pub bits: u32,
    pub meaning: String,
    /// Whether the text of a code is its meaning. Otherwise it is the name in capital letters.
    #[serde(default)]
    pub spoken: bool,
    pub values: Vec<CodeDef>,
}

/// One code of a table.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct CodeDef {
    pub name: String,
    pub code: u64,
    pub meaning: String,
    /// Whether Rust has a constant for the code in place of a variant, because the words with this
    /// code have a type of their own.
    #[serde(default)]
    pub apart: bool,
}

/// The layout of a word of at most 64 bits.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct WordDef {
    pub name: String,
    /// The name of the SystemVerilog structure. Without it there are only the fields' places.
    #[serde(rename = "type")]
    pub structure: Option<String>,
    pub bits: u32,
    pub meaning: String,
    /// The fields, from the most significant bits down. Bits that must be 0 are a field `-`.
    pub fields: Vec<FieldDef>,
}

/// A number that hardware and software share, such as a number of queues.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct NumberDef {
    pub name: String,
    pub value: u32,
    pub meaning: String,
}

impl CodesDef {
    /// Returns the text that stands for a code in messages and listings.
    pub(super) fn text(&self, code: &CodeDef) -> String {
        if self.spoken {
            code.meaning.clone()
        } else {
            code.name.to_ascii_uppercase()
        }
    }
}

impl WordDef {
    /// Returns each field with its lowest bit, from the most significant bits down.
    pub(super) fn places(&self) -> impl Iterator<Item = (u32, &FieldDef)> {
        self.fields.iter().scan(self.bits, |top, field| {
            *top = top.saturating_sub(field.bits);
            Some((*top, field))
        })
    }
}

impl FieldDef {
    /// Returns whether the field stands for bits that must be 0.
    pub(super) fn is_zero(&self) -> bool {
        self.name == "-"
    }
}

fn is_camel(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn is_snake(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(allowed)
}

/// Checks the tables of codes, the words and the numbers of a definition.
pub(super) fn check(def: &Definition) -> Result<(), DefinitionError> {
    let bad = |name: &str, expected, found: &dyn ToString| DefinitionError::Layout {
        name: name.to_owned(),
        expected,
        found: found.to_string(),
    };
    for (at, table) in def.codes.iter().enumerate() {
        let before = def.codes.get(..at).unwrap_or_default();
        if !is_camel(&table.name) || before.iter().any(|t| t.name == table.name) {
            return Err(bad(
                &table.name,
                "a name of its own like `Code`",
                &table.name,
            ));
        }
        if !(1..=32).contains(&table.bits) {
            return Err(bad(&table.name, "1 to 32 bits", &table.bits));
        }
        for (at, code) in table.values.iter().enumerate() {
            let before = table.values.get(..at).unwrap_or_default();
            let found = format!("{} = {}", code.name, code.code);
            let again = |o: &CodeDef| o.name == code.name || o.code == code.code;
            if !is_camel(&code.name) || before.iter().any(again) {
                return Err(bad(&table.name, "each name and each code once", &found));
            }
            if code.code >> table.bits != 0 {
                return Err(bad(&table.name, "codes that its bits hold", &found));
            }
        }
    }
    for (at, word) in def.word.iter().enumerate() {
        let before = def.word.get(..at).unwrap_or_default();
        if !is_camel(&word.name) || before.iter().any(|w| w.name == word.name) {
            return Err(bad(&word.name, "a name of its own like `Word`", &word.name));
        }
        let bits = word.fields.iter().map(|f| u64::from(f.bits)).sum::<u64>();
        if bits != u64::from(word.bits) || !(1..=64).contains(&bits) {
            return Err(bad(&word.name, "1 to 64 bits, those of its fields", &bits));
        }
        for (at, field) in word.fields.iter().enumerate() {
            let before = word.fields.get(..at).unwrap_or_default();
            let again = before.iter().any(|f| f.name == field.name);
            if field.bits == 0 || !field.is_zero() && (again || !is_snake(&field.name)) {
                return Err(bad(
                    &word.name,
                    "each field once, like `log_n`",
                    &field.name,
                ));
            }
            let of_bits = |t: &&CodesDef| t.bits == field.bits;
            if let Some(name) = &field.codes
                && def.codes_named(name).filter(of_bits).is_none()
            {
                return Err(bad(&word.name, "codes of as many bits", name));
            }
        }
    }
    for (at, number) in def.number.iter().enumerate() {
        let before = def.number.get(..at).unwrap_or_default();
        if !is_snake(&number.name) || before.iter().any(|n| n.name == number.name) {
            return Err(bad(
                &number.name,
                "a name of its own like `queues`",
                &number.name,
            ));
        }
    }
    Ok(())
}
