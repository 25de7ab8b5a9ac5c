// SPDX-License-Identifier: Apache-2.0
//! Proves assertions over the RTL with a solver: Yosys reads the sources, bitwuzla decides.

use serde::{Deserialize, Serialize};

use crate::python::{self, Script};
use crate::{Hdl, HdlError, Top};

const SCRIPT: Script = Script {
    tool: "Yosys with bitwuzla",
    text: include_str!("../scripts/prove.py"),
    parts: &[],
};

/// The options of the script, beside the top.
#[derive(Serialize)]
struct Limit {
    seconds: u32,
    /// The cycles of an induction; 0 treats a pipeline as if it had no registers.
    steps: u32,
}

/// The solver's answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Holds for every input that meets the assumptions, in every cycle.
    Proved,
    /// An input breaks it.
    Refuted,
    /// The time limit came first.
    Unknown,
}

/// The outcome of one assertion.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Proof {
    /// Label of the assertion in the source, or its place.
    pub assertion: String,
    pub verdict: Verdict,
    pub seconds: f64,
    /// For a refutation: the inputs of the property module that break it, in binary.
    pub counterexample: Vec<(String, String)>,
}

pub(crate) fn prove(
    hdl: &Hdl,
    top: &Top,
    seconds: u32,
    steps: u32,
) -> Result<Vec<Proof>, HdlError> {
    let limit = Limit { seconds, steps };
    let proofs: Vec<Proof> = python::ask(hdl, &SCRIPT, top, &limit)?;
    if proofs.is_empty() {
        return Err(HdlError::Answer {
            tool: "Yosys",
            message: format!("{top} has no assertion"),
        });
    }
    Ok(proofs)
}
