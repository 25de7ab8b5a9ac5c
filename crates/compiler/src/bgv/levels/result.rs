// SPDX-License-Identifier: Apache-2.0
//! Chooses the level of each instruction of a BGV program, and computes its result.

use ringmill_isa::Level;
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroValue};
use ringmill_schemes::bgv::{Balance, ExactParams, Factor, Noise};
use ringmill_schemes::exact::scalar::reduced;

use super::super::CompileError;
use super::descend::Descent;
use super::{Manager, Placed, misshapen};
use crate::error::At as Line;

/// The room, in bits between a value's noise and the bound of its level, that level management
/// gives up for a lower level or for one division fewer.
const TOLERANCE: f64 = 0.125;
/// The room, in bits between a value's noise and the bound of its level, that level management gives up before a
/// rotation. The time of key switching grows with the square of the number of primes. If management gave up fewer bits,
/// a division by a prime would mostly follow the rotation's key switch.
const BEFORE_KEYS: f64 = 2.0;

impl Manager<'_> {
    /// Returns the lowest level from the floor up to `top` at which a result has all the room there can be, less
    /// `spared` bits. Room is the bits between the noise and the bound of the level. `noise` gives the result's noise
    /// at a level.
    fn lowest(&self, top: Level, spared: f64, noise: impl Fn(Level) -> Noise) -> Level {
        let room = |level: Level| self.model.room(noise(level), level);
        let levels = || self.floor().min(top).to(top);
        let best = levels().map(room).fold(f64::NEG_INFINITY, f64::max);
        let mut levels = levels();
        let found = levels.find(|&level| room(level) >= best - spared);
        found.unwrap_or(top)
    }

    /// Brings the ciphertexts `a` and `b` to the lower of their levels for a sum. The higher one goes down by the
    /// fewest divisions with which the sum's noise is within `TOLERANCE` bits of the least. Divisions change factors,
    /// and balancing different factors may cost more noise than they remove.
    pub(super) fn sum(
        &mut self,
        instr: &MacroInstr,
        a: Placed,
        b: Placed,
    ) -> Result<(), CompileError> {
        let level = a.level.min(b.level);
        let a_is_high = a.level > b.level;
        let (high, low) = if a_is_high { (a, b) } else { (b, a) };
        let mut descent = Descent::new(self, high);
        let mut ways = Vec::new();
        for divisions in 0..=descent.steps(level) {
            let (noise, factor) = descent.at(self, divisions);
            let there = Placed {
                noise,
                factor,
                ..high
            };
            let balance = self.balance(there, low)?;
            ways.push((divisions, balance, self.balanced(there, low, balance)));
        }
        let least = ways.iter().map(|&(.., noise)| noise.log2());
        let least = least.fold(f64::INFINITY, f64::min) + TOLERANCE;
        let way = ways.into_iter().find(|(.., noise)| noise.log2() <= least);
        let (divisions, balance, noise) = way.ok_or_else(|| misshapen(instr))?;
        let high = self.bring(high, level, divisions, instr)?;
        let [x, y] = self.signed(balance);
        let high = self.refactored(high, x, balance.factor, instr)?;
        let low = self.refactored(low, y, balance.factor, instr)?;
        let (a, b) = if a_is_high { (high, low) } else { (low, high) };
        let sum = Placed {
            size: a.size.max(b.size),
            noise,
            ..high
        };
        self.result(instr, vec![a.value, b.value], MacroImm::None, sum)
    }

    /// Returns the integers by which two ciphertexts are multiplied to have one correction factor, with the least
    /// noise.
    fn balance(&self, a: Placed, b: Placed) -> Result<Balance, CompileError> {
        if a.factor == b.factor {
            let (by, factor) = ([1, 1], a.factor);
            return Ok(Balance { by, factor });
        }
        let log2 = [a.noise.log2(), b.noise.log2()];
        Ok(Factor::balance_phases(a.factor, b.factor, self.t, log2)?)
    }

    /// Returns the two integers of a balance, by which ciphertexts are multiplied to have one correction factor, each
    /// as the representative nearest to 0.
    fn signed(&self, balance: Balance) -> [i64; 2] {
        balance
            .by
            .map(|x| self.frame.params.plain_modulus().centred(x))
    }

    fn balanced(&self, a: Placed, b: Placed, balance: Balance) -> Noise {
        let [x, y] = self.signed(balance).map(i64::unsigned_abs);
        let a = self.model.mul_integer(a.noise, x);
        self.model.add(a, self.model.mul_integer(b.noise, y))
    }

    pub(super) fn plain_sum(
        &mut self,
        instr: &MacroInstr,
        a: Placed,
        plain: MacroValue,
    ) -> Result<(), CompileError> {
        let plain = self.plain(plain, a.level, a.factor, instr);
        let noise = self.model.add_plain(a.noise);
        self.result(
            instr,
            vec![a.value, plain],
            MacroImm::None,
            Placed { noise, ..a },
        )
    }

    pub(super) fn product(
        &mut self,
        instr: &MacroInstr,
        a: Placed,
        b: Placed,
    ) -> Result<(), CompileError> {
        let (first, second) = (Descent::new(self, a), Descent::new(self, b));
        let model = &self.model;
        let noise = |level: Level| model.mul(first.noise(level), second.noise(level));
        let level = self.lowest(a.level.min(b.level), TOLERANCE, noise);
        let noise = noise(level);
        let a = self.brought(&first, level, instr)?;
        let b = self.brought(&second, level, instr)?;
        let product = Placed {
            size: 3,
            factor: a.factor.times(b.factor, self.t),
            noise,
            ..a
        };
        self.result(instr, vec![a.value, b.value], MacroImm::None, product)
    }

    pub(super) fn square(&mut self, instr: &MacroInstr, a: Placed) -> Result<(), CompileError> {
        let descent = Descent::new(self, a);
        let model = &self.model;
        let noise = |level: Level| model.mul(descent.noise(level), descent.noise(level));
        let level = self.lowest(a.level, TOLERANCE, noise);
        let noise = noise(level);
        let a = self.brought(&descent, level, instr)?;
        let square = Placed {
            size: 3,
            factor: a.factor.times(a.factor, self.t),
            noise,
            ..a
        };
        self.result(instr, vec![a.value], MacroImm::None, square)
    }

    /// Writes a product with a plaintext. The plaintext is encoded without a correction factor, so
    /// the ciphertext's factor stays.
    pub(super) fn plain_product(
        &mut self,
        instr: &MacroInstr,
        a: Placed,
        plain: MacroValue,
    ) -> Result<(), CompileError> {
        let descent = Descent::new(self, a);
        let model = &self.model;
        let noise = |level: Level| model.mul_plain(descent.noise(level));
        let level = self.lowest(a.level, TOLERANCE, noise);
        let noise = noise(level);
        let a = self.brought(&descent, level, instr)?;
        let plain = self.plain(plain, level, Factor::ONE, instr);
        let product = Placed { noise, ..a };
        self.result(instr, vec![a.value, plain], MacroImm::None, product)
    }

    pub(super) fn constant_product(
        &mut self,
        instr: &MacroInstr,
        a: Placed,
    ) -> Result<(), CompileError> {
        let MacroImm::Integer(value) = instr.imm else {
            return Err(misshapen(instr));
        };
        let by = reduced(self.frame.params.plain_modulus(), value);
        let noise = self.model.mul_integer(a.noise, by.unsigned_abs());
        self.same(instr, a, noise)
    }

    /// Writes a division by an integer of which every slot is a multiple. The quotient is known modulo t / `by`, for
    /// the divisor `by`, and its noise has a bound of its own.
    pub(super) fn quotient(&mut self, instr: &MacroInstr, a: Placed) -> Result<(), CompileError> {
        let t = self.frame.params.plain_modulus().value();
        let by = match instr.imm {
            MacroImm::Integer(by) => by,
            _ => return Err(misshapen(instr)),
        };
        let divisor = u64::try_from(by).ok();
        let divisor = divisor.filter(|&by| (2..t).contains(&by) && t.is_multiple_of(by));
        let Some(divisor) = divisor else {
            let at = Line(instr.loc.clone());
            return Err(CompileError::NoQuotient { at, by });
        };
        let noise = self.model.divide_exactly(a.noise, divisor);
        self.same(instr, a, noise)
    }

    /// Writes an instruction whose result keeps the level and correction factor of its operand
    /// `like`, with the noise `noise`. The result has as many polynomials as the operand.
    pub(super) fn same(
        &mut self,
        instr: &MacroInstr,
        like: Placed,
        noise: Noise,
    ) -> Result<(), CompileError> {
        let imm = instr.imm.clone();
        self.result(instr, vec![like.value], imm, Placed { noise, ..like })
    }

    /// Writes a rotation. Its operand first goes to a lower level, since key switching costs more
    /// with more primes.
    pub(super) fn rotation(&mut self, instr: &MacroInstr, a: Placed) -> Result<(), CompileError> {
        let descent = Descent::new(self, a);
        let model = &self.model;
        let noise = |level: Level| model.switch_key(descent.noise(level), level);
        let level = self.lowest(a.level, BEFORE_KEYS, noise);
        let noise = noise(level);
        let a = self.brought(&descent, level, instr)?;
        self.same(instr, a, noise)
    }

    /// Writes an output. It ends at the lowest allowed level at which its message is sure to decrypt, or at its
    /// operand's level if there is none. An output of a procedure ends at the level of the procedure's convention.
    pub(super) fn output(&mut self, instr: &MacroInstr, a: Placed) -> Result<(), CompileError> {
        if let Some(convention) = self.frame.deep.and_then(|deep| deep.convention) {
            let a = self.arrived(convention, a, instr)?;
            return self.result(instr, vec![a.value], instr.imm.clone(), a);
        }
        let wanted = self.frame.output;
        if a.level < wanted {
            // The operand lacks these primes.
            let params = self.frame.params;
            let primes = a.level.above(1).to(wanted);
            let primes = primes.map(|level| params.moduli().get(level.index()));
            let bits = primes.map(|q| q.map_or(1.0, |&q| (q as f64).log2())).sum();
            self.lacks(bits, instr);
        }
        let descent = Descent::new(self, a);
        let sure = |&level: &Level| self.model.room(descent.noise(level), level) >= 0.0;
        let level = wanted.min(a.level).to(a.level).find(sure);
        let a = self.brought(&descent, level.unwrap_or(a.level), instr)?;
        if let MacroImm::Output(output) = instr.imm
            && let Some(slot) = self.outputs.get_mut(output as usize)
        {
            *slot = Some(a);
        }
        self.result(instr, vec![a.value], instr.imm.clone(), a)
    }
}
