// SPDX-License-Identifier: Apache-2.0
//! Emits the steps of a bootstrap as macro instructions. Levels follow from bounds on noise alone, not from residues.
//! The emitted steps form a procedure of programs, and also run on ciphertexts directly.

use std::cell::RefCell;

use ringmill_isa::Level;
use ringmill_isa::macros::linked::{Combination, Products};
use ringmill_isa::macros::{LevelNote, MacroImm, MacroOp, MacroType, MacroValue};
use ringmill_math::Modulus;

use super::bootstrapper::Step;
use super::code::Code;
use super::error::BootstrapError;
use super::maps::Constants;
use crate::bgv::{Factor, Noise, NoiseModel, Params};
use crate::rlwe::{Annotation, RlweError};

/// The value of an emitted instruction: a ciphertext of two polynomials, with a bound `noise` on the coefficients
/// of its phase.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Emitted {
    pub value: MacroValue,
    pub level: Level,
    pub factor: Factor,
    pub noise: Noise,
}

impl Emitted {
    /// Returns a level and a correction factor in the form that the type of a macro value has: the level, and a note
    /// that holds the factor.
    pub fn at(level: Level, factor: Factor) -> Option<LevelNote> {
        let note = factor.note();
        Some(LevelNote { level, note })
    }
}

/// Emits the steps of a bootstrap. It bounds noise with a noise model for each plaintext modulus.
pub(super) struct Emitter<'a> {
    pub params: &'a Params,
    models: &'a [NoiseModel],
    /// The plaintext constants by which the linear maps of a bootstrap multiply.
    pub constants: &'a Constants,
    code: RefCell<Code>,
}

impl<'a> Emitter<'a> {
    pub fn new(params: &'a Params, models: &'a [NoiseModel], constants: &'a Constants) -> Self {
        Self {
            params,
            models,
            constants,
            code: RefCell::default(),
        }
    }

    /// Returns the macro instructions that were emitted so far for the bootstrap.
    pub fn code(self) -> Code {
        self.code.into_inner()
    }

    /// Applies a function to the bootstrap's macro instructions that were emitted so far.
    pub fn with<T>(&self, act: impl FnOnce(&mut Code) -> T) -> T {
        act(&mut self.code.borrow_mut())
    }

    /// Adds an input of the bootstrap: a ciphertext of the caller with this level, correction factor and noise.
    pub fn given(&self, level: Level, factor: Factor, noise: Noise) -> Emitted {
        let at = Emitted::at(level, factor);
        let value = self.with(|code| code.param(MacroType::Cipher { size: 2, at }));
        Emitted {
            value,
            level,
            factor,
            noise,
        }
    }

    /// Emits a step with one result, which has this level, correction factor and noise.
    pub fn step(
        &self,
        op: MacroOp,
        operands: &[Emitted],
        imm: MacroImm,
        (level, factor, noise): (Level, Factor, Noise),
    ) -> Emitted {
        let src = operands.iter().map(|operand| operand.value).collect();
        self.step_of(op, src, imm, (level, factor, noise))
    }

    /// Emits a step as [`Self::step`] does, with operands that need not be ciphertexts.
    pub fn step_of(
        &self,
        op: MacroOp,
        src: Vec<MacroValue>,
        imm: MacroImm,
        (level, factor, noise): (Level, Factor, Noise),
    ) -> Emitted {
        let at = Emitted::at(level, factor);
        let ty = MacroType::Cipher { size: 2, at };
        let made = self.with(|code| code.push(op, src, imm, [ty]));
        Emitted {
            value: made.first().copied().unwrap_or(MacroValue(u32::MAX)),
            level,
            factor,
            noise,
        }
    }

    /// Records that `value` is the result of the step `stage` of the bootstrap.
    pub fn stage_done(&self, stage: Step, value: Emitted) {
        self.with(|code| {
            let count = code.instrs.len();
            code.stages.push((count, stage, value));
        });
    }

    /// Returns the value `a` with another correction factor. No instruction is emitted: only the meaning of the
    /// message changes.
    pub fn taken_for(&self, a: Emitted, factor: Factor) -> Emitted {
        self.with(|code| {
            if let Some(ty) = code.types.get_mut(a.value.0 as usize) {
                *ty = ty.placed(Emitted::at(a.level, factor));
            }
        });
        Emitted { factor, ..a }
    }

    pub fn model(&self, factor: Factor) -> Result<&'a NoiseModel, RlweError> {
        let plain = usize::from(factor.plain());
        let missing = || RlweError::Length {
            what: "list of plaintext moduli",
            expected: plain + 1,
            got: self.models.len(),
        };
        self.models.get(plain).ok_or_else(missing)
    }

    pub fn t(&self, factor: Factor) -> Result<Modulus, RlweError> {
        Ok(self.params.plain_at(factor.plain())?.reducer())
    }

    /// Returns the value `a`, or an error if its noise is so large that the message may be lost. `step` names the
    /// step in the error.
    pub fn check(&self, step: &'static str, a: Emitted) -> Result<Emitted, BootstrapError> {
        self.check_room(step, a.noise, a.level, a.factor)?;
        Ok(a)
    }

    /// Refuses a step of the bootstrap whose noise may be too large for its level.
    pub fn check_room(
        &self,
        step: &'static str,
        noise: Noise,
        level: Level,
        factor: Factor,
    ) -> Result<(), BootstrapError> {
        if self.model(factor)?.room(noise, level) > 0.0 {
            return Ok(());
        }
        Err(BootstrapError::NoRoom { step, level })
    }

    /// Emits the division of a value by all primes between its level and the lower level `level`, in one
    /// instruction. A value at `level` is returned unchanged.
    pub fn down(&self, a: Emitted, level: Level) -> Result<Emitted, BootstrapError> {
        let count = a.level.primes().saturating_sub(level.primes());
        let (op, imm) = match count {
            0 => return Ok(a),
            1 => (MacroOp::Rescale, MacroImm::None),
            _ => (MacroOp::Drop, MacroImm::Level(level)),
        };
        let factor = self.over(a.factor, a.level, level)?;
        let noise = (self.model(factor)?).mod_switch_by(a.noise, a.level, count);
        Ok(self.step(op, &[a], imm, (level, factor, noise)))
    }

    /// Returns the correction factor that a value with `factor` at level `from` has after it is divided down to level
    /// `to`.
    pub fn over(&self, factor: Factor, from: Level, to: Level) -> Result<Factor, RlweError> {
        let t = self.t(factor)?;
        let primes = self.params.moduli().get(to.primes()..from.primes());
        let mut primes = primes.unwrap_or_default().iter();
        primes.try_fold(factor, |factor, &q| factor.over(q, t))
    }

    /// Returns the level to which a value of this noise should be divided. A prime is dropped if that lowers log2 of
    /// the noise by at least half of the prime's bits. The noise bits of a later product are the sum of those of its
    /// two factors. So lower noise in both saves at least as many bits as the modulus loses with the prime.
    pub fn settled(&self, model: &NoiseModel, mut noise: Noise, mut level: Level) -> Level {
        while let Some(below) = level.below() {
            let prime = self.params.moduli().get(level.index());
            let prime = prime.map_or(0.0, |&q| (q as f64).log2());
            let after = model.mod_switch(noise, level, 2);
            if noise.log2() - after.log2() < prime / 2.0 {
                break;
            }
            (noise, level) = (after, below);
        }
        level
    }

    /// Returns the noise of a ciphertext of two polynomials after division down to a level.
    pub fn lowered(&self, model: &NoiseModel, noise: Noise, from: Level, to: Level) -> Noise {
        model.mod_switch_by(noise, from, from.primes().saturating_sub(to.primes()))
    }

    /// Returns the correction factor that a value at level `from` must have so that division down to level `to`
    /// makes it `factor`.
    pub fn before(&self, factor: Factor, from: Level, to: Level) -> Result<Factor, BootstrapError> {
        let t = self.t(factor)?;
        let primes = self.params.moduli().get(to.primes()..from.primes());
        let primes = primes.unwrap_or_default().iter();
        let value = primes.fold(factor.value(), |f, &q| t.mul(f, t.reduce(q)));
        Ok(Factor::new(value, t)?.modulo(factor.plain(), t))
    }

    /// Divides a value down to the level at which its noise is small ([`Self::settled`]).
    pub fn settle(&self, a: Emitted) -> Result<Emitted, BootstrapError> {
        let level = self.settled(self.model(a.factor)?, a.noise, a.level);
        self.down(a, level)
    }

    /// Emits the product of a value and the integer `factor` / f, where f is the value's correction factor. The
    /// result has the correction factor `factor`.
    pub fn under(&self, a: Emitted, factor: Factor) -> Result<Emitted, BootstrapError> {
        let t = self.t(factor)?;
        let ratio = t.mul(factor.value(), a.factor.inverse(t)?);
        let integer = self.params.plain_at(a.factor.plain())?.centred(ratio);
        let noise = self.model(a.factor)?;
        let noise = noise.mul_integer(a.noise, integer.unsigned_abs());
        let imm = MacroImm::Integer(integer.into());
        Ok(self.step(MacroOp::Refactor, &[a], imm, (a.level, factor, noise)))
    }

    /// Emits the exact division by p of a message whose integers are all multiples of p. The plaintext modulus p^j
    /// becomes p^(j-1).
    pub fn divide(&self, a: Emitted, p: u64) -> Result<Emitted, BootstrapError> {
        let plain = a.factor.plain().checked_sub(1);
        let plain = plain.ok_or_else(|| BootstrapError::Parameters {
            reason: "a message modulo p^r is not to be divided".into(),
        })?;
        let t = self.params.plain_at(plain)?.reducer();
        self.divided(MacroOp::Divide, a, p, a.factor.modulo(plain, t))
    }

    /// Emits the exact division by p of a message whose integers are all multiples of p. The plaintext modulus
    /// stays p^j, but the result is known modulo p^(j-1) only.
    pub fn quotient(&self, a: Emitted, p: u64) -> Result<Emitted, BootstrapError> {
        self.divided(MacroOp::Quotient, a, p, a.factor)
    }

    fn divided(
        &self,
        op: MacroOp,
        a: Emitted,
        p: u64,
        factor: Factor,
    ) -> Result<Emitted, BootstrapError> {
        let noise = self.model(factor)?.divide_exactly(a.noise, p);
        let imm = MacroImm::Integer(p.into());
        Ok(self.step(op, &[a], imm, (a.level, factor, noise)))
    }

    /// Returns, for each of the integers modulo the plaintext modulus of `factor`, its representative nearest to 0.
    pub fn centred(&self, factor: Factor, integers: &[u64]) -> Result<Vec<i64>, RlweError> {
        let t = self.params.plain_at(factor.plain())?;
        Ok(integers.iter().map(|&integer| t.centred(integer)).collect())
    }

    /// Emits the sum of values, each times an integer, plus one more integer. The list `integers` has the factors in
    /// the order of the values, then the integer that is added. `made` is the level, the correction factor and the
    /// noise of the result.
    pub fn combine(
        &self,
        operands: &[Emitted],
        integers: Vec<i64>,
        made: (Level, Factor, Noise),
    ) -> Emitted {
        let to = made.0;
        let imm = MacroImm::Combination(Combination { integers, to });
        self.step(MacroOp::Combine, operands, imm, made)
    }

    /// Emits a sum of products of values. `products` names the factors, and the level down to which the sum is divided
    /// by primes.
    pub fn sum_products(
        &self,
        operands: &[Emitted],
        products: Products,
        (factor, noise): (Factor, Noise),
    ) -> Emitted {
        let made = (products.to, factor, noise);
        self.step(
            MacroOp::Sumprod,
            operands,
            MacroImm::Products(products),
            made,
        )
    }
}
