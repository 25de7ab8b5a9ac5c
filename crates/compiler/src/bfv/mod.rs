//! BFV in the compiler: constants are whole, values have ranges and noise, all at one level.

mod code;
mod noise;
mod params;
mod wanted;

use std::convert::Infallible;

use ringmill_isa::macros::{MacroInput, MacroInstr, MacroProgram, Note};
use ringmill_isa::mid::{Form, ModulusId};
use ringmill_isa::{Galois, Level};
use ringmill_schemes::At;
use ringmill_schemes::bfv::{Bfv, BfvError, Params};
use ringmill_schemes::exact::ExactParams;
use ringmill_schemes::rlwe::{KeyRequest, RlweError};

pub use crate::exact::Prediction;
use crate::exact::held::held;
use crate::exact::{IntegerRange, constants, range, simplify};
use crate::keys;
use crate::options::{ParamsChoice as Choice, Passes};
use crate::scheme::{Code, Compiles, Fitted, Lowerable};
pub use wanted::Wanted;

/// A compiled program.
pub type Compiled = crate::Compiled<Bfv>;
/// Why a program could not be compiled.
pub type CompileError = crate::CompileError<BfvError>;
/// Options of [`crate::compile`].
pub type Options = crate::Options<Bfv>;
/// Where parameters come from.
pub type ParamsChoice = Choice<Bfv>;

impl From<BfvError> for CompileError {
    fn from(e: BfvError) -> Self {
        Self::Scheme(e)
    }
}

impl From<RlweError> for CompileError {
    fn from(e: RlweError) -> Self {
        Self::Scheme(e.into())
    }
}

impl Compiles for Bfv {
    const NAME: &'static str = "bfv";
    type Wanted = Wanted;
    type Range = IntegerRange;
    type Prediction = Prediction;

    type Bootstrapping = Infallible;

    fn constants(program: MacroProgram) -> Result<MacroProgram, CompileError> {
        constants::without_quotients(&program)?;
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

    fn annotation(note: Note) -> Option<()> {
        match note {
            Note::Bare => Some(()),
            Note::Scale(_) | Note::Factor(_) => None,
        }
    }

    fn resting(
        params: &Params,
        _: Level,
        _: Option<&IntegerRange>,
    ) -> Result<At<()>, CompileError> {
        Ok(At {
            level: params.max_level(),
            annotation: (),
        })
    }

    /// One limb modulo t.
    fn plaintext(params: &Params, _: &At<()>) -> Vec<(ModulusId, Form)> {
        vec![(ModulusId(params.plain_index() as u16), Form::Coeff)]
    }

    fn automorphisms(params: &Params, instr: &MacroInstr) -> Result<Vec<Galois>, CompileError> {
        Ok(code::automorphisms(params, instr)?)
    }

    fn code(params: &Params, instr: &Lowerable<'_>) -> Result<Code<Self>, CompileError> {
        code::of(params, instr)
    }
}
