//! What the paper prints.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::paper::TABLES;
use super::super::torus::Cell;
use crate::error::CliError;

#[derive(Debug, Deserialize)]
pub struct LogisticRegression {
    pub bootstraps: f64,
    #[serde(rename = "macro")]
    pub macros: f64,
    pub mid: f64,
}

#[derive(Debug, Deserialize)]
pub struct Vector {
    /// Table 1: parameter, least, most, example.
    pub parameter_ranges: Vec<(String, Cell, Cell, Cell)>,
    /// Table 7: opcode and how often.
    pub sigmoid_instructions: BTreeMap<String, f64>,
    /// Table 8: milliseconds of HElib, microseconds of the machine.
    pub helib_ms: BTreeMap<String, f64>,
    pub us: BTreeMap<String, f64>,
    pub logistic_regression: LogisticRegression,
}

pub fn vector() -> Result<Vector, CliError> {
    #[derive(Deserialize)]
    struct Tables {
        vector: Vector,
    }
    let tables: Tables = toml::from_str(TABLES)
        .map_err(|e| CliError::Usage(format!("the built-in paper tables: {e}")))?;
    Ok(tables.vector)
}
