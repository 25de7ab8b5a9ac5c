// SPDX-License-Identifier: Apache-2.0
//! A figure of a paper beside ours.

use serde::{Deserialize, Serialize};

/// How our figure was obtained.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// From the cycle model.
    Model,
    /// From the cycle model; the RTL at that size has run the same words in the same cycles.
    Lockstep,
    /// On this computer.
    Measured,
    /// Counted in the simulation of the hardware description.
    Rtl,
    /// Counted after synthesis of the hardware description.
    Synthesis,
    /// Counted in our program, or calculated.
    Counted,
    /// Stated by the machine's description.
    Stated,
    /// Measured once on another computer, not in this run.
    Recorded,
}

impl How {
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

/// One row: a figure of the paper (none where it prints none) and ours.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    pub machine: String,
    pub table: String,
    pub case: String,
    pub metric: String,
    pub unit: String,
    pub paper: Option<f64>,
    /// What the paper should print, where that is known to be something else.
    #[serde(rename = "paper_should_be", skip_serializing_if = "Option::is_none")]
    pub should_be: Option<f64>,
    pub ours: f64,
    pub how: How,
    /// The tool that simulated or synthesised, with its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

impl Figure {
    /// The same beside a printed figure that should be another.
    #[must_use]
    pub fn but(self, should_be: f64) -> Self {
        Self {
            should_be: Some(should_be),
            ..self
        }
    }
}

/// The figures as text, a heading for each table. Ours is divided by what the paper should print.
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

/// Whole numbers whole, others to what the paper prints.
pub(crate) fn number(x: f64) -> String {
    if x.fract() == 0.0 {
        format!("{x:.0}")
    } else {
        format!("{x:.2}")
    }
}
