// SPDX-License-Identifier: Apache-2.0
//! How many DSP blocks a modular multiplier takes: those of its RTL.

use serde::Serialize;

/// How a modular multiplier reduces: the flavours of `rm_arith_pkg`.
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
    /// DSP blocks of `rm_mod_mul` for operands of `width` bits.
    ///
    /// The product is schoolbook over tiles of 16 x 16 bits where the modulus comes at run time and of 24 x 17 elsewhere
    /// (`tile_a`, `tile_b`), a block each but for tiles that are made of adders (`fabric_max`); a Montgomery step takes one
    /// block, folding takes none. Wide moduli are tiled by 24 x 17 throughout, but for the corner of one of up to 32 bits,
    /// and each step of 16 bits takes a block for every 24 bits of the modulus. Of [`Self::Lazy`] a column of 26 bits takes a block
    /// for every 17 of the other operand, at least three, and the second fold one more.
    pub fn dsp(self, width: u32) -> u64 {
        // Tiles that are wide enough for a block.
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

/// Columns of `rm_mul_cascade`: of two bits above the second there are rows instead.
fn columns(width: u32) -> u64 {
    match width {
        53 | 54 => 2,
        _ => u64::from(width.max(LEAST).div_ceil(26)),
    }
}

/// Blocks of a column.
fn blocks(width: u32) -> u32 {
    width.max(LEAST).div_ceil(17)
}

/// Bits of the least factors of `rm_mul_cascade`; what has fewer is filled up.
const LEAST: u32 = 35;

/// Cycles of a ring core's multiplier for a modulus: `cascade_latency` and `lazy_latency` of `rm_arith_pkg`, and the
/// correction; `None` for a modulus that is not next enough to a power of two to be built.
pub fn lazy_mul_latency(q: u64) -> Option<u64> {
    Sparse::new(q).map(Sparse::mul_latency)
}

/// A modulus q = 2^top + d next to a power of two, as the RTL's reducers take it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sparse {
    /// Bits of q.
    pub width: u32,
    pub top: u32,
    /// Bits of d as signed binary digits, and those of them that are not 0.
    diff: u32,
    digits: u32,
}

impl Sparse {
    /// `None` for a modulus that is not next enough to a power of two.
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

    /// Operands of a fold: what is below the top, and what is above it for each digit.
    fn operands(self) -> u32 {
        self.digits + 1
    }

    /// Cycles of a ring core's multiplier.
    pub fn mul_latency(self) -> u64 {
        u64::from(blocks(self.width)) + 3 + 4 + 1
    }

    /// Cycles of `rm_ring_fold`, which reduces 128 bits: three folds and a correction; `None` for a modulus of too few.
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

    /// Cycles of `rm_ring_reduce`, which takes numbers of `bits`; `None` for too many of them.
    pub fn arrival_latency(self, bits: u32) -> Option<u64> {
        let high = if bits > self.top { bits - self.top } else { 1 };
        (high + self.diff < self.width).then_some(2)
    }
}

/// Cycles of a tree of adders.
fn tree(operands: u32, bits: u32) -> u64 {
    let levels = std::iter::successors(Some(operands), |&left| {
        (left > 1).then(|| left.div_ceil(RADIX))
    });
    let levels = levels.count() as u64 - 1;
    levels + u64::from(levels > 0 && bits > CARRY)
}

/// Operands of an adder of its trees, and the bits that a carry passes in a cycle.
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
    /// DSP blocks of all of them.
    pub fn dsp(&self) -> u64 {
        self.count.saturating_mul(self.reduction.dsp(self.width))
    }

    /// As a line of a table.
    pub fn text(&self) -> String {
        format!("{} x {} bits", self.count, self.width)
    }
}
