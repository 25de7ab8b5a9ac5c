// SPDX-License-Identifier: Apache-2.0
//! Generates tables of properties of instructions. Compiler passes read these tables and need no
//! case for each instruction.
//!
//! A definition file has a column for each property, and each instruction has one word in each
//! column. A column becomes a Rust enumeration of its words. One table has the words of all
//! instructions.

use std::fmt::Write as _;

use super::{Definition, DefinitionError, InstructionDef, bad, camel, distinct, word_enum};

/// The word that stands for every scheme in an instruction's list of schemes, in a definition file.
pub(super) const ALL: &str = "all";

/// Checks that the instruction `i` has one word in each column of the definition file, that these
/// words have meanings, and that its schemes are known.
pub(super) fn check(def: &Definition, i: &InstructionDef) -> Result<(), DefinitionError> {
    if let Some(column) = i.columns.keys().find(|&c| !def.columns.contains_key(c)) {
        return Err(bad(i, "columns that [columns] describes", column));
    }
    for (column, words) in &def.columns {
        let Some(word) = i.columns.get(column) else {
            return Err(bad(
                i,
                "a word in every column",
                &format!("none in {column}"),
            ));
        };
        if !words.contains_key(word) {
            let found = format!("{word} in {column}");
            return Err(bad(i, "a word that its column describes", &found));
        }
    }
    if let Some(scheme) = i.schemes.iter().find(|&s| !def.schemes.contains_key(s)) {
        return Err(bad(i, "schemes that [schemes] describes", scheme));
    }
    let all = i.schemes.iter().any(|scheme| scheme == ALL);
    if all && i.schemes.len() > 1 {
        return Err(bad(i, "all schemes, or some by name", &i.schemes.join(" ")));
    }
    if i.schemes.is_empty() && !i.hidden && !def.schemes.is_empty() {
        return Err(bad(i, "the schemes that it is of", "none"));
    }
    Ok(())
}

/// Returns the words that instructions have in a column of the definition file, in order of appearance. Words of the
/// column `stage` are in the order of the file's list of stages.
fn words<'a>(def: &'a Definition, column: &'a str) -> Vec<&'a str> {
    if column == "stage" {
        return def.stages.iter().map(String::as_str).collect();
    }
    distinct(def.instruction.iter(), |i| word(i, column))
}

pub(super) fn word<'a>(i: &'a InstructionDef, column: &str) -> &'a str {
    i.columns.get(column).map_or("", String::as_str)
}

/// Writes the Rust types of the definition file's columns, and a Rust table with the words of each
/// instruction. It writes nothing for a level without columns.
pub(super) fn rust(out: &mut String, def: &Definition) {
    if def.columns.is_empty() {
        return;
    }
    let prefix = def.prefix();
    for (column, meaning) in &def.columns {
        let name = format!("{prefix}{}", camel(column));
        let doc = format!(
            "A word in the column `{column}` of `crates/isa/defs/{}.toml`, which has one for each instruction.",
            prefix.to_lowercase()
        );
        word_enum(out, &doc, &name, &words(def, column), meaning);
    }
    let _ = write!(
        out,
        "\n/// What the columns of the definition file say of an instruction.\n#[derive(Clone, Copy, PartialEq, Eq, Debug)]\n\
         pub struct {prefix}Columns {{\n    /// Names, or `{ALL}`.\n    pub schemes: &'static [&'static str],\n"
    );
    for column in def.columns.keys() {
        let _ = writeln!(out, "    pub {column}: {prefix}{},", camel(column));
    }
    let _ = write!(
        out,
        "}}\n\nimpl {prefix}Op {{\n    /// The instruction's words in the columns.\n    \
         pub const fn columns(self) -> &'static {prefix}Columns {{\n        match self {{\n"
    );
    for i in &def.instruction {
        let _ = write!(
            out,
            "            {prefix}Op::{} => &{prefix}Columns {{\n                schemes: &{:?},\n",
            camel(&i.mnemonic),
            i.schemes
        );
        for column in def.columns.keys() {
            let value = camel(word(i, column));
            let _ = writeln!(
                out,
                "                {column}: {prefix}{}::{value},",
                camel(column)
            );
        }
        out.push_str("            },\n");
    }
    let _ = write!(
        out,
        "        }}\n    }}\n\n    /// Whether a scheme of that name may have the instruction.\n    \
         pub fn is_of(self, scheme: &str) -> bool {{\n        \
         self.columns().schemes.iter().any(|&s| s == {ALL:?} || s == scheme)\n    }}\n}}\n"
    );
}

/// Writes the Markdown table of instructions with their words in each column of the definition
/// file, for the level's reference page.
pub(super) fn table(out: &mut String, def: &Definition) {
    if def.columns.is_empty() {
        return;
    }
    out.push_str("\n| instruction | schemes |");
    for column in def.columns.keys() {
        let _ = write!(out, " {column} |");
    }
    let _ = writeln!(out, "\n| --- | --- |{}", " --- |".repeat(def.columns.len()));
    for i in def.shown() {
        let _ = write!(out, "| `{}` | {} |", i.mnemonic, i.schemes.join(", "));
        for column in def.columns.keys() {
            let _ = write!(out, " {} |", word(i, column));
        }
        out.push('\n');
    }
}

/// Writes the meanings of the words in the definition file's columns in Markdown, for the level's
/// reference page.
pub(super) fn meanings(out: &mut String, def: &Definition) {
    for (column, meaning) in &def.columns {
        let shown = |word: &&str| {
            def.shown()
                .any(|i| super::columns::word(i, column) == *word)
        };
        let words: Vec<&str> = words(def, column).into_iter().filter(shown).collect();
        super::meanings(out, &format!("Column {column}"), &words, meaning);
    }
}
