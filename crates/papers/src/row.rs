// SPDX-License-Identifier: Apache-2.0
//! A row of a reproduced table: a figure of the paper, our figure, and a remark.

use serde::Serialize;
use serde_json::{Value, json};

use crate::how::How;

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
    /// The machine whose figure the row has, or an empty text in a table that compares no machines.
    pub machine: String,
    pub table: String,
    pub case: String,
    pub metric: String,
    pub unit: String,
    /// The figure that the paper prints, or `None` if it prints none.
    pub printed: Option<f64>,
    /// The correct figure, if the one that the paper prints is known to be wrong.
    pub should_be: Option<f64>,
    pub ours: Ours,
    /// The tool that made our figure, the reason why there is none, or another remark.
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
            machine: String::new(),
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

    /// Returns the name of the source of our figure, or the reason why the row has none.
    pub fn how(&self) -> &'static str {
        match self.ours {
            Ours::Is(_, how) | Ours::AtPapersClock(_, how) => how.name(),
            Ours::NotMeasured => "not measured",
            Ours::None => "none",
        }
    }

    /// Returns a row that compares machines as an object for JSON, whose fields keep their order.
    pub fn of_machine(&self) -> impl Serialize {
        MachineRow {
            machine: &self.machine,
            table: &self.table,
            case: &self.case,
            metric: &self.metric,
            unit: &self.unit,
            paper: self.printed,
            paper_should_be: self.should_be,
            ours: self.value(),
            how: self.how(),
            tool: self.remark.as_deref(),
        }
    }

    /// Returns a row that compares no machines as an object for JSON. `machine` is the machine of the paper.
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

/// A row of a table that compares machines, as JSON has it.
#[derive(Serialize)]
struct MachineRow<'r> {
    machine: &'r str,
    table: &'r str,
    case: &'r str,
    metric: &'r str,
    unit: &'r str,
    paper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paper_should_be: Option<f64>,
    ours: Option<f64>,
    how: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'r str>,
}

/// Formats rows as text tables for people, with a heading for each table. The column `ours/p.` is our figure divided by
/// the paper's, or by the correct figure if the paper's is wrong. Tables whose figures assume the paper's clock
/// frequency have a column for them. Tables that compare machines name them first, and the correct figure last.
pub fn table(rows: &[Row]) -> String {
    let width = |f: fn(&Row) -> usize| rows.iter().map(f).max().unwrap_or(0);
    let (machine, case, metric) = (
        width(|r| r.machine.len()),
        width(|r| r.case.len()),
        width(|r| r.metric.len()),
    );
    let of_machines = machine > 0;
    let column = |there: bool, text: &str, width: usize| match there {
        true => format!("  {text:>width$}"),
        false => String::new(),
    };
    let named = |name: &str| match of_machines {
        true => format!("  {name:machine$}"),
        false => String::new(),
    };
    let mut text = String::new();
    for rows in rows.chunk_by(|a, b| a.table == b.table) {
        let clocked = rows.iter().any(|row| row.at_papers_clock().is_some());
        text += &format!(
            "\n{}\n{}  {:case$}  {:metric$}  {:>12}{}  {:>12}{}  {:8}  {:>7}  how\n",
            rows[0].table,
            named("machine"),
            "case",
            "metric",
            "paper",
            column(!of_machines, "should be", 12),
            "ours",
            column(clocked, "at its clock", 12),
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
            let remark = match (of_machines, &row.remark) {
                (true, _) if row.should_be.is_some() => {
                    format!("; the paper's should be {should_be}")
                }
                (false, Some(remark)) => format!(": {remark}"),
                (true, _) | (false, None) => String::new(),
            };
            text += &format!(
                "{}  {:case$}  {:metric$}  {:>12}{}  {:>12}{}  {:8}  {ratio:>7}  {}{remark}\n",
                named(&row.machine),
                row.case,
                row.metric,
                cell(row.printed),
                column(!of_machines, &should_be, 12),
                cell(row.value()),
                column(
                    clocked,
                    &row.at_papers_clock().map_or(String::new(), number),
                    12
                ),
                row.unit,
                row.how()
            );
        }
    }
    text
}

fn cell(figure: Option<f64>) -> String {
    figure.map_or("-".to_owned(), number)
}

/// Formats a number as text: whole numbers without decimals, others with two.
fn number(x: f64) -> String {
    if x.fract() == 0.0 {
        format!("{x:.0}")
    } else {
        format!("{x:.2}")
    }
}
