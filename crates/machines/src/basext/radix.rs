// SPDX-License-Identifier: Apache-2.0
//! Pipelined mixed radix (`rm_basext_radix`; basext paper, Algorithm 4 and Figure 4.4): a cell for each division of each
//! residue, behind a transposition memory. What it computes is the rowers' mixed radix; its cycle model is here.

use super::{BasextError, Shape, mul_latency};

/// Most source moduli: those of the paper's largest column (Table 4.6). Multipliers are l (l + 1) / 2.
pub const MAX_L: usize = 17;

/// A shape of few sources. Its lanes are words of a beat: the cells take a coefficient a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Radix {
    shape: Shape,
}

impl Radix {
    /// # Errors
    /// [`BasextError::Shape`] for more than [`MAX_L`] source moduli.
    pub fn new(shape: Shape) -> Result<Self, BasextError> {
        if shape.max_l() > MAX_L {
            return Err(BasextError::Shape {
                what: "the number of source moduli of pipelined mixed radix",
                expected: format!("1 to {MAX_L}"),
                got: shape.max_l() as u64,
            });
        }
        Ok(Self { shape })
    }

    pub fn shape(self) -> Shape {
        self.shape
    }

    /// Modular multipliers, and as many modular adders and subtractors: one for each division of a residue by the radix of
    /// an earlier digit, and one for each digit's term in a target. The paper has one multiplier more (Table 4.5), for a last
    /// product by Q, which sums of weighted digits don't need.
    pub fn cells(self) -> u64 {
        let l = self.shape.max_l() as u64;
        l * (l + 1) / 2
    }

    /// Cycles from a command until it is done, for so many source and target moduli, rings of 2^`log_n` and polynomials one
    /// after another: residues into the memory, N for each target, and one fill of all stages.
    pub fn cycles(self, l: usize, k: usize, log_n: u32, polynomials: u64) -> u64 {
        let stages = self.shape.max_l() as u64 * (mul_latency(self.shape) + 1);
        let polynomial = l as u64 * self.shape.beats(log_n) + ((k as u64) << log_n);
        polynomials * polynomial + stages + 5
    }
}
