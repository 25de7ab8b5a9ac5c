// SPDX-License-Identifier: Apache-2.0
//! The names that a row of a sheet (the TOML data of a paper's tables) can use in its formulas, and texts with values
//! in braces.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::PaperError;
use crate::expression;
use crate::value::Value;

/// The named values of one pass of a sheet's loop.
pub type Record = BTreeMap<String, Value>;

/// Makes a record, the named values of one pass of a loop, of these names and values.
pub fn record<const N: usize>(fields: [(&str, Value); N]) -> Record {
    fields.map(|(name, value)| (name.to_owned(), value)).into()
}

/// Returns the fields of a report, a description or another structure as a record. A field of a field has the names of
/// both with a dot between them. A field without a value has no name.
///
/// # Errors
/// Returns [`PaperError::Tables`] for a value that is no structure.
pub fn fields(of: &impl Serialize) -> Result<Record, PaperError> {
    let table = toml::Table::try_from(of);
    let table = table.map_err(|reason| PaperError::Tables(reason.to_string()))?;
    let mut record = Record::new();
    for (name, cell) in &table {
        flatten(name, cell, &mut record);
    }
    Ok(record)
}

/// The names that formulas can use, in the order of look-up: fields of loops, inner ones first; definitions; terms of
/// the sheet; printed figures.
#[derive(Clone)]
pub struct Scope<'a> {
    fields: Record,
    definitions: BTreeMap<String, String>,
    terms: &'a toml::Table,
    printed: &'a toml::Table,
}

impl<'a> Scope<'a> {
    pub fn new(terms: &'a toml::Table, printed: &'a toml::Table) -> Self {
        Self {
            fields: Record::new(),
            definitions: BTreeMap::new(),
            terms,
            printed,
        }
    }

    /// Returns the scope inside one pass of a sheet's loop, with the names of the pass's record added.
    #[must_use]
    pub fn with(&self, record: Record) -> Self {
        let mut inner = self.clone();
        inner.fields.extend(record);
        inner
    }

    /// Returns the scope with more definitions, each a name and a formula that is evaluated at each use.
    #[must_use]
    pub fn defining(&self, definitions: &BTreeMap<String, String>) -> Self {
        let mut inner = self.clone();
        let more = definitions
            .iter()
            .map(|(name, formula)| (name.clone(), formula.clone()));
        inner.definitions.extend(more);
        inner
    }

    fn find(&self, name: &str) -> Result<Option<Value>, PaperError> {
        if let Some(value) = self.fields.get(name) {
            return Ok(Some(value.clone()));
        }
        if let Some(formula) = self.definitions.get(name) {
            return Ok(Some(self.evaluate(formula)?));
        }
        let found = walk(self.terms, name).or_else(|| walk(self.printed, name));
        Ok(found.and_then(scalar))
    }

    /// Returns a list of the sheet's terms or of the printed figures as one record for each element. `name` is the path
    /// of the list, with dots. An element that is a table gives fields by its keys, and an element that is a list gives
    /// fields by the names in `columns`. Any other element is the field of the first name there. The value of `place`
    /// is the name of one more field, which has the element's position from 0 on. A cell that is a list becomes a field
    /// for each of its elements.
    ///
    /// # Errors
    /// Returns [`PaperError::Tables`] if there is no such list.
    pub fn list(
        &self,
        name: &str,
        columns: &[String],
        place: &str,
    ) -> Result<Vec<Record>, PaperError> {
        let name = self.fill(name)?;
        let found = walk(self.terms, &name).or_else(|| walk(self.printed, &name));
        let rows = found.and_then(toml::Value::as_array);
        let rows = rows.ok_or_else(|| PaperError::Tables(format!("there is no list `{name}`")))?;
        let records = rows.iter().enumerate().map(|(number, row)| {
            let mut record = record([(place, Value::number(number as f64))]);
            match (row, columns) {
                (toml::Value::Table(row), _) => {
                    row.iter()
                        .for_each(|(name, cell)| flatten(name, cell, &mut record));
                }
                (toml::Value::Array(cells), _) => {
                    let named = columns.iter().zip(cells);
                    named.for_each(|(name, cell)| flatten(name, cell, &mut record));
                }
                (cell, [name, ..]) => flatten(name, cell, &mut record),
                (_, []) => {}
            }
            record
        });
        Ok(records.collect())
    }

    /// Evaluates a formula with the names of this scope, after the formulas in its braces are filled in.
    ///
    /// # Errors
    /// Fails if the formula is malformed or has an unknown name.
    pub fn evaluate(&self, formula: &str) -> Result<Value, PaperError> {
        expression::evaluate(&self.fill(formula)?, &|name| self.find(name))
    }

    /// Evaluates a formula in the scope to a number or a missing figure.
    ///
    /// # Errors
    /// Fails as [`Self::evaluate`] does. A text as value is evaluated as a formula in turn, and fails in the same
    /// cases.
    pub fn number(&self, formula: &str) -> Result<Value, PaperError> {
        expression::number(&self.fill(formula)?, &|name| self.find(name))
    }

    /// Evaluates a formula in the scope to a number. A missing figure is an error.
    ///
    /// # Errors
    /// Fails as [`Self::number`] does, and for a missing figure.
    pub fn size(&self, name: &str) -> Result<f64, PaperError> {
        let value = self.number(name)?.known();
        value.ok_or_else(|| PaperError::Tables(format!("`{name}` is no number")))
    }

    /// Evaluates a formula in the scope to a number, and drops its fraction. A missing figure is an error.
    ///
    /// # Errors
    /// Fails as [`Self::size`] does.
    pub fn count(&self, name: &str) -> Result<usize, PaperError> {
        Ok(self.size(name)? as usize)
    }

    /// Returns the value of a name in the scope as text. A missing figure is a dash.
    ///
    /// # Errors
    /// Fails if the name is unknown.
    pub fn text(&self, name: &str) -> Result<String, PaperError> {
        self.fill(&format!("{{{name}}}"))
    }

    /// Fills a text: each formula in braces is replaced by its value, a missing figure by a dash. `{formula:.2}` rounds
    /// to two decimals.
    ///
    /// # Errors
    /// Returns [`PaperError::Tables`] for an open brace, and fails if a formula cannot be evaluated.
    pub fn fill(&self, template: &str) -> Result<String, PaperError> {
        let mut filled = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((inside, behind)) = after.split_once('}') else {
                return Err(PaperError::Tables(format!(
                    "`{template}` has an open brace"
                )));
            };
            filled += before;
            let (formula, decimals) = match inside.split_once(":.") {
                Some((formula, decimals)) => (formula, decimals.parse().ok()),
                None => (inside, None),
            };
            filled += &match (self.evaluate(formula)?, decimals) {
                (Value::Text(text), _) => text,
                (Value::Known(known), Some(decimals)) => format!("{:.decimals$}", known.value),
                (Value::Known(known), None) => known.value.to_string(),
                (Value::NotMeasured | Value::None, _) => "-".to_owned(),
            };
            rest = behind;
        }
        Ok(filled + rest)
    }
}

/// Returns the TOML value at a path of keys and positions in a table. Dots separate the parts of the path.
fn walk<'t>(table: &'t toml::Table, path: &str) -> Option<&'t toml::Value> {
    let mut parts = path.split('.');
    let first = table.get(parts.next()?)?;
    parts.try_fold(first, |value, part| match value {
        toml::Value::Table(table) => table.get(part),
        toml::Value::Array(list) => list.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

fn scalar(value: &toml::Value) -> Option<Value> {
    match value {
        toml::Value::String(text) => Some(text.as_str().into()),
        toml::Value::Integer(number) => Some(Value::number(*number as f64)),
        toml::Value::Float(number) => Some(Value::number(*number)),
        toml::Value::Boolean(holds) => Some(Value::number(f64::from(u8::from(*holds)))),
        toml::Value::Datetime(_) | toml::Value::Array(_) | toml::Value::Table(_) => None,
    }
}

fn flatten(name: &str, cell: &toml::Value, into: &mut Record) {
    if let toml::Value::Array(list) = cell {
        for (place, cell) in list.iter().enumerate() {
            flatten(&format!("{name}.{place}"), cell, into);
        }
    } else if let toml::Value::Table(table) = cell {
        for (part, cell) in table {
            flatten(&format!("{name}.{part}"), cell, into);
        }
    } else if let Some(value) = scalar(cell) {
        into.insert(name.to_owned(), value);
    }
}
