// SPDX-License-Identifier: Apache-2.0
//! The elaboration parameters of the polynomial multiplier (`rm_polymul`).

use super::PolymulError;

/// Smallest degree of every configuration is 2^8.
pub const MIN_LOG_N: u32 = 8;
/// Largest degree that a configuration may have: 2^16.
pub const TOP_LOG_N: u32 = 16;
/// Coefficients are 32-bit words.
pub const WIDTH: u32 = 32;
/// A machine holds two sets of two polynomials.
pub const SETS: usize = 2;
/// A machine holds the tables of two degrees and moduli.
pub const SLOTS: usize = 2;

/// Processing units, largest degree and stream width of one multiplier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    log_units: u32,
    max_log_n: u32,
    log_beat: u32,
}

impl Shape {
    /// Makes a shape: `units` from 4 to 64, degrees up to 2^`max_log_n`, `beat` residues a cycle on each stream (2 to
    /// `units`). Units and beat are powers of two. Returns `None` for other numbers.
    pub fn new(units: usize, max_log_n: u32, beat: usize) -> Option<Self> {
        let fits = units.is_power_of_two()
            && (4..=64).contains(&units)
            && (MIN_LOG_N..=TOP_LOG_N).contains(&max_log_n)
            && beat.is_power_of_two()
            && (2..=units).contains(&beat)
            // Two rows at least.
            && units.ilog2() + 2 <= max_log_n;
        fits.then(|| Self {
            log_units: units.ilog2(),
            max_log_n,
            log_beat: beat.ilog2(),
        })
    }

    /// Returns the number of butterflies, P.
    pub fn units(self) -> usize {
        1 << self.log_units
    }

    pub fn max_log_n(self) -> u32 {
        self.max_log_n
    }

    /// Returns the residues a cycle on each stream.
    pub fn beat(self) -> usize {
        1 << self.log_beat
    }

    /// Returns the rows of 2P residues of a polynomial of this degree, at least 2.
    pub fn rows(self, degree: Degree) -> u64 {
        degree.n() as u64 >> (self.log_units + 1)
    }

    /// Checks a degree.
    ///
    /// # Errors
    /// [`PolymulError::NotPowerOfTwo`] and [`PolymulError::Degree`].
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

/// A degree that a shape has accepted.
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
