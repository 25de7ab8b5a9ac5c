// SPDX-License-Identifier: Apache-2.0
//! Splits a program's inputs into those by name that a client encrypts, and those that a server takes in the clear.

use std::collections::BTreeMap;

use num_complex::Complex64;
use ringmill_isa::macros::{MacroProgram, Visibility};

/// Returns the vectors of the inputs of one kind, by name. `vectors` has one for each input of the program, in order.
pub fn of_kind(
    program: &MacroProgram,
    vectors: &[Vec<Complex64>],
    kind: Visibility,
) -> BTreeMap<String, Vec<Complex64>> {
    let declared = program.inputs.iter().zip(vectors);
    let chosen = declared.filter(|(input, _)| input.visibility == kind);
    chosen
        .map(|(input, vector)| (input.name.clone(), vector.clone()))
        .collect()
}
