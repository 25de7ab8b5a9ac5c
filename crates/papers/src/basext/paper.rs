// SPDX-License-Identifier: Apache-2.0
//! What the paper prints.

use serde::Deserialize;

use crate::error::PaperError;
use crate::tables;

/// log N, l, log q, TP; thousands of LUT and of FF, block RAM, DSP; t_min in ns, cycles, us, area-time product in millions.
pub type UnitRow = (
    u32,
    usize,
    u32,
    usize,
    f64,
    f64,
    f64,
    f64,
    f64,
    f64,
    f64,
    f64,
);
/// Architecture, words, multipliers, adders modulo, adders, iterations, whether l and k may change.
pub type Comparison = (String, String, String, String, String, String, bool);

/// l, and microseconds of the accelerator for each.
#[derive(Debug, Deserialize)]
pub struct Accelerator {
    pub l: Vec<usize>,
    pub accelerator: Vec<f64>,
}

/// A processor with OpenFHE: microseconds with OpenMP and without, for each l.
pub type Processor = (String, Vec<f64>, Vec<f64>);

#[derive(Debug, Deserialize)]
pub struct Basext {
    /// Tables 4.7, 4.8 and 4.9, six rows each.
    pub rows: Vec<UnitRow>,
    pub iterations: Vec<(String, f64, f64, f64)>,
    pub precomputed_words: Vec<(String, String, String)>,
    /// Architecture, residues made, multipliers, adders modulo, adders.
    pub arithmetic_units: Vec<(String, String, String, String, String)>,
    pub comparison: Vec<Comparison>,
    pub openfhe_n16: Accelerator,
    pub openfhe_n14: Accelerator,
    pub openfhe_n16_by_cpu: Vec<Processor>,
    pub openfhe_n14_by_cpu: Vec<Processor>,
    pub accelerator_period_ns: f64,
}

pub fn basext() -> Result<Basext, PaperError> {
    tables::of("basext")
}
