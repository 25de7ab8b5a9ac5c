// SPDX-License-Identifier: Apache-2.0
//! The pipelined mixed-radix unit (`rm_basext_radix`; Kırbıyık's thesis, Algorithm 4 and Figure 4.4), and its cycle
//! model.
//!
//! The unit has one cell for each division of each residue and one for each digit's term in the sum for a target. The
//! cells are behind a transposition memory. The results equal those of the iterated mixed radix of `rm_basext_rowers`.

use super::{BasextError, Shape, mul_latency};

/// The most source moduli of the unit, the largest number in Table 4.6 of Kırbıyık's thesis. A unit for l sources has l
/// (l + 1) / 2 multipliers.
pub const MAX_L: usize = 17;

/// The parameters of a pipelined mixed-radix unit for at most [`MAX_L`] source moduli. `lanes` is the number of words
/// in a beat of its streams; its chain of multipliers takes one coefficient in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Radix {
    shape: Shape,
}

impl Radix {
    /// Makes the parameters of a mixed-radix unit from the sizes that all base-extension units have.
    ///
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

    /// Returns the number of modular multipliers, which is also that of modular adders and subtractors. Each division
    /// of a residue by the radix of an earlier digit has one, and so has each digit's term in the sum for a target. The
    /// unit in Table 4.5 of Kırbıyık's thesis has one multiplier more, for a last product by Q, the product of the
    /// sources, that this unit does not need.
    pub fn cells(self) -> u64 {
        let l = self.shape.max_l() as u64;
        l * (l + 1) / 2
    }

    /// Returns the cycles of one command, from its start until it is done, for `l` sources, `k` targets, rings of N
    /// = 2^`log_n` and several polynomials. For each polynomial the unit takes N / `lanes` cycles for each source
    /// and N cycles for each target. The latency of all pipeline stages is added once.
    pub fn cycles(self, l: usize, k: usize, log_n: u32, polynomials: u64) -> u64 {
        let stages = self.shape.max_l() as u64 * (mul_latency(self.shape) + 1);
        let polynomial = l as u64 * self.shape.beats(log_n) + ((k as u64) << log_n);
        polynomials * polynomial + stages + 5
    }
}
