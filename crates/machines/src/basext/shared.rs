// SPDX-License-Identifier: Apache-2.0
//! The shared unit (`rm_basext_shared`): each mu_i made once per source residue and kept, one redundant channel, and a
//! batch of target residues at a time. Its schedule, in rows and rounds, is a pure function of its shape and the job,
//! equal to the RTL cycle for cycle where its streams do not stall.

use super::{BasextError, Extension, Shape, mul_latency};

/// A shape, and how many targets are made at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shared {
    shape: Shape,
    batch: usize,
}

impl Shared {
    /// `batch` targets at once: `batch` + 2 multipliers a lane.
    ///
    /// # Errors
    /// [`BasextError::Shape`] for a batch of none, or of more targets than the shape has, or than it has sources.
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

    /// Targets at once, where there are as many sources less one.
    pub fn batch(self) -> usize {
        self.batch
    }

    /// Modular multipliers: of each lane one for mu, one for the redundant channel and one for each target.
    pub fn multipliers(self) -> u64 {
        (self.shape.lanes() * (self.batch + 2)) as u64
    }

    /// Words of its memories for each coefficient: a sum for each channel, and the rows that are kept.
    pub fn words_kept(self) -> u64 {
        self.batch as u64 + 1 + self.rows_kept()
    }

    /// Rows that it keeps: `shared_kept` of `rm_basext_pkg`.
    pub fn rows_kept(self) -> u64 {
        let (l, k) = (self.shape.max_l(), self.shape.max_k());
        let rows = if k <= self.batch { k - 1 } else { l + 1 };
        rows as u64
    }

    /// Rounds of the most targets, of the fewest sources: `shared_rounds`.
    pub fn rounds_at_most(self) -> u64 {
        self.shape.max_k().div_ceil(self.targets(1)) as u64
    }

    /// Constants of a channel: `shared_places`, l + 1 of each round.
    pub fn places_at_most(self) -> u64 {
        let rounds = |l| self.shape.max_k().div_ceil(self.targets(l));
        let places = (1..=self.shape.max_l()).map(|l| (l + 1) * rounds(l));
        places.max().unwrap_or(0) as u64
    }

    /// Targets of a round with `l` sources: a target ends a row, so that there are no more than rows.
    fn targets(self, l: usize) -> usize {
        self.batch.min(l + 1)
    }

    /// Rows of N / TP cycles for so many polynomials: a row for each source and the redundant residue in every round,
    /// and after the last round one for each of its targets beyond one. The fast extension has no row for the redundant
    /// residue, unless it has as many targets at once.
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

    /// Cycles from a command until it is done, for so many source and target moduli, rings of 2^`log_n` and polynomials
    /// one after another. The last coefficient leaves in the same cycle.
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

    /// Multiplier-cycles for each coefficient and target of a stream of `polynomials`, and the products that they are
    /// there for: l + 1 for a target, and 2 l + 1 for mu and the redundant channel, which k targets share.
    pub fn multiplier_cycles(self, l: usize, k: usize, polynomials: u64) -> (f64, f64) {
        let rows = self.rows(Extension::Exact, l, k, polynomials);
        let each = (polynomials * k as u64) as f64;
        let taken = ((self.batch + 2) as u64 * rows) as f64 / each;
        let (l, k) = (l as f64, k as f64);
        (taken, l + 1.0 + (2.0 * l + 1.0) / k)
    }
}

/// Cycles from a coefficient's issue to the output queue: `shared_latency` of `rm_basext_pkg`, three products in a row.
pub fn latency(shape: Shape) -> u64 {
    3 * mul_latency(shape) + 6
}
