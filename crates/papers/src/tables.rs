// SPDX-License-Identifier: Apache-2.0
//! The papers' printed figures, as data: a text in TOML with one table for each paper, under its name.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::PaperError;

/// Those of the papers that Ringmill knows.
const TABLES: &str = include_str!("../data/paper_tables.toml");

/// What the paper of this name prints, of those that Ringmill knows.
///
/// # Errors
/// [`PaperError::Tables`] for a name that has no table, or a table that is none of `T`.
pub(crate) fn of<T: DeserializeOwned>(name: &str) -> Result<T, PaperError> {
    read(TABLES, name)
}

/// What the paper of this name prints, in a text of one's own.
///
/// # Errors
/// [`PaperError::Tables`] for text that is no TOML, a name that has no table in it, or a table that is none of `T`.
pub fn read<T: DeserializeOwned>(text: &str, name: &str) -> Result<T, PaperError> {
    let fault = |reason: toml::de::Error| PaperError::Tables(reason.to_string());
    let mut tables: toml::Table = toml::from_str(text).map_err(fault)?;
    let table = tables.remove(name);
    let table = table.ok_or_else(|| PaperError::Tables(format!("there is no table `{name}`")))?;
    table.try_into().map_err(fault)
}

/// A cell of a table: a figure, or a text where there is none.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    Figure(f64),
    Text(String),
}

impl Cell {
    pub fn figure(&self) -> Option<f64> {
        match self {
            Self::Figure(figure) => Some(*figure),
            Self::Text(_) => None,
        }
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Figure(figure) => write!(f, "{figure}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}
