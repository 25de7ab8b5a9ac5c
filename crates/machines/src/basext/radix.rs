// SPDX-License-Identifier: Apache-2.0
//! The pipelined mixed-radix unit (`rm_basext_radix`; basext paper, Algorithm 4 and Figure 4.4), and its cycle model.
//!
//! The unit has a cell for each division of each residue, behind a transposition memory. It computes the same as the
//! rowers' mixed radix.

use super::{BasextError, Shape, mul_latency};

/// The most source moduli, those of the paper's largest column (Table 4.6). There are l (l + 1) / 2 multipliers.
pub const MAX_L: usize = 17;

/// A shape with few sources. Its lanes are the words of a beat: the cells take one coefficient a cycle.
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

    /// Returns the number of modular multipliers, and of modular adders and subtractors. There is one for each division
    /// of a residue by the radix of an earlier digit, and one for each digit's term in a target. The paper has one
    /// multiplier more (Table 4.5), for a last product by Q, which sums of weighted digits do not need.
    pub fn cells(self) -> u64 {
        let l = self.shape.max_l() as u64;
        l * (l + 1) / 2
    }

    /// Returns the cycles from a command until it is done, for `l` source and `k` target moduli, rings of 2^`log_n` and
    /// several polynomials. They are the beats of residues into the memory, N for each target, and one fill of all stages.
    pub fn cycles(self, l: usize, k: usize, log_n: u32, polynomials: u64) -> u64 {
        let stages = self.shape.max_l() as u64 * (mul_latency(self.shape) + 1);
        let polynomial = l as u64 * self.shape.beats(log_n) + ((k as u64) << log_n);
        polynomials * polynomial + stages + 5
    }
}
