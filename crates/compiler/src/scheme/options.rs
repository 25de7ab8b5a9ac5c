// SPDX-License-Identifier: Apache-2.0
//! The options that a user may set for a compilation.

use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_limits::Watch;

use super::Compiles;
use crate::target::Target;

/// The quantity that the choice among key-switching digits makes least.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Prefer {
    /// The time of the program.
    #[default]
    Speed,
    /// The bytes of evaluation keys.
    Keys,
}

/// The user's demands on the evaluation keys of chosen parameters. Among the bootstrapping sets that the compiler tries
/// for CKKS programs that are too deep for other parameters, only the limit on bytes counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KeyWishes {
    pub prefer: Prefer,
    /// The most bytes that the evaluation keys of a program may take together, or `None` for no limit.
    pub most_bytes: Option<u64>,
}

impl KeyWishes {
    /// Returns whether the user's limit allows evaluation keys of `bytes` bytes together.
    pub fn allow(&self, bytes: u64) -> bool {
        self.most_bytes.is_none_or(|most| bytes <= most)
    }
}

/// The default factor by which values may be larger than on the sample.
pub const SAMPLE_MARGIN: f64 = 2.0;

/// The source of a program's parameters.
#[derive(Clone, Debug)]
pub enum ParamsChoice<S: Compiles> {
    /// The parameters that the user gives. The compiler checks that the program fits them.
    Given(Arc<S::Params>),
    /// Secure parameters that the compiler chooses for the program. They satisfy these demands and are as small as the
    /// search finds them.
    Choose(S::Wanted),
}

/// The optional passes of the compiler. All are on unless a test or a comparison switches one off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passes {
    /// Whether algebraic simplification runs, if the scheme has one.
    pub fold: bool,
    /// Whether common subexpressions are merged.
    pub cse: bool,
    /// Whether dead code is removed.
    pub dce: bool,
    /// Whether relinearisations are as few as possible. Otherwise one follows each product.
    pub lazy_relin: bool,
    /// Whether rotations of one value share their decomposition.
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

/// The options of [`crate::compile`]: parameters, target, keys, ranges of the inputs, passes and
/// bootstrapping.
#[derive(Clone, Debug)]
pub struct Options<S: Compiles> {
    pub params: ParamsChoice<S>,
    /// The machine that the program is compiled for. Chosen parameters fit it, and given ones that do not are refused.
    pub target: Option<Target>,
    /// Whether key halves come from seeds (half the key memory and traffic), if the target can make them. Otherwise
    /// whole keys are stored.
    pub seeded_keys: bool,
    /// The user's demands on the evaluation keys of chosen parameters.
    pub keys: KeyWishes,
    /// Whether the compiled macro program has explicit moves (LOAD, MORPH and KSW) and the mid-level program ends with
    /// HCF (halt), even if no target asks for that.
    pub explicit: bool,
    /// The lowest level at which outputs may end. It is above 0 if another program continues with them. In BFV they are
    /// always at the highest level.
    pub output_level: Level,
    /// The largest absolute value in a slot of those inputs that neither `ranges` nor a sample covers.
    pub input_bound: f64,
    /// The range of each input's slots, in the order of the program's inputs, or `None` if it is not declared. Inputs
    /// beyond the end of the list have no declared range.
    pub ranges: Vec<Option<S::Range>>,
    /// Typical inputs, one message for each input. They declare the range of every input without one in `ranges`: each
    /// end is `margin` times as far from zero as on the sample, up to a power of two. If the sample's values have one
    /// sign, the other end is 0. A sample with complex values declares a disc. In a scheme of integers both ends are as
    /// far from zero as the farther one. A demanded precision then holds for inputs like the sample: those for which no
    /// value in the program exceeds `margin` times its largest absolute value on the sample.
    pub sample: Option<Vec<S::Message>>,
    /// The factor by which inputs and values may be larger than on `sample`.
    pub margin: f64,
    pub passes: Passes,
    /// The bootstrap of the scheme's values that the user gives, or `None`. With it the program may have any depth. In
    /// BGV the program's calls and repeats then stay, and arithmetic is modulo the plaintext modulus, without ranges.
    pub bootstrapping: Option<S::Bootstrapping>,
    /// The watch that can stop the compiler and limits its memory.
    pub watch: Watch,
}

impl<S: Compiles> Options<S> {
    /// Returns whether the uniform halves of keys come from seeds: as requested, if the target can
    /// expand seeds.
    pub fn seeded(&self) -> bool {
        let target = self.target.as_ref();
        self.seeded_keys && target.is_none_or(|target| target.expands_seeds)
    }

    /// Returns whether macro programs have explicit moves and mid-level programs end with HCF (halt), as requested or
    /// as the target demands.
    pub fn explicit(&self) -> bool {
        let target = self.target.as_ref();
        self.explicit || target.is_some_and(|target| target.explicit)
    }

    /// Returns the default options with these parameters.
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
            keys: KeyWishes::default(),
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
