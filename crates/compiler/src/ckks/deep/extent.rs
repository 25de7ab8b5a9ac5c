// SPDX-License-Identifier: Apache-2.0
//! Finds how large the values are that a program bootstraps.

use ringmill_isa::macros::{MacroOp, MacroProgram, Refused};

use crate::ckks::range::{InputRange, Spans};
use crate::ckks::span::Span;

/// Returns a bound on the absolute values that the `BOOTSTRAP`s of a program with levels take as
/// operands, and whether all of them are real. Returns `None` for a program that bootstraps none.
///
/// # Errors
/// Fails for an operation that the analysis of ranges does not know.
pub fn refreshed(
    managed: &MacroProgram,
    ranges: &[InputRange],
) -> Result<Option<(f64, bool)>, Refused> {
    let mut spans = Spans::new(managed, ranges, true);
    let mut found: Option<(f64, bool)> = None;
    for instr in &managed.instrs {
        if let (MacroOp::Bootstrap, &[value]) = (instr.op, instr.src.as_slice()) {
            let span = spans.get(value);
            let real = matches!(span, Span::Real { .. });
            let magnitude = span.magnitude().largest(usize::MAX);
            let (largest, all) = found.unwrap_or((0.0, true));
            found = Some((largest.max(magnitude), all && real));
        }
        spans.step(instr)?;
    }
    Ok(found)
}
