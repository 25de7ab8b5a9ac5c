//! What the user may choose about a compilation.

use std::sync::Arc;

use num_complex::Complex64;
use ringmill_isa::macros::MacroInput;
use ringmill_limits::Watch;
use ringmill_schemes::ckks::{Params, SecurityLevel, SecurityTable};

use crate::error::CompileError;
use crate::range::InputRange;
use crate::target::Target;

/// How much larger than on a sample values may be, unless something else is asked for.
pub const SAMPLE_MARGIN: f64 = 2.0;

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
    /// Outputs hold absolute values below 2 to this at least; more where the program's ranges call for more.
    pub integer_bits: u32,
    pub table: SecurityTable,
    pub level: SecurityLevel,
}

impl Default for Wanted {
    /// 20 bits after the point, the integer bits that the ranges call for, 128-bit security by the 2024 guidelines.
    fn default() -> Self {
        Self {
            precision_bits: 20,
            integer_bits: 0,
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
    /// The machine that the program is made for: chosen parameters fit it, and given ones that do not are refused.
    pub target: Option<Target>,
    /// Key halves come from seeds (half the key memory and traffic), or are stored.
    pub seeded_keys: bool,
    /// Level at which outputs are wanted; above 0 when another program is to go on with them.
    pub output_level: u32,
    /// Largest absolute value of an input slot, of inputs that neither `ranges` nor a sample speaks of.
    pub input_bound: f64,
    /// Where each input's slots lie, in the order of the program's inputs; empty for none declared.
    pub ranges: Vec<Option<InputRange>>,
    /// Typical inputs, one vector an input. They declare the range of every input that `ranges` does not: at most
    /// `margin` times as large as on the sample; and the predicted precision is then that of values at most `margin`
    /// times as large as on the sample, which is far sharper than what ranges give.
    pub sample: Option<Vec<Vec<Complex64>>>,
    /// See `sample`.
    pub margin: f64,
    pub passes: Passes,
    /// Asked as the compiler goes.
    pub watch: Watch,
}

impl Options {
    /// The range of every input of a program: declared, the sample's, or the bound.
    ///
    /// # Errors
    /// [`CompileError::Range`] for ranges, samples, margins or a bound that make no sense for these inputs.
    pub(crate) fn ranges_of(&self, inputs: &[MacroInput]) -> Result<Vec<InputRange>, CompileError> {
        let refused = |name: &str, why: String| CompileError::Range {
            name: name.to_owned(),
            why,
        };
        if !(self.margin.is_finite() && self.margin >= 1.0) {
            let why = format!(
                "the margin over a sample is a finite factor of at least 1, not {}",
                self.margin
            );
            return Err(refused("", why));
        }
        if self.ranges.len() > inputs.len() {
            let why = format!(
                "{} ranges were declared for {} inputs",
                self.ranges.len(),
                inputs.len()
            );
            return Err(refused("", why));
        }
        let one = |(i, input): (usize, &MacroInput)| {
            let declared = self.ranges.get(i).copied().flatten();
            let sample = self.sample.as_ref().and_then(|s| s.get(i));
            let largest = |v: &Vec<Complex64>| v.iter().map(|z| z.norm()).fold(0.0, f64::max);
            let range = match (declared, sample.map(largest)) {
                (Some(range), _) => range,
                (None, Some(0.0)) => {
                    let why = "its sample is zero in every slot, which says nothing of its size; \
                               declare its range";
                    return Err(refused(&input.name, why.to_owned()));
                }
                (None, Some(largest)) => InputRange::Disc {
                    radius: self.margin * largest,
                },
                (None, None) => InputRange::Disc {
                    radius: self.input_bound,
                },
            };
            if !range.is_valid() {
                let why = format!("its values cannot be {range}");
                return Err(refused(&input.name, why));
            }
            let mut typical = sample.into_iter().flatten().enumerate();
            if let Some((slot, z)) = typical.find(|(_, z)| !range.contains(z.re, z.im)) {
                let why = format!("value {slot} of its sample is {z} and its range is {range}");
                return Err(refused(&input.name, why));
            }
            Ok(range)
        };
        inputs.iter().enumerate().map(one).collect()
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
            target: None,
            seeded_keys: true,
            output_level: 0,
            input_bound: 1.0,
            ranges: Vec::new(),
            sample: None,
            margin: SAMPLE_MARGIN,
            passes: Passes::ALL,
            watch: Watch::default(),
        }
    }
}
