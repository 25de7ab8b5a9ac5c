// SPDX-License-Identifier: Apache-2.0
//! BGV in the compiler. Constants are whole numbers, values have ranges and noise, and levels come with correction
//! factors.

mod bootstrapping;
mod code;
pub(crate) mod cost;
pub(crate) mod deep;
pub(crate) mod levels;
mod params;
pub(crate) mod procedures;
mod unroll;
mod wanted;

use std::sync::Arc;

use ringmill_isa::macros::{MacroInstr, MacroProgram};
use ringmill_isa::mid::{Form, ModulusId};
use ringmill_isa::{Galois, Level};
use ringmill_schemes::At;
use ringmill_schemes::bgv::bootstrap::Procedure;
use ringmill_schemes::bgv::{Bgv, BgvError, ExactParams, Factor, NoiseModel, Params, file};
use ringmill_schemes::file::{Accepted, FileError};
use ringmill_schemes::rlwe::{KeyRequest, RlweError};

pub use crate::exact::Prediction;
use crate::exact::held::held;
use crate::exact::{IntegerRange, constants, of_integers};
use crate::keys;
use crate::scheme::options::ParamsChoice as Choice;
use crate::scheme::{Bootstraps, Code, Compiles, Fitted, Lowerable};
pub use deep::{bootstrapping_for, one_bootstrap};
pub use wanted::Wanted;

/// A compiled BGV program.
pub type Compiled = crate::Compiled<Bgv>;
/// The error of a BGV program that could not be compiled.
pub type CompileError = crate::CompileError<BgvError>;
/// The options of [`crate::compile`] for BGV programs.
pub type Options = crate::Options<Bgv>;
/// The source of a BGV program's parameters: given, or chosen by the compiler.
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

    type Bootstrapping = Arc<Procedure>;
    const BOOTSTRAPS: Option<Bootstraps<Self>> = Some(bootstrapping::BY_PROCEDURE);

    of_integers!();

    fn read_params(bytes: &[u8], accepted: Accepted) -> Result<Arc<Params>, FileError> {
        file::read_params(bytes, accepted)
    }

    fn constants(program: MacroProgram) -> Result<MacroProgram, CompileError> {
        constants::run(program)
    }

    fn fit(
        program: &MacroProgram,
        options: &Options,
        ranges: &[IntegerRange],
    ) -> Result<Fitted<Self>, CompileError> {
        if let Some(procedure) = &options.bootstrapping {
            return deep::fit(program, options, procedure);
        }
        let held = held(program, ranges)?;
        match &options.params {
            Choice::Given(params) => params::given(program, params, options, held),
            Choice::Choose(wanted) => params::choose(program, wanted, options, held),
        }
    }

    fn keys(
        managed: &MacroProgram,
        params: &Params,
        procedure: Option<&Arc<Procedure>>,
    ) -> Result<Vec<KeyRequest>, CompileError> {
        let own = procedure.map_or(&[][..], |procedure| procedure.key_names());
        keys::with_bootstraps(managed, |instr| code::automorphisms(params, instr), own)
    }

    /// Returns level and correction factor of a freshly encrypted value that nothing is computed from: the lowest
    /// level, not below `level`, whose primes hold a fresh encryption, or the highest if none does.
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

    /// Returns the limbs of an encoded plaintext: one limb modulo the plaintext modulus t, in coefficient form.
    fn plaintext(params: &Params, _: &At<Factor>) -> Vec<(ModulusId, Form)> {
        vec![(ModulusId(params.plain_index() as u16), Form::Coeff)]
    }

    fn automorphisms(params: &Params, instr: &MacroInstr) -> Result<Vec<Galois>, CompileError> {
        code::automorphisms(params, instr)
    }

    fn code(params: &Params, instr: &Lowerable<'_>) -> Result<Code<Self>, CompileError> {
        code::of(params, instr)
    }
}
