// SPDX-License-Identifier: Apache-2.0
//! Follows the labels of values through products, rescales and sums. A label is the factor between a value and the
//! number that its ciphertext encodes.

use ringmill_isa::Level;
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroValue};
use ringmill_isa::source::SourceLoc;

use super::Manager;
use super::derive::{Placed, Rescaled, State};
use crate::ckks::label::Label;
use crate::ckks::plan::{Conflict, MOST_LOG2, SumPlan};

/// The relative difference up to which two labels (factors by which scales are divided) count as one. Its effect is
/// part of the predicted error.
const TOLERANCE: f64 = 1.0 / (1u64 << 48) as f64;
/// The largest integer by which an operand of a sum is multiplied to get the other operand's label, the factor by which
/// its scale is divided.
const MOST_INTEGER: f64 = 16.0;

/// A value of the program with levels, with its label, the factor by which its scale is divided.
type Labelled = (MacroValue, Label);

impl Manager<'_> {
    /// Returns the label (factor by which the scale is divided) `a b^exponent`. If the product has too many factors,
    /// the last constant in an operand's label is recorded as a conflict, and the result is the label 1. If no
    /// operand's label has a constant, the trial is recorded as stuck.
    fn times(&mut self, instr: &MacroInstr, a: Label, b: Label, exponent: i64) -> Label {
        match self.labels.times(a, b, exponent) {
            Some(label) => label,
            None => {
                self.findings.out_of_range(&instr.src);
                Label::ONE
            }
        }
    }

    /// Returns the label (factor by which the scale is divided) of the product of two rescaled values.
    pub(super) fn product_label(&mut self, instr: &MacroInstr, a: Rescaled, b: Rescaled) -> Label {
        let label = self.times(instr, a.label, b.label, 1);
        let larger = |a: &Rescaled| self.labels.log2(a.label).abs();
        let first = match larger(&a) >= larger(&b) {
            true => instr.src.first(),
            false => instr.src.last(),
        };
        if let Some(&first) = first {
            self.findings.from(instr, first);
        }
        label
    }

    /// Returns the label that a product at `level` has after its rescale: the factor by which the scale is divided. The
    /// first rescale of a product with a fixed label chooses the ratio of its level, by which labels are multiplied.
    /// The ratio makes that product's label one, unless all ratios are one or it would be too far from one. Until the
    /// ratio is chosen, a product that may take any label gets the label that is wanted for it. A label too far from
    /// the wanted one is recorded, and the result is then the wanted label.
    pub(super) fn after_rescale(&mut self, old: MacroValue, level: Level, product: Label) -> Label {
        let ratio = match self.findings.ratio(level) {
            Some(ratio) => ratio,
            None if self.findings.may_take_any_label(old) => return self.wanted(old),
            None => self.findings.choose_ratio(level, product, self.labels),
        };
        let label = self.labels.times(product, ratio, 1);
        let wanted = self.wanted(old);
        let log2 = |label: Label| self.labels.log2(label);
        let label = label.filter(|&label| (log2(label) - log2(wanted)).abs() <= MOST_LOG2);
        if label.is_none() {
            self.findings.out_of_range(&[old]);
        }
        label.unwrap_or(wanted)
    }

    /// Returns the label (factor by which the scale is divided) that a product at `level` must have to get the label
    /// `after` by its rescale.
    pub(super) fn before_rescale(&mut self, level: Level, after: Label) -> Label {
        let ratio = self.findings.ratio(level).unwrap_or(Label::ONE);
        self.labels.times(after, ratio, -1).unwrap_or(after)
    }

    /// Multiplies a value by a constant that becomes part of the value's label: the polynomials of the ciphertext stay,
    /// and its scale is divided by the constant's absolute value. A negative constant takes a negation too.
    pub(super) fn constant_label(&mut self, instr: &MacroInstr, a: MacroValue, constant: f64) {
        let placed = self.natural(a);
        let factor = self.labels.constant(constant.abs());
        let label = self.times(instr, placed.state.label(), factor, 1);
        let state = placed.state.with(label);
        self.findings.multiplied(instr, self.number);
        let most = match state {
            State::Rescaled(..) => MOST_LOG2,
            State::Product(..) => 2.0 * MOST_LOG2,
        };
        if self.labels.log2(label).abs() > most {
            self.findings.out_of_range(&instr.dst);
        }
        let value = self.relabelled(placed, state, constant.abs(), &instr.loc);
        let value = match constant < 0.0 {
            true => self.emit(
                MacroOp::Neg,
                vec![value],
                MacroImm::None,
                self.at(state),
                &instr.loc,
            ),
            false => value,
        };
        self.place(instr, value, state);
    }

    /// Emits the product (`MULC`) of a value and `constant`. The constant is encoded at the scale
    /// that gives the product the scale of `state`.
    fn relabelled(
        &mut self,
        of: Placed,
        state: State,
        constant: f64,
        loc: &Option<SourceLoc>,
    ) -> MacroValue {
        let at = self.at(state);
        let scale = at.scale / self.at(of.state).scale;
        let imm = MacroImm::Constant {
            value: constant,
            scale: Some(scale),
        };
        self.emit(MacroOp::Mulc, vec![of.value], imm, at, loc)
    }

    /// Returns the two operands of a sum, which have one level, with one label, the factor by which their scales are
    /// divided. If the labels' ratio is a small integer, the operand of the larger label is multiplied by it. For
    /// another ratio the sum is recorded as a conflict, and both operands come back unchanged, with the label one.
    pub(super) fn alike(
        &mut self,
        instr: &MacroInstr,
        (a, state_a): (MacroValue, State),
        (b, state_b): (MacroValue, State),
    ) -> (Labelled, Labelled) {
        let (la, lb) = (state_a.label(), state_b.label());
        let (old_a, old_b) = (instr.src[0], instr.src[instr.src.len() - 1]);
        let same = |label| ((a, label), (b, label));
        if la == lb {
            self.findings.keeps_both(instr);
            return same(la);
        }
        let log2 = self.labels.log2(la) - self.labels.log2(lb);
        // The ciphertext of a value with a larger label is at a smaller scale.
        let ((large, large_state), small_state, swapped) = match log2 >= 0.0 {
            true => ((a, state_a), state_b, false),
            false => ((b, state_b), state_a, true),
        };
        let integer = log2.abs().exp2().round();
        let ratio = self.at(small_state).scale / self.at(large_state).scale;
        let near = (ratio / integer - 1.0).abs() <= TOLERANCE;
        if near && integer <= MOST_INTEGER {
            self.findings
                .keeps(instr, if swapped { old_a } else { old_b });
            let imm = MacroImm::Constant {
                value: 1.0,
                scale: Some(ratio),
            };
            let at = self.at(small_state);
            let scaled = self.emit(MacroOp::Mulc, vec![large], imm, at, &instr.loc);
            let label = small_state.label();
            return match swapped {
                true => ((a, label), (scaled, label)),
                false => ((scaled, label), (b, label)),
            };
        }
        let depth = |v: MacroValue| self.depths.depth[v.0 as usize];
        let plan = match depth(old_a).cmp(&depth(old_b)) {
            std::cmp::Ordering::Less => SumPlan::Lower(0),
            std::cmp::Ordering::Greater => SumPlan::Lower(1),
            std::cmp::Ordering::Equal => SumPlan::LiftBoth,
        };
        self.findings.found(Conflict::Sum(self.number, plan));
        self.findings.takes_any_label(instr);
        same(Label::ONE)
    }
}
