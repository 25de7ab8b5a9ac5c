// SPDX-License-Identifier: Apache-2.0
//! The parameters for which a bootstrapping engine is built, those of the RTL module `rm_torus`, and numbers derived
//! from them.
//!
//! The parameters are checked (`sizes.rs`), so that all derived numbers stay within 64 bits.

use super::keyswitch;
use super::{Schedule, Sizes};

/// The latency of a modular product in cycles: `MulLatency` of `rm_torus_pkg`. `BUTTERFLY` is that of a butterfly,
/// `BflyLatency`.
pub const PRODUCT: u64 = 12;
pub const BUTTERFLY: u64 = PRODUCT + 1;
/// The cycles from the issue of a row of words to its operands at the butterflies: `Front` of `rm_torus_pkg`. `BACK`
/// has the cycles from the issue to the write of the butterflies' results, `Back`.
pub(super) const FRONT: u64 = 6;
pub(super) const BACK: u64 = FRONT + BUTTERFLY;

/// The cycles in which a row of words of an inverse transform becomes torus elements with
/// [`Schedule::Pairs`]. Behind them is the adder tree that sums over the rows of a gadget
/// ciphertext (`pair_sum_latency`).
const LIFT: u64 = 2;
/// The latency of a bundle, the sum over the patterns u of a step's secret bits of (X^(a u) - 1) BK_u, for the mask's
/// exponents a. It counts the cycles from the read of the last pattern's key BK_u to the write of the bundle. Five pass
/// until the weight X^(a u) - 1 is there. The product with the key and the sum follow.
pub(super) const BUNDLE: u64 = 5 + PRODUCT + 1;
/// The most beats of an unrolled key that wait for the module that sums the keys of a step's patterns of secret bits,
/// with [`Schedule::Pairs`] or [`Schedule::Coefficients`]: `RawBeats` of `rm_torus`.
pub(super) const RAW_BEATS: u64 = 16;

/// The checked parameters of an engine: its sizes, its key-switching unit and its schedule.
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

    /// Returns the parameters of the engine's key-switching unit, which switches all interleaved ciphertexts together.
    pub fn switch(self) -> keyswitch::Shape {
        self.switch
    }

    pub fn schedule(self) -> Schedule {
        self.schedule
    }

    /// Returns N, the ring degree of the engine's accumulators.
    pub fn degree(self) -> usize {
        1 << self.sizes.log_n
    }

    /// Returns the number of rows of a gadget ciphertext of the key: 2 l for l digits.
    pub fn rows(self) -> usize {
        2 * self.sizes.levels
    }

    /// Returns the number of digit polynomials of one ciphertext that one transform unit transforms in a step of
    /// the blind rotation.
    pub fn slots(self) -> u64 {
        match self.schedule {
            Schedule::Sums | Schedule::Coefficients => (self.rows() / self.sizes.units) as u64,
            Schedule::Pairs => 1,
        }
    }

    /// Returns H, the cycles of one pass of a transform over a polynomial of ring degree N. A pass has N / 2
    /// butterflies, which are divided by the number of butterflies in a transform unit.
    pub fn half_rows(self) -> u64 {
        1 << (self.sizes.log_n - self.sizes.log_lanes - 1)
    }

    /// Returns the number of steps of the blind rotation. The last step may have fewer secret bits.
    pub fn steps(self) -> usize {
        self.sizes.dim.div_ceil(self.sizes.unroll)
    }

    /// Returns the number of secret key bits that the blind rotation takes in the step with index `step`.
    pub fn bits(self, step: usize) -> usize {
        self.sizes
            .unroll
            .min(self.sizes.dim.saturating_sub(step * self.sizes.unroll))
    }

    /// Returns the number of the key's gadget ciphertexts for a step of the blind rotation: one for each pattern of the
    /// step's secret bits that is not all 0.
    pub fn patterns(self, step: usize) -> usize {
        (1 << self.bits(step)) - 1
    }

    /// Returns the number of the key's gadget ciphertexts for all steps of the blind rotation. Those of step s begin at
    /// index s (2^m - 1), for m secret bits a step.
    pub fn gadgets(self) -> usize {
        (self.steps() - 1) * self.patterns(0) + self.patterns(self.steps() - 1)
    }

    /// Returns the number of positions in evaluation form for which the engine multiplies in a cycle.
    pub fn positions(self) -> usize {
        1 << self.sizes.log_pos
    }

    /// Returns for how many positions of a transform one beat of the bootstrapping key has words. With
    /// [`Schedule::Coefficients`] the key is in coefficient form, and the number counts coefficients.
    pub fn key_positions(self) -> usize {
        match self.schedule {
            Schedule::Sums | Schedule::Pairs => self.positions(),
            Schedule::Coefficients => 2 * self.positions(),
        }
    }

    /// Returns the bits of one word of the bootstrapping key: 52 for a residue of the transformed key, 32 for a
    /// coefficient with [`Schedule::Coefficients`].
    pub fn key_bits(self) -> u64 {
        match self.schedule {
            Schedule::Sums | Schedule::Pairs => 52,
            Schedule::Coefficients => 32,
        }
    }

    /// Returns the number of words in one beat of the bootstrapping key.
    pub fn beat_words(self) -> usize {
        self.key_positions() * self.rows() * 2
    }

    /// Returns the number of bits in one beat of the bootstrapping key.
    pub fn beat_bits(self) -> u64 {
        self.beat_words() as u64 * self.key_bits()
    }

    /// Returns the number of groups into which the engine's products cut the N positions of a transformed polynomial.
    /// The engine multiplies for one group in a cycle.
    pub fn groups(self) -> usize {
        self.degree() / self.positions()
    }

    /// Returns the number of groups into which the beats of the bootstrapping key cut the N positions (or coefficients)
    /// of a polynomial. A beat has the words of one group.
    pub fn key_groups(self) -> usize {
        self.degree() / self.key_positions()
    }

    /// Returns the number of beats of the key that a step of the blind rotation takes.
    pub fn beats(self, step: usize) -> u64 {
        (self.key_groups() * self.patterns(step)) as u64
    }

    /// Returns the number of beats of the whole bootstrapping key.
    pub fn key_total(self) -> u64 {
        (self.key_groups() * self.gadgets()) as u64
    }

    /// Returns the bytes of the whole bootstrapping key.
    pub fn key_bytes(self) -> u64 {
        self.key_total() * self.beat_bits() / 8
    }

    /// Returns the number of butterflies in all transform units.
    pub fn butterflies(self) -> u64 {
        (self.sizes.units << self.sizes.log_lanes) as u64
    }

    /// Returns the number of multipliers for products with the key, and of those for the weights X^(a u) - 1 of the
    /// patterns u of secret bits, with a the mask's exponents. With [`Schedule::Sums`] a weight multiplies the summed
    /// products of its pattern, with [`Schedule::Pairs`] the key of its pattern. [`Schedule::Coefficients`] needs no
    /// multipliers for weights.
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

    /// Returns the number of transforms of one step of the blind rotation for one ciphertext.
    pub fn transforms(self) -> u64 {
        match self.schedule {
            Schedule::Sums => self.rows() as u64 + 2,
            // The two polynomials of each row of the bundle are transformed, too.
            Schedule::Coefficients => 3 * self.rows() as u64 + 2,
            Schedule::Pairs => 4 * self.rows() as u64,
        }
    }

    /// Returns two lower bounds on the cycles of a step of the blind rotation with m secret bits, for one ciphertext.
    /// The first is by the butterflies, of which a transform of N coefficients has (N / 2) log2 N. The second is by the
    /// multipliers of the products, or with [`Schedule::Pairs`] by those of the weights. A last step with fewer bits
    /// may need less than the second.
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

    /// Returns the cycles from the start of a transform's pass with index `pass` to the next pass, for `slots`
    /// polynomials in a unit: `pass_cycles` of the RTL. A row has one word for each butterfly of the unit. The cycles
    /// are those in which all rows are issued, or the wait until the operands of the next pass's first row are written,
    /// if that is longer.
    pub(super) fn pass(self, slots: u64, inverse: bool, pass: u64) -> u64 {
        let half_rows = self.half_rows();
        let log_h = u64::from(half_rows.ilog2());
        let turn = match inverse {
            true => pass % log_h,
            false => (u64::from(self.sizes.log_n) - 2 - pass) % log_h,
        };
        (slots * half_rows).max((1 << turn) + BUTTERFLY + 2)
    }

    /// Returns the cycles of one unit's forward transforms in a step of the blind rotation of one ciphertext, from the
    /// issue of the first row of words to the write of the last row.
    pub fn transform_cycles(self) -> u64 {
        let before = 0..u64::from(self.sizes.log_n) - 1;
        let passes: u64 = before
            .map(|pass| self.pass(self.slots(), false, pass))
            .sum();
        passes + self.slots() * self.half_rows() + BACK
    }

    /// Returns the number of levels of the adder tree that sums the rows of a gadget ciphertext of the key.
    fn tree(self) -> u64 {
        u64::from((self.rows() as u64).next_power_of_two().ilog2())
    }

    /// Returns the cycles between the issue of the last row of words in the transforms of `members` ciphertexts and the
    /// next operation of the transform units. For inverse transforms it is `inverse_tail` of the RTL.
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

    /// Returns the cycles from the read of a product's operands to its sum: `product_latency` of the RTL.
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

    /// Returns how many products the engine computes one after the other for the same positions of the transform, in a
    /// step of the blind rotation. It is one for each pattern of secret bits, or one for their bundle.
    pub(super) fn product_patterns(self, step: usize) -> usize {
        match self.schedule {
            Schedule::Sums => self.patterns(step),
            Schedule::Coefficients | Schedule::Pairs => 1,
        }
    }

    /// Returns whether the key's beats pass through the bundler, which sums the keys of a step's patterns of secret
    /// bits, before the products.
    pub(super) fn bundles(self) -> bool {
        self.schedule == Schedule::Pairs && self.sizes.unroll > 1
    }

    /// Returns the latency in cycles of the sum over a step's patterns of secret bits in [`Schedule::Coefficients`]:
    /// `gather_latency` of the RTL.
    pub(super) fn gather_latency(self) -> u64 {
        6 + self.sizes.unroll as u64
    }

    /// Returns the cycles between the last products of a step of the blind rotation and its inverse transforms:
    /// `inverse_wait` of the RTL.
    pub(super) fn inverse_wait(self) -> u64 {
        let needed = self.product_latency() + 3;
        (needed.saturating_sub(self.half_rows() + FRONT)).max(1)
    }
}
