// SPDX-License-Identifier: Apache-2.0
//! Manages levels and scales: every value gets a level and an exact scale. The pass inserts `RESCALE`, `MODSWITCH` and
//! products by one where they are needed, so that no user meets a mismatch of scales.
//!
//! A value is *rescaled* at level l if its scale is the canonical `D_l`, and a *product* at level l if its scale is
//! `D_l^2` (see [`crate::ckks::canonical`]). Products are rescaled only when a use asks for it, so a sum of products is
//! rescaled once. Inputs enter at the lowest level that serves their uses ([`crate::ckks::depth`]). Operations run at
//! the lowest level of their operands. A rescaled value at `D_l` joins products of level k <= l when multiplied by
//! `D_k^2 / D_l`. A plaintext or constant factor includes this number at no cost; another value takes a product with
//! one.

mod derive;
pub(crate) mod steps;

use std::collections::HashMap;

use ringmill_isa::Level;
use ringmill_isa::macros::{
    LevelScale, MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue, Refused,
};

use crate::ckks::canonical::CanonicalScales;
use crate::ckks::depth::{Depths, Kind, kind};
use crate::error::CompileError;
use crate::rewrite::{Rewriter, is_cipher};
use derive::{Derived, Placed, State};

struct Manager<'a> {
    out: Rewriter,
    scales: &'a CanonicalScales,
    depths: Depths,
    /// For each value of the old program, its value and state in the new one.
    placed: Vec<Option<Placed>>,
    derived: HashMap<(MacroValue, Derived), MacroValue>,
    /// Encoded plaintexts, by the old program's value, the level and the bits of the scale.
    plains: HashMap<(MacroValue, Level, u64), MacroValue>,
    /// The instruction that makes each plaintext value of the old program.
    plain_source: HashMap<MacroValue, (MacroOp, MacroImm)>,
}

/// Gives every value of a relinearised program a level and a scale. `output_level` is the level of the outputs.
///
/// # Errors
/// [`CompileError::TooDeep`] with the line of the first product for which no level is left.
pub fn run(
    source: MacroProgram,
    scales: &CanonicalScales,
    output_level: Level,
) -> Result<MacroProgram, CompileError> {
    let depths = Depths::new(&source, output_level)?;
    depths.check(&source, output_level, scales.top())?;
    let kinds = source.instrs.iter().map(|i| kind(i, &source));
    let kinds = kinds.collect::<Result<Vec<Kind>, Refused>>()?;
    let (out, body) = Rewriter::new(source);
    let mut manager = Manager {
        out,
        scales,
        depths,
        placed: vec![None; body.types.len()],
        derived: HashMap::new(),
        plains: HashMap::new(),
        plain_source: HashMap::new(),
    };
    for (instr, kind) in body.instrs.iter().zip(kinds) {
        manager.instr(instr, kind, &body.types);
    }
    Ok(manager.out.finish())
}

impl Manager<'_> {
    fn instr(&mut self, instr: &MacroInstr, kind: Kind, types: &[MacroType]) {
        let loc = &instr.loc;
        match (kind, instr.src.as_slice()) {
            (Kind::Source, _) => self.source(instr, types),
            (Kind::Product, &[a]) if instr.op == MacroOp::Mulc => self.constant_product(instr, a),
            (Kind::Product, &[a]) => {
                let (value, level) = self.rescaled(a, loc);
                self.product(instr, vec![value], level);
            }
            (Kind::Product, &[a, b]) if is_cipher(types, b) => {
                let (a, la) = self.rescaled(a, loc);
                let (b, lb) = self.rescaled(b, loc);
                let level = la.min(lb);
                let src = vec![
                    self.lowered(a, la, level, loc),
                    self.lowered(b, lb, level, loc),
                ];
                self.product(instr, src, level);
            }
            (Kind::Product, &[a, b]) => {
                let (switched, from, to) = self.for_factor(instr, a);
                let factor = LevelScale {
                    level: to,
                    scale: self.scales.factor(from, to),
                };
                let src = vec![switched, self.plain(b, factor, loc)];
                let value = self.emit(
                    instr.op,
                    src,
                    MacroImm::None,
                    self.at(State::Product(to)),
                    loc,
                );
                self.place(instr, value, State::Product(to));
            }
            (Kind::Sum, &[a, b]) => self.sum(instr, a, b),
            (Kind::Same, &[a, ..]) => self.same(instr, a),
            (Kind::Rescaled, &[a]) => {
                let (value, level) = self.rescaled(a, loc);
                let at = self.at(State::Rescaled(level));
                let results = vec![
                    MacroType::Cipher {
                        size: 2,
                        at: Some(at.into())
                    };
                    instr.dst.len()
                ];
                let new =
                    self.out
                        .push_many(instr.op, vec![value], instr.imm.clone(), &results, loc);
                for (&old, value) in instr.dst.iter().zip(new) {
                    self.placed[old.0 as usize] = Some(Placed {
                        value,
                        state: State::Rescaled(level),
                    });
                }
            }
            // The verifier has refused other numbers of operands.
            (Kind::Product | Kind::Sum | Kind::Same | Kind::Rescaled, _) => {}
        }
    }

    fn place(&mut self, instr: &MacroInstr, value: MacroValue, state: State) {
        for old in &instr.dst {
            self.placed[old.0 as usize] = Some(Placed { value, state });
        }
    }

    fn need(&self, instr: &MacroInstr) -> Level {
        instr
            .dst
            .iter()
            .map(|v| self.depths.need[v.0 as usize])
            .max()
            .unwrap_or_default()
    }

    /// Emits an encrypted input at the lowest level that serves its uses. A plaintext is emitted later, at each use.
    fn source(&mut self, instr: &MacroInstr, types: &[MacroType]) {
        let [old] = instr.dst[..] else { return };
        if is_cipher(types, old) {
            let level = self.need(instr);
            let at = self.at(State::Rescaled(level));
            let value = self.emit(instr.op, Vec::new(), instr.imm.clone(), at, &instr.loc);
            self.place(instr, value, State::Rescaled(level));
        } else {
            self.plain_source.insert(old, (instr.op, instr.imm.clone()));
        }
    }

    /// Emits a product of two ciphertexts at `level`.
    fn product(&mut self, instr: &MacroInstr, src: Vec<MacroValue>, level: Level) {
        let ty = MacroType::Cipher {
            size: 3,
            at: Some(self.at(State::Product(level)).into()),
        };
        let value = self.out.push(instr.op, src, MacroImm::None, ty, &instr.loc);
        self.place(instr, value, State::Product(level));
    }

    /// Returns the operand of a product with a plaintext or constant, dropped to the level that the product's uses
    /// need. Returns the operand, the level of its scale, and its own level.
    fn for_factor(&mut self, instr: &MacroInstr, a: MacroValue) -> (MacroValue, Level, Level) {
        let (value, from) = self.rescaled(a, &instr.loc);
        let to = self.need(instr).above(1).min(from);
        (self.switched(value, from, to, &instr.loc), from, to)
    }

    fn constant_product(&mut self, instr: &MacroInstr, a: MacroValue) {
        let (switched, from, to) = self.for_factor(instr, a);
        let value = if let MacroImm::Constant { value, .. } = instr.imm {
            value
        } else {
            1.0
        };
        let factor = MacroImm::Constant {
            value,
            scale: Some(self.scales.factor(from, to)),
        };
        let new = self.emit(
            instr.op,
            vec![switched],
            factor,
            self.at(State::Product(to)),
            &instr.loc,
        );
        self.place(instr, new, State::Product(to));
    }

    fn sum(&mut self, instr: &MacroInstr, a: MacroValue, b: MacroValue) {
        let loc = &instr.loc;
        let as_product = instr.dst.iter().any(|v| self.depths.product[v.0 as usize]);
        let (src, state) = if as_product {
            let level_of = |placed: Placed| match placed.state {
                State::Rescaled(level) | State::Product(level) => level,
            };
            // A product above the common level is rescaled, then lifted at it; it must lie a level higher for that.
            let level = level_of(self.natural(a)).min(level_of(self.natural(b)));
            let src = vec![
                self.as_product(a, level, loc),
                self.as_product(b, level, loc),
            ];
            (src, State::Product(level))
        } else {
            let (a, la) = self.rescaled(a, loc);
            let (b, lb) = self.rescaled(b, loc);
            let level = la.min(lb);
            (
                vec![
                    self.lowered(a, la, level, loc),
                    self.lowered(b, lb, level, loc),
                ],
                State::Rescaled(level),
            )
        };
        let value = self.emit(instr.op, src, MacroImm::None, self.at(state), loc);
        self.place(instr, value, state);
    }

    /// Emits an instruction that keeps its operand's level and scale: a negation, a sum with a constant or a plaintext,
    /// a relinearisation, or a product with an integer.
    fn same(&mut self, instr: &MacroInstr, a: MacroValue) {
        let Placed { value, state } = self.natural(a);
        let at = self.at(state);
        let mut src = vec![value];
        if let Some(&plain) = instr.src.get(1) {
            src.push(self.plain(plain, at, &instr.loc));
        }
        let imm = match (instr.op, &instr.imm) {
            (MacroOp::Mulc, &MacroImm::Constant { value, .. }) => MacroImm::Constant {
                value,
                scale: Some(1.0),
            },
            (_, imm) => imm.clone(),
        };
        let size = if instr.op == MacroOp::Relin {
            2
        } else {
            self.size(value)
        };
        let new = self.out.push(
            instr.op,
            src,
            imm,
            MacroType::Cipher {
                size,
                at: Some(at.into()),
            },
            &instr.loc,
        );
        self.place(instr, new, state);
    }
}
