// SPDX-License-Identifier: Apache-2.0
//! Finds the values of a CKKS program that come closest to the capacity of their levels.

use ringmill_isa::source::SourceLoc;

/// The least magnitude with which a value counts in comparisons with the capacity of its level. If this magnitude fits,
/// the scale is below the level's modulus.
pub const SMALLEST: f64 = 0.5;

/// The largest capacity that is used, near the largest double: infinite capacities could not be compared.
const LARGEST: f64 = 1e300;

/// The values of a program that have the least room at their levels before they would wrap around.
#[derive(Clone, Debug)]
pub struct Tightest {
    /// The first value that may wrap around, or the value that comes closest if none may.
    pub first: Closeness,
    /// The value that exceeds the capacity of its level most, or comes closest.
    pub worst: Closeness,
}

/// How near a value comes to the capacity of its level, beyond which it would wrap around.
#[derive(Clone, Debug)]
pub struct Closeness {
    /// log2 of (magnitude + error) / capacity. At 0 and above the value may wrap around.
    pub excess_bits: f64,
    /// A bound on the absolute values of the value's slots, without the error.
    pub magnitude: f64,
    /// A bound on the error of the value's slots.
    pub error: f64,
    /// The limit below which absolute values survive at the value's level and scale.
    pub capacity: f64,
    /// The line of the user's program that computes the value.
    pub loc: Option<SourceLoc>,
}

impl Tightest {
    /// The values of least room before any value was compared with the capacity of its level.
    pub const NONE: Self = Self {
        first: Closeness::NONE,
        worst: Closeness::NONE,
    };

    /// Returns whether no value of the program may wrap around.
    pub fn fits(&self) -> bool {
        self.worst.excess_bits < 0.0
    }

    pub fn compare(&mut self, magnitude: f64, error: f64, capacity: f64, loc: Option<&SourceLoc>) {
        let capacity = capacity.min(LARGEST);
        let excess_bits = (magnitude + error).log2() - capacity.log2();
        // NaN bounds nothing, so the value counts as too large.
        let excess_bits = if excess_bits.is_nan() {
            f64::INFINITY
        } else {
            excess_bits
        };
        if excess_bits <= self.worst.excess_bits {
            return;
        }
        let this = Closeness {
            excess_bits,
            magnitude,
            error,
            capacity,
            loc: loc.cloned(),
        };
        if self.fits() {
            self.first = this.clone();
        }
        self.worst = this;
    }
}

impl Closeness {
    const NONE: Self = Self {
        excess_bits: f64::NEG_INFINITY,
        magnitude: 0.0,
        error: 0.0,
        capacity: 0.0,
        loc: None,
    };
}
