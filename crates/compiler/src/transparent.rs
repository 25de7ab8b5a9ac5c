// SPDX-License-Identifier: Apache-2.0
//! Finds transparent ciphertexts: everybody can read `x - x`, `x * 0` and values made of them, without the key. Of
//! products with integer constants it finds those with 0 alone. An output that is transparent is refused, as a constant
//! needs no encryption. A program may use such a value beside others; key switching then adds no error to it.

use std::collections::BTreeMap;

use ringmill_isa::macros::op::{MacroKeys, MacroSize};
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue};

use crate::error::{At, CompileError};
use crate::rewrite::is_cipher;

/// Refuses a program with a transparent output. Every output must depend on encrypted inputs, as far as the
/// instructions show.
///
/// # Errors
/// [`CompileError::Transparent`] with the line that made the first transparent output.
pub(crate) fn refuse<E>(program: &MacroProgram) -> Result<(), CompileError<E>> {
    let mut sums = Sums::new(program);
    let mut made_by: Vec<Option<usize>> = vec![None; program.types.len()];
    for (number, instr) in program.instrs.iter().enumerate() {
        if let (MacroOp::Output, &MacroImm::Output(output), &[value]) =
            (instr.op, &instr.imm, instr.src.as_slice())
        {
            if sums.polynomials(value) == 1 {
                let maker = made_by[value.0 as usize].and_then(|at| program.instrs.get(at));
                let loc = maker.and_then(|m| m.loc.clone()).or(instr.loc.clone());
                let name = program.outputs.get(output as usize);
                return Err(CompileError::Transparent {
                    at: At(loc),
                    output: name.cloned().unwrap_or_default(),
                });
            }
            continue;
        }
        sums.step(instr);
        for value in &instr.dst {
            made_by[value.0 as usize] = Some(number);
        }
    }
    Ok(())
}

/// A ciphertext as a sum of whole multiples of other ciphertexts, without its plaintexts: for each of these ciphertexts
/// its factor, by the value's number.
type Terms = BTreeMap<u32, f64>;

/// The most terms of a sum that are kept. A longer sum counts as a ciphertext of its own.
const TERMS: usize = 8;

/// The values of one program, each expressed as a sum of whole multiples of ciphertexts. They are
/// found in the order of the program's instructions.
pub(crate) struct Sums<'a> {
    types: &'a [MacroType],
    terms: Vec<Terms>,
    /// For a ciphertext that is no sum, the number of its polynomials that may be nonzero.
    sizes: Vec<u8>,
}

impl<'a> Sums<'a> {
    pub fn new(program: &'a MacroProgram) -> Self {
        Self {
            types: &program.types,
            terms: vec![Terms::new(); program.types.len()],
            sizes: vec![1; program.types.len()],
        }
    }

    /// Returns how many polynomials of a value may be nonzero: 1 for a transparent ciphertext or a plaintext.
    pub fn polynomials(&self, value: MacroValue) -> u8 {
        let terms = self.terms.get(value.0 as usize).into_iter().flatten();
        let sizes = terms.filter_map(|(&term, _)| self.sizes.get(term as usize));
        sizes.copied().max().unwrap_or(1)
    }

    /// Expresses each result of an instruction as a sum of whole multiples of ciphertexts.
    pub fn step(&mut self, instr: &MacroInstr) {
        let sizes: Vec<u8> = instr.src.iter().map(|&v| self.polynomials(v)).collect();
        let largest = sizes.iter().copied().max().unwrap_or(1);
        for &d in &instr.dst {
            let terms = match self.linear(instr, largest) {
                Some(terms) => terms,
                None => {
                    let size = self.size(instr, d, &sizes, largest);
                    self.own(d, size)
                }
            };
            let terms = if terms.len() > TERMS {
                self.own(d, largest)
            } else {
                terms
            };
            if let Some(slot) = self.terms.get_mut(d.0 as usize) {
                *slot = terms;
            }
        }
    }

    /// Returns the sum of ciphertexts that a linear instruction computes. Returns `None` for another instruction, whose
    /// results are ciphertexts of their own.
    fn linear(&self, instr: &MacroInstr, largest: u8) -> Option<Terms> {
        let (a, b) = (instr.src.first(), instr.src.get(1));
        match (instr.op, &instr.imm) {
            (MacroOp::Add, _) => Some(self.sum(a, b, 1.0)),
            (MacroOp::Sub, _) => Some(self.sum(a, b, -1.0)),
            (MacroOp::Neg, _) => Some(self.sum(None, a, -1.0)),
            (MacroOp::Addc | MacroOp::Modswitch | MacroOp::Bounded, _) => {
                Some(self.sum(a, None, 1.0))
            }
            (MacroOp::Relin, _) if largest < 3 => Some(self.sum(a, None, 1.0)),
            (MacroOp::Mulc, &MacroImm::Constant { value, scale }) => {
                let whole = value.fract() == 0.0 && scale.is_none_or(|scale| scale == 1.0);
                (value == 0.0 || whole).then(|| self.sum(None, a, value))
            }
            (MacroOp::Mulc, MacroImm::Integer(0)) => Some(self.sum(None, a, 0.0)),
            _ => None,
        }
    }

    /// Returns how many polynomials of a result may be nonzero, if the result is no sum.
    fn size(&self, instr: &MacroInstr, d: MacroValue, sizes: &[u8], largest: u8) -> u8 {
        match instr.op.columns().size {
            // Operations of linked procedures, which are not linked yet.
            MacroSize::Key => 2,
            MacroSize::Lifted => 1,
            MacroSize::Given if instr.src.is_empty() => match is_cipher(self.types, d) {
                true => 2,
                false => 1,
            },
            MacroSize::Given | MacroSize::Largest => largest,
            // (c_0, .. c_i) times (d_0, .. d_j) has i + j + 1 polynomials.
            MacroSize::Product => match *sizes {
                [size] => 2 * size - 1,
                _ => sizes.iter().sum::<u8>().saturating_sub(1),
            },
            // A bootstrap encrypts anew, so its result is hidden.
            MacroSize::Two if instr.op.columns().keys == MacroKeys::Refresh => 2,
            // The result of a call counts as hidden.
            MacroSize::Relinearised | MacroSize::Declared => 2,
            MacroSize::Two | MacroSize::Morphed | MacroSize::Switched => largest.min(2),
        }
    }

    /// Returns the sum that is the value alone, once. The value is a ciphertext with `size`
    /// polynomials that may be nonzero. A transparent value gives the empty sum.
    fn own(&mut self, value: MacroValue, size: u8) -> Terms {
        if size < 2 {
            return Terms::new();
        }
        if let Some(slot) = self.sizes.get_mut(value.0 as usize) {
            *slot = size;
        }
        Terms::from([(value.0, 1.0)])
    }

    /// Returns the sum a + factor b, where a and b are sums of ciphertexts.
    fn sum(&self, a: Option<&MacroValue>, b: Option<&MacroValue>, factor: f64) -> Terms {
        let terms = |v: Option<&MacroValue>| v.and_then(|v| self.terms.get(v.0 as usize));
        let mut sum = terms(a).cloned().unwrap_or_default();
        for (&term, &times) in terms(b).into_iter().flatten() {
            *sum.entry(term).or_insert(0.0) += factor * times;
        }
        sum.retain(|_, times| *times != 0.0);
        sum
    }
}
