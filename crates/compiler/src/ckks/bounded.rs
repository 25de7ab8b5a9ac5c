// SPDX-License-Identifier: Apache-2.0
//! Bounds that a program's author declares for values inside the program (`BOUNDED`), and a check of data against them.
//!
//! A bound is about the value, whichever instruction declares it. So it holds from the instruction that makes the value
//! on, and for everything that is computed from the value.

use std::collections::BTreeMap;

use num_complex::Complex64;
use ringmill_isa::macros::op::MacroMessage;
use ringmill_isa::macros::{Interval, MacroImm, MacroInstr, MacroOp, MacroProgram, MacroValue};

pub use crate::assumption::{Assumption, Broken};
use crate::inline::written_out;
use crate::reference::EvaluateError;
use crate::rewrite::Rewriter;

use super::reference::evaluate_observed;

fn interval(instr: &MacroInstr) -> Option<Interval> {
    match (instr.op, &instr.imm) {
        (MacroOp::Bounded, &MacroImm::Interval(interval)) => Some(interval),
        _ => None,
    }
}

/// Returns each bound that a program's author declares (`BOUNDED`), once, those in procedures first.
pub fn assumptions(program: &MacroProgram) -> Vec<Assumption> {
    let procs = program.procs.iter().flat_map(|proc| &proc.instrs);
    let mut found: Vec<Assumption> = Vec::new();
    for instr in procs.chain(&program.instrs) {
        let Some(interval) = interval(instr) else {
            continue;
        };
        let loc = instr.loc.clone();
        let assumption = Assumption { interval, loc };
        if !found.contains(&assumption) {
            found.push(assumption);
        }
    }
    found
}

/// Returns the declared interval of each value that a `BOUNDED` reads, itself or after instructions that keep the
/// message, by the value's number. Several intervals of one value are intersected. The program has no calls.
pub(crate) fn values(program: &MacroProgram) -> BTreeMap<u32, Interval> {
    let mut said: BTreeMap<u32, Interval> = BTreeMap::new();
    for instr in program.instrs.iter().rev() {
        if instr.op.columns().message != MacroMessage::Kept {
            continue;
        }
        let (&[a], &[d]) = (instr.src.as_slice(), instr.dst.as_slice()) else {
            continue;
        };
        let later = said.get(&d.0).copied();
        for interval in interval(instr).into_iter().chain(later) {
            let both = said.get(&a.0).map_or(interval, |known| Interval {
                lowest: known.lowest.max(interval.lowest),
                highest: known.highest.min(interval.highest),
            });
            said.insert(a.0, both);
        }
    }
    said
}

/// Evaluates a program without encryption. Returns its outputs, and the first value that lies outside its declared
/// bound.
///
/// # Errors
/// Fails like [`evaluate`](super::reference::evaluate).
pub fn evaluate(
    program: &MacroProgram,
    inputs: &[Vec<Complex64>],
) -> Result<(Vec<Vec<Complex64>>, Option<Broken>), EvaluateError> {
    let program = &*written_out(program)?;
    let mut words: BTreeMap<MacroValue, Assumption> = BTreeMap::new();
    for instr in &program.instrs {
        if let (Some(interval), Some(&d)) = (interval(instr), instr.dst.first()) {
            let loc = instr.loc.clone();
            words.insert(d, Assumption { interval, loc });
        }
    }
    let mut broken = None;
    let outputs = evaluate_observed(program, inputs, &mut |value, slots| {
        let Some(assumption) = words.get(&value).filter(|_| broken.is_none()) else {
            return;
        };
        let mut slots = slots.iter().enumerate();
        let outside = slots.find(|(_, z)| !assumption.interval.contains(z.re, z.im));
        broken = outside.map(|(slot, &value)| Broken {
            assumption: assumption.clone(),
            slot,
            value,
        });
    })?;
    Ok((outputs, broken))
}

/// Returns the program without its `BOUNDED` instructions, which only declare bounds and compute
/// nothing at run time.
pub(crate) fn without(program: MacroProgram) -> MacroProgram {
    if !program.instrs.iter().any(|i| i.op == MacroOp::Bounded) {
        return program;
    }
    let (mut out, body) = Rewriter::new(program);
    for instr in &body.instrs {
        match (instr.op, instr.src.as_slice(), instr.dst.as_slice()) {
            (MacroOp::Bounded, &[a], &[d]) => {
                let value = out.get(a);
                out.set(d, value);
            }
            _ => out.copy(instr, &body.types),
        }
    }
    out.finish()
}
