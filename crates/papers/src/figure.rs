// SPDX-License-Identifier: Apache-2.0
//! A figure of a paper beside ours.

use serde::Serialize;

/// How our figure was obtained.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
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
    pub ours: f64,
    pub how: How,
    /// The tool that simulated or synthesised, with its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

/// The figures as text, a heading for each table.
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
        let ratio = figure
            .paper
            .map_or(String::new(), |paper| format!("{:.3}", figure.ours / paper));
        let how = figure.how.name();
        text += &format!(
            "  {:machine$}  {:case$}  {:metric$}  {paper:>12}  {:>12}  {:8}  {ratio:>7}  {how}\n",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_agreed_fields() {
        let figure = Figure {
            machine: "ring".into(),
            table: "Table 2".into(),
            case: "Set-1".into(),
            metric: "add".into(),
            unit: "cycles".into(),
            paper: Some(1152.0),
            ours: 1100.0,
            how: How::Model,
            tool: None,
        };
        let want = r#"{"machine":"ring","table":"Table 2","case":"Set-1","metric":"add","unit":"cycles","paper":1152.0,"ours":1100.0,"how":"model"}"#;
        assert_eq!(serde_json::to_string(&figure).unwrap(), want);
        let text = table(&[figure]);
        assert!(text.contains("Table 2\n") && text.contains("1152") && text.contains("0.955"));
    }
}
