// SPDX-License-Identifier: Apache-2.0
//! Generates Rust tables and a reference page from the definition file of a level of instructions.
//!
//! All functions are pure, and the generators return text. `isa-gen` writes the files, and a test fails if a file
//! in the tree differs from the text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

mod columns;
mod stages;

pub use stages::stages;

/// The error of a definition file that does not parse, or that describes an impossible instruction or word.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    #[error("definition file: {0}")]
    Toml(#[from] toml::de::Error),
    #[error("instruction {mnemonic}: expected {expected}, found {found}")]
    Instruction {
        mnemonic: String,
        expected: &'static str,
        found: String,
    },
    #[error("{name}: expected {expected}, found {found}")]
    Layout {
        name: String,
        expected: &'static str,
        found: String,
    },
}

/// The content of the definition file of a level of instructions (mid or macro): the instructions,
/// and the meanings of the words by which the file describes them.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The name of the level: "mid" or "macro".
    pub level: String,
    /// The stages of the compiler for programs of this level, in order, or an empty list for a level with one stage.
    /// For each instruction, the column `stage` of the definition file names the first stage in which the instruction
    /// may stand.
    #[serde(default)]
    pub stages: Vec<String>,
    pub instruction: Vec<InstructionDef>,
    /// The typing rules of the level: for the word that names a rule in the definition file, the rule's condition in
    /// English.
    pub rules: BTreeMap<String, String>,
    /// The kinds of immediate of the level: for the word that names a kind in the definition file, its meaning in
    /// English.
    pub immediates: BTreeMap<String, String>,
    /// The schemes to which instructions may belong: for the word that names a scheme in the definition file, its
    /// meaning in English. The word `all` stands for every scheme.
    #[serde(default)]
    pub schemes: BTreeMap<String, String>,
    /// The columns of the definition file, from its table `columns`: for each column, the words
    /// that may stand in it, each with its meaning in English.
    #[serde(default)]
    pub columns: BTreeMap<String, BTreeMap<String, String>>,
}

/// The definition of one instruction. Its list of operands is fixed names, or one entry ending in
/// `...` that repeats, or one repeating name and then fixed names. Its list of results has the same
/// forms.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct InstructionDef {
    pub mnemonic: String,
    pub operands: Vec<String>,
    pub results: Vec<String>,
    pub immediate: String,
    pub rule: String,
    pub semantics: String,
    /// For a composite, the mnemonics of the simpler instructions that it expands into, separated
    /// by spaces. Empty for any other instruction.
    #[serde(default)]
    pub expansion: String,
    /// Whether only tests use the instruction. The reference page of the level leaves it out.
    #[serde(default)]
    pub hidden: bool,
    #[serde(default)]
    pub schemes: Vec<String>,
    /// For each column of the definition file, such as `noise`, the word that describes this instruction in it.
    #[serde(default)]
    pub columns: BTreeMap<String, String>,
}

impl Definition {
    /// Returns the instructions that programs may have. Instructions that only tests use are left
    /// out.
    fn shown(&self) -> impl Iterator<Item = &InstructionDef> {
        self.instruction.iter().filter(|i| !i.hidden)
    }

    /// Returns the text with which the names of the level's generated Rust types begin: no text for
    /// the mid level, `Macro` for the macro level.
    fn prefix(&self) -> &'static str {
        match self.level.as_str() {
            "mid" => "",
            _ => "Macro",
        }
    }
}

fn bad(i: &InstructionDef, expected: &'static str, found: &str) -> DefinitionError {
    DefinitionError::Instruction {
        mnemonic: i.mnemonic.clone(),
        expected,
        found: found.to_owned(),
    }
}

/// Parses the text of a definition file, and checks the mnemonics, lists, words and expansions of
/// each instruction.
///
/// # Errors
/// [`DefinitionError::Toml`] for text that is no definition file, [`DefinitionError::Instruction`]
/// for the first instruction with a wrong mnemonic, list, word or expansion.
pub fn parse(text: &str) -> Result<Definition, DefinitionError> {
    let def: Definition = toml::from_str(text)?;
    for (n, i) in def.instruction.iter().enumerate() {
        if i.mnemonic.is_empty() || !i.mnemonic.bytes().all(|b| b.is_ascii_uppercase()) {
            return Err(bad(i, "a mnemonic of capital letters", &i.mnemonic));
        }
        if def
            .instruction
            .iter()
            .take(n)
            .any(|other| other.mnemonic == i.mnemonic)
        {
            return Err(bad(i, "each mnemonic once", &i.mnemonic));
        }
        for list in [&i.operands, &i.results] {
            let behind = list.iter().skip(1).any(|name| name.ends_with("..."));
            let groups = list.first().is_some_and(|name| name.contains(','));
            if behind || (list.len() > 1 && groups) {
                return Err(bad(
                    i,
                    "a repeating entry alone in its list, or one name that repeats at its head",
                    &list.join(" "),
                ));
            }
        }
        for word in [&i.immediate, &i.rule] {
            if word.is_empty() || !word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') {
                return Err(bad(i, "a word of small letters and hyphens", word));
            }
        }
        if !def.rules.contains_key(&i.rule) {
            return Err(bad(i, "a rule that [rules] describes", &i.rule));
        }
        if !def.immediates.contains_key(&i.immediate) {
            return Err(bad(
                i,
                "an immediate that [immediates] describes",
                &i.immediate,
            ));
        }
        columns::check(&def, i)?;
        stages::check(&def, i)?;
        for word in i.expansion.split_whitespace() {
            if !def
                .instruction
                .iter()
                .any(|other| other.mnemonic == word && other.expansion.is_empty())
            {
                return Err(bad(
                    i,
                    "an expansion into primitive instructions of the file",
                    word,
                ));
            }
        }
    }
    Ok(def)
}

/// Converts a word such as `same-eval` or `ADD` to the name of a Rust variant, such as `SameEval`
/// or `Add`.
pub(crate) fn camel(word: &str) -> String {
    let part = |part: &str| -> String {
        let mut chars = part.chars();
        chars
            .next()
            .map(|c| c.to_ascii_uppercase())
            .into_iter()
            .chain(chars.map(|c| c.to_ascii_lowercase()))
            .collect()
    };
    word.split('-').map(part).collect()
}

/// Splits an instruction's list of operands or results into its names, without the dots of a name
/// that repeats. Also returns the Rust expression of the `Arity` (number of operands or results)
/// that the list allows.
fn arity(list: &[String]) -> (Vec<&str>, String) {
    match list.first().and_then(|entry| entry.strip_suffix("...")) {
        Some(name) if list.len() > 1 => {
            let others = list.iter().skip(1).map(String::as_str);
            let names: Vec<_> = std::iter::once(name).chain(others).collect();
            let expression = format!("Arity::ListAnd({})", list.len() - 1);
            (names, expression)
        }
        Some(group) => {
            let names: Vec<_> = group.split(',').collect();
            let expression = format!("Arity::Groups({})", names.len());
            (names, expression)
        }
        None => (
            list.iter().map(String::as_str).collect(),
            format!("Arity::Exactly({})", list.len()),
        ),
    }
}

/// Returns the distinct words that instructions have in one field of the definition file, in order of appearance.
fn distinct<'a>(
    instructions: impl Iterator<Item = &'a InstructionDef>,
    field: impl Fn(&'a InstructionDef) -> &'a str,
) -> Vec<&'a str> {
    let mut words = Vec::new();
    for i in instructions {
        let word = field(i);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// Formats a description as a Rust doc comment: escapes its brackets, which would else read as
/// links.
pub(crate) fn doc_comment(text: &str) -> String {
    text.replace('[', "\\[").replace(']', "\\]")
}

fn word_enum(
    out: &mut String,
    doc: &str,
    name: &str,
    words: &[&str],
    meaning: &BTreeMap<String, String>,
) {
    let _ = write!(
        out,
        "\n/// {doc}\n#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]\npub enum {name} {{\n"
    );
    for word in words {
        let meaning = doc_comment(meaning.get(*word).map_or("", String::as_str));
        let _ = writeln!(out, "    /// `{word}`: {meaning}\n    {},", camel(word));
    }
    let _ = write!(
        out,
        "}}\n\nimpl {name} {{\n    /// The word of the definition file.\n"
    );
    let _ = write!(
        out,
        "    pub const fn word(self) -> &'static str {{\n        match self {{\n"
    );
    for word in words {
        let _ = writeln!(out, "            {name}::{} => {word:?},", camel(word));
    }
    out.push_str("        }\n    }\n}\n");
}

/// Returns the Rust source of the opcode module of a level.
pub fn rust(def: &Definition) -> String {
    let prefix = def.prefix();
    let (op, rule, imm) = (
        format!("{prefix}Op"),
        format!("{prefix}Rule"),
        format!("{prefix}ImmKind"),
    );
    let count = def.shown().count();
    let mut out = format!(
        "// SPDX-License-Identifier: Apache-2.0\n//! Opcodes of the {0} level, generated by `isa-gen` from `defs/{0}.toml`; do not edit.\n\n\
         use crate::def::{{Arity, OpInfo}};\n\n\
         /// An opcode of the {0} level.\n\
         #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]\npub enum {op} {{\n",
        def.level
    );
    variants(&mut out, def.instruction.iter());
    out.push_str("}\n");
    word_enum(
        &mut out,
        "Typing rules; the verifier dispatches on them.",
        &rule,
        &distinct(def.instruction.iter(), |i| &i.rule),
        &def.rules,
    );
    word_enum(
        &mut out,
        "What an instruction carries beside its operands.",
        &imm,
        &distinct(def.instruction.iter(), |i| &i.immediate),
        &def.immediates,
    );
    let _ = write!(
        out,
        "\nimpl {op} {{\n    /// Number of opcodes.\n    pub const COUNT: usize = {count};\n\n    \
         /// Every opcode, in the definition file's order.\n    pub const ALL: [{op}; {count}] = [\n"
    );
    for i in def.shown() {
        let _ = writeln!(out, "        {op}::{},", camel(&i.mnemonic));
    }
    let _ = write!(
        out,
        "    ];\n\n    /// What the definition file says of this instruction.\n    \
         pub const fn info(self) -> &'static OpInfo<{op}, {rule}, {imm}> {{\n        match self {{\n"
    );
    for i in &def.instruction {
        let (operand_names, operands) = arity(&i.operands);
        let (result_names, results) = arity(&i.results);
        let expansion: Vec<_> = i
            .expansion
            .split_whitespace()
            .map(|w| format!("{op}::{}", camel(w)))
            .collect();
        let _ = write!(
            out,
            "            {op}::{} => &OpInfo {{\n                mnemonic: {:?},\n                operands: {operands},\n                \
             operand_names: &{operand_names:?},\n                results: {results},\n                \
             result_names: &{result_names:?},\n                immediate: {imm}::{},\n                rule: {rule}::{},\n                \
             semantics: {:?},\n                expansion: &[{}],\n            }},\n",
            camel(&i.mnemonic),
            i.mnemonic,
            camel(&i.immediate),
            camel(&i.rule),
            i.semantics,
            expansion.join(", "),
        );
    }
    let _ = write!(
        out,
        "        }}\n    }}\n\n    /// The name in the text form.\n    pub const fn mnemonic(self) -> &'static str {{\n        \
         self.info().mnemonic\n    }}\n\n    /// The opcode of that name.\n    \
         pub fn from_mnemonic(mnemonic: &str) -> Option<{op}> {{\n        match mnemonic {{\n"
    );
    for i in def.shown() {
        let _ = writeln!(
            out,
            "            {:?} => Some({op}::{}),",
            i.mnemonic,
            camel(&i.mnemonic)
        );
    }
    out.push_str("            _ => None,\n        }\n    }\n\n");
    out.push_str("    /// Whether this is a composite, which a device may run by its expansion.\n");
    out.push_str("    pub const fn is_composite(self) -> bool {\n        !self.info().expansion.is_empty()\n    }\n}\n");
    columns::rust(&mut out, def);
    out
}

/// Writes the variants of a Rust enumeration of opcodes, one for each instruction, with the
/// instruction's description as doc comment.
fn variants<'a>(out: &mut String, instructions: impl Iterator<Item = &'a InstructionDef>) {
    for i in instructions {
        let doc = doc_comment(&i.semantics);
        let hidden = if i.hidden { "    #[doc(hidden)]\n" } else { "" };
        let _ = writeln!(out, "    /// {doc}\n{hidden}    {},", camel(&i.mnemonic));
    }
}

/// Returns the Markdown reference page of a level.
pub fn markdown(def: &Definition) -> String {
    let mut out = format!(
        "# The {0} level: instruction reference\n\nGenerated from `crates/isa/defs/{0}.toml`; do not edit. \
         `{1}` is a list that repeats.\n\n| instruction | operands | results | immediate | rule | composite of |\n\
         | --- | --- | --- | --- | --- | --- |\n",
        def.level, "..."
    );
    let dash = |text: &str| {
        if text.is_empty() {
            "-".to_owned()
        } else {
            text.to_owned()
        }
    };
    for i in def.shown() {
        let immediate = if i.immediate == "none" {
            ""
        } else {
            &i.immediate
        };
        let _ = writeln!(
            out,
            "| [`{}`](#{}) | {} | {} | {} | {} | {} |",
            i.mnemonic,
            i.mnemonic.to_ascii_lowercase(),
            dash(&i.operands.join(", ")),
            dash(&i.results.join(", ")),
            dash(immediate),
            i.rule,
            dash(&i.expansion),
        );
    }
    columns::table(&mut out, def);
    for i in def.shown() {
        let _ = write!(out, "\n## {}\n\n{}\n", i.mnemonic, i.semantics);
    }
    let rules = distinct(def.shown(), |i| &i.rule);
    let immediates = distinct(def.shown(), |i| &i.immediate);
    meanings(&mut out, "Typing rules", &rules, &def.rules);
    meanings(&mut out, "Immediates", &immediates, &def.immediates);
    columns::meanings(&mut out, def);
    out
}

/// Writes a section of a reference page: the heading `title`, then each of the words `words` with
/// its meaning in English.
fn meanings(out: &mut String, title: &str, words: &[&str], meaning: &BTreeMap<String, String>) {
    let _ = write!(out, "\n## {title}\n\n| | |\n| --- | --- |\n");
    for word in words {
        let meaning = meaning.get(*word).map_or("", String::as_str);
        let _ = writeln!(out, "| {word} | {meaning} |");
    }
}
