// SPDX-License-Identifier: Apache-2.0
//! Finds how large the values of a CKKS program are on a sample of its inputs.

use num_complex::Complex64;
use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram};

use crate::ckks::Options;
use crate::ckks::reference::evaluate_observed;
use crate::error::CompileError;

/// Inputs for which no value inside a program is much larger than on a sample.
#[derive(Clone, Copy, Debug)]
pub struct Like<'a> {
    /// The sample: one vector for each input.
    pub sample: &'a [Vec<Complex64>],
    /// The factor by which a value may exceed its largest on the sample.
    pub margin: f64,
}

impl<'a> Like<'a> {
    /// Returns the sample of the options, or `None` if they have none.
    pub fn of(options: &'a Options) -> Option<Self> {
        let sample = options.sample.as_ref()?;
        let margin = options.margin;
        Some(Self { sample, margin })
    }
}

/// Returns for each value the size that it may have for inputs like a sample: the margin times the absolute value of
/// its largest slot on the sample.
pub fn sizes(managed: &MacroProgram, like: Like<'_>) -> Result<Vec<f64>, CompileError> {
    let mut typical = vec![f64::INFINITY; managed.types.len()];
    evaluate_observed(managed, like.sample, &mut |value, slots| {
        if let Some(size) = typical.get_mut(value.0 as usize) {
            let largest = slots.iter().map(|x| x.norm()).fold(0.0, f64::max);
            *size = like.margin * largest;
        }
    })?;
    Ok(typical)
}

/// Returns for each output its largest absolute value on the sample, rounded down to a power of two, or `None` if the
/// value is not finite or no instruction writes the output. `typical` has `margin` times the largest absolute value of
/// each value.
pub fn largest_outputs(managed: &MacroProgram, typical: &[f64], margin: f64) -> Vec<Option<f64>> {
    let mut largest = vec![None; managed.outputs.len()];
    for instr in &managed.instrs {
        if let (MacroOp::Output, &MacroImm::Output(o), &[value]) =
            (instr.op, &instr.imm, instr.src.as_slice())
            && let Some(place) = largest.get_mut(o as usize)
        {
            let size = typical.get(value.0 as usize).map(|size| size / margin);
            *place = size
                .filter(|size| size.is_finite())
                .map(|size| size.log2().floor().exp2());
        }
    }
    largest
}
