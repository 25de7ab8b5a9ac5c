// SPDX-License-Identifier: Apache-2.0
//! Models reduction modulo the Solinas prime 2^52 - 2^12 + 1 in hardware.

use super::{Reduction, subtract_once};
use crate::{MathError, Modulus};

/// A reduction of x mod p for p = 2^52 - 2^12 + 1 and x < 2^104, by shifts and additions (Kong and Li, equations 1 to 4
/// and Algorithm 3).
///
/// Kong and Li's Algorithm 3 as printed subtracts p once, and only if its sum v' is above p. But v'
/// is x minus a multiple of p that lies in (0, 3p), and may be p itself. So this model subtracts p
/// if v' >= p, and twice if needed (their hardware selects among precomputed differences).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Solinas52 {
    p: Modulus,
}

/// The values of all stages of one reduction of a number x. The names are those of Kong and Li's Algorithm 3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SolinasStages {
    /// The bits 103 to 92 of the reduced number x, called a.
    pub a: u64,
    /// The bits 91 to 52 of the reduced number x, called b.
    pub b: u64,
    /// The bits 51 to 0 of the reduced number x, called c.
    pub c: u64,
    /// The number -a, where a is the bits 103 to 92 of the reduced number.
    pub u0: i64,
    /// The sum a + b, where a is the bits 103 to 92 and b the bits 91 to 52 of the reduced number.
    pub u1: i64,
    /// The sum c + p, where c is the bits 51 to 0 of the reduced number and p the modulus.
    pub u2: i64,
    /// The number u0 2^40, where u0 is -a and a is the bits 103 to 92 of the reduced number.
    pub v0: i64,
    /// The number u1 2^12, where u1 is a + b, the sum of the two upper parts of the reduced number.
    pub v1: i64,
    /// The difference u2 - u1 = c + p - a - b of the parts a, b and c of the reduced number, where
    /// p is the modulus.
    pub v2: i64,
    /// The sum v' = v0 + v1 + v2, which is congruent to the reduced number modulo p and lies in (0,
    /// 3p).
    pub sum: u64,
    /// The result x mod p for the reduced number x.
    pub result: u64,
}

impl Solinas52 {
    /// The Solinas prime 2^52 - 2^12 + 1.
    pub const P: u64 = (1 << 52) - (1 << 12) + 1;

    /// Makes the reduction modulo the Solinas prime p = 2^52 - 2^12 + 1.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for any modulus other than 2^52 - 2^12 + 1.
    pub fn new(p: Modulus) -> Result<Self, MathError> {
        if p.value() != Self::P {
            return Err(MathError::OutOfRange {
                what: "modulus of the Solinas reduction",
                expected: "2^52 - 2^12 + 1 = 4503599627366401",
                got: p.value().to_string(),
            });
        }
        Ok(Self { p })
    }

    /// Returns the values of all stages of the reduction of x, for x < 2^104. The circuit has no wires for higher
    /// bits.
    pub fn stages(&self, x: u128) -> SolinasStages {
        let field = |low: u32, bits: u32| (x >> low) as u64 & ((1 << bits) - 1);
        let (a, b, c) = (field(92, 12), field(52, 40), field(0, 52));
        let (u0, u1, u2) = (-(a as i64), (a + b) as i64, (c + Self::P) as i64);
        let (v0, v1, v2) = (u0 << 40, u1 << 12, u2 - u1);
        let sum = (v0 + v1 + v2) as u64;
        let once = subtract_once(sum.into(), self.p);
        SolinasStages {
            a,
            b,
            c,
            u0,
            u1,
            u2,
            v0,
            v1,
            v2,
            sum,
            result: subtract_once(once, self.p) as u64,
        }
    }
}

impl Reduction for Solinas52 {
    fn modulus(&self) -> Modulus {
        self.p
    }

    fn limit(&self) -> u128 {
        1 << 104
    }

    fn reduce(&self, x: u128) -> u64 {
        self.stages(x).result
    }
}
