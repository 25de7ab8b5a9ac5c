// SPDX-License-Identifier: Apache-2.0
//! CKKS in the compiler: constants are real or complex numbers, values have ranges and errors, and
//! each level has a scale.

pub(crate) mod algebra;
pub(crate) mod alike;
mod balance;
mod bootstrapping;
pub mod bounded;
pub(crate) mod canonical;
pub(crate) mod code;
mod deep;
pub(crate) mod depth;
mod digits;
pub(crate) mod fold;
mod growth;
mod label;
mod like;
mod params;
pub(crate) mod plan;
mod points;
pub(crate) mod precision;
mod prediction;
pub(crate) mod range;
mod real;
pub mod reference;
mod relation;
pub(crate) mod scale;
mod search;
pub(crate) mod span;
mod tightest;
pub(crate) mod univariate;
mod values;
mod wanted;

use std::sync::Arc;

use num_complex::Complex64;
use ringmill_isa::macros::{MacroInput, MacroInstr, MacroProgram};
use ringmill_isa::{Galois, Level};
use ringmill_schemes::At;
use ringmill_schemes::ckks::bootstrap::Procedure;
use ringmill_schemes::ckks::encoder::capacity;
use ringmill_schemes::ckks::{Ckks, Params, Scale, file};
use ringmill_schemes::file::{Accepted, FileError};
pub use ringmill_schemes::rlwe::KeyRequest;

use crate::accuracy::Accuracy;
use crate::error::CompileError;
use crate::keys;
use crate::numbers::{Ends, Numbers, Values};
use crate::reference::EvaluateError;
use crate::scheme::options::{ParamsChoice as Choice, Passes};
use crate::scheme::{Bootstraps, Code, Compiles, Fitted, Lowerable};
use canonical::{CanonicalScales, Steps};
pub use prediction::{Precision, Reference};
pub use range::InputRange;
pub use wanted::Wanted;

/// A compiled CKKS program.
pub type Compiled = crate::Compiled<Ckks>;
/// The options of [`crate::compile`] for CKKS programs.
pub type Options = crate::Options<Ckks>;
/// The choice between given CKKS parameters and parameters that the compiler chooses.
pub type ParamsChoice = Choice<Ckks>;
/// An encoded plaintext that a CKKS program reads.
pub type PlainRequest = crate::PlainRequest<Ckks>;

impl Compiles for Ckks {
    const NAME: &'static str = "ckks";
    const NUMBERS: Numbers = Numbers::Complex;
    type Wanted = Wanted;
    type Range = InputRange;
    type Prediction = Precision;

    type Bootstrapping = Arc<Procedure>;
    const BOOTSTRAPS: Option<Bootstraps<Self>> = Some(bootstrapping::BY_PROCEDURE);

    fn message(values: Values) -> Option<Vec<Complex64>> {
        match values {
            Values::Complex(values) => Some(values),
            Values::Whole(_) => None,
        }
    }

    fn values(message: Vec<Complex64>) -> Values {
        Values::Complex(message)
    }

    fn declared(ends: Ends) -> Option<InputRange> {
        match ends {
            Ends::Real(lowest, highest) => Some(InputRange::Real { lowest, highest }),
            Ends::Disc(radius) => Some(InputRange::Disc { radius }),
            Ends::Whole(..) => None,
        }
    }

    fn ends(range: &InputRange) -> Ends {
        match *range {
            InputRange::Real { lowest, highest } => Ends::Real(lowest, highest),
            InputRange::Disc { radius } => Ends::Disc(radius),
        }
    }

    fn sampled(sample: &Vec<Complex64>, margin: f64) -> InputRange {
        let radius = values::as_large(sample, margin);
        InputRange::Disc { radius }
    }

    fn narrowed(range: &InputRange) -> InputRange {
        values::narrowed(*range)
    }

    fn evaluate(
        program: &MacroProgram,
        inputs: &[Vec<Complex64>],
    ) -> Result<Vec<Vec<Complex64>>, EvaluateError> {
        reference::evaluate(program, inputs)
    }

    fn read_params(bytes: &[u8], accepted: Accepted) -> Result<Arc<Params>, FileError> {
        file::read_params(bytes, accepted)
    }

    fn constants(program: MacroProgram) -> Result<MacroProgram, CompileError> {
        real::run(program)
    }

    fn accuracy(wanted: &Wanted) -> Option<Accuracy> {
        Some(wanted.accuracy)
    }

    fn with_accuracy(wanted: &Wanted, accuracy: Accuracy) -> Wanted {
        Wanted {
            accuracy,
            ..*wanted
        }
    }

    fn simplified(program: MacroProgram, passes: Passes) -> MacroProgram {
        if passes.fold {
            fold::run(program)
        } else {
            program
        }
    }

    fn ranges(options: &Options, inputs: &[MacroInput]) -> Result<Vec<InputRange>, CompileError> {
        values::ranges(options, inputs)
    }

    fn fit(
        program: &MacroProgram,
        options: &Options,
        ranges: &[InputRange],
    ) -> Result<Fitted<Self>, CompileError> {
        if let Some(sample) = &options.sample {
            let (_, broken) = bounded::evaluate(program, sample)?;
            if let Some(broken) = broken {
                return Err(CompileError::Bounded(Box::new(broken)));
            }
        }
        if let Some(procedure) = &options.bootstrapping {
            let (fitted, made) = deep::fit(program, procedure.setup(), options, ranges)?;
            return Ok(of(fitted, made));
        }
        let fitted = match &options.params {
            Choice::Given(params) => params::given(program, params, options, ranges)?,
            Choice::Choose(wanted) => match params::choose(program, wanted, options, ranges) {
                Err(error) if deep::may_help(&error, wanted, options) => {
                    let (fitted, made) = deep::choose(program, wanted, options, ranges, error)?;
                    return Ok(of(fitted, made));
                }
                chosen => chosen?,
            },
        };
        Ok(of(fitted, None))
    }

    fn keys(
        managed: &MacroProgram,
        params: &Params,
        procedure: Option<&Arc<Procedure>>,
    ) -> Result<Vec<KeyRequest>, CompileError> {
        let own = procedure.map_or(&[][..], |procedure| procedure.key_names());
        keys::with_bootstraps(managed, |instr| code::automorphisms(params, instr), own)
    }

    fn resting(
        params: &Params,
        level: Level,
        range: Option<&InputRange>,
    ) -> Result<At<Scale>, CompileError> {
        let scales = CanonicalScales::resting(params.cipher_moduli(), params.default_scale());
        let steps = Steps::of_params(params);
        let holds = |step: &Level, range: &InputRange| {
            let capacity = capacity(params, steps.level(*step), scales.normal(*step));
            range.magnitude().max(1.0) < capacity
        };
        let step = steps.at_least(level).min(scales.top());
        let lowest = range.and_then(|range| step.to(scales.top()).find(|step| holds(step, range)));
        let step = lowest.unwrap_or(step);
        Ok(At {
            level: steps.level(step),
            annotation: Scale(scales.normal(step)),
        })
    }

    fn automorphisms(params: &Params, instr: &MacroInstr) -> Result<Vec<Galois>, CompileError> {
        code::automorphisms(params, instr)
    }

    fn code(params: &Params, instr: &Lowerable<'_>) -> Result<Code<Self>, CompileError> {
        code::of(params, instr)
    }
}

/// Returns a fitted program as the compiler's passes after levels take it, without the bounds that its author declares.
fn of(fitted: search::Fitted, bootstrapping: Option<Arc<Procedure>>) -> Fitted<Ckks> {
    Fitted {
        params: fitted.params,
        managed: bounded::without(fitted.managed),
        output_level: fitted.output_level,
        predicted: fitted.prediction.outputs,
        bootstrapping,
    }
}
