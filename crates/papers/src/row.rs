// SPDX-License-Identifier: Apache-2.0
//! A row of a reproduced table: a figure of the paper, our figure, and a remark.

use serde_json::{Value, json};

use super::figure::{How, number};

/// Our figure of a row, or the reason why the row has none.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Ours {
    Is(f64, How),
    /// The figure assumes the clock frequency that the paper states, which no open tool can confirm. Tables print it in
    /// a column of its own.
    AtPapersClock(f64, How),
    /// The figure is missing: it was printed for another architecture or computer, or it needs a tool that is missing
    /// or was not asked for.
    NotMeasured,
    /// The figure is missing because this project has nothing that corresponds to the paper's figure.
    None,
}

/// One row of a reproduced table, with a remark.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    pub table: String,
    pub case: String,
    pub metric: String,
    pub unit: String,
    /// The figure that the paper prints, or `None` if it prints none.
    pub printed: Option<f64>,
    /// The correct figure, if the one that the paper prints is known to be wrong.
    pub should_be: Option<f64>,
    pub ours: Ours,
    /// The tool that made our figure, or the reason why there is none.
    pub remark: Option<String>,
}

impl Row {
    /// Makes a row whose printed figure is right or missing.
    pub fn new(
        table: impl Into<String>,
        case: impl Into<String>,
        metric: impl Into<String>,
        unit: impl Into<String>,
        printed: Option<f64>,
        ours: Ours,
    ) -> Self {
        Self {
            table: table.into(),
            case: case.into(),
            metric: metric.into(),
            unit: unit.into(),
            printed,
            should_be: None,
            ours,
            remark: None,
        }
    }

    /// Returns the row with `should_be` as the correct figure, for a row whose printed figure is wrong.
    #[must_use]
    pub fn but(self, should_be: f64) -> Self {
        Self {
            should_be: Some(should_be),
            ..self
        }
    }

    /// Returns the row with a remark beside its figures.
    #[must_use]
    pub fn remarked(self, remark: impl Into<String>) -> Self {
        Self {
            remark: Some(remark.into()),
            ..self
        }
    }

    pub fn value(&self) -> Option<f64> {
        match self.ours {
            Ours::Is(value, _) => Some(value),
            Ours::AtPapersClock(..) | Ours::NotMeasured | Ours::None => None,
        }
    }

    /// Returns our figure if it assumes the clock frequency that the paper states, else `None`.
    pub fn at_papers_clock(&self) -> Option<f64> {
        match self.ours {
            Ours::AtPapersClock(value, _) => Some(value),
            Ours::Is(..) | Ours::NotMeasured | Ours::None => None,
        }
    }

    fn how(&self) -> &'static str {
        match self.ours {
            Ours::Is(_, how) | Ours::AtPapersClock(_, how) => how.name(),
            Ours::NotMeasured => "not measured",
            Ours::None => "none",
        }
    }

    pub fn json(&self, machine: &str) -> Value {
        let mut row = json!({
            "machine": machine,
            "table": self.table,
            "case": self.case,
            "metric": self.metric,
            "unit": self.unit,
            "paper": self.printed,
            "paper_should_be": self.should_be,
            "ours": self.value(),
            "how": self.how(),
        });
        if let Some(value) = self.at_papers_clock() {
            row["ours_at_papers_clock"] = json!(value);
        }
        if let Some(remark) = &self.remark {
            row["remark"] = json!(remark);
        }
        row
    }
}

/// Formats rows as text tables for people, with a heading for each table. The column `ours/p.` is our figure divided by
/// the paper's, or by the correct figure if the paper's is wrong. Tables whose figures assume the paper's clock
/// frequency have a column for them.
pub fn table(rows: &[Row]) -> String {
    let width = |f: fn(&Row) -> usize| rows.iter().map(f).max().unwrap_or(0);
    let (case, metric) = (width(|r| r.case.len()), width(|r| r.metric.len()));
    let mut text = String::new();
    let cell = |figure: Option<f64>| figure.map_or("-".to_owned(), number);
    for rows in rows.chunk_by(|a, b| a.table == b.table) {
        let clocked = rows.iter().any(|row| row.at_papers_clock().is_some());
        let column = |text: &str| match clocked {
            true => format!("  {text:>12}"),
            false => String::new(),
        };
        text += &format!(
            "\n{}\n  {:case$}  {:metric$}  {:>12}  {:>12}  {:>12}{}  {:8}  {:>7}  how\n",
            rows[0].table,
            "case",
            "metric",
            "paper",
            "should be",
            "ours",
            column("at its clock"),
            "unit",
            "ours/p."
        );
        for row in rows {
            let theirs = row.should_be.or(row.printed);
            let ours = row.value().or(row.at_papers_clock());
            let ratio = match (ours, theirs) {
                (Some(ours), Some(theirs)) if theirs != 0.0 => format!("{:.3}", ours / theirs),
                _ => String::new(),
            };
            let should_be = row.should_be.map_or(String::new(), number);
            let remark = row.remark.as_ref();
            let remark = remark.map_or(String::new(), |remark| format!(": {remark}"));
            text += &format!(
                "  {:case$}  {:metric$}  {:>12}  {should_be:>12}  {:>12}{}  {:8}  {ratio:>7}  {}{remark}\n",
                row.case,
                row.metric,
                cell(row.printed),
                cell(row.value()),
                column(&row.at_papers_clock().map_or(String::new(), number)),
                row.unit,
                row.how()
            );
        }
    }
    text
}
