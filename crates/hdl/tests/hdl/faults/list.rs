// SPDX-License-Identifier: Apache-2.0
//! Lists of faults of the RTL, read from data files.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::common::failure::Checker;

/// A command that looks for a fault: `make test` or `make full`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// `make test`. `make full` tries these faults, too.
    Test,
    Full,
}

/// A fault: a piece of a module's text, its replacement, and the check that must notice.
pub struct Fault {
    /// What the RTL then does wrong.
    pub name: String,
    pub when: When,
    pub check: String,
    pub module: String,
    pub from: String,
    pub to: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.module, self.name, self.check)
    }
}

/// The faults of a unit, from a file of this folder, with the checks that the file names.
///
/// A table `[full.unit.rm_ring_seq]` has the faults of module `rm_ring_seq` that `make full` looks for. The check
/// `unit` must notice them. Its rows are `"what the RTL then does wrong" = ["text that stands once in the module",
/// "what it is changed to"]`.
pub struct List {
    pub name: &'static str,
    pub text: &'static str,
    pub checks: &'static [(&'static str, Checker)],
}

/// The rows of a list by command, check and module: the name of each fault with its two texts.
type Tables = BTreeMap<When, BTreeMap<String, BTreeMap<String, BTreeMap<String, [String; 2]>>>>;

impl List {
    /// Returns the faults of the file.
    ///
    /// # Panics
    ///
    /// Panics if the file is not TOML, or has anything but the tables that [`List`] describes.
    pub fn faults(&self) -> Vec<Fault> {
        let tables: Tables =
            toml::from_str(self.text).unwrap_or_else(|e| panic!("{}: {e}", self.name));
        let mut faults = Vec::new();
        for (when, checks) in tables {
            for (check, modules) in checks {
                for (module, rows) in modules {
                    for (name, [from, to]) in rows {
                        let (check, module) = (check.clone(), module.clone());
                        faults.push(Fault {
                            name,
                            when,
                            check,
                            module,
                            from,
                            to,
                        });
                    }
                }
            }
        }
        faults
    }

    /// Returns the check of this name.
    ///
    /// # Panics
    ///
    /// Panics if there is none.
    pub fn check(&self, name: &str) -> Checker {
        let found = self.checks.iter().find(|(known, _)| *known == name);
        found
            .unwrap_or_else(|| panic!("{}: there is no check `{name}`", self.name))
            .1
    }
}
