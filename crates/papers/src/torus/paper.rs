// SPDX-License-Identifier: Apache-2.0
//! What the paper prints.

use serde::Deserialize;

use crate::error::PaperError;
use crate::tables::{self, Cell};

#[derive(Debug, Deserialize)]
pub struct SecurityBits {
    pub lwe: f64,
    pub rlwe: f64,
}

#[derive(Debug, Deserialize)]
pub struct Torus {
    /// Table I: step, sub-step, cycles.
    pub step_cycles: Vec<(String, String, String)>,
    /// Table II: class, members, width, whether they are prime.
    pub special_numbers: Vec<(String, String, String, String)>,
    /// Table III: set, n, N, levels, Bg, t, bits of security.
    pub parameter_sets: Vec<(u32, u32, u32, u32, u32, Cell, f64)>,
    pub security_bits: SecurityBits,
    /// Tables IV and VI: a design and its columns. Table V: design, platform, GB/s, link, factor.
    pub ntt_designs: Vec<Vec<Cell>>,
    pub bootstrap_designs: Vec<Vec<Cell>>,
    pub bandwidth: Vec<(String, String, f64, String, f64)>,
}

pub fn torus() -> Result<Torus, PaperError> {
    tables::of("torus")
}
