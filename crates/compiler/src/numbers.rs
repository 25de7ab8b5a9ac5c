// SPDX-License-Identifier: Apache-2.0
//! Numbers in the form that files, front ends and people use. Schemes convert their messages and ranges from them and
//! to them.

use num_complex::Complex64;

/// The kind of numbers that a scheme computes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbers {
    /// The scheme computes on whole numbers, exactly. Inputs and outputs are signed integers of 64 bits.
    Whole,
    /// The scheme computes on real and complex numbers, approximately.
    Complex,
}

/// The values of the slots of a vector, as whole or as complex numbers.
#[derive(Clone, PartialEq, Debug)]
pub enum Values {
    Whole(Vec<i64>),
    Complex(Vec<Complex64>),
}

/// The ends of the range in which an input's values lie.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Ends {
    /// The range is all whole numbers from the first to the last, both included.
    Whole(i128, i128),
    /// The range is all real numbers from the first to the last, both included.
    Real(f64, f64),
    /// The range is all complex numbers of at most this absolute value.
    Disc(f64),
}

/// The limit below which doubles tell neighbouring integers apart: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns the whole number that a double is. Returns `None` if the double is not whole, or so large that another
/// integer could have been meant.
pub fn whole(value: f64) -> Option<i64> {
    let fits = value.fract() == 0.0 && value.abs() < EXACT;
    fits.then_some(value as i64)
}

impl Values {
    /// Returns a constant vector of a program, given by real and imaginary parts, as values of a kind of numbers. Whole
    /// numbers take the real parts alone. Returns `None` if the values must be whole and a real part is not, or is 2^53
    /// or more in absolute value.
    pub fn of_constant(slots: &[(f64, f64)], numbers: Numbers) -> Option<Self> {
        let slots = slots.iter();
        match numbers {
            Numbers::Whole => {
                let values: Option<Vec<i64>> = slots.map(|&(re, _)| whole(re)).collect();
                values.map(Self::Whole)
            }
            Numbers::Complex => {
                let values = slots.map(|&(re, im)| Complex64::new(re, im));
                Some(Self::Complex(values.collect()))
            }
        }
    }
}
