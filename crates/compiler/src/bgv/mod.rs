//! BGV in the compiler: constants are whole, values have ranges and noise, levels come with correction factors.

mod code;
mod cost;
mod deep;
mod levels;
mod params;
mod procedures;
#[cfg(test)]
mod straight;
#[cfg(test)]
mod toy;
mod wanted;

use std::sync::Arc;

use ringmill_isa::macros::{MacroInstr, MacroProgram};
use ringmill_isa::mid::{Form, ModulusId};
use ringmill_isa::{Galois, Level};
use ringmill_schemes::bgv::bootstrap::{BootstrapError, Bootstrapping, Maps, Procedure, Read};
use ringmill_schemes::bgv::{Bgv, BgvError, ExactParams, Factor, NoiseModel, Params, file};
use ringmill_schemes::file::{Accepted, FileError};
use ringmill_schemes::rlwe::{KeyRequest, RlweError};
use ringmill_schemes::{At, Limbed};

pub use crate::exact::Prediction;
use crate::exact::held::held;
use crate::exact::{IntegerRange, constants, of_integers};
use crate::kept::{Exact, KeptBootstrapping};
use crate::keys;
use crate::options::ParamsChoice as Choice;
use crate::scheme::{
    Bootstraps, Code, Compiles, Fitted, Lowerable, Sequence, SequenceRead, SequenceStep,
};
pub use deep::{bootstrapping_for, one_bootstrap};
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

impl Bootstraps<Bgv> for Arc<Procedure> {
    fn sequence(&self) -> Sequence<Bgv> {
        let steps = self.steps().iter().map(|step| {
            let (operation, immediates) = step.operation.opened();
            let read = |read: &Read| match *read {
                Read::Value(number) => SequenceRead::Value(number),
                Read::Key(name) => SequenceRead::Key(name),
            };
            SequenceStep {
                operation,
                immediates,
                ciphers: step.ciphers.iter().map(read).collect(),
                constants: step.constants.clone(),
                keys: step.keys.clone(),
                results: step.results.clone(),
            }
        });
        let at = |level| At {
            level,
            annotation: Factor::ONE,
        };
        Sequence {
            name: "bgv.bootstrap".to_owned(),
            start: self.start(),
            steps: steps.collect(),
            constants: self.constants().iter().map(|c| at(c.level)).collect(),
            output: self.output(),
        }
    }

    fn lifted(
        &self,
        params: &Params,
        number: u32,
    ) -> Option<Result<Box<dyn Limbed + Send + Sync>, BgvError>> {
        let constant = self.constants().get(number as usize)?;
        let encoded = constant.encoded(params, Factor::ONE);
        Some(match encoded {
            Ok(plain) => Ok(Box::new(plain)),
            Err(error) => Err(error.into()),
        })
    }

    fn keep(&self) -> KeptBootstrapping {
        let setup = self.setup();
        KeptBootstrapping {
            weight: setup.weight(),
            stages: setup.shape().depth,
            log2_chance: Exact(setup.log2_chance()),
            seeded: self.seeded(),
        }
    }

    fn made_again(kept: KeptBootstrapping, params: &Arc<Params>) -> Result<Self, String> {
        let (params, weight) = (Arc::clone(params), kept.weight);
        let Exact(chance) = kept.log2_chance;
        // What was accepted when it was made; what is no number is accepted as little as there.
        let setup = if chance == f64::NEG_INFINITY {
            Bootstrapping::rigorous(params, weight)
        } else if chance.is_nan() || chance <= Bootstrapping::LOG2_CHANCE {
            Bootstrapping::new(params, weight)
        } else {
            Bootstrapping::with_chance(params, weight, chance.min(0.0))
        };
        let made = || -> Result<Procedure, BootstrapError> {
            let setup = setup?.with_map_depth(kept.stages);
            let maps = Maps::new(&setup, setup.shape())?;
            Procedure::new(setup, maps, kept.seeded)
        };
        made().map(Arc::new).map_err(|e| e.to_string())
    }
}

impl Compiles for Bgv {
    const NAME: &'static str = "bgv";
    type Wanted = Wanted;
    type Range = IntegerRange;
    type Prediction = Prediction;

    type Bootstrapping = Arc<Procedure>;

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
        match procedure {
            None => {
                let found = keys::of(managed, |instr| code::automorphisms(params, instr))?;
                Ok(found.into_iter().collect())
            }
            Some(procedure) => deep::keys(managed, params, procedure),
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

    fn automorphisms(params: &Params, instr: &MacroInstr) -> Result<Vec<Galois>, CompileError> {
        Ok(code::automorphisms(params, instr)?)
    }

    fn code(params: &Params, instr: &Lowerable<'_>) -> Result<Code<Self>, CompileError> {
        code::of(params, instr)
    }
}
