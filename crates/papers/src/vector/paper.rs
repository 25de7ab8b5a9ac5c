// SPDX-License-Identifier: Apache-2.0
//! What the paper prints.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::PaperError;
use crate::tables::{self, Cell};

#[derive(Debug, Deserialize)]
pub struct LogisticRegression {
    pub bootstraps: f64,
    #[serde(rename = "macro")]
    pub macros: f64,
    pub mid: f64,
    pub micro: f64,
    pub seconds: f64,
}

#[derive(Debug, Deserialize)]
pub struct Vector {
    /// Table 1: parameter, least, most, example.
    pub parameter_ranges: Vec<(String, Cell, Cell, Cell)>,
    /// Table 4: name, um^2, power, and what the paper's butterfly saves of each.
    pub butterfly: Vec<(String, f64, f64)>,
    pub butterfly_saved_percent: Saved,
    /// Table 7: opcode and how often.
    pub sigmoid_instructions: BTreeMap<String, f64>,
    /// Table 8: milliseconds of HElib, microseconds of the machine.
    pub helib_ms: BTreeMap<String, f64>,
    pub us: BTreeMap<String, f64>,
    pub logistic_regression: LogisticRegression,
    /// Table 5: memory, capacity as printed, round trip in nanoseconds.
    pub memory_levels: Vec<(String, String, f64)>,
    /// Table 6: component, MHz, mm2, W, throughput as printed.
    pub elements: Vec<(String, f64, toml::Value, toml::Value, toml::Value)>,
    pub base_extension: BaseExtension,
    pub ntt_multipliers: BTreeMap<String, f64>,
    pub bootstrap_ms: f64,
    pub helib_bootstrap_s: f64,
    pub bootstrap_speedup: f64,
    pub logistic_regression_more: LogisticRegressionMore,
    pub ctb: Ctb,
    pub others: Others,
}

#[derive(Debug, Deserialize)]
pub struct Saved {
    pub area: f64,
}

#[derive(Debug, Deserialize)]
pub struct LogisticRegressionMore {
    pub helib_bootstraps_s: f64,
    pub speedup_at_least: f64,
}

/// What the text says of the ciphertext buffer (section 5).
#[derive(Debug, Deserialize)]
pub struct Ctb {
    pub distant_traffic_percent: f64,
}

/// Other accelerators, as section 8.4 quotes them: speed-ups over software, and F1's bootstrap.
#[derive(Debug, Deserialize)]
pub struct Others {
    pub f1_bootstrap_ms: f64,
    pub heaws: f64,
    pub heax: f64,
    pub medha: f64,
}

/// What the text says of the multiply-accumulate unit's base extension (section 6.3).
#[derive(Debug, Deserialize)]
pub struct BaseExtension {
    pub table_polynomials: u64,
    pub weighted_sums: u64,
    pub mac_speedup: f64,
    pub ctb_use_percent: f64,
}

pub fn vector() -> Result<Vector, PaperError> {
    tables::of("vector")
}
