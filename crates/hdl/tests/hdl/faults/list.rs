// SPDX-License-Identifier: Apache-2.0
//! A list of faults, read from its data file.

use std::fmt;

use crate::common::failure::Checker;

/// Which command looks for a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// `make test`, and `make full` with it.
    Test,
    Full,
}

/// Text of a module, what it is changed to, and the check that must notice.
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

/// The faults of a unit, in a file of this folder, and the checks that the file names.
///
/// A table `[full.unit.rm_ring_seq]` has the faults of module `rm_ring_seq` that `make full` looks for and check `unit` must notice. Its rows
/// are `"what the RTL then does wrong" = ["text that stands once in the module", "what it is changed to"]`.
pub struct List {
    pub name: &'static str,
    pub text: &'static str,
    pub checks: &'static [(&'static str, Checker)],
}

impl List {
    /// Reads the file: the part of TOML that it uses, where a string is written as in JSON.
    ///
    /// # Panics
    ///
    /// If a line is neither a comment nor a part of a table as above.
    pub fn faults(&self) -> Vec<Fault> {
        let (mut faults, mut table, mut row) = (Vec::new(), Vec::new(), String::new());
        let lines = self.text.lines();
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(path) = line.strip_prefix('[') {
                table = path.trim_end_matches(']').split('.').collect();
                continue;
            }
            row.push_str(line);
            if row.ends_with(']') {
                faults.push(self.fault(&table, &row));
                row.clear();
            }
        }
        assert_eq!(row, "", "{}: a row without an end", self.name);
        faults
    }

    fn fault(&self, table: &[&str], row: &str) -> Fault {
        let wrong = || panic!("{}: `{row}` is no row of a table", self.name);
        let (&[when, check, module], Some((name, texts))) = (table, row.split_once(" = ")) else {
            wrong()
        };
        let when = match when {
            "test" => When::Test,
            "full" => When::Full,
            other => panic!("{}: there is no `make {other}`", self.name),
        };
        let texts: Option<[String; 2]> = serde_json::from_str(texts).ok();
        let (Ok(name), Some([from, to])) = (serde_json::from_str(name), texts) else {
            wrong()
        };
        Fault {
            name,
            when,
            check: check.to_owned(),
            module: module.to_owned(),
            from,
            to,
        }
    }

    /// Returns the check of this name.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn check(&self, name: &str) -> Checker {
        let found = self.checks.iter().find(|(known, _)| *known == name);
        found
            .unwrap_or_else(|| panic!("{}: there is no check `{name}`", self.name))
            .1
    }
}
