// SPDX-License-Identifier: Apache-2.0
//! Finds RTL sources by module name, and the files that one top module needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::{HdlError, Interface, Top};

/// The most bytes of a source file. The file is read as a whole.
const MAX_BYTES: u64 = 4 << 20;
/// How many levels of directories below a root are searched for RTL sources.
const MAX_DEPTH: usize = 4;

/// One source file. Its module or package has the file's name.
#[derive(Clone, Debug)]
struct Source {
    path: PathBuf,
    text: String,
    uses: BTreeSet<String>,
}

/// All `*.sv` files below some directories. A file has one module or package, with the file's name.
#[derive(Clone, Debug)]
pub struct Sources {
    files: BTreeMap<String, Source>,
}

impl Sources {
    /// Reads the SystemVerilog files in each of the directories `roots`, and in directories at most four levels below.
    ///
    /// # Errors
    /// [`HdlError::DuplicateModule`] if two files have the same name; [`HdlError::SourceTooLarge`] for a file of more
    /// than 4 MiB; [`HdlError::Io`].
    pub fn read(roots: &[&Path]) -> Result<Self, HdlError> {
        let mut files = BTreeMap::new();
        for root in roots {
            collect(root, MAX_DEPTH, &mut files)?;
        }
        let names: BTreeSet<String> = files.keys().cloned().collect();
        for (name, source) in &mut files {
            source.uses = words(&source.text)
                .filter(|w| *w != name && names.contains(*w))
                .map(str::to_owned)
                .collect();
        }
        Ok(Self { files })
    }

    /// Returns the names of all modules in the sources, but not those of packages.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.files
            .keys()
            .map(String::as_str)
            .filter(|n| !n.ends_with("_pkg"))
    }

    /// Returns the interface of a module: parameters and ports.
    ///
    /// # Errors
    /// [`HdlError::UnknownModule`] if no source has the module; [`HdlError::NoInterface`] if its ports cannot be read.
    pub fn interface(&self, module: &str) -> Result<Interface, HdlError> {
        let source = self.files.get(module);
        let source = source.ok_or_else(|| HdlError::UnknownModule(module.to_owned()))?;
        Interface::read(module, &source.text)
    }

    /// Returns `top` with the parameter `name` set from the text `value`. The text is a number, or the name that a
    /// package gives to a value of the parameter's type. A parameter without a type gets the text itself.
    ///
    /// # Errors
    /// [`HdlError::UnknownParameter`] if the module has no such parameter; [`HdlError::ParameterValue`] if the text is
    /// no value of its type; [`HdlError::BadText`] for a text that a tool could take for something else. The errors of
    /// [`Self::interface`].
    pub fn set(&self, top: Top, name: &str, value: &str) -> Result<Top, HdlError> {
        let interface = self.interface(&top.module)?;
        let Some(parameter) = interface.settable().find(|p| p.name == name) else {
            let known: Vec<&str> = interface.settable().map(|p| p.name.as_str()).collect();
            return Err(HdlError::UnknownParameter {
                known: if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                },
                module: top.module,
                name: name.to_owned(),
            });
        };
        if parameter.kind.is_empty() {
            let top = top.text(name, value);
            top.validate()?;
            return Ok(top);
        }
        let names = self.values_of(&parameter.kind);
        let number = number(value).or_else(|| {
            let named = names.iter().find(|(n, _)| *n == value);
            named.map(|(_, number)| *number)
        });
        match number {
            Some(number) => Ok(top.int(name, number)),
            None => Err(HdlError::ParameterValue {
                name: name.to_owned(),
                kind: parameter.kind.clone(),
                value: value.to_owned(),
                expected: if names.is_empty() {
                    "a number below 2^64, in decimal or with 0x".to_owned()
                } else {
                    let names: Vec<&str> = names.iter().map(|n| n.0).collect();
                    format!("{}, or its number", names.join(", "))
                },
            }),
        }
    }

    /// Returns the values of the SystemVerilog type `kind` that packages name, each with its name,
    /// as in `localparam kind_t Name = 3;`.
    fn values_of(&self, kind: &str) -> Vec<(&str, u64)> {
        if !kind.ends_with("_t") {
            return Vec::new();
        }
        let packages = self.files.iter().filter(|(name, _)| name.ends_with("_pkg"));
        let lines = packages.flat_map(|(_, source)| source.text.lines());
        let values = lines.filter_map(|line| {
            let rest = line
                .trim()
                .strip_prefix("localparam ")?
                .strip_prefix(kind)?;
            let (name, value) = rest.strip_prefix(' ')?.split_once('=')?;
            Some((name.trim(), number(value.split(';').next()?.trim())?))
        });
        values.collect()
    }

    /// Returns the paths and texts of the files that the module `top` uses: packages first, each file after those that
    /// it uses, `top` last.
    ///
    /// # Errors
    /// [`HdlError::UnknownModule`] if no source has the module.
    pub fn closure(&self, top: &str) -> Result<Vec<(&Path, &str)>, HdlError> {
        if !self.files.contains_key(top) {
            return Err(HdlError::UnknownModule(top.to_owned()));
        }
        let mut order = Vec::new();
        self.visit(top, &mut BTreeSet::new(), &mut order);
        let (packages, modules): (Vec<&str>, Vec<&str>) =
            order.into_iter().partition(|n| n.ends_with("_pkg"));
        Ok(packages
            .into_iter()
            .chain(modules)
            .filter_map(|name| self.files.get(name))
            .map(|s| (s.path.as_path(), s.text.as_str()))
            .collect())
    }

    /// Appends the file `name` to `order`, after the files whose modules and packages it uses.
    /// `seen` has the files that were visited.
    fn visit<'a>(&'a self, name: &'a str, seen: &mut BTreeSet<&'a str>, order: &mut Vec<&'a str>) {
        if !seen.insert(name) {
            return;
        }
        if let Some(source) = self.files.get(name) {
            for used in &source.uses {
                self.visit(used, seen, order);
            }
            order.push(name);
        }
    }
}

/// Parses a number in decimal, or in hexadecimal after `0x`; `_` may group digits.
fn number(text: &str) -> Option<u64> {
    let digits = text.replace('_', "");
    match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// Returns the identifiers of a source, without those in line comments.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .flat_map(|line| line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')))
        .filter(|word| !word.is_empty())
}

fn collect(dir: &Path, depth: usize, files: &mut BTreeMap<String, Source>) -> Result<(), HdlError> {
    let entries = std::fs::read_dir(dir).map_err(HdlError::io("list", dir))?;
    for entry in entries {
        let path = entry.map_err(HdlError::io("list", dir))?.path();
        if path.is_dir() {
            if depth > 0 {
                collect(&path, depth - 1, files)?;
            }
            continue;
        }
        let Some(name) = path
            .file_name()
            .and_then(|n| n.to_str())
            .and_then(|n| n.strip_suffix(".sv"))
        else {
            continue;
        };
        let size = std::fs::metadata(&path)
            .map_err(HdlError::io("read", &path))?
            .len();
        if size > MAX_BYTES {
            return Err(HdlError::SourceTooLarge {
                path,
                got: size,
                limit: MAX_BYTES,
            });
        }
        let text = std::fs::read_to_string(&path).map_err(HdlError::io("read", &path))?;
        let name = name.to_owned();
        if let Some(first) = files.get(&name) {
            return Err(HdlError::DuplicateModule {
                name,
                first: first.path.clone(),
                second: path,
            });
        }
        let path = std::fs::canonicalize(&path).map_err(HdlError::io("resolve", &path))?;
        files.insert(
            name,
            Source {
                path,
                text,
                uses: BTreeSet::new(),
            },
        );
    }
    Ok(())
}
