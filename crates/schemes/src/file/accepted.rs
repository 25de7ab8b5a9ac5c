// SPDX-License-Identifier: Apache-2.0
//! The choices of a reader of parameter files: accepted security tables, and whether parameters may be insecure.

use std::fmt;

use crate::rlwe::{RlweError, SecurityTable};

/// Whether a reader accepts a file of insecure parameters. Such parameters took the insecure opt-out, or no longer
/// pass the security table that they name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InsecureParams {
    #[default]
    Refuse,
    AllowForTestsOnly,
}

/// The security tables that a reader of parameter files accepts. A file names its own table. If the reader did not
/// choose, the file's author would decide how secure the parameters must be.
///
/// The default tables are those of `guidelines_2024` and that of sparse secrets. Others are accepted by name. TFHE's
/// files name none, because its parameter sets are always checked by `estimator_2026.lwe_binary`.
///
/// ```
/// use ringmill_schemes::file::AcceptedTables;
/// use ringmill_schemes::rlwe::SecurityTable;
/// let seal = SecurityTable::Standard2018Ternary;
/// assert!(!AcceptedTables::default().accepts(seal));
/// assert!(AcceptedTables::named(["standard_2018"]).unwrap().accepts(seal));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AcceptedTables {
    /// A bit for each accepted table, at the position of the table's number in files.
    bits: u8,
}

impl Default for AcceptedTables {
    fn default() -> Self {
        Self::of(&[
            SecurityTable::Guidelines2024Ternary,
            SecurityTable::Guidelines2024Gaussian,
            SecurityTable::SparseTernary2026,
        ])
    }
}

impl AcceptedTables {
    /// Makes the choice to accept the security tables in `tables` and no others.
    pub fn of(tables: &[SecurityTable]) -> Self {
        let bits = tables
            .iter()
            .fold(0, |bits, table| bits | Self::bit(*table));
        Self { bits }
    }

    /// Accepts the tables of these names and no others. The name of a publication, such as `guidelines_2024`, means all
    /// tables from it.
    ///
    /// # Errors
    /// Fails for a name that no table has, and for no name at all.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, RlweError> {
        let mut tables = Vec::new();
        for name in names {
            let known = tables.len();
            let found = SecurityTable::ALL.into_iter();
            tables.extend(found.filter(|table| table.belongs_to(name)));
            if tables.len() == known {
                return Err(RlweError::UnknownSecurityTable {
                    got: name.to_owned(),
                });
            }
        }
        if tables.is_empty() {
            return Err(RlweError::Parameter {
                what: "the list of accepted security tables",
                expected: format!("one or more of {}", SecurityTable::names()),
                got: "empty".to_owned(),
            });
        }
        Ok(Self::of(&tables))
    }

    pub fn accepts(self, table: SecurityTable) -> bool {
        self.bits & Self::bit(table) != 0
    }

    const fn bit(table: SecurityTable) -> u8 {
        1 << table as u8
    }
}

impl fmt::Display for AcceptedTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = SecurityTable::ALL.into_iter();
        let accepted: Vec<&str> = all
            .filter(|table| self.accepts(*table))
            .map(SecurityTable::name)
            .collect();
        f.write_str(&accepted.join(", "))
    }
}

/// The choices of a reader of parameter files: the accepted security tables, and whether insecure parameters are
/// accepted. One choice alone converts to this type; the other choice then has its default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Accepted {
    pub tables: AcceptedTables,
    pub insecure: InsecureParams,
}

impl From<AcceptedTables> for Accepted {
    fn from(tables: AcceptedTables) -> Self {
        Self {
            tables,
            ..Self::default()
        }
    }
}

impl From<InsecureParams> for Accepted {
    fn from(insecure: InsecureParams) -> Self {
        Self {
            insecure,
            ..Self::default()
        }
    }
}
