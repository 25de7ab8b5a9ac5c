// SPDX-License-Identifier: Apache-2.0
//! Reads the interface of a SystemVerilog module from its source: title, parameters and ports.
//!
//! All sources have the same style (docs/rtl.md), so the source is read line by line: one parameter or port on each
//! line, between `#(`, `) (` and `);`.

use crate::HdlError;

/// A parameter of a SystemVerilog module, or a `localparam` of its parameter list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// The parameter's type, such as `int unsigned` or `flavour_t`. It is empty for a parameter
    /// without a type, whose value is a text.
    pub kind: String,
    pub name: String,
    /// The default value of the parameter, as the source has it.
    pub default: String,
    /// Whether the parameter is a `localparam`, which a parent module cannot set.
    pub local: bool,
}

/// A port of a SystemVerilog module as the source declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// The port's direction and type, such as `input  logic [Width-1:0]`.
    pub declaration: String,
    pub name: String,
}

/// The interface of a SystemVerilog module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interface {
    /// The first sentence or formula of the module's header comment.
    pub title: String,
    /// The packages that the module imports, each as `name::*`.
    pub imports: Vec<String>,
    pub parameters: Vec<Parameter>,
    pub ports: Vec<Port>,
}

#[derive(PartialEq)]
enum At {
    Comment,
    Head,
    Parameters,
    Ports,
}

impl Interface {
    /// Reads the interface of the module `name` from its source `text`.
    pub(crate) fn read(name: &str, text: &str) -> Result<Self, HdlError> {
        let mut found = Self::default();
        let mut at = At::Comment;
        for line in text.lines() {
            let code = without_comments(line);
            match at {
                At::Comment if code.starts_with("module ") => at = At::Head,
                At::Comment if line.contains("SPDX-License-Identifier:") => continue,
                At::Comment => {
                    let words = line.trim_start_matches('/').trim();
                    if !found.title.ends_with(['.', ':']) && !words.is_empty() {
                        found.title = format!("{} {words}", found.title).trim().to_owned();
                    }
                    continue;
                }
                _ => {}
            }
            if at == At::Head
                && let Some(list) = code.strip_prefix("import ")
            {
                let list = list.trim_end_matches(';').split(',');
                found.imports.extend(list.map(|p| p.trim().to_owned()));
            }
            if code.ends_with(");") {
                break;
            }
            if code.ends_with('(') {
                at = if code.ends_with("#(") {
                    At::Parameters
                } else {
                    At::Ports
                };
                continue;
            }
            match at {
                At::Parameters => found.parameters.extend(parameter(&code)),
                At::Ports => found.ports.extend(port(&code)),
                _ => {}
            }
        }
        if found.ports.is_empty() {
            return Err(HdlError::NoInterface(name.to_owned()));
        }
        found.title = sentence(&found.title).to_owned();
        Ok(found)
    }

    /// Returns the module's parameters that a parent module can set, so no `localparam`.
    pub fn settable(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|p| !p.local)
    }
}

/// Returns the text up to the first colon or full stop that a space follows, or the whole text if
/// there is none.
fn sentence(text: &str) -> &str {
    let end = [": ", ". "].iter().filter_map(|mark| text.find(mark)).min();
    text.get(..end.unwrap_or(text.len()))
        .unwrap_or(text)
        .trim_end_matches(['.', ':'])
}

/// Returns the line without comments and without spaces around it.
fn without_comments(line: &str) -> String {
    let line = line.split("//").next().unwrap_or_default();
    let mut code = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("/*") {
        code += before;
        rest = after.split_once("*/").map_or("", |halves| halves.1);
    }
    code += rest;
    code.trim().to_owned()
}

/// Parses a parameter from a line such as `parameter int unsigned Width = 32,`.
fn parameter(code: &str) -> Option<Parameter> {
    let (local, rest) = match (
        code.strip_prefix("parameter "),
        code.strip_prefix("localparam "),
    ) {
        (Some(rest), _) => (false, rest),
        (_, Some(rest)) => (true, rest),
        _ => return None,
    };
    let (left, default) = rest.split_once('=')?;
    let left = left.trim();
    let (kind, name) = left.rsplit_once(' ').unwrap_or(("", left));
    Some(Parameter {
        kind: kind.trim().to_owned(),
        name: name.to_owned(),
        default: default.trim().trim_end_matches(',').to_owned(),
        local,
    })
}

/// Parses a port from a line such as `input  logic [Width-1:0] a_i,`.
fn port(code: &str) -> Option<Port> {
    let (declaration, name) = code.trim_end_matches(',').rsplit_once(' ')?;
    let directed = declaration.starts_with("input ") || declaration.starts_with("output ");
    directed.then(|| Port {
        declaration: declaration.trim().to_owned(),
        name: name.to_owned(),
    })
}
