// SPDX-License-Identifier: Apache-2.0
//! A row of a reproduced table: a figure that a paper prints, beside our own figure.

use serde::{Deserialize, Serialize};

use crate::error::PaperError;

/// The way in which our figure of a row was obtained.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// The figure comes from a run of the cycle model.
    Model,
    /// The figure comes from a run of the cycle model that was checked: the RTL of that size has run the same
    /// instruction words in the same cycles.
    Lockstep,
    /// The figure was measured on this computer in this run.
    Measured,
    /// The figure comes from a simulation of the machine's RTL.
    Rtl,
    /// The figure comes from a synthesis of the machine's RTL by Yosys.
    Synthesis,
    /// The figure is a count in our program, or a calculation from other figures.
    Counted,
    /// The figure is a statement of the machine's description, such as a number of multipliers.
    Stated,
    /// The figure was measured on another computer and recorded before this run.
    Recorded,
}

impl How {
    /// Returns the source of figures that has this name in a sheet.
    pub(crate) fn named(name: &str) -> Result<Self, PaperError> {
        let name = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(name);
        Self::deserialize(name).map_err(|reason| PaperError::Tables(reason.to_string()))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Lockstep => "lockstep",
            Self::Measured => "measured",
            Self::Rtl => "rtl",
            Self::Synthesis => "synthesis",
            Self::Counted => "counted",
            Self::Stated => "stated",
            Self::Recorded => "recorded",
        }
    }
}

/// One row of a table: the paper's figure, if it prints one, and ours.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    pub machine: String,
    pub table: String,
    pub case: String,
    pub metric: String,
    pub unit: String,
    pub paper: Option<f64>,
    /// The correct figure, if the one that the paper prints is known to be wrong.
    #[serde(rename = "paper_should_be", skip_serializing_if = "Option::is_none")]
    pub should_be: Option<f64>,
    pub ours: f64,
    pub how: How,
    /// The tool that simulated or synthesised the RTL, with its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

impl Figure {
    /// Returns the row with `should_be` as the correct figure, for a row whose printed figure is wrong.
    #[must_use]
    pub fn but(self, should_be: f64) -> Self {
        Self {
            should_be: Some(should_be),
            ..self
        }
    }
}

/// Formats rows of figures as text tables for people, with a heading for each table. The column `ours/p.` is our figure
/// divided by the paper's, or by the correct figure if the paper's is wrong.
pub fn table(figures: &[Figure]) -> String {
    let mut text = String::new();
    let mut heading = "";
    let width = |f: fn(&Figure) -> usize| figures.iter().map(f).max().unwrap_or(0);
    let (machine, case, metric) = (
        width(|f| f.machine.len()),
        width(|f| f.case.len()),
        width(|f| f.metric.len()),
    );
    for figure in figures {
        if figure.table != heading {
            heading = &figure.table;
            text += &format!(
                "\n{heading}\n  {:machine$}  {:case$}  {:metric$}  {:>12}  {:>12}  {:8}  {:>7}  how\n",
                "machine", "case", "metric", "paper", "ours", "unit", "ours/p."
            );
        }
        let paper = figure.paper.map_or("-".to_owned(), number);
        let theirs = figure.should_be.or(figure.paper);
        let ratio = theirs.map_or(String::new(), |theirs| {
            format!("{:.3}", figure.ours / theirs)
        });
        let how = figure.how.name();
        let but = figure.should_be.map_or(String::new(), |should_be| {
            format!("; the paper's should be {}", number(should_be))
        });
        text += &format!(
            "  {:machine$}  {:case$}  {:metric$}  {paper:>12}  {:>12}  {:8}  {ratio:>7}  {how}{but}\n",
            figure.machine,
            figure.case,
            figure.metric,
            number(figure.ours),
            figure.unit
        );
    }
    text
}

/// Formats a number as text: whole numbers without decimals, others with two.
pub(crate) fn number(x: f64) -> String {
    if x.fract() == 0.0 {
        format!("{x:.0}")
    } else {
        format!("{x:.2}")
    }
}
