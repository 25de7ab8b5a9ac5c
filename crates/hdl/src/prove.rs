// SPDX-License-Identifier: Apache-2.0
//! Proves assertions about the RTL with a solver: Yosys reads the sources, bitwuzla decides.

use serde::{Deserialize, Serialize};

use crate::python::{self, Script};
use crate::{Hdl, HdlError, Top};

const SCRIPT: Script = Script {
    tool: "Yosys with bitwuzla",
    text: include_str!("../scripts/prove.py"),
    parts: &[],
};

/// The options of the Python script that runs a proof. The script gets the module's sources and
/// parameters beside them.
#[derive(Serialize)]
struct Limit {
    seconds: u32,
    /// The number of cycles over which the induction goes. With 0 there is no induction, and each
    /// register counts as a wire.
    steps: u32,
}

/// The solver's verdict on one assertion about the RTL.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The assertion holds for every input that meets the assumptions. In a proof by induction it holds in every cycle
    /// after a reset if all other assertions are proved too. Without induction it holds for the module with each
    /// register replaced by a wire.
    Proved,
    /// The solver found a violation. In a proof by induction it may begin in a state of the registers that no reset
    /// leads to.
    Refuted,
    /// The solver ended without a verdict, in general because of the time limit.
    Unknown,
}

/// The verdict on one assertion about the RTL, with the seconds that the solver took.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Proof {
    /// The label of the assertion in the source, or its file and line.
    pub assertion: String,
    pub verdict: Verdict,
    pub seconds: f64,
    /// The values that violate a refuted assertion, in binary, by the names of the module's ports. A proof by induction
    /// also has the registers, and adds `@` and the number of the cycle to each name.
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
