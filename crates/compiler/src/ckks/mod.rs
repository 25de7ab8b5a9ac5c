//! CKKS in the compiler: constants are real, values have ranges and errors, levels come with scales.

mod algebra;
mod alike;
pub(crate) mod canonical;
mod chain;
pub(crate) mod code;
pub(crate) mod depth;
pub(crate) mod fold;
mod params;
pub mod precision;
pub mod range;
mod real;
pub mod reference;
pub mod saved;
pub(crate) mod scale;
mod values;
mod wanted;

use std::convert::Infallible;

use ringmill_isa::macros::{MacroInput, MacroInstr, MacroProgram, Note};
use ringmill_isa::{Galois, Level};
use ringmill_schemes::At;
use ringmill_schemes::ckks::encoder::capacity;
use ringmill_schemes::ckks::{Ckks, Params, Scale};
pub use ringmill_schemes::rlwe::KeyRequest;

use crate::error::CompileError;
use crate::keys;
use crate::options::{ParamsChoice as Choice, Passes};
use crate::scheme::{Code, Compiles, Fitted, Lowerable};
use canonical::{CanonicalScales, Steps};
pub use precision::Precision;
pub use range::InputRange;
pub use wanted::Wanted;

/// A compiled program.
pub type Compiled = crate::Compiled<Ckks>;
/// Options of [`crate::compile`].
pub type Options = crate::Options<Ckks>;
/// Where parameters come from.
pub type ParamsChoice = Choice<Ckks>;
/// An encoded plaintext that a program takes.
pub type PlainRequest = crate::PlainRequest<Ckks>;

impl Compiles for Ckks {
    const NAME: &'static str = "ckks";
    type Wanted = Wanted;
    type Range = InputRange;
    type Prediction = Precision;

    type Bootstrapping = Infallible;

    fn constants(program: MacroProgram) -> Result<MacroProgram, CompileError> {
        real::run(program)
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
            reference::check_inputs(program, sample)?;
        }
        let fitted = match &options.params {
            Choice::Given(params) => params::given(program, params, options, ranges)?,
            Choice::Choose(wanted) => params::choose(program, wanted, options, ranges)?,
        };
        Ok(Fitted {
            params: fitted.params,
            managed: fitted.managed,
            output_level: fitted.output_level,
            predicted: fitted.prediction.outputs,
        })
    }

    fn primes(params: &Params) -> &[u64] {
        params.cipher_moduli()
    }

    fn keys(
        managed: &MacroProgram,
        params: &Params,
        _: Option<&Infallible>,
    ) -> Result<Vec<KeyRequest>, CompileError> {
        let found = keys::of(managed, |instr| code::automorphisms(params, instr))?;
        Ok(found.into_iter().collect())
    }

    fn key_bytes(params: &Params, keys: usize, seeded: bool) -> u64 {
        keys::bytes(params, keys, seeded)
    }

    fn annotation(note: Note) -> Option<Scale> {
        match note {
            Note::Scale(scale) => Some(Scale(scale)),
            Note::Bare | Note::Factor(_) => None,
        }
    }

    fn resting(
        params: &Params,
        level: Level,
        range: Option<&InputRange>,
    ) -> Result<At<Scale>, CompileError> {
        let scales = CanonicalScales::new(params.cipher_moduli(), params.default_scale())?;
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
        Ok(code::automorphisms(params, instr)?)
    }

    fn code(params: &Params, instr: &Lowerable<'_>) -> Result<Code<Self>, CompileError> {
        code::of(params, instr)
    }
}
