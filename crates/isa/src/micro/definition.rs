// SPDX-License-Identifier: Apache-2.0
//! Reads the definition file of a machine's binary interface: its instructions, its tables of codes,
//! and the fields of its words.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::layout::{self, CodesDef, NumberDef, WordDef};
use crate::codegen::DefinitionError;

/// The content of the definition file of one machine's binary interface. A machine whose
/// instructions all have one form lists them, with the fields of their word. Any machine may have
/// tables of codes, layouts of words, and numbers.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The name of the machine whose binary interface this is.
    pub level: String,
    /// The fields of an instruction word, from the most significant bits down.
    #[serde(default)]
    pub field: Vec<FieldDef>,
    #[serde(default)]
    pub instruction: Vec<InstructionDef>,
    /// The units of the machine: for the word that names a unit in the definition file, its meaning in English.
    #[serde(default)]
    pub units: BTreeMap<String, String>,
    /// The kinds of immediate of the micro level: for the word that names a kind in the definition
    /// file, its meaning in English.
    #[serde(default)]
    pub immediates: BTreeMap<String, String>,
    #[serde(default)]
    pub codes: Vec<CodesDef>,
    #[serde(default)]
    pub word: Vec<WordDef>,
    #[serde(default)]
    pub number: Vec<NumberDef>,
}

impl Definition {
    /// Returns the table of codes with the name `name`.
    pub(super) fn codes_named(&self, name: &str) -> Option<&CodesDef> {
        self.codes.iter().find(|table| table.name == name)
    }
}

/// A field of an instruction word, or of another word of the binary interface.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct FieldDef {
    pub name: String,
    pub bits: u32,
    pub meaning: String,
    /// The name of the table whose codes the field holds.
    #[serde(default)]
    pub codes: Option<String>,
}

/// The definition of one instruction. For its result and each operand it lists the kinds of place
/// that may hold it: `r` for a chunk of the buffer, `t` for a register, and `c` for the
/// accumulator.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct InstructionDef {
    pub mnemonic: String,
    pub code: u8,
    pub unit: String,
    pub d: String,
    pub a: String,
    pub b: String,
    /// The word for the kind of immediate that the instruction has in the field `n` of its
    /// instruction word.
    pub n: String,
    /// Whether the instruction computes modulo one of the program's moduli, which the word names by
    /// its index.
    pub modulus: bool,
    /// Whether the instruction's result is a sum with the accumulator of the multiply-accumulate unit.
    pub adds: bool,
    pub semantics: String,
}

/// The number of bits of an instruction word of the micro level.
const WORD: u32 = 96;

/// Parses the text of a definition file and checks it.
///
/// # Errors
/// Fails if the text is no definition file, or has an instruction or a field that is not
/// possible.
pub fn parse(text: &str) -> Result<Definition, DefinitionError> {
    let def: Definition = toml::from_str(text)?;
    let bits: u32 = def.field.iter().map(|field| field.bits).sum();
    let op_bits = def.field.iter().find(|field| field.name == "op");
    let op_bits = op_bits.map_or(0, |field| field.bits);
    let bad = |mnemonic: &str, expected, found: String| DefinitionError::Instruction {
        mnemonic: mnemonic.to_owned(),
        expected,
        found,
    };
    layout::check(&def)?;
    if bits != WORD && !def.instruction.is_empty() {
        return Err(bad("fields", "96 bits in all", bits.to_string()));
    }
    for (at, i) in def.instruction.iter().enumerate() {
        let before = def.instruction.get(..at).unwrap_or_default();
        let name = i.mnemonic.as_str();
        let letters = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit();
        if name.is_empty() || !name.bytes().all(letters) {
            return Err(bad(name, "a mnemonic of capital letters", name.to_owned()));
        }
        if before
            .iter()
            .any(|o| o.mnemonic == name || o.code == i.code)
        {
            let found = format!("{name} = {}", i.code);
            return Err(bad(name, "each mnemonic and each code once", found));
        }
        if u32::from(i.code) >> op_bits != 0 {
            return Err(bad(
                name,
                "a code that the field `op` holds",
                i.code.to_string(),
            ));
        }
        for kinds in [&i.d, &i.a, &i.b] {
            if !kinds.chars().all(|kind| "rtc".contains(kind)) {
                return Err(bad(
                    name,
                    "operands of kinds `r`, `t` and `c`",
                    kinds.clone(),
                ));
            }
        }
        if !def.units.contains_key(&i.unit) {
            return Err(bad(name, "a unit that [units] describes", i.unit.clone()));
        }
        if !def.immediates.contains_key(&i.n) {
            let expected = "an immediate that [immediates] describes";
            return Err(bad(name, expected, i.n.clone()));
        }
    }
    Ok(def)
}
