//! BGV in the compiler: constants are whole, values have ranges and noise, levels come with correction factors.

mod code;
mod levels;
mod params;
mod wanted;

use ringmill_isa::Level;
use ringmill_isa::macros::{MacroInput, MacroProgram, Note};
use ringmill_isa::mid::{Form, ModulusId};
use ringmill_schemes::At;
use ringmill_schemes::bgv::{Bgv, BgvError, ExactParams, Factor, NoiseModel, Params};
use ringmill_schemes::rlwe::{KeyRequest, RlweError};

pub use crate::exact::Prediction;
use crate::exact::held::held;
use crate::exact::{IntegerRange, constants, range, simplify};
use crate::keys;
use crate::options::{ParamsChoice as Choice, Passes};
use crate::scheme::{Code, Compiles, Fitted, Lowerable};
pub use wanted::Wanted;

/// A compiled program.
pub type Compiled = crate::Compiled<Bgv>;
/// Why a program could not be compiled.
pub type CompileError = crate::CompileError<BgvError>;
/// Options of [`crate::compile`].
pub type Options = crate::Options<Bgv>;
/// Where parameters come from.
pub type ParamsChoice = Choice<Bgv>;

impl From<BgvError> for CompileError {
    fn from(e: BgvError) -> Self {
        Self::Scheme(e)
    }
}

impl From<RlweError> for CompileError {
    fn from(e: RlweError) -> Self {
        Self::Scheme(e.into())
    }
}

impl Compiles for Bgv {
    const NAME: &'static str = "bgv";
    type Wanted = Wanted;
    type Range = IntegerRange;
    type Prediction = Prediction;

    fn constants(program: MacroProgram) -> Result<MacroProgram, CompileError> {
        constants::run(program)
    }

    fn simplified(program: MacroProgram, passes: Passes) -> MacroProgram {
        if passes.fold {
            simplify::run(program)
        } else {
            program
        }
    }

    fn ranges(options: &Options, inputs: &[MacroInput]) -> Result<Vec<IntegerRange>, CompileError> {
        range::of_inputs(options, inputs)
    }

    fn fit(
        program: &MacroProgram,
        options: &Options,
        ranges: &[IntegerRange],
    ) -> Result<Fitted<Self>, CompileError> {
        let held = held(program, ranges)?;
        match &options.params {
            Choice::Given(params) => params::given(program, params, options, held),
            Choice::Choose(wanted) => params::choose(program, wanted, options, held),
        }
    }

    fn primes(params: &Params) -> &[u64] {
        params.cipher_moduli()
    }

    fn keys(managed: &MacroProgram, params: &Params) -> Result<Vec<KeyRequest>, CompileError> {
        Ok(keys::of(managed, params, false)?)
    }

    fn key_bytes(params: &Params, keys: usize, seeded: bool) -> u64 {
        keys::bytes(params, keys, seeded)
    }

    fn annotation(note: Note) -> Option<Factor> {
        match note {
            Note::Factor(factor) => Some(Factor::unchecked(factor)),
            Note::Bare | Note::Scale(_) => None,
        }
    }

    /// As encrypted, at the lowest level from `level` on that holds an encryption; plaintexts have none.
    fn resting(
        params: &Params,
        level: Level,
        _: Option<&IntegerRange>,
    ) -> Result<At<Factor>, CompileError> {
        let (model, top) = (NoiseModel::new(params), params.max_level());
        let holds = |&level: &Level| model.room(model.fresh(), level) >= 0.0;
        let level = level.to(top).find(holds).unwrap_or(top);
        let annotation = Factor::ONE;
        Ok(At { level, annotation })
    }

    /// One limb modulo t.
    fn plaintext(params: &Params, _: &At<Factor>) -> Vec<(ModulusId, Form)> {
        vec![(ModulusId(params.plain_index() as u16), Form::Coeff)]
    }

    fn code(params: &Params, instr: &Lowerable<'_>) -> Result<Code<Self>, CompileError> {
        code::of(params, instr)
    }
}
