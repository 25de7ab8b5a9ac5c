// SPDX-License-Identifier: Apache-2.0
//! Derives values from others: at a lower level, or under another correction factor. Each derived value is made once
//! and used again.

use ringmill_isa::Level;
use ringmill_isa::macros::{LevelNote, MacroImm, MacroInstr, MacroOp, MacroType, Note};
use ringmill_schemes::bgv::{Factor, Noise};

use super::super::CompileError;
use super::{Manager, Placed};

/// A step that derives a value from another: a division by a prime, a drop of primes, or a new factor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Derived {
    /// The value divided by the last prime of its modulus.
    Divided,
    /// The value after its primes above this level are dropped.
    Dropped(Level),
    /// The value and its correction factor multiplied by this integer.
    Refactored(i64),
}

/// The least bits by which a division must lower a value's noise, if the division is made for that reason alone.
const WORTH: f64 = 1.0;

pub(super) fn note(level: Level, factor: Factor) -> LevelNote {
    let note = Note::Factor(factor.value());
    LevelNote { level, note }
}

impl Placed {
    pub(super) fn ty(self) -> MacroType {
        MacroType::Cipher {
            size: self.size as u32,
            at: Some(note(self.level, self.factor)),
        }
    }
}

/// A value's way down through the levels: its noise and correction factor after no division by a prime, after one, and
/// so on, computed as they are needed.
pub(super) struct Descent {
    pub from: Placed,
    after: Vec<(Noise, Factor)>,
    /// The number of divisions by primes, one after the other, that each lower the noise by at
    /// least `WORTH` bits.
    worth: usize,
}

impl Descent {
    /// Makes the descent of a value through the levels. Counts how many divisions by primes each
    /// lower its noise by at least `WORTH` bits.
    pub fn new(manager: &Manager<'_>, from: Placed) -> Self {
        let mut this = Self {
            from,
            after: vec![(from.noise, from.factor)],
            worth: 0,
        };
        while this.worth < from.level.index() {
            let before = this.at(manager, this.worth);
            let after = this.at(manager, this.worth + 1);
            if after.0.log2() > before.0.log2() - WORTH {
                break;
            }
            this.worth += 1;
        }
        this
    }

    /// Returns the noise and the correction factor of the value after this number of divisions by primes. The value
    /// must have at least as many levels.
    pub fn at(&mut self, manager: &Manager<'_>, divisions: usize) -> (Noise, Factor) {
        while self.after.len() <= divisions {
            let done = self.after.len() - 1;
            let (noise, factor) = self.after[done];
            let level = Level(self.from.level.0.saturating_sub(done as u32));
            let noise = manager.model.mod_switch(noise, level, self.from.size);
            self.after
                .push((noise, manager.divided_factor(factor, level)));
        }
        self.after[divisions]
    }

    /// Returns how many divisions by primes the value goes through on its way down to `level`. Its other primes above
    /// the level are dropped.
    pub fn divisions(&self, level: Level) -> usize {
        self.worth.min(self.steps(level))
    }

    /// Returns the number of levels from the value down to `level`.
    pub fn steps(&self, level: Level) -> usize {
        self.from.level.index().saturating_sub(level.index())
    }

    /// Returns the noise that the value has at `level`, after as many divisions as [`Self::divisions`] returns.
    pub fn noise(&self, level: Level) -> Noise {
        self.after[self.divisions(level)].0
    }
}

impl Manager<'_> {
    /// Returns the ciphertext `from` at `level`, its own or a lower one, after this number of
    /// divisions by primes. Its other primes above the level are dropped.
    pub(super) fn bring(
        &mut self,
        from: Placed,
        level: Level,
        divisions: usize,
        instr: &MacroInstr,
    ) -> Result<Placed, CompileError> {
        let mut here = from;
        for _ in 0..divisions {
            here = self.divided(here, instr)?;
        }
        self.dropped(here, level, instr)
    }

    /// Returns the value of a descent at `level`, after each division by a prime that lowers its
    /// noise by at least `WORTH` bits.
    pub(super) fn brought(
        &mut self,
        descent: &Descent,
        level: Level,
        instr: &MacroInstr,
    ) -> Result<Placed, CompileError> {
        self.bring(descent.from, level, descent.divisions(level), instr)
    }

    fn divided(&mut self, from: Placed, instr: &MacroInstr) -> Result<Placed, CompileError> {
        let Some(level) = from.level.below() else {
            return Ok(from);
        };
        let like = Placed {
            level,
            factor: self.divided_factor(from.factor, from.level),
            noise: self.model.mod_switch(from.noise, from.level, from.size),
            ..from
        };
        let (op, imm) = (MacroOp::Rescale, MacroImm::None);
        self.derive(from, Derived::Divided, (op, imm), like, instr)
    }

    fn dropped(
        &mut self,
        from: Placed,
        level: Level,
        instr: &MacroInstr,
    ) -> Result<Placed, CompileError> {
        if level == from.level {
            return Ok(from);
        }
        let like = Placed { level, ..from };
        let made = (MacroOp::Modswitch, MacroImm::Level(level));
        self.derive(from, Derived::Dropped(level), made, like, instr)
    }

    /// Returns the ciphertext `from` multiplied by the integer `by`. It is then under the
    /// correction factor `factor`, which is `by` times the one before.
    pub(super) fn refactored(
        &mut self,
        from: Placed,
        by: i64,
        factor: Factor,
        instr: &MacroInstr,
    ) -> Result<Placed, CompileError> {
        if by == 1 {
            return Ok(from);
        }
        let like = Placed {
            factor,
            noise: self.model.mul_integer(from.noise, by.unsigned_abs()),
            ..from
        };
        let made = (MacroOp::Refactor, MacroImm::Integer(by.into()));
        self.derive(from, Derived::Refactored(by), made, like, instr)
    }

    fn derive(
        &mut self,
        from: Placed,
        how: Derived,
        (op, imm): (MacroOp, MacroImm),
        like: Placed,
        instr: &MacroInstr,
    ) -> Result<Placed, CompileError> {
        if let Some(&known) = self.derived.get(&(from.value, how)) {
            return Ok(known);
        }
        let charged = Placed {
            level: from.level,
            ..like
        };
        self.charge(op, charged, 1, false)?;
        let made = self.emit(op, vec![from.value], imm, &[like.ty()], instr);
        let value = made.first().copied().unwrap_or(from.value);
        let made = Placed { value, ..like };
        self.derived.insert((from.value, how), made);
        self.check(made, instr);
        Ok(made)
    }
}
