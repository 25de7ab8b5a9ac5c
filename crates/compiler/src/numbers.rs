// SPDX-License-Identifier: Apache-2.0
//! Numbers as files, languages and people have them: what a scheme's messages and ranges are made from and taken apart to.

use num_complex::Complex64;

/// The numbers that a scheme computes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbers {
    /// Whole ones, exactly; inputs and outputs have 64 bits.
    Whole,
    /// Real and complex ones, approximately.
    Complex,
}

/// The values of a vector.
#[derive(Clone, PartialEq, Debug)]
pub enum Values {
    Whole(Vec<i64>),
    Complex(Vec<Complex64>),
}

/// Where the values of an input lie.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Ends {
    /// Whole numbers from the first to the last, both among them.
    Whole(i128, i128),
    /// Real numbers, likewise.
    Real(f64, f64),
    /// Complex numbers of at most this absolute value.
    Disc(f64),
}

/// Doubles up to here tell neighbouring integers apart.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The whole number that a double is, where no other one could have been meant.
pub fn whole(value: f64) -> Option<i64> {
    let fits = value.fract() == 0.0 && value.abs() < EXACT;
    fits.then_some(value as i64)
}

impl Values {
    /// A constant vector of a program, by real and imaginary parts; `None` where a slot is no such number.
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
