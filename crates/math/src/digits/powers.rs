// SPDX-License-Identifier: Apache-2.0
//! Plans the powers of one value that an evaluation of a polynomial needs.

use std::collections::BTreeMap;

use super::plan::{Builder, Value};

/// The powers of a value that a plan computes so far. Each is the product of two smaller powers,
/// one of which has an exponent 2^j. So its depth is the least possible: log2 of its exponent,
/// rounded up.
pub(super) struct Powers {
    made: BTreeMap<usize, Value>,
}

impl Powers {
    pub fn of(base: Value) -> Self {
        Self {
            made: BTreeMap::from([(1, base)]),
        }
    }

    /// Returns the power of the value to an exponent of 1 or more. It adds to the plan the steps
    /// that this power needs.
    pub fn get(&mut self, builder: &mut Builder, exponent: usize) -> Value {
        if let Some(&value) = self.made.get(&exponent) {
            return value;
        }
        let high = exponent.next_power_of_two() / 2;
        let a = self.get(builder, high);
        let b = self.get(builder, exponent - high);
        let value = builder.product(a, b);
        self.made.insert(exponent, value);
        value
    }
}
