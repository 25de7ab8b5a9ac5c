// SPDX-License-Identifier: Apache-2.0
//! The shared base-extension unit (`rm_basext_shared`), which computes the residues modulo a batch of targets at a
//! time, and its cycle model.
//!
//! The unit has one channel of multipliers for each target of a batch, and one for the redundant
//! modulus. It computes the factor mu_i of each source residue once, the residue times the inverse
//! of Q / q_i modulo the source q_i, for Q the product of all sources. All channels use this
//! factor. A row is a pass over the coefficients of one residue, and a round is the rows for one
//! batch of targets. Their schedule depends only on the unit's shape and the extension. The model
//! equals the RTL cycle for cycle if the streams do not stall.

use super::{BasextError, Extension, Shape, mul_latency};

/// The parameters of a base-extension unit whose channels for several target moduli share the factors of the sources: a
/// shape, and the number of target moduli that the unit computes at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shared {
    shape: Shape,
    batch: usize,
}

impl Shared {
    /// Checks the parameters of a shared unit for `batch` targets at once. It has `batch` + 2 multipliers in each lane.
    ///
    /// # Errors
    /// [`BasextError::Shape`] for a batch of 0, or one above the shape's number of targets or of sources.
    pub fn new(shape: Shape, batch: usize) -> Result<Self, BasextError> {
        let most = shape.max_l().min(shape.max_k());
        if !(1..=most).contains(&batch) {
            return Err(BasextError::Shape {
                what: "the number of targets at once",
                expected: format!("1 to {most}, the fewer of its source and target moduli"),
                got: batch as u64,
            });
        }
        Ok(Self { shape, batch })
    }

    pub fn shape(self) -> Shape {
        self.shape
    }

    /// Returns the number of target moduli that the unit computes at once. An extension with fewer than `batch` - 1
    /// sources computes fewer at once.
    pub fn batch(self) -> usize {
        self.batch
    }

    /// Returns the number of modular multipliers of the unit. Each lane has one that scales the source residues, one
    /// for the redundant modulus, and one for each target of a batch. A residue modulo the source q_i is scaled by the
    /// inverse of Q / q_i, for Q the product of the sources.
    pub fn multipliers(self) -> u64 {
        (self.shape.lanes() * (self.batch + 2)) as u64
    }

    /// Returns the number of words that the unit's memories hold for each coefficient. They are one sum for each
    /// target of a batch, one for the redundant modulus, and the rows of source residues that are stored for later
    /// rounds of targets.
    pub fn words_kept(self) -> u64 {
        self.batch as u64 + 1 + self.rows_kept()
    }

    /// Returns the number of rows (passes over the coefficients of one residue) that the unit stores for later rounds
    /// of targets: `shared_kept` of `rm_basext_pkg`.
    pub fn rows_kept(self) -> u64 {
        let (l, k) = (self.shape.max_l(), self.shape.max_k());
        let rows = if k <= self.batch { k - 1 } else { l + 1 };
        rows as u64
    }

    /// Returns the most rounds of an extension. In a round the unit computes one batch of targets. An extension to the
    /// most targets from a single source has the most rounds: `shared_rounds` of `rm_basext_pkg`.
    pub fn rounds_at_most(self) -> u64 {
        self.shape.max_k().div_ceil(self.targets(1)) as u64
    }

    /// Returns the most constants, moduli not included, that the unit stores in the channel for one target of a batch:
    /// `shared_places` of `rm_basext_pkg`. An extension from l sources stores l + 1 there for each round.
    pub fn places_at_most(self) -> u64 {
        let rounds = |l| self.shape.max_k().div_ceil(self.targets(l));
        let places = (1..=self.shape.max_l()).map(|l| (l + 1) * rounds(l));
        places.max().unwrap_or(0) as u64
    }

    /// Returns the number of target moduli that the unit computes in one round with `l` sources. Each row, a pass over
    /// the coefficients of one residue, completes at most one target, so a round has no more targets than rows.
    fn targets(self, l: usize) -> usize {
        self.batch.min(l + 1)
    }

    /// Returns the number of rows of an extension of several polynomials. A row is a pass over the
    /// coefficients of one residue, in N / TP cycles with TP lanes. An exact extension has l + 1
    /// rows in each round, one for each source and one for the redundant residue. A fast one has l,
    /// or as many as a full round has targets if that is more. After the last round of the last
    /// polynomial comes one row for each of the round's targets beyond one. `k` must be at least 1.
    pub fn rows(self, extension: Extension, l: usize, k: usize, polynomials: u64) -> u64 {
        let targets = self.targets(l);
        let rounds = k.div_ceil(targets);
        let rows = match extension {
            Extension::Exact => l + 1,
            Extension::Fast => l.max(targets),
        };
        let last = k - (rounds - 1) * targets;
        polynomials * (rounds * rows) as u64 + last as u64 - 1
    }

    /// Returns the cycles of one command, from its start to the last coefficient, for `l` sources, `k` targets, rings
    /// of 2^`log_n` and several polynomials. `k` must be at least 1.
    pub fn cycles(
        self,
        extension: Extension,
        l: usize,
        k: usize,
        log_n: u32,
        polynomials: u64,
    ) -> u64 {
        let rows = self.rows(extension, l, k, polynomials);
        rows * self.shape.beats(log_n) + latency(self.shape) + 1
    }

    /// Returns two numbers for each coefficient and target of an exact extension of `polynomials` polynomials. The
    /// first is the multiplier-cycles that the extension takes: the number of the unit's multipliers times the cycles
    /// of its rows, without the pipeline's latency. The second is the modular products that it needs. A target needs
    /// l + 1 products. All k targets share 2 l + 1 products, those that scale the source residues and those of the
    /// redundant modulus.
    pub fn multiplier_cycles(self, l: usize, k: usize, polynomials: u64) -> (f64, f64) {
        let rows = self.rows(Extension::Exact, l, k, polynomials);
        let each = (polynomials * k as u64) as f64;
        let taken = ((self.batch + 2) as u64 * rows) as f64 / each;
        let (l, k) = (l as f64, k as f64);
        (taken, l + 1.0 + (2.0 * l + 1.0) / k)
    }
}

/// Returns the cycles from the issue of a coefficient to the output queue: `shared_latency` of `rm_basext_pkg`. Most of
/// them are three products one after the other.
pub fn latency(shape: Shape) -> u64 {
    3 * mul_latency(shape) + 6
}
