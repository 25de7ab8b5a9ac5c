// SPDX-License-Identifier: Apache-2.0
//! Decides which products with constants change scales alone, and how sums of values with different labels are
//! computed.

use std::collections::{HashMap, HashSet};

/// The largest log2 of a label, up or down, that a value may have at its level.
pub(crate) const MOST_LOG2: f64 = 4.0;

/// How the operands of a sum get one label.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum SumPlan {
    /// The operands have one label, or one operand is lowered or lifted anyway and takes the other's label.
    #[default]
    Straight,
    /// The operand of this number enters a level higher than the other one and takes its label on the way down.
    Lower(usize),
    /// Both operands take a product with one, and so a level.
    LiftBoth,
}

/// The decisions on the constants of a program. They are found by trial: each conflict adds one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// Whether all products with constants are computed, so that every label is 1.
    without_labels: bool,
    /// The products with constants that are computed, by the number of their instruction.
    products: HashSet<usize>,
    sums: HashMap<usize, SumPlan>,
}

impl Plan {
    /// Returns the plan that computes every product with a constant.
    pub fn products() -> Self {
        Self {
            without_labels: true,
            ..Self::default()
        }
    }

    /// Returns the plan that only changes the scale for each product with a constant.
    pub fn labels() -> Self {
        Self::default()
    }

    pub fn has_labels(&self) -> bool {
        !self.without_labels
    }

    /// Returns whether the product with a constant that this instruction means is computed.
    pub fn is_product(&self, number: usize) -> bool {
        self.without_labels || self.products.contains(&number)
    }

    /// Returns how the sum that this instruction means is computed.
    pub fn sum(&self, number: usize) -> SumPlan {
        self.sums.get(&number).copied().unwrap_or_default()
    }

    /// Adds a decision. Returns whether it is a new one.
    pub fn add(&mut self, conflict: Conflict) -> bool {
        match conflict {
            Conflict::Constant(number) => self.products.insert(number),
            Conflict::Sum(number, plan) => {
                // The last resort stays.
                let before = self.sum(number);
                if before == SumPlan::LiftBoth || before == plan {
                    return false;
                }
                let plan = match before {
                    SumPlan::Straight => plan,
                    SumPlan::Lower(_) | SumPlan::LiftBoth => SumPlan::LiftBoth,
                };
                self.sums.insert(number, plan);
                true
            }
        }
    }
}

/// A decision that a trial found to be needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Conflict {
    /// The product with a constant, by the number of its instruction, is to be computed: a label became too large or
    /// too small.
    Constant(usize),
    /// The operands of the sum, by the number of its instruction, have different labels at one level.
    Sum(usize, SumPlan),
}
