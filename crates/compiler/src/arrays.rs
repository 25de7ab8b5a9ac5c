// SPDX-License-Identifier: Apache-2.0
//! The arrays that a traced Python function takes and returns. A program has only slots, so a front end keeps the
//! shapes here to give and take the same arrays.

use ringmill_isa::macros::MacroProgram;
use serde::{Deserialize, Serialize};

/// The arrays that a traced function takes and returns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Arrays {
    /// The container in which the function returned its values, or `None` if that is unknown.
    pub returned: Option<Returned>,
    pub lengths: Lengths,
}

/// The container in which a traced function returns its values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Returned {
    One,
    Tuple,
    Dict,
}

/// The number of slots of each input and each output that hold values, from the first slot on, or `None` if all slots
/// do. The other slots of an input are zero, which the program may count on. An empty list stands for `None` in every
/// place.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lengths {
    pub inputs: Vec<Option<u32>>,
    pub outputs: Vec<Option<u32>>,
}

impl Lengths {
    /// Returns whether all slots of all inputs and outputs hold values.
    pub fn are_slots(&self) -> bool {
        self.inputs.iter().chain(&self.outputs).all(Option::is_none)
    }

    /// Returns how many slots of input number `number` hold values, or `None` if all do.
    pub fn input(&self, number: usize) -> Option<u32> {
        self.inputs.get(number).copied().flatten()
    }

    /// Returns how many slots of output number `number` hold values, or `None` if all do.
    pub fn output(&self, number: usize) -> Option<u32> {
        self.outputs.get(number).copied().flatten()
    }

    /// Checks that these lengths fit a program: each list is empty or has one entry for each input
    /// or output, and each length is from 1 to the program's slots.
    ///
    /// # Errors
    /// Returns in words which length does not fit the program.
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
