//! The RTL sources by module name, and the closure that one top needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::HdlError;

/// Sources are read whole; a larger file is not RTL.
const MAX_BYTES: u64 = 4 << 20;
/// Directories below the root that are searched.
const MAX_DEPTH: usize = 4;

/// One source file; its module or package has the file's name.
#[derive(Clone, Debug)]
struct Source {
    path: PathBuf,
    text: String,
    uses: BTreeSet<String>,
}

/// Every `*.sv` file below some directories. A file holds one module or package, named as the file.
#[derive(Clone, Debug)]
pub struct Sources {
    files: BTreeMap<String, Source>,
}

impl Sources {
    /// Reads the files below each of `roots`.
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

    /// Names of the modules, without packages.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.files
            .keys()
            .map(String::as_str)
            .filter(|n| !n.ends_with("_pkg"))
    }

    /// Paths and texts of what `top` uses, packages first and each after those it uses, `top` last.
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

    /// Depth first: what a file uses comes before it.
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

/// Identifiers outside line comments.
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
