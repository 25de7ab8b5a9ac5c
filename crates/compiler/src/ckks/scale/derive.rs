// SPDX-License-Identifier: Apache-2.0
//! A value in another state: rescaled, lowered, lifted to a product, switched down; each made once and kept.

use ringmill_isa::Level;
use ringmill_isa::macros::{LevelScale, MacroImm, MacroOp, MacroType, MacroValue};
use ringmill_isa::source::SourceLoc;

use super::Manager;

/// A managed value: where it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum State {
    Rescaled(Level),
    Product(Level),
}

/// A value of the new program and its state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub value: MacroValue,
    pub state: State,
}

/// What was made of a new value before, to be used again.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Derived {
    Rescaled,
    /// Brought down to this level, rescaled.
    Lowered(Level),
    /// Multiplied by one to be a product at this level.
    Lifted(Level),
    /// Primes dropped down to this level.
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

    /// The state in which an old ciphertext value was made.
    pub(super) fn natural(&self, old: MacroValue) -> Placed {
        // Programs define values before use, so the placement is there; a level-0 value stands in for the impossible.
        self.placed[old.0 as usize].unwrap_or(Placed {
            value: MacroValue(0),
            state: State::Rescaled(Level::LOWEST),
        })
    }

    /// The value rescaled, and its level.
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

    /// A rescaled value of level `from`, its primes dropped down to `to`; the scale stays `D_from`.
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

    /// A rescaled value of level `from` as a product of level `to <= from`: times one.
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

    /// A rescaled value of level `from` as a rescaled value of level `to <= from`.
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

    /// A plaintext of the old program, encoded at `at`.
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

    /// The value as a product of `level`, at or below its own.
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
