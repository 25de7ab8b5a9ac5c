// SPDX-License-Identifier: Apache-2.0
//! Derives a value in another state: rescaled, lowered, lifted to a product, or switched down. Each form is
//! made once and reused.

use ringmill_isa::Level;
use ringmill_isa::macros::{LevelScale, MacroImm, MacroOp, MacroType, MacroValue};
use ringmill_isa::source::SourceLoc;

use super::Manager;

/// The scale of a managed ciphertext at its level: canonical (`Rescaled`), or the square of it (`Product`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum State {
    Rescaled(Level),
    Product(Level),
}

/// A value of the new program with its state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub value: MacroValue,
    pub state: State,
}

/// A form of a ciphertext that was derived before, and is reused when it is needed again.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Derived {
    Rescaled,
    /// The value brought down to this level and rescaled.
    Lowered(Level),
    /// The value multiplied by one, so that it is a product at this level.
    Lifted(Level),
    /// The value without the primes above this level.
    Switched(Level),
}

impl Manager<'_> {
    pub(super) fn at(&self, state: State) -> LevelScale {
        match state {
            State::Rescaled(level) => LevelScale {
                level,
                scale: self.scales.normal(level),
            },
            State::Product(level) => LevelScale {
                level,
                scale: self.scales.product(level),
            },
        }
    }

    pub(super) fn size(&self, value: MacroValue) -> u32 {
        self.out.ty(value).polys().unwrap_or(0)
    }

    /// Emits an instruction whose one result is a ciphertext of the size of its first operand.
    pub(super) fn emit(
        &mut self,
        op: MacroOp,
        src: Vec<MacroValue>,
        imm: MacroImm,
        at: LevelScale,
        loc: &Option<SourceLoc>,
    ) -> MacroValue {
        let size = src.iter().map(|&v| self.size(v)).max().unwrap_or(2);
        self.out.push(
            op,
            src,
            imm,
            MacroType::Cipher {
                size,
                at: Some(at.into()),
            },
            loc,
        )
    }

    /// Returns the new value that stands for a ciphertext of the old program, in the state in which it was
    /// made.
    pub(super) fn natural(&self, old: MacroValue) -> Placed {
        // Programs define values before use, so the placement is there; a level-0 value stands in for the impossible.
        self.placed[old.0 as usize].unwrap_or(Placed {
            value: MacroValue(0),
            state: State::Rescaled(Level::LOWEST),
        })
    }

    /// Returns a value of the old program rescaled, with its level.
    pub(super) fn rescaled(
        &mut self,
        old: MacroValue,
        loc: &Option<SourceLoc>,
    ) -> (MacroValue, Level) {
        let Placed { value, state } = self.natural(old);
        match state {
            State::Rescaled(level) => (value, level),
            State::Product(level) => {
                let below = level.below().unwrap_or(level);
                let key = (value, Derived::Rescaled);
                if let Some(&known) = self.derived.get(&key) {
                    return (known, below);
                }
                let at = self.at(State::Rescaled(below));
                let new = self.emit(MacroOp::Rescale, vec![value], MacroImm::None, at, loc);
                self.derived.insert(key, new);
                (new, below)
            }
        }
    }

    /// Returns a rescaled value of level `from` without the primes above `to`. Its scale stays `D_from`.
    pub(super) fn switched(
        &mut self,
        value: MacroValue,
        from: Level,
        to: Level,
        loc: &Option<SourceLoc>,
    ) -> MacroValue {
        if from == to {
            return value;
        }
        let key = (value, Derived::Switched(to));
        if let Some(&known) = self.derived.get(&key) {
            return known;
        }
        let at = LevelScale {
            level: to,
            scale: self.scales.normal(from),
        };
        let new = self.emit(
            MacroOp::Modswitch,
            vec![value],
            MacroImm::Level(to),
            at,
            loc,
        );
        self.derived.insert(key, new);
        new
    }

    /// Returns a rescaled value of level `from` as a product at level `to <= from`, by a multiplication by
    /// one.
    pub(super) fn lifted(
        &mut self,
        value: MacroValue,
        from: Level,
        to: Level,
        loc: &Option<SourceLoc>,
    ) -> MacroValue {
        let key = (value, Derived::Lifted(to));
        if let Some(&known) = self.derived.get(&key) {
            return known;
        }
        let switched = self.switched(value, from, to, loc);
        let one = MacroImm::Constant {
            value: 1.0,
            scale: Some(self.scales.factor(from, to)),
        };
        let new = self.emit(
            MacroOp::Mulc,
            vec![switched],
            one,
            self.at(State::Product(to)),
            loc,
        );
        self.derived.insert(key, new);
        new
    }

    /// Returns a rescaled value of level `from` as a rescaled value of level `to <= from`.
    pub(super) fn lowered(
        &mut self,
        value: MacroValue,
        from: Level,
        to: Level,
        loc: &Option<SourceLoc>,
    ) -> MacroValue {
        if from == to {
            return value;
        }
        let key = (value, Derived::Lowered(to));
        if let Some(&known) = self.derived.get(&key) {
            return known;
        }
        let lifted = self.lifted(value, from, to.above(1), loc);
        let new = self.emit(
            MacroOp::Rescale,
            vec![lifted],
            MacroImm::None,
            self.at(State::Rescaled(to)),
            loc,
        );
        self.derived.insert(key, new);
        new
    }

    /// Returns a plaintext of the old program, encoded at the level and scale of `at`.
    pub(super) fn plain(
        &mut self,
        old: MacroValue,
        at: LevelScale,
        loc: &Option<SourceLoc>,
    ) -> MacroValue {
        let key = (old, at.level, at.scale.to_bits());
        if let Some(&known) = self.plains.get(&key) {
            return known;
        }
        let (op, imm) = self
            .plain_source
            .get(&old)
            .cloned()
            .unwrap_or((MacroOp::Encode, MacroImm::None));
        let new = self.out.push(
            op,
            Vec::new(),
            imm,
            MacroType::Plain {
                at: Some(at.into()),
            },
            loc,
        );
        self.plains.insert(key, new);
        new
    }

    /// Returns a value of the old program as a product at `level`, which is at most its own level.
    pub(super) fn as_product(
        &mut self,
        old: MacroValue,
        level: Level,
        loc: &Option<SourceLoc>,
    ) -> MacroValue {
        let placed = self.natural(old);
        if placed.state == State::Product(level) {
            return placed.value;
        }
        let (value, from) = self.rescaled(old, loc);
        self.lifted(value, from, level, loc)
    }
}
