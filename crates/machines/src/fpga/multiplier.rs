// SPDX-License-Identifier: Apache-2.0
//! Computes how many DSP blocks and cycles a modular multiplier of the RTL takes.

use serde::Serialize;

/// The reduction of a modular multiplier: the flavours of `rm_arith_pkg`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reduction {
    WordMontgomery,
    NttFriendly,
    MontgomeryFriendly,
    Sparse,
    /// A sparse modulus behind columns of blocks that add their own partial products: `rm_mul_cascade`, `rm_red_lazy`.
    Lazy,
    Solinas52,
    /// Words of 16 bits for run-time moduli of up to 61 bits: `rm_wide_mul`.
    WideWords,
}

impl Reduction {
    /// Returns the DSP blocks of `rm_mod_mul` for operands of `width` bits.
    ///
    /// The product is schoolbook over tiles of 16 x 16 bits for a run-time modulus, and of 24 x 17 for others
    /// (`tile_a`, `tile_b`). Each tile is a block, except tiles that are made of adders (`fabric_max`). A Montgomery
    /// step takes one block, folding takes none.
    ///
    /// Wide moduli have tiles of 24 x 17 throughout, except the corner of a modulus of up to 32 bits. Each step of 16
    /// bits takes a block for every 24 bits of the modulus.
    ///
    /// In [`Self::Lazy`] a column of 26 bits takes a block for every 17 bits of the other operand, at least three. The
    /// second fold takes one more.
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

/// Returns the columns of `rm_mul_cascade`. Two bits above the second column are rows instead.
fn columns(width: u32) -> u64 {
    match width {
        53 | 54 => 2,
        _ => u64::from(width.max(LEAST).div_ceil(26)),
    }
}

/// Returns the blocks of a column.
fn blocks(width: u32) -> u32 {
    width.max(LEAST).div_ceil(17)
}

/// The bits of the smallest factors of `rm_mul_cascade`; smaller ones are extended.
const LEAST: u32 = 35;

/// Returns the cycles of a ring core's multiplier for a modulus: `cascade_latency` and `lazy_latency` of
/// `rm_arith_pkg`, and the correction. Returns `None` for a modulus that is too far from a power of two to be built.
pub fn lazy_mul_latency(q: u64) -> Option<u64> {
    Sparse::new(q).map(Sparse::mul_latency)
}

/// A modulus q = 2^top + d near a power of two, as the RTL's reducers take it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sparse {
    /// Bits of q.
    pub width: u32,
    pub top: u32,
    /// The bits of d as signed binary digits, of which `digits` are not 0.
    diff: u32,
    digits: u32,
}

impl Sparse {
    /// Returns `None` for a modulus that is too far from a power of two.
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

    /// Returns the operands of a fold: the part below the top, and the part above it once for each digit.
    fn operands(self) -> u32 {
        self.digits + 1
    }

    /// Returns the cycles of a ring core's multiplier.
    pub fn mul_latency(self) -> u64 {
        u64::from(blocks(self.width)) + 3 + 4 + 1
    }

    /// Returns the cycles of `rm_ring_fold`, which reduces 128 bits by three folds and a correction, or `None` for a
    /// modulus of too few bits.
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

    /// Returns the cycles of `rm_ring_reduce` for numbers of `bits` bits, or `None` if these are too many.
    pub fn arrival_latency(self, bits: u32) -> Option<u64> {
        let high = if bits > self.top { bits - self.top } else { 1 };
        (high + self.diff < self.width).then_some(2)
    }
}

/// Returns the cycles of a tree of adders.
fn tree(operands: u32, bits: u32) -> u64 {
    let levels = std::iter::successors(Some(operands), |&left| {
        (left > 1).then(|| left.div_ceil(RADIX))
    });
    let levels = levels.count() as u64 - 1;
    levels + u64::from(levels > 0 && bits > CARRY)
}

/// The operands of an adder of these trees. `CARRY` is the bits that a carry passes in a cycle.
const RADIX: u32 = 3;
const CARRY: u32 = 64;

/// Modular multipliers of one kind.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Multipliers {
    pub name: String,
    pub count: u64,
    /// Bits of an operand.
    pub width: u32,
    pub reduction: Reduction,
}

impl Multipliers {
    /// Returns the DSP blocks of all of them.
    pub fn dsp(&self) -> u64 {
        self.count.saturating_mul(self.reduction.dsp(self.width))
    }

    /// Returns the multipliers as a line of a table.
    pub fn text(&self) -> String {
        format!("{} x {} bits", self.count, self.width)
    }
}
