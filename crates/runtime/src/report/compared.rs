// SPDX-License-Identifier: Apache-2.0
//! A comparison of one program on several devices. Each machine and the CPU has a row, and the rows print as a table,
//! as values and as JSON.

mod basis;
mod columns;
mod parameters;
mod rows;

use std::fmt;

use super::ParameterReport;
pub use basis::basis;
use columns::{COLUMNS, Column, FOR_PROGRAMS};
use parameters::{described, differing, letter};
pub use rows::{Figures, Row, Which};

/// A line of the comparison's table: the name of the device, and the cells of its row or the reason why the row has
/// none.
type Line<'a> = (String, Result<Vec<String>, &'a str>);

/// A comparison of one program on several devices: its rows, their different parameters, and the notes below the table.
#[derive(Clone, Debug)]
pub struct Comparison {
    program: String,
    rows: Vec<Row>,
    /// The different parameter sets of the rows, in the order of their first row.
    parameters: Vec<ParameterReport>,
    notes: Vec<String>,
}

impl Comparison {
    /// Makes a comparison of one program from its rows. It sets each row's speed-up over the first row of a CPU with
    /// the same parameters. `notes` are sentences to print below the table.
    pub fn new(program: &str, mut rows: Vec<Row>, notes: Vec<String>) -> Self {
        let mut parameters: Vec<ParameterReport> = Vec::new();
        for figures in rows.iter().filter_map(|row| row.figures.as_ref()) {
            if !parameters.contains(&figures.parameters) {
                parameters.push(figures.parameters.clone());
            }
        }
        let cpus: Vec<(ParameterReport, f64)> = rows
            .iter()
            .filter(|row| row.is_cpu())
            .filter_map(|row| row.figures.as_ref())
            .filter_map(|f| Some((f.parameters.clone(), f.seconds?)))
            .collect();
        for figures in rows.iter_mut().filter_map(|row| row.figures.as_mut()) {
            let cpu = cpus.iter().find(|(at, _)| *at == figures.parameters);
            let cpu = cpu.map(|&(_, cpu)| cpu);
            figures.speedup = cpu.zip(figures.seconds).and_then(|(cpu, seconds)| {
                let times = cpu / seconds;
                times.is_finite().then_some(times)
            });
        }
        Self {
            program: program.to_owned(),
            rows,
            parameters,
            notes,
        }
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the names of the columns of the rows that [`Self::values`] returns.
    pub fn keys(&self) -> Vec<&'static str> {
        let figures = COLUMNS.iter().map(|column| column.key);
        std::iter::once("case")
            .chain(figures)
            .chain(["parameters", "refused"])
            .collect()
    }

    /// Returns each row's values, one for each of [`Self::keys`]. Seconds and bytes are plain numbers, and a missing
    /// value is an empty text.
    pub fn values(&self) -> Vec<Vec<String>> {
        let row = |row: &Row| {
            let figures = row.figures.as_ref();
            let cell = |column: &Column| {
                let cell = figures.and_then(column.cell);
                cell.map_or_else(String::new, |cell| cell.raw())
            };
            let parameters = figures.map_or_else(String::new, |f| described(&f.parameters));
            std::iter::once(row.which.case.clone())
                .chain(COLUMNS.iter().map(cell))
                .chain([parameters, row.refused.clone().unwrap_or_default()])
                .collect()
        };
        self.rows.iter().map(row).collect()
    }

    /// Returns the title above the comparison's table: the program's name, and the parameters, or the number of
    /// different parameter sets that the rows have.
    pub(crate) fn title(&self) -> String {
        let program = &self.program;
        match &self.parameters[..] {
            [] => format!("Comparison of `{program}`"),
            [one] => format!("Comparison of `{program}`, all rows at {}", described(one)),
            several => format!(
                "Comparison of `{program}`, its rows at {} different sets of parameters",
                several.len()
            ),
        }
    }

    /// Returns the letter that stands for the parameter set of a row, or `None` if all rows have one parameter set.
    fn letter(&self, figures: &Figures) -> Option<String> {
        if self.parameters.len() < 2 {
            return None;
        }
        let at = self
            .parameters
            .iter()
            .position(|p| *p == figures.parameters)?;
        Some(letter(at))
    }

    /// Returns the notes below the table: the parameter sets by letter, and how the figures were obtained.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.parameters.len() > 1 {
            for (at, parameters) in self.parameters.iter().enumerate() {
                notes.push(format!(
                    "parameters {}: {}",
                    letter(at),
                    described(parameters)
                ));
            }
            notes.push(format!(
                "they differ in {}",
                differing(&self.parameters).join(", ")
            ));
        }
        notes.extend(self.notes.iter().cloned());
        notes
    }

    /// Returns the titles of the columns that people see, and each row's cells or the reason why it has none. The
    /// columns are those in which some row has a value, except [`FOR_PROGRAMS`], and the letters of parameter sets if
    /// these differ.
    pub(crate) fn shown(&self) -> (Vec<&'static str>, Vec<Line<'_>>) {
        let figures = || self.rows.iter().filter_map(|row| row.figures.as_ref());
        let columns: Vec<&Column> = COLUMNS
            .iter()
            .filter(|column| !FOR_PROGRAMS.contains(&column.key))
            .filter(|column| figures().any(|f| (column.cell)(f).is_some()))
            .collect();
        let lettered = self.parameters.len() > 1;
        let mut titles: Vec<&'static str> = columns.iter().map(|column| column.title).collect();
        if lettered {
            titles.push("parameters");
        }
        let cells = |figures: &Figures| {
            let cell = |column: &&Column| {
                let cell = (column.cell)(figures);
                cell.map_or_else(|| "-".to_owned(), |cell| cell.shown())
            };
            let cells = columns.iter().map(cell);
            cells.chain(self.letter(figures)).collect()
        };
        let rows = self.rows.iter().map(|row| {
            let why = row.refused.as_deref().unwrap_or_default();
            let cells = row.figures.as_ref().map(cells).ok_or(why);
            (row.which.case.clone(), cells)
        });
        (titles, rows.collect())
    }
}

impl fmt::Display for Comparison {
    /// Writes the comparison as text for people: the title, the table, and the notes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (titles, rows) = self.shown();
        writeln!(f, "{}", self.title())?;
        let first = rows.iter().map(|(case, _)| case.chars().count()).max();
        let first = first.unwrap_or(0);
        let width = |at: usize| {
            let cells = rows
                .iter()
                .filter_map(|(_, cells)| cells.as_ref().ok()?.get(at));
            let widths = cells.map(|cell| cell.chars().count());
            let title = titles.get(at).map_or(0, |title| title.len());
            widths.max().unwrap_or(0).max(title)
        };
        let widths: Vec<usize> = (0..titles.len()).map(width).collect();
        let mut line = format!("  {:first$}", "");
        for (title, &width) in titles.iter().zip(&widths) {
            line += &format!("  {title:>width$}");
        }
        writeln!(f, "{line}")?;
        for (case, cells) in &rows {
            let mut line = format!("  {case:first$}");
            match cells {
                Ok(cells) => {
                    for (cell, &width) in cells.iter().zip(&widths) {
                        line += &format!("  {cell:>width$}");
                    }
                }
                Err(why) => line += &format!("  refused: {why}"),
            }
            writeln!(f, "{line}")?;
        }
        for note in self.notes() {
            writeln!(f, "  {note}")?;
        }
        Ok(())
    }
}
