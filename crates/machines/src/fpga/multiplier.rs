// SPDX-License-Identifier: Apache-2.0
//! Computes how many DSP blocks a modular multiplier of the RTL takes, and its latency in cycles.

use serde::Serialize;

/// The way in which a modular multiplier reduces its product: the flavours of `rm_arith_pkg`, which `rm_mod_mul`
/// builds, and two multipliers of their own, [`Self::Lazy`] and [`Self::WideWords`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reduction {
    WordMontgomery,
    NttFriendly,
    MontgomeryFriendly,
    Sparse,
    /// The multiplier reduces modulo a prime near a power of two. Before that, columns of DSP blocks add their own
    /// partial products: `rm_mul_cascade`, `rm_red_lazy`.
    Lazy,
    Solinas52,
    /// The multiplier does Montgomery reduction by words of 16 bits, for moduli of up to 61 bits that are set at run
    /// time: `rm_wide_mul`.
    WideWords,
}

impl Reduction {
    /// Returns the DSP blocks of one modular multiplier for operands of `width` bits.
    ///
    /// The product of `rm_mod_mul` is a sum of tiles of 16 x 16 bits for a run-time modulus, and of 24 x 17 for others
    /// (`tile_a`, `tile_b`). Each tile takes one block, except narrow tiles that are built of adders (`fabric_max`). A
    /// Montgomery step takes one block, and there are three, or two for [`Self::MontgomeryFriendly`]. Folding a modulus
    /// near a power of two takes none.
    ///
    /// [`Self::WideWords`] has tiles of 24 x 17. For moduli of 25 to 32 bits one of them, the corner of the product, is
    /// built of adders. Each step of 16 bits takes one block for every whole 24 bits of the modulus.
    ///
    /// In [`Self::Lazy`] a column of 26 bits of one operand takes one block for every 17 bits of
    /// the other, at least three. The second fold of the reduction takes one block more.
    pub fn dsp(self, width: u32) -> u64 {
        // The tiles that are wide enough for a block.
        let tiles = |tile_a: u32, tile_b: u32, adders: u32| {
            let along = |tile: u32| u64::from(width / tile) + u64::from(width % tile > adders);
            along(tile_a) * along(tile_b)
        };
        match self {
            Self::WordMontgomery | Self::NttFriendly => tiles(16, 16, 0) + 3,
            Self::MontgomeryFriendly => tiles(16, 16, 0) + 2,
            Self::Sparse | Self::Solinas52 => tiles(24, 17, 6),
            Self::Lazy => columns(width) * u64::from(blocks(width)) + 1,
            Self::WideWords => {
                // A corner of 8 x 8 bits beside three tiles is adders, too.
                let product = match width {
                    25..=32 => 3,
                    _ => tiles(24, 17, 0),
                };
                product + u64::from(width.div_ceil(16) * (width / 24))
            }
        }
    }
}

/// Returns the number of columns of DSP blocks in `rm_mul_cascade`, a multiplier for operands of `width` bits. A column
/// multiplies by 26 bits of one operand. For 53 or 54 bits there is no third column: the products of the top one or two
/// bits enter the blocks of the second column as a third operand.
fn columns(width: u32) -> u64 {
    match width {
        53 | 54 => 2,
        _ => u64::from(width.max(LEAST).div_ceil(26)),
    }
}

/// Returns the number of DSP blocks in one column of the multiplier `rm_mul_cascade`, for operands of `width` bits.
fn blocks(width: u32) -> u32 {
    width.max(LEAST).div_ceil(17)
}

/// The least width in bits of the factors of `rm_mul_cascade`. Narrower factors are extended to it.
const LEAST: u32 = 35;

/// Returns the latency in cycles of the modular multiplier in a core of the ring machine: `cascade_latency` and
/// `lazy_latency` of `rm_arith_pkg`, and the final correction. Returns `None` for a modulus q for which the RTL has
/// no reducer ([`Sparse::new`]).
pub fn lazy_mul_latency(q: u64) -> Option<u64> {
    Sparse::new(q).map(Sparse::mul_latency)
}

/// A modulus q = 2^top + d near a power of two, with the widths that the RTL's reducers depend on. d may be
/// negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sparse {
    /// The number of bits of the modulus q.
    pub width: u32,
    pub top: u32,
    /// `diff` is the number of signed binary digits of d, for the modulus q = 2^top + d. `digits` is the number of
    /// those that are not 0.
    diff: u32,
    digits: u32,
}

impl Sparse {
    /// Decomposes a modulus q as 2^top + d. Returns `None` unless q has 8 to 60 bits and d has at most top / 2 - 2
    /// signed binary digits; the RTL has no reducer for other moduli.
    pub fn new(q: u64) -> Option<Self> {
        let width = 64 - q.leading_zeros();
        if !(8..=60).contains(&width) {
            return None;
        }
        let top = if q >> (width - 2) & 1 == 1 {
            width
        } else {
            width - 1
        };
        let d = q as i64 - (1i64 << top);
        let half = d >> 1;
        let (plus, minus) = ((d + half) & !half, half & !(d + half));
        let digits = (plus | minus) as u64;
        let diff = 64 - digits.leading_zeros();
        let near = 2 * diff + 4 <= top && 2 * width - top + diff >= top;
        near.then_some(Self {
            width,
            top,
            diff,
            digits: digits.count_ones(),
        })
    }

    /// Returns the number of operands that the adders of one fold add. A fold reduces a number modulo q = 2^top +
    /// d. Its operands are the part of the number below 2^top, and the part above once for each digit of d that is
    /// not 0.
    fn operands(self) -> u32 {
        self.digits + 1
    }

    /// Returns the latency in cycles of a modular multiplier in a core of the ring machine.
    pub fn mul_latency(self) -> u64 {
        u64::from(blocks(self.width)) + 3 + 4 + 1
    }

    /// Returns the least latency in cycles of `rm_ring_fold`, which reduces 128 bits by three folds and a correction.
    /// Returns `None` if the modulus has too few bits for that.
    pub fn fold_latency(self) -> Option<u64> {
        let first = 128 - self.top + self.diff + 1;
        let fits = first + 3 <= 2 * self.width && first > self.top;
        fits.then(|| {
            let second = self.top.max(first - self.top + self.diff - 1) + 2;
            let folds = [first, second, self.width + 1];
            let folds = folds.map(|bits| tree(self.operands(), bits));
            folds.iter().sum::<u64>() + 1
        })
    }

    /// Returns the least cycles of the reduction in `rm_ring_reduce`, without the cycle in which it adds a constant. It
    /// reduces a number of `bits` bits that arrives over the ring network between the RPAUs. Returns `None` if it
    /// cannot reduce that many bits.
    pub fn arrival_latency(self, bits: u32) -> Option<u64> {
        let high = if bits > self.top { bits - self.top } else { 1 };
        (high + self.diff < self.width).then_some(2)
    }
}

/// Returns the latency in cycles of a tree of adders that sums `operands` numbers of `bits` bits.
fn tree(operands: u32, bits: u32) -> u64 {
    let levels = std::iter::successors(Some(operands), |&left| {
        (left > 1).then(|| left.div_ceil(RADIX))
    });
    let levels = levels.count() as u64 - 1;
    levels + u64::from(levels > 0 && bits > CARRY)
}

/// The number of operands of one adder in [`tree`]. `CARRY` is the number of bits through which a carry runs in one
/// cycle.
const RADIX: u32 = 3;
const CARRY: u32 = 64;

/// A group of equal modular multipliers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Multipliers {
    pub name: String,
    pub count: u64,
    /// Bits of one operand of the multipliers.
    pub width: u32,
    pub reduction: Reduction,
}

impl Multipliers {
    /// Returns the DSP blocks of all multipliers of this group together.
    pub fn dsp(&self) -> u64 {
        self.count.saturating_mul(self.reduction.dsp(self.width))
    }

    /// Writes the multipliers' number and width as a line of the report's table.
    pub fn text(&self) -> String {
        format!("{} x {} bits", self.count, self.width)
    }
}
