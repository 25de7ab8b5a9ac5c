// SPDX-License-Identifier: Apache-2.0
//! Chooses a power of two for each value of a CKKS program, by which its ciphertext is smaller or larger than the
//! value.
//!
//! Each rescale rounds to the same absolute error, so the error of a small value is relatively large, and later factors
//! multiply it. In `c7 x^7`, computed as `(c7 x) x^2 x^4`, the error of a tiny `c7 x` is multiplied by x^6. With the
//! ciphertexts of `x / 8`, `c7 2^18 x` and their products, no error grows. A product with a constant or plaintext
//! can have any scale, so this costs no operation. The exponents of ciphertext products add up, and those of a
//! sum's operands are equal. Among all exponents that obey this, descent by coordinates finds some that bring the
//! ciphertexts' numbers near 1.

use ringmill_isa::macros::op::MacroNote;
use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram, MacroValue, Refused};

use super::Options;
use crate::ckks::depth::{Kind, kind};
use crate::ckks::like::{Like, sizes};
use crate::ckks::range::{InputRange, Spans};
use crate::error::CompileError;
use crate::rewrite::is_cipher;

/// The most by which an exponent may differ from 0. Products of larger ones could exceed what a label holds.
const MOST: i64 = 24;
/// The bits by which the largest amplification of an error must fall for exponents to be worth it.
const GAIN: f64 = 2.0;
/// The limit on log2 of a magnitude, since interval analysis may bound values by huge numbers.
const FARTHEST: f64 = 60.0;
/// The limit on the unknowns in one exponent. A program that needs more keeps all exponents at 0.
const MOST_UNKNOWNS: usize = 64;
/// The limit on the passes over all unknowns.
const PASSES: usize = 64;

/// An exponent as a sum of unknowns times integers: pairs of an unknown and its factor, in the order of the unknowns.
type Form = Vec<(usize, i64)>;

/// The unknowns of a program's exponents. A sum makes one unknown a sum of others.
#[derive(Default)]
struct Unknowns {
    /// For each unknown, the sum that stands for it, or `None` if it is still free.
    known: Vec<Option<Form>>,
}

impl Unknowns {
    fn free(&mut self) -> Form {
        self.known.push(None);
        vec![(self.known.len() - 1, 1)]
    }

    /// Returns a sum of free unknowns that equals `form`, or `None` if it is too long or has too large factors.
    fn resolved(&self, form: &[(usize, i64)]) -> Option<Form> {
        let mut open: Form = form.to_vec();
        let mut done = std::collections::BTreeMap::new();
        while let Some((unknown, factor)) = open.pop() {
            match self.known.get(unknown).and_then(Option::as_ref) {
                Some(known) => open.extend(known.iter().map(|&(u, f)| (u, f * factor))),
                None => *done.entry(unknown).or_insert(0) += factor,
            }
            if open.len() + done.len() > 4 * MOST_UNKNOWNS || factor.abs() > MOST {
                return None;
            }
        }
        done.retain(|_, factor| *factor != 0);
        let form: Form = done.into_iter().collect();
        (form.len() <= MOST_UNKNOWNS).then_some(form)
    }

    /// Makes two exponents equal. If no unknown has a factor of 1 or -1 in their difference, all its unknowns become 0.
    /// Returns `None` if the difference is too long or has too large factors.
    fn equate(&mut self, a: &[(usize, i64)], b: &[(usize, i64)]) -> Option<()> {
        let minus = b.iter().map(|&(unknown, factor)| (unknown, -factor));
        let difference: Form = a.iter().copied().chain(minus).collect();
        let difference = self.resolved(&difference)?;
        let last = difference.iter().rposition(|(_, factor)| factor.abs() == 1);
        match last {
            Some(place) => {
                let (unknown, sign) = difference[place];
                let mut rest = difference;
                rest.remove(place);
                for (_, factor) in &mut rest {
                    *factor *= -sign;
                }
                self.known[unknown] = Some(rest);
            }
            None => {
                for (unknown, _) in difference {
                    self.known[unknown] = Some(Form::new());
                }
            }
        }
        Some(())
    }
}

/// Returns the exponent of each value of a relinearised program, by the value's number: the value is `2^exponent` times
/// what its ciphertext holds. Returns `None` if the search finds no exponents that are much better than 0, if they are
/// too large or depend on too many unknowns, or if the program bootstraps. Outputs have the exponent 0.
///
/// # Errors
/// Fails for an operation that is not of CKKS, or a sample that does not fit the program.
pub(super) fn exponents(
    program: &MacroProgram,
    ranges: &[InputRange],
    options: &Options,
) -> Result<Option<Vec<i64>>, CompileError> {
    let kinds = program.instrs.iter().map(|instr| kind(instr, program));
    let kinds = kinds.collect::<Result<Vec<Kind>, Refused>>()?;
    let Some(forms) = forms(program, &kinds) else {
        return Ok(None);
    };
    let logs = logs(program, ranges, options)?;
    let used = |number: usize| forms[number].as_deref().zip(logs[number]);
    let values: Vec<(&[(usize, i64)], f64)> = (0..forms.len()).filter_map(used).collect();
    let chosen = descended(&values);
    let exponent = |form: &Option<Form>| -> i64 {
        let terms = form.iter().flatten();
        terms
            .map(|&(unknown, factor)| factor * chosen.get(unknown).copied().unwrap_or(0))
            .sum()
    };
    let exponents: Vec<i64> = forms.iter().map(exponent).collect();
    if exponents.iter().any(|exponent| exponent.abs() > MOST) {
        return Ok(None);
    }
    let before = amplification(program, &logs, &vec![0; exponents.len()]);
    let after = amplification(program, &logs, &exponents);
    Ok((before - after >= GAIN).then_some(exponents))
}

/// Returns log2 of the largest factor by which products multiply the error of a value's ciphertext on the way to an
/// output. `logs` has log2 of each value's size, and `2^exponent` is what a value has more than its ciphertext.
fn amplification(program: &MacroProgram, logs: &[Option<f64>], exponents: &[i64]) -> f64 {
    let log = |v: MacroValue| logs[v.0 as usize].unwrap_or(f64::NEG_INFINITY);
    let exponent = |v: MacroValue| exponents[v.0 as usize] as f64;
    let mut factors = vec![f64::NEG_INFINITY; logs.len()];
    for instr in program.instrs.iter().rev() {
        let results = instr.dst.iter().map(|d| factors[d.0 as usize]);
        let result = match instr.op {
            MacroOp::Output => 0.0,
            _ => results.fold(f64::NEG_INFINITY, f64::max),
        };
        let d = instr.dst.first().copied();
        for (place, &v) in instr.src.iter().enumerate() {
            if !is_cipher(&program.types, v) {
                continue;
            }
            let other = instr.src.get(1 - place.min(1)).copied().unwrap_or(v);
            let scaled = |by: f64| by + exponent(v) - d.map_or(0.0, exponent);
            let factor = match (instr.op.columns().note, &instr.imm) {
                (MacroNote::Product, _) if is_cipher(&program.types, other) => {
                    log(other) - exponent(other)
                }
                (MacroNote::Product, _) => scaled(log(other)),
                (_, &MacroImm::Constant { value, .. }) if instr.op == MacroOp::Mulc => {
                    scaled(value.abs().log2())
                }
                _ => 0.0,
            };
            let slot = &mut factors[v.0 as usize];
            *slot = slot.max(result + factor);
        }
    }
    factors.into_iter().fold(0.0, f64::max)
}

/// Returns the exponent of each ciphertext of a program as a sum of free unknowns, or `None` if the program has no
/// such sums. Plaintexts have none. `kinds` has each instruction's rule for levels and scales.
fn forms(program: &MacroProgram, kinds: &[Kind]) -> Option<Vec<Option<Form>>> {
    let mut unknowns = Unknowns::default();
    let mut forms: Vec<Option<Form>> = vec![None; program.types.len()];
    for (instr, kind) in program.instrs.iter().zip(kinds) {
        let forms_of = |v: &MacroValue| forms[v.0 as usize].clone();
        let operands: Vec<Form> = instr.src.iter().filter_map(forms_of).collect();
        if instr.op == MacroOp::Output {
            for operand in &operands {
                unknowns.equate(operand, &[])?;
            }
        }
        if !instr.dst.iter().any(|&d| is_cipher(&program.types, d)) {
            continue;
        }
        let form = match (kind, operands.as_slice()) {
            (Kind::Source | Kind::Constant, _) => unknowns.free(),
            (Kind::Product, [a]) if instr.op == MacroOp::Square => {
                a.iter().chain(a).copied().collect()
            }
            (Kind::Product, [a, b]) => a.iter().chain(b).copied().collect(),
            // A product with a plaintext.
            (Kind::Product, _) => unknowns.free(),
            (Kind::Sum, [a, b]) => {
                unknowns.equate(a, b)?;
                a.clone()
            }
            (Kind::Same | Kind::Rescaled, [a]) => a.clone(),
            // Bootstraps need the scale of their level, and the verifier has refused other numbers of operands.
            (Kind::Refreshed | Kind::Sum | Kind::Same | Kind::Rescaled, _) => return None,
        };
        let form = unknowns.resolved(&form)?;
        for d in &instr.dst {
            forms[d.0 as usize] = Some(form.clone());
        }
    }
    let resolved = |form: Option<Form>| match form {
        Some(form) => unknowns.resolved(&form).map(Some),
        None => Some(None),
    };
    forms.into_iter().map(resolved).collect()
}

/// Returns log2 of the largest absolute value of each value of a program, or `None` for a value that is 0 or without a
/// bound. Values are as large as on the sample of the options times their margin, if there is one, and no larger than
/// their ranges. The results are cut to the range from -60 to 60.
fn logs(
    program: &MacroProgram,
    ranges: &[InputRange],
    options: &Options,
) -> Result<Vec<Option<f64>>, CompileError> {
    let typical = match Like::of(options) {
        Some(like) => sizes(program, like)?,
        None => vec![f64::INFINITY; program.types.len()],
    };
    let mut spans = Spans::new(program, ranges, false).unrelated();
    let mut logs = vec![None; program.types.len()];
    for instr in &program.instrs {
        spans.step(instr)?;
        for &d in &instr.dst {
            let number = d.0 as usize;
            let largest = spans.get(d).magnitude().largest(usize::MAX);
            let size = largest.min(typical[number]);
            if size > 0.0 && size.is_finite() {
                logs[number] = Some(size.log2().clamp(-FARTHEST, FARTHEST));
            }
        }
    }
    Ok(logs)
}

/// Returns a number for each unknown that brings the sums of `values` near their targets, in the sense of least
/// squares.
fn descended(values: &[(&[(usize, i64)], f64)]) -> Vec<i64> {
    let unknowns = values.iter().flat_map(|(form, _)| form.iter());
    let count = unknowns.map(|&(unknown, _)| unknown + 1).max().unwrap_or(0);
    let mut users: Vec<Vec<(usize, i64)>> = vec![Vec::new(); count];
    for (number, (form, _)) in values.iter().enumerate() {
        for &(unknown, factor) in *form {
            users[unknown].push((number, factor));
        }
    }
    let mut left: Vec<f64> = values.iter().map(|&(_, target)| target).collect();
    let mut chosen = vec![0; count];
    for _ in 0..PASSES {
        let mut moved = false;
        for (unknown, users) in users.iter().enumerate() {
            let (mut along, mut length) = (0.0, 0.0);
            for &(number, factor) in users {
                along += factor as f64 * left[number];
                length += (factor * factor) as f64;
            }
            let step = (along / f64::max(length, 1.0)).round();
            if step == 0.0 {
                continue;
            }
            moved = true;
            chosen[unknown] += step as i64;
            for &(number, factor) in users {
                left[number] -= factor as f64 * step;
            }
        }
        if !moved {
            break;
        }
    }
    chosen
}
