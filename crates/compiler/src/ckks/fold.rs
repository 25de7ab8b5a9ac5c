// SPDX-License-Identifier: Apache-2.0
//! Simplifies a CKKS program where that saves work, levels or keys. Uniform vectors become constants, neutral
//! operations go, signs and constants are gathered, and a product of a value with itself becomes a square.

use std::collections::HashMap;

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroValue};
use ringmill_isa::source::SourceLoc;

use crate::rewrite::{CIPHER, Rewriter, is_cipher, use_counts};

/// Simplifies a CKKS program without levels by algebraic rules.
pub(crate) fn run(source: MacroProgram) -> MacroProgram {
    let uses = use_counts(&source.instrs, source.types.len());
    let (out, body) = Rewriter::new(source);
    let mut folder = Folder {
        out,
        made_by: Vec::new(),
        uses: Vec::new(),
        uniform: HashMap::new(),
        scaled: HashMap::new(),
    };
    for instr in &body.instrs {
        let is_cipher_result =
            instr.dst.len() == 1 && instr.dst.iter().all(|&v| is_cipher(&body.types, v));
        if is_cipher_result && instr.op != MacroOp::Input && instr.op != MacroOp::Hrotate {
            let src: Vec<MacroValue> = instr.src.iter().map(|&v| folder.out.get(v)).collect();
            let new = folder.simplify(instr, &src);
            folder.note(new, uses[instr.dst[0].0 as usize]);
            folder.out.set(instr.dst[0], new);
        } else {
            folder.out.copy(instr, &body.types);
            for &old in &instr.dst {
                let new = folder.out.get(old);
                folder.note(new, uses[old.0 as usize]);
            }
        }
    }
    folder.out.finish()
}

struct Folder {
    out: Rewriter,
    /// For each value of the simplified program, the index of the instruction that makes it.
    made_by: Vec<u32>,
    /// For each value of the simplified program, how often instructions of the original program
    /// read the values that it replaces.
    uses: Vec<u32>,
    /// For each constant vector, by its index, the number that stands in all its slots, or `None`
    /// if its slots differ.
    uniform: HashMap<u32, Option<f64>>,
    /// For each constant vector and factor, by the vector's index and the factor's bits, the index
    /// of the product vector. `None` marks a vector that cannot be scaled.
    scaled: HashMap<(u32, u64), Option<u32>>,
}

impl Folder {
    /// Counts `uses` further reads of a value of the simplified program. If the value is new,
    /// records that the last instruction makes it.
    fn note(&mut self, new: MacroValue, uses: u32) {
        let values = self.out.program.types.len();
        self.uses.resize(values, 0);
        self.uses[new.0 as usize] += uses;
        let last = self.out.program.instrs.len().saturating_sub(1) as u32;
        self.made_by.resize(values, last);
    }

    fn def(&self, value: MacroValue) -> &MacroInstr {
        &self.out.program.instrs[self.made_by[value.0 as usize] as usize]
    }

    fn single_use(&self, value: MacroValue) -> bool {
        self.uses[value.0 as usize] <= 1
    }

    /// Returns the operand of the unary instruction that made `value`, or `None` if its operation is not `op`.
    fn operand_of(&self, op: MacroOp, value: MacroValue) -> Option<MacroValue> {
        let def = self.def(value);
        if def.op == op {
            def.src.first().copied()
        } else {
            None
        }
    }

    /// Returns the operand and the constant of the instruction that made `value`, or `None` if its operation is not
    /// `op` (`ADDC` or `MULC`).
    fn constant_of(&self, op: MacroOp, value: MacroValue) -> Option<(MacroValue, f64)> {
        match (self.operand_of(op, value)?, &self.def(value).imm) {
            (a, MacroImm::Constant { value, .. }) => Some((a, *value)),
            _ => None,
        }
    }

    /// Returns the index of the constant vector that `value` encodes, or `None` if it encodes none.
    fn data_of(&self, value: MacroValue) -> Option<u32> {
        match (self.def(value).op, &self.def(value).imm) {
            (MacroOp::Encode, MacroImm::Data(d)) => Some(*d),
            _ => None,
        }
    }

    /// Returns the real number that stands in every slot of the constant vector that `value` encodes, or `None` if
    /// there is no such number.
    fn uniform(&mut self, value: MacroValue) -> Option<f64> {
        let index = self.data_of(value)?;
        let vector = &self.out.program.data[index as usize];
        *self.uniform.entry(index).or_insert_with(|| {
            let &(re, im) = vector.first()?;
            (im == 0.0 && vector.iter().all(|&x| x == (re, 0.0))).then_some(re)
        })
    }

    fn emit(
        &mut self,
        op: MacroOp,
        src: Vec<MacroValue>,
        imm: MacroImm,
        loc: &Option<SourceLoc>,
    ) -> MacroValue {
        let new = self.out.push(op, src, imm, CIPHER, loc);
        self.note(new, 0);
        new
    }

    /// Emits instructions that replace `instr`, whose operands in the simplified program are `src`,
    /// or finds a value that already equals its result.
    fn simplify(&mut self, instr: &MacroInstr, src: &[MacroValue]) -> MacroValue {
        let loc = &instr.loc;
        match (instr.op, src, &instr.imm) {
            (MacroOp::Square | MacroOp::Rotate | MacroOp::Conj, &[a], _) if self.is_zero(a) => a,
            (MacroOp::Add, &[a, b], _) => self.add(a, b, loc),
            (MacroOp::Sub, &[a, b], _) => self.sub(a, b, loc),
            (MacroOp::Mul, &[a, b], _) => self.mul(a, b, loc),
            (MacroOp::Neg, &[a], _) => self.neg(a, loc),
            (MacroOp::Addc, &[a], &MacroImm::Constant { value, .. }) => self.addc(a, value, loc),
            (MacroOp::Mulc, &[a], &MacroImm::Constant { value, .. }) => self.mulc(a, value, loc),
            (MacroOp::Rotate, &[a], MacroImm::Steps(steps)) => {
                self.rotate(a, steps.iter().map(|&s| i64::from(s)).sum(), loc)
            }
            (MacroOp::Conj, &[a], _) => match self.operand_of(MacroOp::Conj, a) {
                Some(inner) => inner,
                None => self.emit(MacroOp::Conj, vec![a], MacroImm::None, loc),
            },
            // An instruction that no rule simplifies stays as it is.
            _ => self.emit(instr.op, src.to_vec(), instr.imm.clone(), loc),
        }
    }

    /// Returns whether every slot of a ciphertext is zero for sure: it is a product with 0, the form that all zero
    /// ciphertexts have here.
    fn is_zero(&self, value: MacroValue) -> bool {
        matches!(self.constant_of(MacroOp::Mulc, value), Some((_, 0.0)))
    }

    fn add(&mut self, a: MacroValue, b: MacroValue, loc: &Option<SourceLoc>) -> MacroValue {
        if self.is_zero(b) {
            return a;
        }
        if self.is_zero(a) && is_cipher(&self.out.program.types, b) {
            return b;
        }
        if let Some(c) = self.uniform(b) {
            return self.addc(a, c, loc);
        }
        if let Some(negated) = self.operand_of(MacroOp::Neg, b) {
            return self.sub(a, negated, loc);
        }
        let b_is_cipher = is_cipher(&self.out.program.types, b);
        match self.operand_of(MacroOp::Neg, a) {
            Some(negated) if b_is_cipher => self.sub(b, negated, loc),
            _ => self.emit(MacroOp::Add, vec![a, b], MacroImm::None, loc),
        }
    }

    fn sub(&mut self, a: MacroValue, b: MacroValue, loc: &Option<SourceLoc>) -> MacroValue {
        if a == b {
            return self.mulc(a, 0.0, loc);
        }
        if self.is_zero(b) {
            return a;
        }
        if self.is_zero(a) && is_cipher(&self.out.program.types, b) {
            return self.neg(b, loc);
        }
        if let Some(c) = self.uniform(b) {
            return self.addc(a, -c, loc);
        }
        match self.operand_of(MacroOp::Neg, b) {
            Some(negated) => self.emit(MacroOp::Add, vec![a, negated], MacroImm::None, loc),
            None => self.emit(MacroOp::Sub, vec![a, b], MacroImm::None, loc),
        }
    }

    fn neg(&mut self, a: MacroValue, loc: &Option<SourceLoc>) -> MacroValue {
        if self.is_zero(a) {
            return a;
        }
        if let Some(inner) = self.operand_of(MacroOp::Neg, a) {
            return inner;
        }
        match self.constant_of(MacroOp::Mulc, a) {
            Some((inner, c)) if self.single_use(a) => self.mulc(inner, -c, loc),
            _ => self.emit(MacroOp::Neg, vec![a], MacroImm::None, loc),
        }
    }

    fn addc(&mut self, a: MacroValue, c: f64, loc: &Option<SourceLoc>) -> MacroValue {
        if c == 0.0 {
            return a;
        }
        match self.constant_of(MacroOp::Addc, a) {
            Some((inner, first)) if (first + c).is_finite() => {
                let sum = first + c;
                if sum == 0.0 {
                    inner
                } else {
                    self.emit(MacroOp::Addc, vec![inner], constant(sum), loc)
                }
            }
            _ => self.emit(MacroOp::Addc, vec![a], constant(c), loc),
        }
    }

    fn mulc(&mut self, a: MacroValue, c: f64, loc: &Option<SourceLoc>) -> MacroValue {
        if c == 1.0 || self.is_zero(a) {
            return a;
        }
        if c == -1.0 {
            return self.neg(a, loc);
        }
        if let Some(negated) = self.operand_of(MacroOp::Neg, a) {
            return self.mulc(negated, -c, loc);
        }
        if let Some((inner, first)) = self.constant_of(MacroOp::Mulc, a) {
            let product = first * c;
            if product.is_normal() {
                return self.mulc(inner, product, loc);
            }
        }
        if let (&[x, v], true) = (self.def(a).src.as_slice(), self.single_use(a))
            && self.def(a).op == MacroOp::Mul
            && let Some(scaled) = self.scaled(v, c, loc)
        {
            return self.emit(MacroOp::Mul, vec![x, scaled], MacroImm::None, loc);
        }
        self.emit(MacroOp::Mulc, vec![a], constant(c), loc)
    }

    fn mul(&mut self, a: MacroValue, b: MacroValue, loc: &Option<SourceLoc>) -> MacroValue {
        if let Some(c) = self.uniform(b) {
            return self.mulc(a, c, loc);
        }
        if self.is_zero(a) {
            return a;
        }
        if self.is_zero(b) {
            return b;
        }
        if a == b {
            return self.emit(MacroOp::Square, vec![a], MacroImm::None, loc);
        }
        if let Some((inner, c)) = self.constant_of(MacroOp::Mulc, a)
            && self.single_use(a)
            && let Some(scaled) = self.scaled(b, c, loc)
        {
            return self.emit(MacroOp::Mul, vec![inner, scaled], MacroImm::None, loc);
        }
        self.emit(MacroOp::Mul, vec![a, b], MacroImm::None, loc)
    }

    /// Returns the constant vector `v` times `c`, encoded as a new constant vector. Returns `None` if `v` is no
    /// constant vector, or if a slot would overflow or lose precision.
    fn scaled(&mut self, v: MacroValue, c: f64, loc: &Option<SourceLoc>) -> Option<MacroValue> {
        let data = self.data_of(v)?;
        let table = &mut self.out.program.data;
        let index = *self.scaled.entry((data, c.to_bits())).or_insert_with(|| {
            let fits = |x: f64| x == 0.0 || (x * c).is_normal();
            let vector = table.get(data as usize)?;
            if !vector.iter().all(|&(re, im)| fits(re) && fits(im)) {
                return None;
            }
            let scaled = vector.iter().map(|&(re, im)| (re * c, im * c)).collect();
            table.push(scaled);
            Some((table.len() - 1) as u32)
        });
        let index = index?;
        let ty = self.out.ty(v);
        let new = self
            .out
            .push(MacroOp::Encode, Vec::new(), MacroImm::Data(index), ty, loc);
        self.note(new, 0);
        Some(new)
    }

    /// Emits a rotation. The number of slots by which it rotates is reduced to `1 .. slots`, so equal rotations share a
    /// key. A rotation of a rotation that nothing else reads becomes one with it.
    fn rotate(&mut self, a: MacroValue, steps: i64, loc: &Option<SourceLoc>) -> MacroValue {
        let steps = steps.rem_euclid(i64::from(self.out.program.slots));
        if steps == 0 {
            return a;
        }
        if let (Some(inner), MacroImm::Steps(first), true) = (
            self.operand_of(MacroOp::Rotate, a),
            &self.def(a).imm,
            self.single_use(a),
        ) {
            let total = steps + first.iter().map(|&s| i64::from(s)).sum::<i64>();
            return self.rotate(inner, total, loc);
        }
        self.emit(
            MacroOp::Rotate,
            vec![a],
            MacroImm::Steps(vec![steps as i32]),
            loc,
        )
    }
}

fn constant(value: f64) -> MacroImm {
    MacroImm::Constant { value, scale: None }
}
