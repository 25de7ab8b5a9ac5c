// SPDX-License-Identifier: Apache-2.0
//! What the user may choose about a compilation.

use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_limits::Watch;

use super::Compiles;
use crate::target::Target;

/// How much larger than on a sample values may be, unless something else is asked for.
pub const SAMPLE_MARGIN: f64 = 2.0;

/// Where parameters come from.
#[derive(Clone, Debug)]
pub enum ParamsChoice<S: Compiles> {
    /// These; the compiler checks that the program fits them.
    Given(Arc<S::Params>),
    /// The smallest secure ones for the program.
    Choose(S::Wanted),
}

/// The optional passes; all are on unless a test or a comparison wants one off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passes {
    /// Algebraic simplification, where the scheme has one.
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

/// Options of [`crate::compile`]. Of a scheme whose values are exact whatever they are, ranges and samples say nothing.
#[derive(Clone, Debug)]
pub struct Options<S: Compiles> {
    pub params: ParamsChoice<S>,
    /// The machine that the program is made for: chosen parameters fit it, and given ones that do not are refused.
    pub target: Option<Target>,
    /// Key halves come from seeds (half the key memory and traffic) where the target can make them, or are stored.
    pub seeded_keys: bool,
    /// The managed program is written with LOAD, MORPH and KSW and ends with HCF, whether a target says so or not.
    pub explicit: bool,
    /// Level at which outputs are wanted; above 0 when another program is to go on with them.
    pub output_level: Level,
    /// Largest absolute value of an input slot, of inputs that neither `ranges` nor a sample speaks of.
    pub input_bound: f64,
    /// Where each input's slots lie, in the order of the program's inputs; empty for none declared.
    pub ranges: Vec<Option<S::Range>>,
    /// Typical inputs, one message an input. They declare the range of every input that `ranges` does not: each end `margin`
    /// times as far out as on the sample, up to a power of two. A wanted precision is then for inputs like the sample, for
    /// which no value in the program is larger than `margin` times its largest on the sample.
    pub sample: Option<Vec<S::Message>>,
    /// See `sample`.
    pub margin: f64,
    pub passes: Passes,
    /// How values are bootstrapped, where the scheme can: the program may then be as deep as it likes, its calls and repeats
    /// stay, and arithmetic is modulo the plaintext modulus, without ranges.
    pub bootstrapping: Option<S::Bootstrapping>,
    /// Asked as the compiler goes.
    pub watch: Watch,
}

impl<S: Compiles> Options<S> {
    /// Whether keys come from seeds: as asked, if the target makes their halves.
    pub fn seeded(&self) -> bool {
        let target = self.target.as_ref();
        self.seeded_keys && target.is_none_or(|target| target.expands_seeds)
    }

    /// Whether programs say what moves and when they end: as asked, or as the target's do.
    pub fn explicit(&self) -> bool {
        let target = self.target.as_ref();
        self.explicit || target.is_some_and(|target| target.explicit)
    }

    /// The usual options with these parameters.
    pub fn given(params: Arc<S::Params>) -> Self {
        Self {
            params: ParamsChoice::Given(params),
            ..Self::default()
        }
    }
}

impl<S: Compiles> Default for Options<S> {
    fn default() -> Self {
        Self {
            params: ParamsChoice::Choose(S::Wanted::default()),
            target: None,
            seeded_keys: true,
            explicit: false,
            output_level: Level::LOWEST,
            input_bound: 1.0,
            ranges: Vec::new(),
            sample: None,
            margin: SAMPLE_MARGIN,
            passes: Passes::ALL,
            bootstrapping: None,
            watch: Watch::default(),
        }
    }
}
