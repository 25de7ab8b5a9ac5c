//! What the user may choose about a compilation.

use std::sync::Arc;

use num_complex::Complex64;
use ringmill_schemes::ckks::{Params, SecurityLevel, SecurityTable};

use crate::precision::Assumed;

/// Where parameters come from.
#[derive(Clone, Debug)]
pub enum ParamsChoice {
    /// These; the compiler checks that the program fits them.
    Given(Arc<Params>),
    /// The smallest secure ones for the program.
    Choose(Wanted),
}

/// What chosen parameters must provide.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wanted {
    /// Bits after the binary point that every output must have, as predicted.
    pub precision_bits: u32,
    /// Absolute values of outputs, and of values that are added or multiplied last, stay below `2^integer_bits`.
    pub integer_bits: u32,
    pub table: SecurityTable,
    pub level: SecurityLevel,
}

impl Default for Wanted {
    /// 20 bits after the point, values below 2^5, 128-bit security by the 2024 guidelines.
    fn default() -> Self {
        Self {
            precision_bits: 20,
            integer_bits: 5,
            table: SecurityTable::default(),
            level: SecurityLevel::default(),
        }
    }
}

/// The optional passes; all are on unless a test or a comparison wants one off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passes {
    /// Algebraic simplification.
    pub fold: bool,
    /// Common subexpressions.
    pub cse: bool,
    /// Dead code.
    pub dce: bool,
    /// Fewest relinearisations; otherwise one right after each product.
    pub lazy_relin: bool,
    /// Rotations of one value share their decomposition.
    pub hoist: bool,
}

impl Passes {
    pub const ALL: Self = Self {
        fold: true,
        cse: true,
        dce: true,
        lazy_relin: true,
        hoist: true,
    };
    pub const NONE: Self = Self {
        fold: false,
        cse: false,
        dce: false,
        lazy_relin: false,
        hoist: false,
    };
}

/// Options of [`crate::compile`].
#[derive(Clone, Debug)]
pub struct Options {
    pub params: ParamsChoice,
    /// Key halves come from seeds (half the key memory and traffic), or are stored.
    pub seeded_keys: bool,
    /// Level at which outputs are wanted; above 0 when another program is to go on with them.
    pub output_level: u32,
    /// Largest absolute value expected in an input slot; the predicted precision rests on it, unless there is a sample.
    pub input_bound: f64,
    /// Typical inputs, one vector an input: a far sharper prediction than a bound gives.
    pub sample: Option<Vec<Vec<Complex64>>>,
    pub passes: Passes,
}

impl Options {
    /// What predictions assume.
    pub(crate) fn assumed(&self) -> Assumed<'_> {
        match &self.sample {
            Some(inputs) => Assumed::Sample(inputs),
            None => Assumed::Bound(self.input_bound),
        }
    }

    /// The usual options with these parameters.
    pub fn given(params: Arc<Params>) -> Self {
        Self {
            params: ParamsChoice::Given(params),
            ..Self::default()
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            params: ParamsChoice::Choose(Wanted::default()),
            seeded_keys: true,
            output_level: 0,
            input_bound: 1.0,
            sample: None,
            passes: Passes::ALL,
        }
    }
}
