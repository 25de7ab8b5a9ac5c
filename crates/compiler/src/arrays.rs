// SPDX-License-Identifier: Apache-2.0
//! The arrays that a traced function takes and returns, where its program says only slots: for a front end that gives and takes
//! the same.

use ringmill_isa::macros::MacroProgram;
use serde::{Deserialize, Serialize};

/// The arrays of a traced function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Arrays {
    /// What it returned, beside its values; `None` where that is not known.
    pub returned: Option<Returned>,
    pub lengths: Lengths,
}

/// What a function returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Returned {
    One,
    Tuple,
    Dict,
}

/// How many slots of each input and each output hold values, from the first on; `None` where all do. Behind the values of an
/// input are zeros, which the program may count on. Empty lists where all slots of all hold values.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lengths {
    pub inputs: Vec<Option<u32>>,
    pub outputs: Vec<Option<u32>>,
}

impl Lengths {
    /// Whether all slots of all inputs and outputs hold values.
    pub fn are_slots(&self) -> bool {
        self.inputs.iter().chain(&self.outputs).all(Option::is_none)
    }

    /// Of input number `number`.
    pub fn input(&self, number: usize) -> Option<u32> {
        self.inputs.get(number).copied().flatten()
    }

    /// Of output number `number`.
    pub fn output(&self, number: usize) -> Option<u32> {
        self.outputs.get(number).copied().flatten()
    }

    /// Whether these can be the lengths of a program's inputs and outputs.
    ///
    /// # Errors
    /// In words, what they cannot be.
    pub fn check(&self, program: &MacroProgram) -> Result<(), String> {
        let parts = [
            ("inputs", &self.inputs, program.inputs.len()),
            ("outputs", &self.outputs, program.outputs.len()),
        ];
        for (what, lengths, expected) in parts {
            if ![0, expected].contains(&lengths.len()) {
                let got = lengths.len();
                return Err(format!(
                    "it has the lengths of {got} {what}, and the program has {expected}"
                ));
            }
            let outside = |length: &&u32| !(1..=program.slots).contains(*length);
            if let Some(length) = lengths.iter().flatten().find(outside) {
                let slots = program.slots;
                return Err(format!(
                    "an array of {length} among its {what}, expected one of 1 to {slots}"
                ));
            }
        }
        Ok(())
    }
}
