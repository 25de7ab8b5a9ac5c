// SPDX-License-Identifier: Apache-2.0
//! Renders reports, programs and parameters as HTML pages, for Python.

use std::collections::HashMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use ringmill_runtime::html::{Along, Section, fragment, of_runs, page};
use ringmill_runtime::report::{RunReport, Sources};

use crate::errors::{DeviceError, raise};
use crate::files;
use crate::watch::interruptible;

/// Source lines of the user's program, each with file, line number and text.
pub type Lines = Vec<Line>;
type Line = (String, u32, String);

/// Converts source lines to the form in which HTML pages look them up.
pub fn sources(lines: &[Line]) -> Sources {
    let mut sources = Sources::default();
    for (file, line, text) in lines {
        sources.add(file, *line, text);
    }
    sources
}

/// A program's run with all data that its HTML page shows.
#[pyclass(frozen, module = "ringmill")]
pub struct RunPage {
    report: RunReport,
    along: Along,
}

impl RunPage {
    pub fn new(report: RunReport, along: Along) -> Self {
        Self { report, along }
    }

    /// Returns the run's report in three forms, as texts: a summary, a listing of every figure, and JSON.
    pub fn texts(&self) -> PyResult<[String; 3]> {
        let report = &self.report;
        let json = serde_json::to_string(report).map_err(raise::<DeviceError, _>)?;
        Ok([report.to_string(), report.detail().to_string(), json])
    }

    fn sections(&self, lines: &[Line]) -> Vec<Section> {
        of_runs(&[&self.report], Some(&self.along), &sources(lines))
    }

    fn title(&self) -> String {
        format!("Run of {} on {}", self.report.program, self.report.device)
    }
}

#[pymethods]
impl RunPage {
    /// Writes the run's page as one HTML file that loads no other. The file is written whole, or stays as it was.
    fn save(&self, py: Python<'_>, path: PathBuf, lines: Lines) -> PyResult<()> {
        let text = page(&self.title(), &self.sections(&lines));
        interruptible(py, move |watch| files::write(&path, watch, text.as_bytes()))?
    }

    /// Returns the run's page as a part of another HTML page, without scripts.
    fn fragment(&self, lines: Lines) -> String {
        fragment(&self.title(), &self.sections(&lines))
    }

    /// Adds the measured bits of precision of outputs, by the outputs' names. Returns the report's three texts and the
    /// page with these bits.
    fn measured(&self, bits: HashMap<String, f64>) -> PyResult<([String; 3], Self)> {
        let mut report = self.report.clone();
        for row in &mut report.precision {
            row.measured_bits = bits.get(&row.output).copied().or(row.measured_bits);
        }
        let page = Self::new(report, self.along.clone());
        Ok((page.texts()?, page))
    }

    /// Returns a table of the program's most expensive source lines, as text.
    fn profile(&self, lines: Lines) -> String {
        self.report.profile(&sources(&lines)).to_string()
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<RunPage>()
}
