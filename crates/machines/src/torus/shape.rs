// SPDX-License-Identifier: Apache-2.0
//! The parameters for which a bootstrapping engine is built, those of `rm_torus`, and numbers derived from them.
//!
//! Its numbers are checked (`sizes.rs`), and all derived numbers stay within 64 bits.

use super::keyswitch;
use super::{Schedule, Sizes};

/// The cycles of a modular product: `MulLatency` of `rm_torus_pkg`. `BUTTERFLY` is `BflyLatency`, those of a butterfly.
pub const PRODUCT: u64 = 12;
pub const BUTTERFLY: u64 = PRODUCT + 1;
/// The cycles from the issue of a row to its operands, `Front`. `BACK` is those to the write of its results, `Back`.
pub(super) const FRONT: u64 = 6;
pub(super) const BACK: u64 = FRONT + BUTTERFLY;

/// The cycles from a row of an inverse transform to its sum over the rows of a column, with [`Schedule::Pairs`]: to the
/// torus, two cycles, and the tree, `pair_sum_latency`.
const LIFT: u64 = 2;
/// The cycles from the read of a bundle's last pattern to its write: five to the weight, its product, the sum over
/// patterns.
pub(super) const BUNDLE: u64 = 5 + PRODUCT + 1;
/// The beats of an unrolled key that wait for the bundler, `RawBeats` of `rm_torus`.
pub(super) const RAW_BEATS: u64 = 16;

/// The parameters of an engine that can be made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    pub(super) sizes: Sizes,
    pub(super) switch: keyswitch::Shape,
    pub(super) schedule: Schedule,
}

impl Shape {
    pub fn sizes(self) -> Sizes {
        self.sizes
    }

    /// Returns the unit that switches all places together.
    pub fn switch(self) -> keyswitch::Shape {
        self.switch
    }

    pub fn schedule(self) -> Schedule {
        self.schedule
    }

    /// Returns N.
    pub fn degree(self) -> usize {
        1 << self.sizes.log_n
    }

    /// Returns the rows of a gadget ciphertext: 2 l.
    pub fn rows(self) -> usize {
        2 * self.sizes.levels
    }

    /// Returns the polynomials of a unit.
    pub fn slots(self) -> u64 {
        match self.schedule {
            Schedule::Sums | Schedule::Coefficients => (self.rows() / self.sizes.units) as u64,
            Schedule::Pairs => 1,
        }
    }

    /// Returns H, the cycles of a pass over a polynomial: N / 2 butterflies by those of a unit.
    pub fn half_rows(self) -> u64 {
        1 << (self.sizes.log_n - self.sizes.log_lanes - 1)
    }

    /// Returns the steps of the blind rotation, the last of which may have fewer bits.
    pub fn steps(self) -> usize {
        self.sizes.dim.div_ceil(self.sizes.unroll)
    }

    /// Returns the secret bits of a step.
    pub fn bits(self, step: usize) -> usize {
        self.sizes
            .unroll
            .min(self.sizes.dim.saturating_sub(step * self.sizes.unroll))
    }

    /// Returns the gadget ciphertexts of a step: the patterns of its bits except 0.
    pub fn patterns(self, step: usize) -> usize {
        (1 << self.bits(step)) - 1
    }

    /// Returns the gadget ciphertexts of all steps; those of step s begin at s (2^m - 1).
    pub fn gadgets(self) -> usize {
        (self.steps() - 1) * self.patterns(0) + self.patterns(self.steps() - 1)
    }

    /// Returns the positions for which products are made in a cycle.
    pub fn positions(self) -> usize {
        1 << self.sizes.log_pos
    }

    /// Returns the positions of a beat of the key.
    pub fn key_positions(self) -> usize {
        match self.schedule {
            Schedule::Sums | Schedule::Pairs => self.positions(),
            Schedule::Coefficients => 2 * self.positions(),
        }
    }

    /// Returns the bits of a word of the key: a residue, or a coefficient.
    pub fn key_bits(self) -> u64 {
        match self.schedule {
            Schedule::Sums | Schedule::Pairs => 52,
            Schedule::Coefficients => 32,
        }
    }

    /// Returns the words of a beat.
    pub fn beat_words(self) -> usize {
        self.key_positions() * self.rows() * 2
    }

    /// Returns the bits of a beat.
    pub fn beat_bits(self) -> u64 {
        self.beat_words() as u64 * self.key_bits()
    }

    /// Returns the groups of positions of the products.
    pub fn groups(self) -> usize {
        self.degree() / self.positions()
    }

    /// Returns the groups of positions of the key.
    pub fn key_groups(self) -> usize {
        self.degree() / self.key_positions()
    }

    /// Returns the beats of a step's key.
    pub fn beats(self, step: usize) -> u64 {
        (self.key_groups() * self.patterns(step)) as u64
    }

    /// Returns the beats of the whole key.
    pub fn key_total(self) -> u64 {
        (self.key_groups() * self.gadgets()) as u64
    }

    /// Returns the bytes of the whole key.
    pub fn key_bytes(self) -> u64 {
        self.key_total() * self.beat_bits() / 8
    }

    /// Returns the butterflies of all units.
    pub fn butterflies(self) -> u64 {
        (self.sizes.units << self.sizes.log_lanes) as u64
    }

    /// Returns the multipliers of the products, and those that weight the sums of patterns, or the patterns themselves.
    pub fn multipliers(self) -> (u64, u64) {
        let positions = self.positions() as u64;
        let products = positions * 2 * self.rows() as u64;
        let weighing = match (self.sizes.unroll, self.schedule) {
            (1, _) | (_, Schedule::Coefficients) => 0,
            (_, Schedule::Sums) => 2 * positions,
            (_, Schedule::Pairs) => products,
        };
        (products, weighing)
    }

    /// Returns the transforms of a step.
    pub fn transforms(self) -> u64 {
        match self.schedule {
            Schedule::Sums => self.rows() as u64 + 2,
            // And of the bundles.
            Schedule::Coefficients => 3 * self.rows() as u64 + 2,
            Schedule::Pairs => 4 * self.rows() as u64,
        }
    }

    /// Returns the least cycles of a step, for one ciphertext, by the butterflies (transforms of N / 2 log N), and by
    /// the multipliers.
    pub fn floors(self) -> (u64, u64) {
        let transforms = self.transforms();
        let each = self.degree() as u64 / 2 * u64::from(self.sizes.log_n);
        let weighed = match self.schedule {
            Schedule::Sums | Schedule::Pairs => self.patterns(0),
            Schedule::Coefficients => 1,
        };
        (
            (transforms * each).div_ceil(self.butterflies()),
            (self.groups() * weighed) as u64,
        )
    }

    /// Returns the cycles from a pass to the next with `slots` polynomials in a unit: `pass_cycles`, by the rotations
    /// of the rows of the two passes.
    pub(super) fn pass(self, slots: u64, inverse: bool, pass: u64) -> u64 {
        let half_rows = self.half_rows();
        let log_h = u64::from(half_rows.ilog2());
        let turn = match inverse {
            true => pass % log_h,
            false => (u64::from(self.sizes.log_n) - 2 - pass) % log_h,
        };
        (slots * half_rows).max((1 << turn) + BUTTERFLY + 2)
    }

    /// Returns the cycles of the forward transforms of a unit, from their first row's issue to their last row's write.
    pub fn transform_cycles(self) -> u64 {
        let before = 0..u64::from(self.sizes.log_n) - 1;
        let passes: u64 = before
            .map(|pass| self.pass(self.slots(), false, pass))
            .sum();
        passes + self.slots() * self.half_rows() + BACK
    }

    /// Returns the levels of the tree that sums the rows.
    fn tree(self) -> u64 {
        u64::from((self.rows() as u64).next_power_of_two().ilog2())
    }

    /// Returns `inverse_tail`, or that of forward transforms.
    pub(super) fn tail(self, inverse: bool, members: u64) -> u64 {
        let ahead = (members - 1) * self.half_rows();
        let late = match self.schedule {
            Schedule::Sums | Schedule::Coefficients => 0,
            Schedule::Pairs => LIFT + self.tree(),
        };
        match inverse {
            true => (BACK + 1 + late).saturating_sub(ahead).max(BUTTERFLY - 1),
            false => BUTTERFLY - 1,
        }
    }

    /// Returns `product_latency`.
    pub(super) fn product_latency(self) -> u64 {
        let weighing = match (self.sizes.unroll, self.schedule) {
            (1, _) | (_, Schedule::Coefficients) => 0,
            (_, Schedule::Sums | Schedule::Pairs) => PRODUCT + 1,
        };
        match self.schedule {
            Schedule::Sums | Schedule::Coefficients => 2 + PRODUCT + self.tree() + weighing,
            Schedule::Pairs => 2 + PRODUCT,
        }
    }

    /// Returns the products of a group of positions in a step, which are made one after the other.
    pub(super) fn product_patterns(self, step: usize) -> usize {
        match self.schedule {
            Schedule::Sums => self.patterns(step),
            Schedule::Coefficients | Schedule::Pairs => 1,
        }
    }

    /// Returns whether the key goes through the bundler on its way to the products.
    pub(super) fn bundles(self) -> bool {
        self.schedule == Schedule::Pairs && self.sizes.unroll > 1
    }

    /// Returns `gather_latency`, with [`Schedule::Coefficients`].
    pub(super) fn gather_latency(self) -> u64 {
        6 + self.sizes.unroll as u64
    }

    /// Returns `inverse_wait`.
    pub(super) fn inverse_wait(self) -> u64 {
        let needed = self.product_latency() + 3;
        (needed.saturating_sub(self.half_rows() + FRONT)).max(1)
    }
}
