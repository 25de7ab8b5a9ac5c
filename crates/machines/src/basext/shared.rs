// SPDX-License-Identifier: Apache-2.0
//! The shared base-extension unit (`rm_basext_shared`), which makes a batch of target residues at a time, and its cycle
//! model.
//!
//! It makes each mu_i once for a source residue and keeps it, and it has one redundant channel. Its schedule, in rows
//! and rounds, is a pure function of its shape and the job. The schedule equals the RTL cycle for cycle if the streams
//! do not stall.

use super::{BasextError, Extension, Shape, mul_latency};

/// A shape, and the number of targets that are made at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shared {
    shape: Shape,
    batch: usize,
}

impl Shared {
    /// Makes a unit for `batch` targets at once, with `batch` + 2 multipliers a lane.
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

    /// Returns the targets that are made at once, if there are at least as many sources less one.
    pub fn batch(self) -> usize {
        self.batch
    }

    /// Returns the number of modular multipliers: in each lane one for mu, one for the redundant channel and one for
    /// each target.
    pub fn multipliers(self) -> u64 {
        (self.shape.lanes() * (self.batch + 2)) as u64
    }

    /// Returns the words of its memories for each coefficient: a sum for each channel, and the kept rows.
    pub fn words_kept(self) -> u64 {
        self.batch as u64 + 1 + self.rows_kept()
    }

    /// Returns the number of kept rows: `shared_kept` of `rm_basext_pkg`.
    pub fn rows_kept(self) -> u64 {
        let (l, k) = (self.shape.max_l(), self.shape.max_k());
        let rows = if k <= self.batch { k - 1 } else { l + 1 };
        rows as u64
    }

    /// Returns the rounds for the most targets and the fewest sources: `shared_rounds`.
    pub fn rounds_at_most(self) -> u64 {
        self.shape.max_k().div_ceil(self.targets(1)) as u64
    }

    /// Returns the number of constants of a channel: `shared_places`, l + 1 of each round.
    pub fn places_at_most(self) -> u64 {
        let rounds = |l| self.shape.max_k().div_ceil(self.targets(l));
        let places = (1..=self.shape.max_l()).map(|l| (l + 1) * rounds(l));
        places.max().unwrap_or(0) as u64
    }

    /// Returns the targets of a round with `l` sources. A target ends a row, so there are no more targets than rows.
    fn targets(self, l: usize) -> usize {
        self.batch.min(l + 1)
    }

    /// Returns the rows of N / TP cycles for several polynomials. Every round has a row for each source and for the
    /// redundant residue. After the last round there is one row for each of its targets beyond one. The fast extension
    /// has no row for the redundant residue, unless it makes as many targets at once.
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

    /// Returns the cycles from a command until it is done, for `l` source and `k` target moduli, rings of 2^`log_n` and
    /// several polynomials. The last coefficient leaves in the same cycle.
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

    /// Returns the multiplier-cycles for each coefficient and target of a stream of `polynomials`, and the products
    /// that need them. A target needs l + 1 products. Mu and the redundant channel need 2 l + 1, which k targets share.
    pub fn multiplier_cycles(self, l: usize, k: usize, polynomials: u64) -> (f64, f64) {
        let rows = self.rows(Extension::Exact, l, k, polynomials);
        let each = (polynomials * k as u64) as f64;
        let taken = ((self.batch + 2) as u64 * rows) as f64 / each;
        let (l, k) = (l as f64, k as f64);
        (taken, l + 1.0 + (2.0 * l + 1.0) / k)
    }
}

/// Returns the cycles from a coefficient's issue to the output queue: `shared_latency` of `rm_basext_pkg`, three
/// products in a row.
pub fn latency(shape: Shape) -> u64 {
    3 * mul_latency(shape) + 6
}
