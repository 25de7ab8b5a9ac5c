// SPDX-License-Identifier: Apache-2.0
//! The papers' printed figures as data: a TOML text with one table for each paper, under the paper's name.

use serde::de::DeserializeOwned;

use crate::error::PaperError;

/// The printed figures of the papers that Ringmill knows.
const TABLES: &str = include_str!("../data/paper_tables.toml");

/// Returns the printed figures of a paper that Ringmill knows.
///
/// # Errors
/// Returns [`PaperError::Tables`] for a name without a table, or a table that is no `T`.
pub(crate) fn of<T: DeserializeOwned>(name: &str) -> Result<T, PaperError> {
    read(TABLES, name)
}

/// Returns the printed figures of a paper from a given text.
///
/// # Errors
/// Returns [`PaperError::Tables`] for a text that is no TOML, a name without a table in it, or a table that is no `T`.
pub fn read<T: DeserializeOwned>(text: &str, name: &str) -> Result<T, PaperError> {
    let fault = |reason: toml::de::Error| PaperError::Tables(reason.to_string());
    let mut tables: toml::Table = toml::from_str(text).map_err(fault)?;
    let table = tables.remove(name);
    let table = table.ok_or_else(|| PaperError::Tables(format!("there is no table `{name}`")))?;
    table.try_into().map_err(fault)
}
