// SPDX-License-Identifier: Apache-2.0
//! Runs a paper's sheet, the TOML data of its tables (`data/*.toml`): follows the sheet's loops and makes a table row
//! of each of its lines.

use std::collections::BTreeMap;

use crate::error::PaperError;
use crate::expression::holds;
use crate::how::How;
use crate::paper::{Reproduced, Sources};
use crate::row::{Ours, Row};
use crate::scope::{Record, Scope, record};
use crate::sheet::{Each, Line, Note, Sheet};
use crate::tables;
use crate::value::{Known, Value};

/// The source of our figures for a paper's sheet, which names them by list and field.
pub trait Figures {
    /// Returns the records of the list of our figures that a sheet calls `name`. A loop of the sheet takes one record,
    /// a set of named values, in each pass. `at` has the values of the loops around it.
    ///
    /// # Errors
    /// Fails for an unknown name, and if a figure cannot be computed.
    fn records(&mut self, name: &str, at: &Scope<'_>) -> Result<Vec<Record>, PaperError>;
}

/// Returns the error for a list of our figures that a paper does not have.
pub fn no_list(name: &str) -> PaperError {
    PaperError::Tables(format!("there is no list of figures `{name}`"))
}

impl Sheet {
    /// Returns the tables of the paper with this name, beside our figures.
    ///
    /// # Errors
    /// Fails if the sheet has an unknown name, or if a figure cannot be computed.
    pub fn reproduce(
        &self,
        name: &str,
        figures: &mut dyn Figures,
        sources: Sources,
    ) -> Result<Reproduced, PaperError> {
        let printed = tables::of(name)?;
        let flag = |is: bool| Value::number(f64::from(u8::from(is)));
        let scope = Scope::new(&self.terms, &printed).with(record([
            ("model", flag(sources.model)),
            ("synthesis", flag(sources.synthesis)),
        ]));
        let scope = scope.defining(&self.definitions);
        let mut made = Run::new(&self.figures, figures).tables(&self.tables, &scope)?;
        for Note { when, text } in &self.notes {
            let stands = when.as_ref().map(|condition| scope.evaluate(condition));
            if stands.transpose()?.is_none_or(|value| holds(&value)) {
                made.notes += &scope.fill(text)?;
            }
        }
        Ok(made)
    }

    /// Returns the tables without our figures, to check the sheet: every name of a row is looked up, except in rows
    /// whose condition does not hold without figures.
    ///
    /// # Errors
    /// Fails if the sheet has an unknown name.
    pub fn check(&self, name: &str) -> Result<Reproduced, PaperError> {
        let sources = Sources {
            model: true,
            synthesis: true,
        };
        self.reproduce(name, &mut Declared::of(&self.figures), sources)
    }
}

impl Line {
    /// Returns a row of a sheet in which the fields that it lacks come from its group of rows. The group's
    /// conditions and loops are not taken.
    fn under(&self, group: &Self) -> Self {
        let own = |field: fn(&Self) -> &Option<String>| {
            field(self).as_ref().or(field(group).as_ref()).cloned()
        };
        Self {
            table: own(|line| &line.table),
            machine: own(|line| &line.machine),
            case: own(|line| &line.case),
            metric: own(|line| &line.metric),
            unit: own(|line| &line.unit),
            printed: own(|line| &line.printed),
            ours: own(|line| &line.ours),
            how: own(|line| &line.how),
            but: own(|line| &line.but),
            remark: own(|line| &line.remark),
            printed_only: self.printed_only || group.printed_only,
            ..self.clone()
        }
    }
}

/// A run of a paper's sheet with our figures, which collects the rows of its tables.
pub struct Run<'f> {
    lists: &'f BTreeMap<String, Vec<String>>,
    figures: &'f mut dyn Figures,
    made: Reproduced,
}

impl<'f> Run<'f> {
    /// Starts a run of a sheet. `lists` are the lists of our figures that the sheet declares, each with the names of
    /// its records' fields.
    pub fn new(lists: &'f BTreeMap<String, Vec<String>>, figures: &'f mut dyn Figures) -> Self {
        Self {
            lists,
            figures,
            made: Reproduced::default(),
        }
    }

    /// Makes the rows of the sheet's tables, line by line. `scope` has the names that formulas can use.
    ///
    /// # Errors
    /// Fails if a formula of a line cannot be evaluated.
    pub fn tables(mut self, tables: &[Line], scope: &Scope<'_>) -> Result<Reproduced, PaperError> {
        for line in tables {
            self.line(line, &line.each, &scope.defining(&line.definitions))?;
        }
        Ok(self.made)
    }

    fn line(&mut self, line: &Line, loops: &[Each], scope: &Scope<'_>) -> Result<(), PaperError> {
        if let Some((first, inner)) = loops.split_first() {
            for record in self.passes(first, scope)? {
                self.line(line, inner, &scope.with(record))?;
            }
            return Ok(());
        }
        if let Some(condition) = &line.when
            && !holds(&scope.evaluate(condition)?)
        {
            return Ok(());
        }
        if line.rows.is_empty() {
            return self.row(line, scope);
        }
        for row in &line.rows {
            let row = row.under(line);
            self.line(&row, &row.each, &scope.defining(&row.definitions))?;
        }
        Ok(())
    }

    fn passes(&mut self, each: &Each, scope: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        match each {
            Each::Printed {
                list,
                columns,
                number,
            } => scope.list(list, columns, number),
            Each::Ours { figures } => self.records(figures, scope),
            Each::Given(rows) => given(rows),
        }
    }

    /// Returns the records of a list of our figures, and checks that each has every field that the sheet declares. An
    /// empty record stands for one in which no figure is measured.
    fn records(&mut self, name: &str, scope: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        let fields = self.lists.get(name).ok_or_else(|| no_list(name))?;
        let fields = fields.iter();
        let fields = fields.map(|field| field.split('=').next().unwrap_or(field));
        let mut records = self.figures.records(name, scope)?;
        for record in &mut records {
            if record.is_empty() {
                let missing = fields
                    .clone()
                    .map(|field| (field.to_owned(), Value::NotMeasured));
                record.extend(missing);
            } else if let Some(field) = fields.clone().find(|field| !record.contains_key(*field)) {
                let reason = format!("`{name}` has no figure `{field}`");
                return Err(PaperError::Tables(reason));
            }
        }
        Ok(records)
    }

    fn row(&mut self, line: &Line, scope: &Scope<'_>) -> Result<(), PaperError> {
        let text = |field: &Option<String>| {
            field
                .as_ref()
                .map_or(Ok(String::new()), |text| scope.fill(text))
        };
        let number = |field: &Option<String>| {
            field
                .as_ref()
                .map_or(Ok(Value::None), |formula| scope.number(formula))
        };
        let printed = number(&line.printed)?;
        if line.printed_only && printed.known().is_none() {
            return Ok(());
        }
        let should_be = match &line.but {
            Some(formula) => {
                let beside = scope.with(record([("printed", printed.clone())]));
                beside.number(formula)?.known()
            }
            None => None,
        };
        let how = line.how.as_ref().map(|how| scope.fill(how)).transpose()?;
        let row = Row {
            machine: text(&line.machine)?,
            table: text(&line.table)?,
            case: text(&line.case)?,
            metric: text(&line.metric)?,
            unit: text(&line.unit)?,
            printed: printed.known(),
            should_be,
            ours: ours(number(&line.ours)?, how, line)?,
            remark: Some(text(&line.remark)?).filter(|remark| !remark.is_empty()),
        };
        match (line.machine.is_some(), row.ours) {
            (false, _) => self.made.rows.push(row),
            (true, Ours::Is(..)) => self.made.figures.push(row),
            // Tables that compare machines have only rows with figures of ours.
            (true, Ours::AtPapersClock(..) | Ours::NotMeasured | Ours::None) => {}
        }
        Ok(())
    }
}

/// Returns the records of a sheet's loop whose values the sheet itself lists.
fn given(rows: &[toml::Table]) -> Result<Vec<Record>, PaperError> {
    let mut whole = toml::Table::new();
    let rows = rows.iter().cloned().map(toml::Value::Table).collect();
    whole.insert("given".to_owned(), toml::Value::Array(rows));
    Scope::new(&whole, &toml::Table::new()).list("given", &[], "given")
}

/// Returns our figure for a row from the value of its formula, and from the name of its source if the row has one.
fn ours(value: Value, named: Option<String>, line: &Line) -> Result<Ours, PaperError> {
    match value {
        Value::Known(Known {
            value,
            how,
            at_papers_clock,
        }) => {
            let how = match named {
                Some(name) => Some(How::named(&name)?),
                None => how,
            };
            let how = how.ok_or_else(|| {
                let (table, metric) = (&line.table, &line.metric);
                PaperError::Tables(format!(
                    "{table:?}, {metric:?}: how our figure was obtained"
                ))
            })?;
            Ok(match at_papers_clock {
                true => Ours::AtPapersClock(value, how),
                false => Ours::Is(value, how),
            })
        }
        Value::NotMeasured => Ok(Ours::NotMeasured),
        Value::None | Value::Text(_) => Ok(Ours::None),
    }
}

/// A stand-in for our figures with which a sheet is checked. Each declared list has one record. A field of it has the
/// example that the sheet gives, or counts as not measured.
pub struct Declared<'s>(&'s BTreeMap<String, Vec<String>>);

impl<'s> Declared<'s> {
    pub fn of(lists: &'s BTreeMap<String, Vec<String>>) -> Self {
        Self(lists)
    }
}

impl Figures for Declared<'_> {
    fn records(&mut self, name: &str, _: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        let fields = self.0.get(name).ok_or_else(|| no_list(name))?;
        let field = |field: &String| match field.split_once('=') {
            Some((name, example)) => (name.to_owned(), example.into()),
            None => (field.clone(), Value::NotMeasured),
        };
        Ok(vec![fields.iter().map(field).collect()])
    }
}
