// SPDX-License-Identifier: Apache-2.0
//! Finds the values of a program that the plaintext modulus must hold: those that are encrypted, encoded, tested for
//! zero, or read as outputs.

use std::collections::BTreeMap;

use ringmill_isa::macros::op::MacroMessage;
use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram, MacroValue, Refused};
use ringmill_schemes::exact::PlainModulus;

use super::IntegerRange;
use super::range::of_values;
use crate::error::{At, CompileError};

/// The ranges of the values that the plaintext modulus must hold.
pub(crate) struct Held {
    /// The range of each output.
    pub outputs: Vec<IntegerRange>,
    /// The range of each value that is tested for zero, by the result of the test.
    pub tested: BTreeMap<MacroValue, IntegerRange>,
    /// The least range that holds -1, 1, and every input, constant vector, tested value and output.
    all: IntegerRange,
    /// The name and range of the first value that reaches farthest from zero, or the range from -1 to 1 if none reaches
    /// farther.
    largest: (String, IntegerRange),
}

/// Computes the ranges of all values that are encrypted, encoded, tested for zero or read as outputs.
///
/// # Errors
/// [`CompileError::Unbounded`] for an output whose range is not known, [`CompileError::UnboundedTest`] for such a
/// tested value. [`CompileError::Refused`] for an operation that the analysis does not know.
pub(crate) fn held<E>(
    program: &MacroProgram,
    inputs: &[IntegerRange],
) -> Result<Held, CompileError<E>> {
    let values = of_values(program, inputs)?;
    let mut held = Held {
        outputs: vec![IntegerRange::up_to(0); program.outputs.len()],
        tested: BTreeMap::new(),
        all: IntegerRange::up_to(1),
        largest: ("constants".to_owned(), IntegerRange::up_to(1)),
    };
    for (input, &range) in program.inputs.iter().zip(inputs) {
        held.take(range, || format!("input {:?}", input.name));
    }
    for instr in &program.instrs {
        match (instr.op, &instr.imm) {
            (MacroOp::Encode, _) => {
                let range = instr.dst.first().and_then(|v| values.get(v.0 as usize));
                if let Some(range) = range.copied().flatten() {
                    held.take(range, || "a constant vector".to_owned());
                }
            }
            (MacroOp::Iszero, _) => {
                let range = instr.src.first().and_then(|v| values.get(v.0 as usize));
                let (Some(range), &[result]) = (range.copied().flatten(), &*instr.dst) else {
                    return Err(CompileError::UnboundedTest {
                        at: At(instr.loc.clone()),
                    });
                };
                held.take(range, || "what a program tests for zero".to_owned());
                held.tested.insert(result, range);
            }
            (MacroOp::Output, &MacroImm::Output(output)) => {
                let name = program.outputs.get(output as usize).cloned();
                let name = name.unwrap_or_default();
                let range = instr.src.first().and_then(|v| values.get(v.0 as usize));
                let Some(range) = range.copied().flatten() else {
                    return Err(CompileError::Unbounded { output: name });
                };
                held.take(range, || format!("output {name:?}"));
                if let Some(slot) = held.outputs.get_mut(output as usize) {
                    *slot = range;
                }
            }
            (op, _) => match op.columns().message {
                // Inputs are taken above; values on the way may pass the modulus and come back.
                MacroMessage::Given
                | MacroMessage::Made
                | MacroMessage::Linear
                | MacroMessage::Kept => {}
                // Tests for zero and outputs are taken above, and calls are written out before. Nothing is known of any
                // other operation that reads a number.
                MacroMessage::Read | MacroMessage::Called | MacroMessage::Unknown => {
                    let pass = "the choice of a plaintext modulus";
                    return Err(Refused::unknown(pass, instr).into());
                }
            },
        }
    }
    Ok(held)
}

impl Held {
    fn take(&mut self, range: IntegerRange, name: impl Fn() -> String) {
        let low = self.all.low().min(range.low());
        let high = self.all.high().max(range.high());
        if let Some(all) = IntegerRange::new(low, high) {
            self.all = all;
        }
        if range.magnitude() > self.largest.1.magnitude() {
            self.largest = (name(), range);
        }
    }

    /// Checks that the plaintext modulus `t` holds every encrypted, encoded, tested and output
    /// value of the program.
    ///
    /// # Errors
    /// [`CompileError::PlainRange`] unless `t` holds all of them.
    pub fn check<E>(&self, t: PlainModulus) -> Result<(), CompileError<E>> {
        if self.in_modulus(t) {
            Ok(())
        } else {
            Err(self.too_large(t.reducer().bits()))
        }
    }

    fn in_modulus(&self, t: PlainModulus) -> bool {
        let integers = t.integers(Default::default());
        integers.contains(&self.all.low()) && integers.contains(&self.all.high())
    }

    fn too_large<E>(&self, bits: u32) -> CompileError<E> {
        let (what, range) = &self.largest;
        CompileError::PlainRange {
            what: what.clone(),
            range: range.to_string(),
            bits,
        }
    }

    /// Returns a plaintext modulus with slots at ring degree 2^`log_n`, of the smallest size that
    /// holds every encrypted, encoded, tested and output value of the program.
    ///
    /// # Errors
    /// [`CompileError::PlainRange`] if there is none.
    pub fn modulus<E>(&self, log_n: u8) -> Result<PlainModulus, CompileError<E>> {
        let most = PlainModulus::MAX_BITS;
        let fits = |&bits: &u32| {
            let t = PlainModulus::batching(log_n, bits).ok()?;
            self.in_modulus(t).then_some(t)
        };
        let mut sizes = u32::from(log_n) + 2..=most;
        sizes
            .find_map(|bits| fits(&bits))
            .ok_or_else(|| self.too_large(most))
    }
}
