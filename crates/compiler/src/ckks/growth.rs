// SPDX-License-Identifier: Apache-2.0
//! Finds the instruction at which the error of a CKKS program grows most.

use std::collections::HashSet;

use ringmill_isa::macros::MacroValue;
use ringmill_isa::source::SourceLoc;

/// An instruction of a program that makes an error larger.
#[derive(Clone, PartialEq, Debug)]
pub struct Growth {
    /// The largest bound on the error of an operand of the instruction.
    pub before: f64,
    /// The bound on the error of the instruction's result.
    pub after: f64,
    /// Whether the instruction multiplies the error by a constant or a plaintext.
    pub by_plain: bool,
    /// The line of the user's program that the instruction comes from.
    pub loc: Option<SourceLoc>,
}

/// The error bounds of a program's values, and for each value the instruction at which its largest error grew most.
pub struct Errors {
    /// For each value, a bound on its error.
    bounds: Vec<f64>,
    /// For each value, the ratio of its bound to the largest bound of an operand of its instruction.
    factors: Vec<f64>,
    /// For each value, the value at which the error grew by the largest ratio in `factors`, on the way of its largest
    /// error back to the source. `None` if the error never grew.
    steepest: Vec<Option<MacroValue>>,
    /// The values that are products by constants or plaintexts.
    pub by_plain: HashSet<MacroValue>,
}

impl Errors {
    pub fn new(values: usize) -> Self {
        Self {
            bounds: vec![0.0; values],
            factors: vec![0.0; values],
            steepest: vec![None; values],
            by_plain: HashSet::new(),
        }
    }

    pub fn bound(&self, value: MacroValue) -> f64 {
        self.bounds.get(value.0 as usize).copied().unwrap_or(0.0)
    }

    pub fn factor(&self, value: MacroValue) -> f64 {
        self.factors.get(value.0 as usize).copied().unwrap_or(0.0)
    }

    pub fn steepest(&self, value: MacroValue) -> Option<MacroValue> {
        self.steepest.get(value.0 as usize).copied().flatten()
    }

    /// Records the bound on the error of a value, which an instruction with these operands makes.
    pub fn made(&mut self, value: MacroValue, bound: f64, operands: &[MacroValue]) {
        let largest = operands.iter().copied();
        let largest = largest.max_by(|&a, &b| self.bound(a).total_cmp(&self.bound(b)));
        let (factor, steepest) = match largest {
            None => (0.0, None),
            Some(largest) => {
                let factor = bound / self.bound(largest);
                let before = self.steepest(largest);
                let known = before.map_or(1.0, |value| self.factor(value));
                (factor, if factor > known { Some(value) } else { before })
            }
        };
        let place = value.0 as usize;
        let slots = (
            self.bounds.get_mut(place),
            self.factors.get_mut(place),
            self.steepest.get_mut(place),
        );
        if let (Some(b), Some(f), Some(s)) = slots {
            (*b, *f, *s) = (bound, factor, steepest);
        }
    }
}
