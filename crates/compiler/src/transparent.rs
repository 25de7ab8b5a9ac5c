//! Which ciphertexts are open: `x - x`, `x * 0` and what is made of them are ciphertexts that everybody can read, whoever
//! holds the key. An output that is one is refused, as a constant needs no encryption. Where a program only uses such a
//! value beside others it is right and is left alone; key switching then adds no error to it.

use std::collections::BTreeMap;

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue};

use crate::error::{At, CompileError};
use crate::rewrite::is_cipher;

/// Lets a program be whose outputs all hang on what is encrypted, as far as its instructions show.
///
/// # Errors
/// [`CompileError::Transparent`] with the line that made the first output that does not.
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

/// Whole multiples of ciphertexts that a ciphertext is the sum of, beside plaintexts: by the value that is the ciphertext.
type Terms = BTreeMap<u32, f64>;

/// Terms kept of a sum; one of more is a ciphertext of its own.
const TERMS: usize = 8;

/// How the ciphertexts of one program are sums of others, found as its instructions are walked in order.
pub(crate) struct Sums<'a> {
    types: &'a [MacroType],
    terms: Vec<Terms>,
    /// Of a ciphertext that is no sum: polynomials that are not zero for sure.
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

    /// How many polynomials of a value are not zero for sure: 1 of an open ciphertext and of a plaintext.
    pub fn polynomials(&self, value: MacroValue) -> u8 {
        let terms = self.terms.get(value.0 as usize).into_iter().flatten();
        let sizes = terms.filter_map(|(&term, _)| self.sizes.get(term as usize));
        sizes.copied().max().unwrap_or(1)
    }

    /// Finds the sums that an instruction's results are.
    pub fn step(&mut self, instr: &MacroInstr) {
        let sizes: Vec<u8> = instr.src.iter().map(|&v| self.polynomials(v)).collect();
        let (a, b) = (instr.src.first(), instr.src.get(1));
        let size = sizes.first().copied().unwrap_or(1);
        for &d in &instr.dst {
            let terms = match instr.op {
                MacroOp::Add => self.sum(a, b, 1.0),
                MacroOp::Sub => self.sum(a, b, -1.0),
                MacroOp::Neg => self.sum(None, a, -1.0),
                MacroOp::Addc | MacroOp::Modswitch => self.sum(a, None, 1.0),
                MacroOp::Relin if size < 3 => self.sum(a, None, 1.0),
                MacroOp::Mulc => match instr.imm {
                    MacroImm::Constant { value, scale }
                        if value == 0.0
                            || value.fract() == 0.0 && scale.is_none_or(|scale| scale == 1.0) =>
                    {
                        self.sum(None, a, value)
                    }
                    _ => self.own(d, size),
                },
                MacroOp::Input if is_cipher(self.types, d) => self.own(d, 2),
                MacroOp::Input | MacroOp::Encode | MacroOp::Output => Terms::new(),
                // Of programs whose calls stay: of what they give nothing is known but that arguments hide in it.
                MacroOp::Call | MacroOp::Repeat => self.own(d, 2),
                // (c_0, .. c_i) times (d_0, .. d_j) has i + j + 1 polynomials.
                MacroOp::Mul => self.own(d, sizes.iter().sum::<u8>().saturating_sub(1)),
                MacroOp::Square => self.own(d, 2 * size - 1),
                MacroOp::Relin => self.own(d, 2),
                // Products, of what is not open.
                MacroOp::Iszero => self.own(d, size.min(2)),
                MacroOp::Bootstrap => self.own(d, 2),
                MacroOp::Rescale
                | MacroOp::Refactor
                | MacroOp::Quotient
                | MacroOp::Conj
                | MacroOp::Rotate
                | MacroOp::Hrotate => self.own(d, size),
                // The last pass's.
                MacroOp::Load | MacroOp::Morph | MacroOp::Ksw => self.own(d, size),
            };
            let terms = if terms.len() > TERMS {
                self.own(d, sizes.iter().copied().max().unwrap_or(1))
            } else {
                terms
            };
            if let Some(slot) = self.terms.get_mut(d.0 as usize) {
                *slot = terms;
            }
        }
    }

    /// A ciphertext of its own of so many polynomials; none where that is open.
    fn own(&mut self, value: MacroValue, size: u8) -> Terms {
        if size < 2 {
            return Terms::new();
        }
        if let Some(slot) = self.sizes.get_mut(value.0 as usize) {
            *slot = size;
        }
        Terms::from([(value.0, 1.0)])
    }

    /// a + factor b.
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
