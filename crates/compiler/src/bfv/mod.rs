// SPDX-License-Identifier: Apache-2.0
//! BFV in the compiler. Constants are whole numbers, values have ranges and noise, and all values are at one level.

mod code;
pub(crate) mod noise;
mod params;
mod wanted;

use std::convert::Infallible;
use std::sync::Arc;

use ringmill_isa::macros::{MacroInstr, MacroProgram};
use ringmill_isa::mid::{Form, ModulusId};
use ringmill_isa::{Galois, Level};
use ringmill_schemes::At;
use ringmill_schemes::bfv::{Bfv, BfvError, Params, file};
use ringmill_schemes::exact::ExactParams;
use ringmill_schemes::file::{Accepted, FileError};
use ringmill_schemes::rlwe::{KeyRequest, RlweError};

pub use crate::exact::Prediction;
use crate::exact::held::held;
use crate::exact::{IntegerRange, constants, of_integers};
use crate::keys;
use crate::scheme::options::ParamsChoice as Choice;
use crate::scheme::{Code, Compiles, Fitted, Lowerable};
pub use wanted::Wanted;

/// A compiled BFV program.
pub type Compiled = crate::Compiled<Bfv>;
/// The error of a BFV program that could not be compiled.
pub type CompileError = crate::CompileError<BfvError>;
/// The options of [`crate::compile`] for BFV programs.
pub type Options = crate::Options<Bfv>;
/// The source of a BFV program's parameters: given, or chosen by the compiler.
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

    of_integers!();

    fn read_params(bytes: &[u8], accepted: Accepted) -> Result<Arc<Params>, FileError> {
        file::read_params(bytes, accepted)
    }

    fn constants(program: MacroProgram) -> Result<MacroProgram, CompileError> {
        constants::without_quotients(&program)?;
        constants::run(program)
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

    fn keys(
        managed: &MacroProgram,
        params: &Params,
        _: Option<&Infallible>,
    ) -> Result<Vec<KeyRequest>, CompileError> {
        let found = keys::of(managed, |instr| code::automorphisms(params, instr))?;
        Ok(found.into_iter().collect())
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

    /// Returns the limbs of an encoded plaintext: one limb modulo the plaintext modulus t, in coefficient form.
    fn plaintext(params: &Params, _: &At<()>) -> Vec<(ModulusId, Form)> {
        vec![(ModulusId(params.plain_index() as u16), Form::Coeff)]
    }

    fn automorphisms(params: &Params, instr: &MacroInstr) -> Result<Vec<Galois>, CompileError> {
        code::automorphisms(params, instr)
    }

    fn code(params: &Params, instr: &Lowerable<'_>) -> Result<Code<Self>, CompileError> {
        code::of(params, instr)
    }
}
