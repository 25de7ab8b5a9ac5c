// SPDX-License-Identifier: Apache-2.0
//! Plans the powers of one value that an evaluation needs.

use std::collections::BTreeMap;

use super::plan::{Builder, Value};

/// The powers made so far. A power's depth is the least there is, log2 of its exponent, rounded up: 2^j times the rest.
pub(super) struct Powers {
    made: BTreeMap<usize, Value>,
}

impl Powers {
    pub fn of(base: Value) -> Self {
        Self {
            made: BTreeMap::from([(1, base)]),
        }
    }

    /// The power to an exponent of 1 or more.
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
