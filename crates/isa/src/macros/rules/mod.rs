// SPDX-License-Identifier: Apache-2.0
//! The typing rules of macro instructions, as the definition file names them.
//!
//! A note is what a scheme tracks for a value besides its level. [`common`] has the rules for every
//! scheme, [`note`] those for notes, [`ckks`] those for scales, and [`linked`] those for the steps
//! of bootstrapping.

mod ckks;
mod common;
mod linked;
mod note;

use super::op::MacroRule;
use super::program::{
    LevelNote, MacroImm, MacroInstr, MacroProc, MacroProgram, MacroType, MacroValue, Visibility,
};
use super::verify::Stage;
use crate::error::Fault;
use crate::numbers::Level;

pub use ckks::SCALE_TOLERANCE;
use common::{
    call, carries, cipher, expect_at, expect_cipher, expect_level, expect_morphed, expect_size,
    kind, no_scale, plain,
};
pub(super) use note::check as check_note;

/// A value of a macro program with its type.
#[derive(Clone, Copy)]
pub(super) struct Typed {
    pub value: MacroValue,
    pub ty: MacroType,
}

impl Typed {
    pub(super) fn item(self) -> String {
        format!("%{}", self.value.0)
    }
}

/// What the typing rules must know of a macro program to check one of its instructions.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub program: &'a MacroProgram,
    /// The ciphertext primes q_0 to q_L of the parameters, if they are known.
    pub primes: Option<&'a [u64]>,
    pub stage: Stage,
}

impl Scope<'_> {
    /// Checks an instruction by its typing rule. The caller has checked the numbers of operands and
    /// results, the kind of immediate, and the type of each value by itself.
    pub(super) fn check(
        self,
        instr: &MacroInstr,
        src: &[Typed],
        dst: &[Typed],
    ) -> Result<(), Fault> {
        match (instr.op.info().rule, src, dst) {
            (MacroRule::Input, [], [d]) => {
                let input = match instr.imm {
                    MacroImm::Input(n) => self.program.inputs.get(n as usize),
                    _ => None,
                };
                let visibility = input.map_or(Visibility::Plain, |input| input.visibility);
                match (visibility, d.ty) {
                    (visibility, MacroType::Distant { of, .. }) if of == visibility => Ok(()),
                    (Visibility::Encrypted, _) => {
                        cipher(*d).and_then(|size| expect_size(*d, 2, size))
                    }
                    (Visibility::Plain, _) => plain(*d),
                }
            }
            (MacroRule::Plain, [], [d]) => match d.ty {
                MacroType::Distant {
                    of: Visibility::Plain,
                    ..
                } => Ok(()),
                _ => plain(*d),
            },
            (MacroRule::Load, [a], [d]) => {
                let at = Some(self.managed(*a)?);
                match a.ty {
                    MacroType::Distant {
                        of: Visibility::Encrypted,
                        ..
                    } => expect_cipher(*d, 2, at),
                    MacroType::Distant {
                        of: Visibility::Plain,
                        ..
                    } => plain(*d).and_then(|()| expect_at(*d, at)),
                    near => Err(Fault::Kind {
                        item: a.item(),
                        expected: "a value in distant memory",
                        found: kind(near),
                    }),
                }
            }
            (MacroRule::Morph, [a], [d]) => {
                let MacroImm::Galois(by) = instr.imm else {
                    return Err(Fault::Immediate {
                        expected: "a Galois element".to_owned(),
                        found: "another immediate".to_owned(),
                    });
                };
                expect_size(*a, 2, cipher(*a)?)?;
                expect_morphed(*d, by, Some(self.managed(*a)?))
            }
            (MacroRule::KeySwitch, [a], [d]) => {
                let at = Some(self.managed(*a)?);
                match a.ty {
                    MacroType::Morphed { .. } => expect_cipher(*d, 2, at),
                    _ => {
                        expect_size(*a, 3, cipher(*a)?)?;
                        expect_cipher(*d, 2, at)
                    }
                }
            }
            (MacroRule::Sum, [a, b], [d]) => {
                let size = match b.ty {
                    MacroType::Plain { .. } => cipher(*a)?,
                    _ => cipher(*a)?.max(cipher(*b)?),
                };
                expect_at(*b, a.ty.at())?;
                expect_cipher(*d, size, a.ty.at())
            }
            (MacroRule::Same, [a], [d]) => {
                if let MacroImm::Constant {
                    scale: Some(scale), ..
                } = instr.imm
                {
                    return no_scale(scale);
                }
                expect_cipher(*d, cipher(*a)?, a.ty.at())
            }
            (MacroRule::ScalarProduct, [a], [d]) => {
                let scale = match instr.imm {
                    MacroImm::Constant { scale, .. } => scale,
                    _ => None,
                };
                let expected = match (a.ty.at(), scale) {
                    (Some(at), scale) => Some(LevelNote {
                        note: note::times_constant(at.note, scale)?,
                        ..at
                    }),
                    (None, None) => None,
                    (None, Some(scale)) => return no_scale(scale),
                };
                expect_cipher(*d, cipher(*a)?, expected)
            }
            (MacroRule::Product, [a], [d]) => self.product(*a, *a, *d),
            (MacroRule::Product, [a, b], [d]) => self.product(*a, *b, *d),
            (MacroRule::Relinearise, [a], [d]) => {
                expect_size(*a, 3, cipher(*a)?)?;
                expect_cipher(*d, 2, a.ty.at())
            }
            (MacroRule::Rescale, [a], [d]) => self.rescale(*a, *d),
            (MacroRule::ModSwitch, [a], [d]) => {
                let to = match instr.imm {
                    MacroImm::Level(to) => to,
                    _ => Level(u32::MAX),
                };
                let from = self.managed(*a)?;
                if to > from.level {
                    let expected = format!("a level up to {}", from.level);
                    return Err(Fault::Immediate {
                        expected,
                        found: format!("level {to}"),
                    });
                }
                expect_cipher(*d, cipher(*a)?, Some(LevelNote { level: to, ..from }))
            }
            (MacroRule::Refactor, [a], [d]) => self.refactor(&instr.imm, *a, *d),
            (MacroRule::Bootstrap, [a], [d]) => {
                let MacroImm::Level(level) = instr.imm else {
                    return Err(Fault::Immediate {
                        expected: "a level".to_owned(),
                        found: "another immediate".to_owned(),
                    });
                };
                expect_size(*a, 2, cipher(*a)?)?;
                let from = self.managed(*a)?;
                let declared = d.ty.at().map_or(from.note, |at| at.note);
                let note = note::refreshed(*a, from.note, declared)?;
                expect_cipher(*d, 2, Some(LevelNote { level, note }))
            }
            (MacroRule::Rotate, [a], results) => {
                expect_size(*a, 2, cipher(*a)?)?;
                if instr.op.is_linked() {
                    self.managed(*a)?;
                }
                results
                    .iter()
                    .try_for_each(|d| expect_cipher(*d, 2, a.ty.at()))
            }
            (MacroRule::Key, [], [d]) => linked::highest(self, *d),
            (MacroRule::Lifted, [], [d]) => linked::lifted(self, *d).map(drop),
            (MacroRule::Raise, [a, s], [d]) => linked::raise(self, *a, *s, *d),
            (MacroRule::Drop, [a], [d]) => linked::drop(self, &instr.imm, *a, *d),
            (MacroRule::TurnSum, operands, [d]) => linked::turn_sum(self, &instr.imm, operands, *d),
            (MacroRule::SumPlain, operands, [d]) => linked::sum_plain(self, operands, *d),
            (MacroRule::Matrix, operands, [d]) => linked::matrix(self, &instr.imm, operands, *d),
            (MacroRule::Combine, operands, [d]) => linked::combine(self, &instr.imm, operands, *d),
            (MacroRule::SumProducts, operands, [d]) => {
                linked::sum_products(self, &instr.imm, operands, *d)
            }
            (MacroRule::Divide, [a], [d]) => linked::divide(self, &instr.imm, *a, *d),
            (MacroRule::Output, [a], []) => cipher(*a).map(drop),
            (MacroRule::Call, arguments, results) => {
                let proc = self.called(instr)?;
                call(proc, arguments, results)
            }
            (MacroRule::Repeat, arguments, results) => {
                let proc = self.called(instr)?;
                carries(proc)?;
                call(proc, arguments, results)
            }
            (MacroRule::Unknown, ..) => Err(Fault::Illegal {
                what: "instruction",
                expected: "one that programs have".to_owned(),
                found: instr.op.mnemonic().to_owned(),
            }),
            // The definition file gives a typing rule to an instruction with a number of operands or results for which
            // the rule has no meaning.
            (
                rule @ (MacroRule::Input
                | MacroRule::Plain
                | MacroRule::Load
                | MacroRule::Morph
                | MacroRule::KeySwitch
                | MacroRule::Sum
                | MacroRule::Same
                | MacroRule::ScalarProduct
                | MacroRule::Product
                | MacroRule::Relinearise
                | MacroRule::Rescale
                | MacroRule::ModSwitch
                | MacroRule::Refactor
                | MacroRule::Bootstrap
                | MacroRule::Rotate
                | MacroRule::Key
                | MacroRule::Lifted
                | MacroRule::Raise
                | MacroRule::Drop
                | MacroRule::TurnSum
                | MacroRule::SumPlain
                | MacroRule::Matrix
                | MacroRule::Combine
                | MacroRule::SumProducts
                | MacroRule::Divide
                | MacroRule::Output),
                ..,
            ) => Err(Fault::Illegal {
                what: "instruction",
                expected: format!("operands and results of rule {}", rule.word()),
                found: format!("{} and {}", src.len(), dst.len()),
            }),
        }
    }

    /// Checks the instruction `MUL`, or `SQUARE` with `a` as both operands. The product of two
    /// ciphertexts of two polynomials has three polynomials, but two in a program before
    /// relinearisations are placed. The product with a plaintext has as many as the ciphertext.
    fn product(self, a: Typed, b: Typed, d: Typed) -> Result<(), Fault> {
        let size = match b.ty {
            MacroType::Plain { .. } => cipher(a)?,
            _ => {
                expect_size(a, 2, cipher(a)?)?;
                expect_size(b, 2, cipher(b)?)?;
                if self.stage == Stage::Traced { 2 } else { 3 }
            }
        };
        let expected = match (a.ty.at(), b.ty.at()) {
            (Some(a_at), Some(b_at)) => {
                expect_level(b, a_at.level, b_at.level)?;
                let declared = d.ty.at().map_or(a_at.note, |at| at.note);
                let note = note::product(b, a_at.note, b_at.note, declared)?;
                Some(LevelNote { note, ..a_at })
            }
            (expected, _) => expected,
        };
        expect_cipher(d, size, expected)
    }

    fn rescale(self, a: Typed, d: Typed) -> Result<(), Fault> {
        let from = self.managed(a)?;
        let Some(level) = from.level.below() else {
            return Err(Fault::Level {
                item: a.item(),
                expected: "at least 1".to_owned(),
                found: "0".to_owned(),
            });
        };
        let declared = d.ty.at().map_or(from.note, |at| at.note);
        let prime = self
            .primes
            .and_then(|primes| primes.get(from.level.index()));
        let note = note::rescaled(from.note, prime.copied(), declared);
        expect_cipher(d, cipher(a)?, Some(LevelNote { level, note }))
    }

    fn refactor(self, imm: &MacroImm, a: Typed, d: Typed) -> Result<(), Fault> {
        let MacroImm::Integer(_) = imm else {
            return Err(Fault::Immediate {
                expected: "an integer".to_owned(),
                found: "a real constant".to_owned(),
            });
        };
        let from = self.managed(a)?;
        let declared = d.ty.at().map_or(from.note, |at| at.note);
        let note = note::refactored(a, from.note, declared)?;
        expect_cipher(d, cipher(a)?, Some(LevelNote { note, ..from }))
    }

    /// Returns the procedure that a `CALL` or `REPEAT` names, or an error if the program has no
    /// procedure with this number.
    fn called(&self, instr: &MacroInstr) -> Result<&MacroProc, Fault> {
        let number = match instr.imm {
            MacroImm::Proc(n) | MacroImm::Repeat { proc: n, .. } => n,
            _ => u32::MAX,
        };
        let procs = &self.program.procs;
        procs.get(number as usize).ok_or_else(|| Fault::Range {
            what: "procedure number",
            limit: procs.len() as u64,
            found: u64::from(number),
        })
    }

    fn managed(self, v: Typed) -> Result<LevelNote, Fault> {
        let missing = || Fault::Level {
            item: v.item(),
            expected: "of a managed program".to_owned(),
            found: "none".to_owned(),
        };
        v.ty.at().ok_or_else(missing)
    }
}
