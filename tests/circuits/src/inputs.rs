// SPDX-License-Identifier: Apache-2.0
//! A program's inputs by name, as clients and servers take them.

use std::collections::BTreeMap;

use num_complex::Complex64;
use ringmill_isa::macros::{MacroProgram, Visibility};

/// The vectors of the inputs of one kind; `vectors` are those of all inputs, in order.
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
