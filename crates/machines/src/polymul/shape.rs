// SPDX-License-Identifier: Apache-2.0
//! The parameters with which the RTL of the polynomial multiplier (`rm_polymul`) is built.

use super::PolymulError;

/// log2 of the smallest ring degree, which all multipliers support.
pub const MIN_LOG_N: u32 = 8;
/// log2 of the largest ring degree that a multiplier can have.
pub const TOP_LOG_N: u32 = 16;
/// The bits of the word in which the multiplier holds a coefficient.
pub const WIDTH: u32 = 32;
/// The number of sets of two polynomials that a multiplier holds.
pub const SETS: usize = 2;
/// The number of table slots of a multiplier. Each holds the tables of one degree and modulus.
pub const SLOTS: usize = 2;

/// The parameters of one multiplier: number of processing units, largest degree and width of its streams.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    log_units: u32,
    max_log_n: u32,
    log_beat: u32,
}

impl Shape {
    /// Checks the parameters of a multiplier: `units` from 4 to 64, degrees up to 2^`max_log_n` (8 to 16), and `beat`
    /// residues in a cycle on each stream (2 to `units`). Units and beat are powers of two. Returns `None` for other
    /// numbers.
    pub fn new(units: usize, max_log_n: u32, beat: usize) -> Option<Self> {
        let fits = units.is_power_of_two()
            && (4..=64).contains(&units)
            && (MIN_LOG_N..=TOP_LOG_N).contains(&max_log_n)
            && beat.is_power_of_two()
            && (2..=units).contains(&beat)
            // The largest polynomial has at least two rows.
            && units.ilog2() + 2 <= max_log_n;
        fits.then(|| Self {
            log_units: units.ilog2(),
            max_log_n,
            log_beat: beat.ilog2(),
        })
    }

    /// Returns the number P of processing units, each with one butterfly.
    pub fn units(self) -> usize {
        1 << self.log_units
    }

    pub fn max_log_n(self) -> u32 {
        self.max_log_n
    }

    /// Returns the residues that each of the multiplier's two streams carries in a cycle.
    pub fn beat(self) -> usize {
        1 << self.log_beat
    }

    /// Returns the number of rows in a polynomial of this degree, at least 2. A row has 2P
    /// residues, for P processing units with one butterfly each.
    pub fn rows(self, degree: Degree) -> u64 {
        degree.n() as u64 >> (self.log_units + 1)
    }

    /// Checks that the multiplier supports the ring degree n.
    ///
    /// # Errors
    /// [`PolymulError::NotPowerOfTwo`], or [`PolymulError::Degree`] for a degree out of range.
    pub fn degree(self, n: usize) -> Result<Degree, PolymulError> {
        if !n.is_power_of_two() {
            return Err(PolymulError::NotPowerOfTwo { got: n });
        }
        let log_n = n.ilog2();
        if !(MIN_LOG_N..=self.max_log_n).contains(&log_n) {
            return Err(PolymulError::Degree {
                got: n,
                least: 1 << MIN_LOG_N,
                most: 1 << self.max_log_n,
            });
        }
        Ok(Degree { log_n })
    }
}

/// A ring degree that the multiplier supports.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Degree {
    log_n: u32,
}

impl Degree {
    pub fn log_n(self) -> u32 {
        self.log_n
    }

    pub fn n(self) -> usize {
        1 << self.log_n
    }
}
