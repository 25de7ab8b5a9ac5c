// SPDX-License-Identifier: Apache-2.0
//! Manages levels and scales: every value gets a level and an exact scale. This module inserts `RESCALE`, `MODSWITCH`
//! and products by one where they are needed, so that no user meets a mismatch of scales.
//!
//! A value is *rescaled* at level l if its scale is the canonical `D_l` over its [label](crate::ckks::label), and a
//! *product* at level l if its scale is `D_l^2` over its label (see [`crate::ckks::canonical`]). Products are rescaled
//! only when a use asks for it, so a sum of products is rescaled once. Inputs enter at the lowest level that serves
//! their uses ([`crate::ckks::depth`]). Operations run at the lowest level of their operands, and products with
//! plaintexts or constants at the lowest that their uses allow. A rescaled value at `D_l` joins products of level k <=
//! l when multiplied by `D_k^2 / D_l`, and takes their label with it. A plaintext or constant factor includes this
//! number at no cost; another value takes a product with one.

mod derive;
mod label;
pub(crate) mod steps;
pub(crate) mod trial;

use std::collections::HashMap;

use ringmill_isa::Level;
use ringmill_isa::macros::{
    LevelScale, MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue, Refused,
};
use ringmill_isa::source::SourceLoc;

use crate::ckks::canonical::CanonicalScales;
use crate::ckks::depth::{Depths, Kind, kind};
use crate::ckks::label::{Label, Labels};
use crate::ckks::plan::{Plan, SumPlan};
use crate::error::CompileError;
use crate::rewrite::{Rewriter, is_cipher};
use derive::{Derived, Placed, Rescaled, State};
use trial::Findings;

struct Manager<'a> {
    out: Rewriter,
    scales: &'a CanonicalScales,
    depths: Depths,
    plan: &'a Plan,
    labels: &'a mut Labels,
    /// For each value of the program without levels, the label that it gets where any label is possible. The list is
    /// empty if this is the label 1 for all values.
    wanted: &'a [Label],
    findings: &'a mut Findings,
    /// The number, in the program without levels, of the instruction whose results get their levels
    /// and scales now.
    number: usize,
    /// For each value of the program without levels, the value that stands for it in the program
    /// with levels, with its level, its label and whether it is rescaled.
    placed: Vec<Option<Placed>>,
    derived: HashMap<(MacroValue, Derived), MacroValue>,
    /// Encoded plaintexts, by their value in the program without levels, the level and the bits of
    /// the scale.
    plains: HashMap<(MacroValue, Level, u64), MacroValue>,
    /// The instruction that makes each plaintext value of the program without levels.
    plain_source: HashMap<MacroValue, (MacroOp, MacroImm)>,
}

/// Gives every value of a relinearised program a level and a scale, as `plan` says. `output_level` is the level of the
/// outputs. Values get the labels `wanted` where any label is possible. Decisions on constants and sums that the plan
/// lacks are recorded in `findings`.
///
/// # Errors
/// [`CompileError::Refused`] for an operation that is not of CKKS.
fn manage(
    source: MacroProgram,
    scales: &CanonicalScales,
    depths: Depths,
    plan: &Plan,
    (labels, wanted): (&mut Labels, &[Label]),
    findings: &mut Findings,
) -> Result<MacroProgram, CompileError> {
    let kinds = source.instrs.iter().map(|i| kind(i, &source));
    let kinds = kinds.collect::<Result<Vec<Kind>, Refused>>()?;
    let (out, body) = Rewriter::new(source);
    let mut manager = Manager {
        out,
        scales,
        depths,
        plan,
        labels,
        wanted,
        findings,
        number: 0,
        placed: vec![None; body.types.len()],
        derived: HashMap::new(),
        plains: HashMap::new(),
        plain_source: HashMap::new(),
    };
    for (number, (instr, kind)) in body.instrs.iter().zip(kinds).enumerate() {
        manager.number = number;
        manager.instr(instr, kind, &body.types);
    }
    Ok(manager.out.finish())
}

impl Manager<'_> {
    fn instr(&mut self, instr: &MacroInstr, kind: Kind, types: &[MacroType]) {
        let loc = &instr.loc;
        match (kind, instr.src.as_slice()) {
            (Kind::Source, _) => self.source(instr, types),
            (Kind::Constant, &[a]) => {
                let MacroImm::Constant { value, .. } = instr.imm else {
                    return;
                };
                if self.plan.is_product(self.number) {
                    self.constant_product(instr, a, value);
                } else {
                    self.constant_label(instr, a, value);
                }
            }
            (Kind::Product, &[a]) => {
                let a = self.rescaled(a, loc);
                let label = self.product_label(instr, a, a);
                self.product(instr, vec![a.value], a.level, label);
            }
            (Kind::Product, &[a, b]) if is_cipher(types, b) => {
                let wanted = [a, b].map(|v| self.wanted(v));
                let (a, b) = (self.rescaled(a, loc), self.rescaled(b, loc));
                let level = a.level.min(b.level);
                let a = self.at_level(a, level, wanted[0], loc);
                let b = self.at_level(b, level, wanted[1], loc);
                let label = self.product_label(instr, a, b);
                self.product(instr, vec![a.value, b.value], level, label);
            }
            (Kind::Product, &[a, b]) => {
                let (a, to) = self.for_factor(instr, a);
                let label = self.before_rescale(to, self.wanted_of(instr));
                let factor = LevelScale {
                    level: to,
                    scale: self.factor(a, to, label),
                };
                let src = vec![self.switched(a, to, loc), self.plain(b, factor, loc)];
                let state = State::Product(to, label);
                let value = self.emit(instr.op, src, MacroImm::None, self.at(state), loc);
                self.findings.takes_any_label(instr);
                self.place(instr, value, state);
            }
            (Kind::Sum, &[a, b]) => self.sum(instr, a, b),
            (Kind::Same, &[a, ..]) => self.same(instr, a),
            (Kind::Rescaled, &[a]) => {
                let a = self.rescaled(a, loc);
                let state = State::Rescaled(a.level, a.label);
                let result = MacroType::Cipher {
                    size: 2,
                    at: Some(self.at(state).into()),
                };
                let results = vec![result; instr.dst.len()];
                let new =
                    self.out
                        .push_many(instr.op, vec![a.value], instr.imm.clone(), &results, loc);
                self.findings.keeps(instr, instr.src[0]);
                for (&old, value) in instr.dst.iter().zip(new) {
                    self.placed[old.0 as usize] = Some(Placed { value, state });
                }
            }
            (Kind::Refreshed, &[a]) => {
                let start = self.plan.start();
                let a = self.rescaled(a, loc);
                let a = self.at_level(a, start, Label::ONE, loc);
                let state = State::Rescaled(self.scales.top(), Label::ONE);
                let (src, imm) = (vec![a.value], instr.imm.clone());
                let value = self.emit(instr.op, src, imm, self.at(state), loc);
                self.place(instr, value, state);
            }
            // The verifier has refused other numbers of operands.
            (
                Kind::Product
                | Kind::Sum
                | Kind::Same
                | Kind::Rescaled
                | Kind::Constant
                | Kind::Refreshed,
                _,
            ) => {}
        }
    }

    /// Returns a rescaled value at `level`, its own or a lower one. At a lower one it has the label `label`.
    fn at_level(
        &mut self,
        a: Rescaled,
        level: Level,
        label: Label,
        loc: &Option<SourceLoc>,
    ) -> Rescaled {
        if a.level == level {
            return a;
        }
        Rescaled {
            value: self.lowered(a, level, label, loc),
            level,
            label,
        }
    }

    /// Returns the label that a value of the program without levels gets where any label is possible.
    fn wanted(&self, old: MacroValue) -> Label {
        let wanted = self.wanted.get(old.0 as usize);
        wanted.copied().unwrap_or(Label::ONE)
    }

    /// Returns the label that the results of an instruction get where any label is possible.
    fn wanted_of(&self, instr: &MacroInstr) -> Label {
        instr.dst.first().map_or(Label::ONE, |&d| self.wanted(d))
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
            let state = State::Rescaled(self.need(instr), self.wanted(old));
            let at = self.at(state);
            let value = self.emit(instr.op, Vec::new(), instr.imm.clone(), at, &instr.loc);
            self.place(instr, value, state);
        } else {
            self.plain_source.insert(old, (instr.op, instr.imm.clone()));
        }
    }

    /// Emits a product of two ciphertexts, or a square, at `level`.
    fn product(&mut self, instr: &MacroInstr, src: Vec<MacroValue>, level: Level, label: Label) {
        let state = State::Product(level, label);
        let ty = MacroType::Cipher {
            size: 3,
            at: Some(self.at(state).into()),
        };
        let value = self.out.push(instr.op, src, MacroImm::None, ty, &instr.loc);
        self.place(instr, value, state);
    }

    /// Returns the operand of a product with a plaintext or constant, rescaled, and the level of the product, the
    /// lowest one that the uses of the product allow.
    fn for_factor(&mut self, instr: &MacroInstr, a: MacroValue) -> (Rescaled, Level) {
        let a = self.rescaled(a, &instr.loc);
        (a, self.need(instr).above(1).min(a.level))
    }

    /// Emits a product with a constant. The constant's scale is such that the rescaled product has the label that is
    /// wanted for it.
    fn constant_product(&mut self, instr: &MacroInstr, a: MacroValue, value: f64) {
        let (a, to) = self.for_factor(instr, a);
        let label = self.before_rescale(to, self.wanted_of(instr));
        let factor = MacroImm::Constant {
            value,
            scale: Some(self.factor(a, to, label)),
        };
        let src = vec![self.switched(a, to, &instr.loc)];
        let state = State::Product(to, label);
        let new = self.emit(instr.op, src, factor, self.at(state), &instr.loc);
        self.findings.takes_any_label(instr);
        self.place(instr, new, state);
    }

    fn sum(&mut self, instr: &MacroInstr, a: MacroValue, b: MacroValue) {
        let loc = &instr.loc;
        let as_product = instr.dst.iter().any(|v| self.depths.product[v.0 as usize]);
        let (src, state) = match self.plan.sum(self.number) {
            SumPlan::LiftBoth => {
                let (a, b) = (self.rescaled(a, loc), self.rescaled(b, loc));
                let level = a.level.min(b.level);
                let label = self.before_rescale(level, self.wanted_of(instr));
                self.findings.takes_any_label(instr);
                let src = [a, b].map(|a| self.lifted(a, level, label, loc));
                (src, State::Product(level, label))
            }
            SumPlan::Straight | SumPlan::Lower(_) if as_product => {
                self.sum_of_products(instr, a, b)
            }
            SumPlan::Straight | SumPlan::Lower(_) => {
                let (ra, rb) = (self.rescaled(a, loc), self.rescaled(b, loc));
                let level = ra.level.min(rb.level);
                let (x, y) = match (ra.level == level, rb.level == level) {
                    (true, true) => {
                        let states = [ra, rb].map(|a| State::Rescaled(a.level, a.label));
                        self.alike(instr, (ra.value, states[0]), (rb.value, states[1]))
                    }
                    (true, false) => {
                        self.findings.keeps(instr, a);
                        (
                            (ra.value, ra.label),
                            (self.lowered(rb, level, ra.label, loc), ra.label),
                        )
                    }
                    (false, _) => {
                        self.findings.keeps(instr, b);
                        (
                            (self.lowered(ra, level, rb.label, loc), rb.label),
                            (rb.value, rb.label),
                        )
                    }
                };
                ([x.0, y.0], State::Rescaled(level, x.1))
            }
        };
        let at = self.at(state);
        let value = self.emit(instr.op, src.to_vec(), MacroImm::None, at, loc);
        self.place(instr, value, state);
    }

    /// Returns the operands of a sum as products at one level with one label (factor by which their scales are
    /// divided), and the state of these products.
    fn sum_of_products(
        &mut self,
        instr: &MacroInstr,
        a: MacroValue,
        b: MacroValue,
    ) -> ([MacroValue; 2], State) {
        let loc = &instr.loc;
        let (na, nb) = (self.natural(a), self.natural(b));
        // A product above the common level lies at least one level higher, so it can be rescaled and then lifted at the
        // common level.
        let level = na.state.level().min(nb.state.level());
        let stays = |placed: Placed| match placed.state {
            State::Product(at, label) if at == level => Some(label),
            State::Product(..) | State::Rescaled(..) => None,
        };
        match (stays(na), stays(nb)) {
            (Some(_), Some(_)) => {
                let (x, y) = self.alike(instr, (na.value, na.state), (nb.value, nb.state));
                ([x.0, y.0], State::Product(level, x.1))
            }
            (Some(label), None) => {
                self.findings.keeps(instr, a);
                let b = self.rescaled(b, loc);
                let src = [na.value, self.lifted(b, level, label, loc)];
                (src, State::Product(level, label))
            }
            (None, Some(label)) => {
                self.findings.keeps(instr, b);
                let a = self.rescaled(a, loc);
                let src = [self.lifted(a, level, label, loc), nb.value];
                (src, State::Product(level, label))
            }
            (None, None) => {
                let label = self.before_rescale(level, self.wanted_of(instr));
                self.findings.takes_any_label(instr);
                let (a, b) = (self.rescaled(a, loc), self.rescaled(b, loc));
                let src = [a, b].map(|a| self.lifted(a, level, label, loc));
                (src, State::Product(level, label))
            }
        }
    }

    /// Emits an instruction that keeps its operand's level and scale: a negation, a sum with a constant or a plaintext,
    /// a relinearisation, a product with an integer, or a declared bound.
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
        self.findings.keeps(instr, a);
        self.place(instr, new, state);
    }
}
