// SPDX-License-Identifier: Apache-2.0
//! Sheets: the tables of a paper as TOML data (`data/*.toml`). Each row has a formula of its printed figure and a
//! formula of our figure.

use std::collections::BTreeMap;

use ringmill_machines::fpga::{Printed, PrintedUse, Resource};
use serde::Deserialize;

use crate::error::PaperError;
use crate::scope::Scope;
use crate::tables;

/// The tables of one paper as read from its sheet.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sheet {
    /// Names with their values, which the sheet itself states and which formulas of its rows look up.
    #[serde(default)]
    pub terms: toml::Table,
    /// Names with their formulas, which rows of all tables can use.
    #[serde(rename = "let", default)]
    pub definitions: BTreeMap<String, String>,
    /// The lists of our figures that the sheet uses, each with the fields of its records. A field may have an example
    /// behind `=`.
    pub figures: BTreeMap<String, Vec<String>>,
    pub tables: Vec<Line>,
    #[serde(default)]
    pub notes: Vec<Note>,
    /// The formulas of the resources that the paper's machine takes of its FPGA part, as the paper states them.
    #[serde(default)]
    uses: Vec<Use>,
    units_in_a_region: Option<String>,
}

/// A row of a sheet's table, or a group of rows. The rows of a group inherit the fields that they lack.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Line {
    pub table: Option<String>,
    /// The machine whose figure the row has, if the row belongs to [`Reproduced::figures`](crate::Reproduced).
    pub machine: Option<String>,
    pub case: Option<String>,
    pub metric: Option<String>,
    pub unit: Option<String>,
    /// The formula of the figure that the paper prints.
    pub printed: Option<String>,
    /// The formula of our own figure for the row.
    pub ours: Option<String>,
    /// The way in which our figure was obtained, if the formula of the figure does not say so: a text with formulas.
    pub how: Option<String>,
    /// A formula of the correct figure, if the printed one is known to be wrong.
    pub but: Option<String>,
    /// The tool that made our figure, or another remark, as a text with formulas.
    pub remark: Option<String>,
    /// Whether the row is left out if the value of `printed` is missing.
    pub printed_only: bool,
    /// The condition of the row, a formula: the row is left out unless it holds. A group's condition is evaluated in
    /// each pass of its loop.
    pub when: Option<String>,
    pub each: Vec<Each>,
    #[serde(rename = "let")]
    pub definitions: BTreeMap<String, String>,
    pub rows: Vec<Line>,
}

/// A loop of a sheet, which repeats a row or a group of rows for each record.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Each {
    /// A loop over a list of the printed figures or of the sheet's terms.
    Printed {
        list: String,
        #[serde(default)]
        columns: Vec<String>,
        /// The name by which formulas get the record's position in the list.
        #[serde(default = "place")]
        number: String,
    },
    /// A loop over the records of a list of our figures.
    Ours { figures: String },
    /// A loop over records whose values the sheet itself lists.
    Given(Vec<toml::Table>),
}

fn place() -> String {
    "number".to_owned()
}

/// A note of a sheet, printed under the tables if its condition holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    pub when: Option<String>,
    pub text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Use {
    resource: String,
    each: Option<String>,
    used: String,
}

impl Sheet {
    /// Reads a paper's sheet from TOML text.
    ///
    /// # Errors
    /// Returns [`PaperError::Tables`] for a text that is no sheet.
    pub fn read(text: &str) -> Result<Self, PaperError> {
        toml::from_str(text).map_err(|reason| PaperError::Tables(reason.to_string()))
    }

    /// Returns the resources that the paper's machine takes of its FPGA part, as the paper with this name states them.
    ///
    /// # Errors
    /// Fails if the paper has no printed figures, if one that the sheet uses is missing, or if the sheet names an
    /// unknown resource.
    pub fn printed(&self, name: &str) -> Result<Printed, PaperError> {
        let printed = tables::of(name)?;
        let scope = Scope::new(&self.terms, &printed);
        let uses = self.uses.iter().map(|found| {
            let mut all = Resource::ALL.into_iter();
            let resource = all.find(|known| known.name() == found.resource);
            let no_resource = || PaperError::Tables(format!("`{}` is no resource", found.resource));
            Ok(PrintedUse {
                resource: resource.ok_or_else(no_resource)?,
                each: found
                    .each
                    .as_ref()
                    .map(|each| scope.size(each))
                    .transpose()?,
                used: scope.size(&found.used)?,
            })
        });
        let units = self.units_in_a_region.as_ref().map(|name| scope.size(name));
        Ok(Printed {
            uses: uses.collect::<Result<_, PaperError>>()?,
            units_in_a_region: units.transpose()?.map(|units| units as u64),
        })
    }
}
