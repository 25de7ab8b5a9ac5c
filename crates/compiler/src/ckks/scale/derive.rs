// SPDX-License-Identifier: Apache-2.0
//! Derives a value in another state: rescaled, lowered, lifted to a product, or without its upper primes. Each form is
//! made once and reused.

use ringmill_isa::Level;
use ringmill_isa::macros::{LevelScale, MacroImm, MacroOp, MacroType, MacroValue};
use ringmill_isa::source::SourceLoc;

use super::Manager;
use crate::ckks::label::Label;

/// The scale of a ciphertext at its level: canonical (`Rescaled`), or the square of it (`Product`).
/// Either is divided by the value's label, the factor between the value and the number that its
/// ciphertext encodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum State {
    Rescaled(Level, Label),
    Product(Level, Label),
}

impl State {
    pub fn level(self) -> Level {
        match self {
            Self::Rescaled(level, _) | Self::Product(level, _) => level,
        }
    }

    pub fn label(self) -> Label {
        match self {
            Self::Rescaled(_, label) | Self::Product(_, label) => label,
        }
    }

    /// Returns the state of the same kind at the same level with another label, the factor by which its scale is
    /// divided.
    pub fn with(self, label: Label) -> Self {
        match self {
            Self::Rescaled(level, _) => Self::Rescaled(level, label),
            Self::Product(level, _) => Self::Product(level, label),
        }
    }
}

/// A value of the program with levels, with its state: its level, its label, and whether it is
/// rescaled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub value: MacroValue,
    pub state: State,
}

/// A rescaled value of the program with levels, with its level and its label, the factor by which
/// its scale is divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rescaled {
    pub value: MacroValue,
    pub level: Level,
    pub label: Label,
}

/// A form of a ciphertext that was derived before, and is reused when it is needed again.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Derived {
    Rescaled,
    /// The value brought down to this level and rescaled, with this label (the factor by which its scale is divided).
    Lowered(Level, Label),
    /// The value multiplied by one, so that it is a product at this level with this label (the factor by which its
    /// scale is divided).
    Lifted(Level, Label),
    /// The value without the primes above this level.
    Switched(Level),
}

impl Manager<'_> {
    pub(super) fn at(&self, state: State) -> LevelScale {
        let (level, scale) = match state {
            State::Rescaled(level, _) => (level, self.scales.normal(level)),
            State::Product(level, _) => (level, self.scales.product(level)),
        };
        LevelScale {
            level,
            scale: scale / self.labels.value(state.label()),
        }
    }

    pub(super) fn size(&self, value: MacroValue) -> u32 {
        self.out.ty(value).polys().unwrap_or(0)
    }

    /// Emits an instruction whose one result is a ciphertext of as many polynomials as the largest
    /// of its operands.
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

    /// Returns the value of the program with levels that stands for a ciphertext of the program
    /// without. Its state is that in which it was made: rescaled, or a product.
    pub(super) fn natural(&self, old: MacroValue) -> Placed {
        // Programs define values before use, so each operand is placed, and the default is never used.
        self.placed[old.0 as usize].unwrap_or(Placed {
            value: MacroValue(0),
            state: State::Rescaled(Level::LOWEST, Label::ONE),
        })
    }

    /// Returns a value of the program without levels in rescaled form, with its level and its label
    /// (the factor by which its scale is divided).
    pub(super) fn rescaled(&mut self, old: MacroValue, loc: &Option<SourceLoc>) -> Rescaled {
        let Placed { value, state } = self.natural(old);
        match state {
            State::Rescaled(level, label) => Rescaled {
                value,
                level,
                label,
            },
            State::Product(level, product) => {
                let below = level.below().unwrap_or(level);
                let label = self.after_rescale(old, level, product);
                let rescaled = |value| Rescaled {
                    value,
                    level: below,
                    label,
                };
                let key = (value, Derived::Rescaled);
                if let Some(&known) = self.derived.get(&key) {
                    return rescaled(known);
                }
                let at = self.at(State::Rescaled(below, label));
                let new = self.emit(MacroOp::Rescale, vec![value], MacroImm::None, at, loc);
                self.derived.insert(key, new);
                rescaled(new)
            }
        }
    }

    /// Returns a rescaled value without the primes above `to`. Its scale stays the one of its level
    /// before.
    pub(super) fn switched(
        &mut self,
        a: Rescaled,
        to: Level,
        loc: &Option<SourceLoc>,
    ) -> MacroValue {
        if a.level == to {
            return a.value;
        }
        let key = (a.value, Derived::Switched(to));
        if let Some(&known) = self.derived.get(&key) {
            return known;
        }
        let at = LevelScale {
            level: to,
            scale: self.at(State::Rescaled(a.level, a.label)).scale,
        };
        let new = self.emit(
            MacroOp::Modswitch,
            vec![a.value],
            MacroImm::Level(to),
            at,
            loc,
        );
        self.derived.insert(key, new);
        new
    }

    /// Returns the scale of a plaintext or constant whose product with the rescaled value
    /// `a` is at level `to`. The product has the label `product`, the factor by which its scale is
    /// divided.
    pub(super) fn factor(&self, a: Rescaled, to: Level, product: Label) -> f64 {
        if a.label == Label::ONE && product == Label::ONE {
            return self.scales.factor(a.level, to);
        }
        let scale = |state| self.at(state).scale;
        scale(State::Product(to, product)) / scale(State::Rescaled(a.level, a.label))
    }

    /// Returns a rescaled value as a product at level `to`, which is at most its own. The value is multiplied by one,
    /// and gets the label `product`, the factor by which its scale is divided.
    pub(super) fn lifted(
        &mut self,
        a: Rescaled,
        to: Level,
        product: Label,
        loc: &Option<SourceLoc>,
    ) -> MacroValue {
        let key = (a.value, Derived::Lifted(to, product));
        if let Some(&known) = self.derived.get(&key) {
            return known;
        }
        let switched = self.switched(a, to, loc);
        let one = MacroImm::Constant {
            value: 1.0,
            scale: Some(self.factor(a, to, product)),
        };
        let new = self.emit(
            MacroOp::Mulc,
            vec![switched],
            one,
            self.at(State::Product(to, product)),
            loc,
        );
        self.derived.insert(key, new);
        new
    }

    /// Returns a rescaled value as a rescaled value of a level `to` below its own, with the label `label`, the factor
    /// by which its scale is divided.
    pub(super) fn lowered(
        &mut self,
        a: Rescaled,
        to: Level,
        label: Label,
        loc: &Option<SourceLoc>,
    ) -> MacroValue {
        let key = (a.value, Derived::Lowered(to, label));
        if let Some(&known) = self.derived.get(&key) {
            return known;
        }
        let above = to.above(1);
        let product = self.before_rescale(above, label);
        let lifted = self.lifted(a, above, product, loc);
        let new = self.emit(
            MacroOp::Rescale,
            vec![lifted],
            MacroImm::None,
            self.at(State::Rescaled(to, label)),
            loc,
        );
        self.derived.insert(key, new);
        new
    }

    /// Returns a plaintext of the program without levels, encoded at the level and scale of `at`.
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
}
