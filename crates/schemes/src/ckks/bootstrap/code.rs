// SPDX-License-Identifier: Apache-2.0
//! The macro instructions of a bootstrap, with the levels and scales of their values.

use std::sync::Arc;

use num_complex::Complex64;
use ringmill_isa::macros::linked::{Combination, Left, Matrix, Products};
use ringmill_isa::macros::{
    LevelNote, MacroImm, MacroInstr, MacroOp, MacroProc, MacroType, MacroValue, Note,
};
use ringmill_isa::{Galois, Level};

use super::procedure::Constant;

/// A ciphertext of two polynomials in the code of a bootstrap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub value: MacroValue,
    pub level: Level,
    pub scale: f64,
}

/// The instructions of a bootstrap, with the types of their values and the constant vectors that they read.
#[derive(Default)]
pub(super) struct Code {
    params: Vec<MacroValue>,
    instrs: Vec<MacroInstr>,
    types: Vec<MacroType>,
    pub constants: Vec<Constant>,
    /// The value of each constant's encoding.
    lifted: Vec<MacroValue>,
}

impl Code {
    fn value(&mut self, ty: MacroType) -> MacroValue {
        self.types.push(ty);
        MacroValue(self.types.len() as u32 - 1)
    }

    fn cipher(&mut self, size: u32, level: Level, scale: f64) -> MacroValue {
        let note = Note::Scale(scale);
        let at = Some(LevelNote { level, note });
        self.value(MacroType::Cipher { size, at })
    }

    /// Makes the value of the ciphertext that is bootstrapped, which is the operand of the bootstrap.
    pub fn operand(&mut self, level: Level, scale: f64) -> Value {
        let value = self.cipher(2, level, scale);
        self.params.push(value);
        Value {
            value,
            level,
            scale,
        }
    }

    fn instr(&mut self, op: MacroOp, dst: Vec<MacroValue>, src: Vec<MacroValue>, imm: MacroImm) {
        self.instrs.push(MacroInstr {
            op,
            dst,
            src,
            imm,
            loc: None,
        });
    }

    fn push(
        &mut self,
        op: MacroOp,
        src: &[Value],
        imm: MacroImm,
        level: Level,
        scale: f64,
    ) -> Value {
        let src = src.iter().map(|v| v.value).collect();
        self.push_of(op, src, imm, level, scale)
    }

    /// Appends an instruction whose operands may be constants as well.
    fn push_of(
        &mut self,
        op: MacroOp,
        src: Vec<MacroValue>,
        imm: MacroImm,
        level: Level,
        scale: f64,
    ) -> Value {
        let value = self.cipher(2, level, scale);
        self.instr(op, vec![value], src, imm);
        Value {
            value,
            level,
            scale,
        }
    }

    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.push(MacroOp::Add, &[a, b], MacroImm::None, a.level, a.scale)
    }

    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.push(MacroOp::Sub, &[a, b], MacroImm::None, a.level, a.scale)
    }

    pub fn add_constant(&mut self, a: Value, value: f64) -> Value {
        let imm = MacroImm::Constant { value, scale: None };
        self.push(MacroOp::Addc, &[a], imm, a.level, a.scale)
    }

    /// Appends the product of a value and a constant, which is rounded to a multiple of 1 / `scale`.
    pub fn mul_constant(&mut self, a: Value, value: f64, scale: f64) -> Value {
        let imm = MacroImm::Constant {
            value,
            scale: Some(scale),
        };
        self.push(MacroOp::Mulc, &[a], imm, a.level, a.scale * scale)
    }

    /// Drops primes down to a level, if the value is above it.
    pub fn at(&mut self, a: Value, level: Level) -> Value {
        match a.level > level {
            true => self.push(
                MacroOp::Modswitch,
                &[a],
                MacroImm::Level(level),
                level,
                a.scale,
            ),
            false => a,
        }
    }

    /// Appends the division of a value by `prime`, the last prime of its level.
    pub fn rescale(&mut self, a: Value, prime: u64) -> Value {
        let level = a.level.below().unwrap_or(a.level);
        let scale = a.scale / prime as f64;
        self.push(MacroOp::Rescale, &[a], MacroImm::None, level, scale)
    }

    /// Appends the sum of a value and its complex conjugate, which is twice the real part of each slot.
    pub fn two_real(&mut self, a: Value) -> Value {
        self.push(MacroOp::Tworeal, &[a], MacroImm::None, a.level, a.scale)
    }

    /// Appends the real part of each slot. Its scale is twice that of the value.
    pub fn real_part(&mut self, a: Value) -> Value {
        let twice = self.two_real(a);
        self.mul_constant(twice, 0.5, 2.0)
    }

    pub fn conjugate(&mut self, a: Value) -> Value {
        self.push(MacroOp::Conj, &[a], MacroImm::None, a.level, a.scale)
    }

    pub fn encapsulate(&mut self, a: Value) -> Value {
        self.push(MacroOp::Encapsulate, &[a], MacroImm::None, a.level, a.scale)
    }

    /// Appends the raising of a value's modulus to that of level `to`. The result is read at another scale,
    /// `scale`, so that its slots stand for other numbers.
    pub fn raise(&mut self, a: Value, to: Level, scale: f64) -> Value {
        self.push(MacroOp::Modraise, &[a], MacroImm::Level(to), to, scale)
    }

    /// Appends the product of a matrix and a value. Each row of `diagonals` has a vector for the value and one for each
    /// baby step of it, by the automorphisms `babies`, and the row adds their products. The product is the sum of the
    /// rows, each under its giant step of `giants`, and of the last row as it is. The vectors have the order of turned
    /// slots ([`super::transform`]) and are encoded at `scale`. The sum is divided by `prime`, the last prime of the
    /// level, if that is given. Returns `None` for a division at level 0.
    pub fn mat_vec(
        &mut self,
        of: Value,
        [babies, giants]: [Vec<Galois>; 2],
        diagonals: &[Vec<Vec<Complex64>>],
        scale: f64,
        prime: Option<u64>,
    ) -> Option<Value> {
        let product = of.scale * scale;
        let (to, divided) = match prime {
            Some(prime) => (of.level.below()?, product / prime as f64),
            None => (of.level, product),
        };
        let mut src = vec![of.value];
        for slots in diagonals.iter().flatten() {
            src.push(self.lift(slots, of.level, scale, true));
        }
        let imm = MacroImm::Matrix(Matrix { babies, giants, to });
        Some(self.push_of(MacroOp::Matvec, src, imm, to, divided))
    }

    /// Appends the sum of values, each times a factor, divided by the last prime of their level, `prime`. The factors
    /// become integers so that the sum has the scale `scale` before the division. Returns `None` without values, at
    /// level 0, and for an integer of 2^62 or more.
    pub fn combine(&mut self, of: &[(Value, f64)], scale: f64, prime: u64) -> Option<Value> {
        let &(first, _) = of.first()?;
        let to = first.level.below()?;
        let mut integers = integers(of, scale)?;
        integers.push(0);
        let src: Vec<Value> = of.iter().map(|&(value, _)| value).collect();
        let imm = MacroImm::Combination(Combination { integers, to });
        Some(self.push(MacroOp::Combine, &src, imm, to, scale / prime as f64))
    }

    /// Appends a sum of terms at one level: products of two values, and values times factors. One division removes the
    /// special primes and the last prime of the level, `prime`, if that is given. Before it the sum has the scale of
    /// the first product. Returns `None` for a sum without products, for a prime at level 0, and for a factor that
    /// becomes an integer of 2^62 or more.
    pub fn sum_products(
        &mut self,
        products: &[(Value, Value)],
        multiples: &[(Value, f64)],
        prime: Option<u64>,
    ) -> Option<Value> {
        let &(first, other) = products.first()?;
        let scale = first.scale * other.scale;
        let (to, divided) = match prime {
            Some(prime) => (first.level.below()?, scale / prime as f64),
            None => (first.level, scale),
        };
        let tail = !multiples.is_empty();
        let mut integers = integers(multiples, scale)?;
        integers.extend(tail.then_some(0));
        let mut src: Vec<Value> = multiples.iter().map(|&(value, _)| value).collect();
        let combined = src.len() as u16;
        let mut number = |value: Value| {
            let at = src.iter().position(|other| other.value == value.value);
            at.unwrap_or_else(|| {
                src.push(value);
                src.len() - 1
            }) as u16
        };
        let factors = products.iter();
        let factors = factors.map(|&(a, b)| (Left::Operand(number(a)), number(b)));
        let factors = factors.collect();
        let imm = MacroImm::Products(Products {
            combined,
            factors,
            tail,
            integers,
            to,
        });
        Some(self.push(MacroOp::Sumprod, &src, imm, to, divided))
    }

    /// Appends the product of a value and a vector in the order of turned slots ([`super::transform`]), which is encoded
    /// at the scale 1.
    pub fn mul_plain(&mut self, of: Value, slots: &[Complex64]) -> Value {
        let src = vec![of.value, self.lift(slots, of.level, 1.0, false)];
        self.push_of(MacroOp::Sumplain, src, MacroImm::None, of.level, of.scale)
    }

    /// Appends the encoding of a constant vector, or finds an equal one that was appended before. `special` says whether
    /// it has limbs modulo the special primes.
    fn lift(&mut self, slots: &[Complex64], level: Level, scale: f64, special: bool) -> MacroValue {
        let slots = repeated(slots);
        let mut known = self.constants.iter().zip(&self.lifted);
        let equal = |constant: &Constant| {
            let own = (constant.level, constant.scale, constant.special);
            own == (level, scale, special) && *constant.slots == *slots
        };
        if let Some((_, &value)) = known.find(|(constant, _)| equal(constant)) {
            return value;
        }
        let note = Note::Scale(scale);
        let at = Some(LevelNote { level, note });
        let value = self.value(MacroType::Lifted { special, at });
        let imm = MacroImm::Lifted(self.constants.len() as u32);
        self.constants.push(Constant {
            slots: Arc::from(slots),
            level,
            scale,
            special,
        });
        self.lifted.push(value);
        self.instr(MacroOp::Lift, vec![value], Vec::new(), imm);
        value
    }

    /// Returns the instructions as a procedure with the result `result`, and the constants that the instructions
    /// read.
    pub fn procedure(self, name: &str, result: Value) -> (MacroProc, Vec<Constant>) {
        let proc = MacroProc {
            name: name.to_owned(),
            params: self.params,
            results: vec![result.value],
            instrs: self.instrs,
            loc: None,
            types: self.types,
        };
        (proc, self.constants)
    }
}

/// Returns the factors of a sum of values, each times a factor, as integers. Each factor is multiplied by the ratio of
/// `scale` to its value's scale, and rounded. Returns `None` for an integer of 2^62 or more.
fn integers(of: &[(Value, f64)], scale: f64) -> Option<Vec<i64>> {
    let integer = |&(value, factor): &(Value, f64)| {
        let rounded = (factor * (scale / value.scale)).round();
        // Integers below 2^62 fit 64 bits with a sign.
        (rounded.abs() < 2f64.powi(62)).then_some(rounded as i64)
    };
    of.iter().map(integer).collect()
}

/// Returns the shortest start of a vector such that the vector is this start again and again. Its length is a power of
/// two and at least 2. Sparse matrices of small blocks have such diagonals, and a short vector is encoded faster.
fn repeated(slots: &[Complex64]) -> &[Complex64] {
    let lengths = (1..usize::BITS).map(|log| 1usize << log);
    let mut starts = lengths.map_while(|length| slots.get(..length));
    let repeats = |start: &&[Complex64]| slots.chunks_exact(start.len()).all(|part| part == *start);
    starts.find(repeats).unwrap_or(slots)
}
