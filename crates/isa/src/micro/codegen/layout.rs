// SPDX-License-Identifier: Apache-2.0
//! Generates the Rust, Markdown and SystemVerilog of tables of codes, layouts of words and numbers.

use std::fmt::Write as _;

use crate::codegen::{camel, doc_comment};
use crate::micro::definition::{Definition, FieldDef};
use crate::micro::layout::{CodeDef, CodesDef, WordDef};

/// Converts a name such as `log_n` to camel case, such as `LogN`.
fn joined(name: &str) -> String {
    name.split('_').map(camel).collect()
}

/// Converts a name such as `TableKind` to `table_kind`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// Returns a phrase as a sentence: it begins with a capital letter and ends with a full stop.
fn sentence(phrase: &str) -> String {
    let mut letters = phrase.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    let mut out: String = first.into_iter().chain(letters).collect();
    if !out.ends_with('.') {
        out.push('.');
    }
    out
}

/// Returns a code as a number: in hexadecimal if the table is of addresses, whose codes have more
/// than 8 bits.
fn number(table: &CodesDef, code: &CodeDef, prefix: &str) -> String {
    if table.bits > 8 {
        format!("{prefix}{:02x}", code.code)
    } else {
        code.code.to_string()
    }
}

/// Returns the Rust items of a definition's tables of codes, words and numbers.
pub(super) fn rust(def: &Definition) -> String {
    // Writing to a String cannot fail.
    let mut out = String::new();
    for number in &def.number {
        let _ = write!(
            out,
            "\n/// {}\npub const {}: usize = {};\n",
            doc_comment(&number.meaning),
            number.name.to_ascii_uppercase(),
            number.value
        );
    }
    for word in &def.word {
        rust_word(&mut out, word);
    }
    for table in &def.codes {
        rust_codes(&mut out, table);
    }
    out
}

fn rust_word(out: &mut String, word: &WordDef) {
    let doc = doc_comment(&word.meaning);
    let _ = write!(
        out,
        "\n/// {doc}\npub mod {} {{\n    use ringmill_isa::micro::Field;\n\n",
        snake(&word.name)
    );
    for (low, field) in word.places().filter(|(_, field)| !field.is_zero()) {
        let _ = writeln!(
            out,
            "    /// {}\n    pub const {}: Field = Field::new({low}, {});",
            doc_comment(&field.meaning),
            field.name.to_ascii_uppercase(),
            field.bits
        );
    }
    out.push_str("}\n");
}

fn rust_codes(out: &mut String, table: &CodesDef) {
    let (apart, variants): (Vec<_>, Vec<_>) = table.values.iter().partition(|code| code.apart);
    let name = &table.name;
    let _ = write!(
        out,
        "\nringmill_isa::codes! {{\n    /// {}\n    pub enum {name} {{\n",
        doc_comment(&table.meaning)
    );
    for code in variants {
        let _ = write!(
            out,
            "        /// {}\n        {} = {} => {:?},\n",
            doc_comment(&sentence(&code.meaning)),
            code.name,
            number(table, code, "0x"),
            table.text(code)
        );
    }
    out.push_str("    }\n}\n");
    if apart.is_empty() {
        return;
    }
    let constants = apart.into_iter().map(|code| {
        format!(
            "    /// {}\n    pub const {}: u64 = {};\n",
            doc_comment(&sentence(&code.meaning)),
            snake(&code.name).to_ascii_uppercase(),
            code.code
        )
    });
    let constants: Vec<_> = constants.collect();
    let _ = write!(out, "\nimpl {name} {{\n{}}}\n", constants.join("\n"));
}

/// Returns the sections of the reference page on a definition's words, codes and numbers.
pub(super) fn markdown(def: &Definition) -> String {
    let mut out = String::new();
    for word in &def.word {
        let _ = write!(
            out,
            "\n## {}: {} bits\n\n{}\n\n| bits | field | |\n| --- | --- | --- |\n",
            word.name, word.bits, word.meaning
        );
        for (low, field) in word.places() {
            let top = low.saturating_add(field.bits).saturating_sub(1);
            let bits = if top == low {
                low.to_string()
            } else {
                format!("{top}-{low}")
            };
            let codes = field.codes.as_ref().map_or(String::new(), |name| {
                format!(" [{name}](#{})", name.to_ascii_lowercase())
            });
            let _ = writeln!(
                out,
                "| {bits} | {} | {}{codes} |",
                field.name, field.meaning
            );
        }
    }
    for table in &def.codes {
        let _ = write!(
            out,
            "\n## {}\n\n{}\n\n| code | name | |\n| --- | --- | --- |\n",
            table.name, table.meaning
        );
        for code in &table.values {
            let name = if table.spoken {
                code.name.clone()
            } else {
                table.text(code)
            };
            let _ = writeln!(
                out,
                "| {} | `{name}` | {} |",
                number(table, code, "0x"),
                sentence(&code.meaning)
            );
        }
    }
    if !def.number.is_empty() {
        out.push_str("\n## Numbers\n\n| name | value | |\n| --- | --- | --- |\n");
    }
    for number in &def.number {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} |",
            number.name.to_ascii_uppercase(),
            number.value,
            number.meaning
        );
    }
    out
}

/// Returns the items of the SystemVerilog package: enumerations, structures, and parameters for the
/// other numbers.
pub(super) fn package(def: &Definition) -> String {
    let mut out = String::new();
    for table in &def.codes {
        if let Some(name) = &table.enumeration {
            let entries = table.values.iter().map(|c| {
                let (prefix, bits) = (&table.prefix, table.bits);
                let note = table.spoken.then(|| c.meaning.clone());
                (format!("{prefix}{} = {bits}'d{}", c.name, c.code), note)
            });
            out += &enumeration(name, table.bits, entries.collect());
        }
    }
    for word in &def.word {
        if let Some(name) = &word.structure {
            let fields = word.places().map(|(low, field)| {
                let codes = field.codes.as_ref().and_then(|name| def.codes_named(name));
                match codes.and_then(|table| table.enumeration.as_deref()) {
                    Some(ty) => format!("{ty} {}", field.name),
                    None if field.is_zero() => format!("{} zero_{low}", logic(field)),
                    None => format!("{} {}", logic(field), field.name),
                }
            });
            out += &structure(name, fields);
        }
    }
    if def.codes.is_empty() && def.word.is_empty() && def.number.is_empty() {
        return out;
    }
    out += "\n  /* verilator lint_off UNUSEDPARAM */  // each module takes what it needs\n";
    for number in &def.number {
        let _ = writeln!(
            out,
            "  localparam int unsigned {} = {};",
            joined(&number.name),
            number.value
        );
    }
    for table in &def.codes {
        if table.enumeration.is_some() {
            let last = table.values.iter().map(|c| c.code).max().unwrap_or(0);
            let _ = writeln!(
                out,
                "  localparam int unsigned Last{} = {last};",
                table.name
            );
            continue;
        }
        for code in &table.values {
            let (bits, prefix) = (table.bits, &table.prefix);
            let _ = writeln!(
                out,
                "  localparam logic [{}:0] {prefix}{} = {bits}'{}{};",
                bits.saturating_sub(1),
                code.name,
                if bits > 8 { "h" } else { "d" },
                number(table, code, "")
            );
        }
    }
    for word in &def.word {
        for (low, field) in word.places().filter(|(_, field)| !field.is_zero()) {
            let _ = writeln!(
                out,
                "  localparam int unsigned {0}{1}Low = {low};\n  localparam int unsigned {0}{1}Width = {2};",
                word.name,
                joined(&field.name),
                field.bits
            );
        }
    }
    out + "  /* verilator lint_on UNUSEDPARAM */\n"
}

/// Returns the SystemVerilog type of a field that has no names for its values.
pub(super) fn logic(field: &FieldDef) -> String {
    match field.bits {
        1 => "logic".to_owned(),
        bits => format!("logic [{}:0]", bits.saturating_sub(1)),
    }
}

/// Returns an enumeration of SystemVerilog. An entry is a name with its value, and a comment.
pub(super) fn enumeration(name: &str, bits: u32, entries: Vec<(String, Option<String>)>) -> String {
    let mut out = format!("\n  typedef enum logic [{}:0] {{\n", bits.saturating_sub(1));
    let last = entries.len().saturating_sub(1);
    for (at, (entry, note)) in entries.into_iter().enumerate() {
        let comma = if at < last { "," } else { "" };
        let note = note.map_or(String::new(), |note| format!("  // {note}"));
        let _ = writeln!(out, "    {entry}{comma}{note}");
    }
    let _ = writeln!(out, "  }} {name};");
    out
}

/// Returns a packed structure of SystemVerilog with fields such as `logic [3:0] op`.
pub(super) fn structure(name: &str, fields: impl Iterator<Item = String>) -> String {
    let mut out = String::from("\n  typedef struct packed {\n");
    for field in fields {
        let _ = writeln!(out, "    {field};");
    }
    let _ = writeln!(out, "  }} {name};");
    out
}
