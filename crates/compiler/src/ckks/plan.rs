// SPDX-License-Identifier: Apache-2.0
//! Decides for each product with a constant whether it is computed or only changes its result's scale. The constant of
//! a product that is not computed becomes part of the value's label: the factor between a value and the number that its
//! ciphertext encodes. The module also decides how sums of values with different labels are computed.

use std::collections::{HashMap, HashSet};

use ringmill_isa::Level;

/// The largest absolute value of log2 of the label of a rescaled value, if the label is made of the program's
/// constants. A product's may be twice as large. A label is the factor between a value and the number that its
/// ciphertext encodes.
pub(crate) const MOST_LOG2: f64 = 4.0;

/// How both operands of a sum get the same label, the factor between a value and the number that its ciphertext
/// encodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum SumPlan {
    /// The operands of the sum have one label (factor by which the scale is divided), or one operand is lowered or
    /// lifted anyway and takes the other's label.
    #[default]
    Straight,
    /// The operand with this number (0 or 1) starts one level above the other operand and takes that operand's label
    /// (factor by which the scale is divided) on the way down.
    Lower(usize),
    /// Both operands of the sum are multiplied by one, which takes a level, and get one label (factor by which the
    /// scale is divided) by that product.
    LiftBoth,
}

/// The decisions on the products with constants of a program, and on sums of values with different labels (factors by
/// which scales are divided). They are found by trial: each conflict of a trial adds one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// Whether all products with constants are computed, so that every label, the factor that scales absorb, is 1.
    without_labels: bool,
    /// The products with constants that are computed, by the numbers of their instructions in the program.
    products: HashSet<usize>,
    sums: HashMap<usize, SumPlan>,
    /// The level at which values are bootstrapped, for programs that bootstrap.
    start: Level,
}

impl Plan {
    /// Returns the plan in which every product with a constant is computed, and none only changes
    /// its result's scale.
    pub fn products() -> Self {
        Self {
            without_labels: true,
            ..Self::default()
        }
    }

    /// Returns the same plan for a program whose values are bootstrapped at the level `start`.
    pub fn bootstrapping_at(self, start: Level) -> Self {
        Self { start, ..self }
    }

    /// Returns the level at which values are bootstrapped, for programs that bootstrap.
    pub fn start(&self) -> Level {
        self.start
    }

    /// Returns the plan that computes no product with a constant: each only changes its result's scale.
    pub fn labels() -> Self {
        Self::default()
    }

    pub fn has_labels(&self) -> bool {
        !self.without_labels
    }

    /// Returns whether the product with a constant in instruction number `number` is computed. Otherwise only the
    /// result's scale changes.
    pub fn is_product(&self, number: usize) -> bool {
        self.without_labels || self.products.contains(&number)
    }

    /// Returns how the operands of the addition or subtraction in instruction number `number` get one label, the factor
    /// between a value and the number that its ciphertext encodes.
    pub fn sum(&self, number: usize) -> SumPlan {
        self.sums.get(&number).copied().unwrap_or_default()
    }

    /// Adds to the plan the decision that resolves a conflict, which a trial of level management
    /// found. Returns whether the decision is a new one.
    pub fn add(&mut self, conflict: Conflict) -> bool {
        match conflict {
            Conflict::Constant(number) => self.products.insert(number),
            Conflict::Sum(number, plan) => {
                // A sum whose two operands are both multiplied by one has no further plan to try.
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

/// A conflict that a trial of level management found: a decision on a constant or a sum that the
/// plan lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Conflict {
    /// The product with a constant in the instruction with this number must be computed, because a label (factor by
    /// which the scale is divided) that contains the constant became too large or too small.
    Constant(usize),
    /// The operands of the addition or subtraction in the instruction with this number have different labels (factors
    /// by which scales are divided) at one level. The plan says how they get one label.
    Sum(usize, SumPlan),
}
