// SPDX-License-Identifier: Apache-2.0
//! The programs of the scheme [`Clear`]: how the compiler makes them, and what clients and servers need to run them.

use std::convert::Infallible;
use std::sync::Arc;

use ringmill_compiler::exact::reference::evaluate;
use ringmill_compiler::scheme::ErrorOf;
use ringmill_compiler::{
    Code, Compiled, CompiledInput, Compiles, Ends, EvaluateError, Fitted, Lowerable, Numbers,
    Options, ParamsChoice, Values,
};
use ringmill_device::Outcome;
use ringmill_isa::Level;
use ringmill_isa::macros::{LevelNote, MacroImm, MacroInput, MacroOp, MacroProgram, Note};
use ringmill_runtime::report::KeyReport;
use ringmill_runtime::{Runs, RuntimeError};
use ringmill_schemes::file::{Accepted, FileError};
use ringmill_schemes::{At, ParameterSet};

use super::{Clear, ClearError, NoKey, Operation, Params};

/// Returns a constant of a program as an integer, or `None` if the scheme does not have it: a fraction, a negative
/// number, or 2^53 and more.
fn whole(value: f64) -> Option<u64> {
    let fits = value >= 0.0 && value.fract() == 0.0 && value < 2f64.powi(53);
    fits.then_some(value as u64)
}

fn refused(what: &'static str, got: String) -> ErrorOf<Clear> {
    ErrorOf::<Clear>::Scheme(ClearError::Value {
        what,
        expected: "a whole number from 0 to 2^53".into(),
        got,
    })
}

impl Compiles for Clear {
    const NAME: &'static str = "clear";
    const NUMBERS: Numbers = Numbers::Whole;
    /// The least log2 of the ring degree.
    type Wanted = u8;
    type Range = ();
    /// The scheme predicts nothing, because its results are exact.
    type Prediction = ();

    type Bootstrapping = Infallible;

    fn message(values: Values) -> Option<Vec<u64>> {
        match values {
            Values::Whole(values) => values.into_iter().map(|x| x.try_into().ok()).collect(),
            Values::Complex(_) => None,
        }
    }

    /// Converts a message to signed values. Entries of 2^63 and more wrap around.
    fn values(message: Vec<u64>) -> Values {
        Values::Whole(message.into_iter().map(|x| x as i64).collect())
    }

    fn declared(ends: Ends) -> Option<()> {
        (ends == Self::ends(&())).then_some(())
    }

    fn ends((): &()) -> Ends {
        Ends::Whole(0, i64::MAX.into())
    }

    fn sampled(_: &Vec<u64>, _: f64) {}

    fn narrowed((): &()) {}

    fn evaluate(
        program: &MacroProgram,
        inputs: &[Vec<u64>],
    ) -> Result<Vec<Vec<u64>>, EvaluateError> {
        let narrow = |vector: &Vec<u64>| vector.iter().map(|&x| x.into()).collect();
        let inputs: Vec<Vec<i128>> = inputs.iter().map(narrow).collect();
        let outputs = evaluate(program, &inputs)?.into_iter();
        Ok(outputs
            .map(|vector| vector.into_iter().map(|x| x as u64).collect())
            .collect())
    }

    fn read_params(bytes: &[u8], _: Accepted) -> Result<Arc<Params>, FileError> {
        Params::read(bytes).map_err(|error| FileError::Refused(error.to_string()))
    }

    fn constants(program: MacroProgram) -> Result<MacroProgram, ErrorOf<Self>> {
        for instr in &program.instrs {
            match instr.imm {
                MacroImm::Constant { value, .. } if whole(value).is_none() => {
                    return Err(refused("a constant", value.to_string()));
                }
                MacroImm::Integer(value) if u64::try_from(value).is_err() => {
                    return Err(refused("a constant", value.to_string()));
                }
                _ => {}
            }
        }
        let slots = program.data.iter().flatten();
        match slots
            .clone()
            .find(|(re, im)| *im != 0.0 || whole(*re).is_none())
        {
            Some(slot) => Err(refused("a constant vector's slot", format!("{slot:?}"))),
            None => Ok(program),
        }
    }

    fn ranges(_: &Options<Self>, inputs: &[MacroInput]) -> Result<Vec<()>, ErrorOf<Self>> {
        Ok(vec![(); inputs.len()])
    }

    fn fit(
        program: &MacroProgram,
        options: &Options<Self>,
        _: &[()],
    ) -> Result<Fitted<Self>, ErrorOf<Self>> {
        let params = match &options.params {
            ParamsChoice::Given(params) => Arc::clone(params),
            ParamsChoice::Choose(least) => {
                let degrees = program.slots.trailing_zeros() as u8;
                Params::new(degrees.max(*least)).map_err(ErrorOf::<Self>::Scheme)?
            }
        };
        if let Some(target) = &options.target {
            ringmill_compiler::target::check(target, &*params)?;
        }
        // All values are at the one level, without an annotation.
        let there = LevelNote {
            level: params.level(),
            note: Note::Bare,
        };
        let mut managed = program.clone();
        for ty in &mut managed.types {
            *ty = ty.placed(Some(there));
        }
        Ok(Fitted {
            output_level: there.level,
            predicted: vec![(); program.outputs.len()],
            params,
            managed,
            bootstrapping: None,
        })
    }

    fn keys(
        _: &MacroProgram,
        _: &Params,
        _: Option<&Infallible>,
    ) -> Result<Vec<NoKey>, ErrorOf<Self>> {
        Ok(vec![])
    }

    fn resting(params: &Params, _: Level, _: Option<&()>) -> Result<At<()>, ErrorOf<Self>> {
        Ok(At {
            level: params.level(),
            annotation: (),
        })
    }

    fn code(params: &Params, instr: &Lowerable<'_>) -> Result<Code<Self>, ErrorOf<Self>> {
        let (operation, constant) = match (instr.op(), instr.imm()) {
            // A product has one polynomial, as its operands have, so a relinearisation does nothing.
            (MacroOp::Relin, _) => return Ok(Code::Kept),
            (MacroOp::Add, _) => (Operation::Add, None),
            (MacroOp::Mul, _) => (Operation::Mul, None),
            (MacroOp::Square, _) => (Operation::Square, None),
            (MacroOp::Addc, MacroImm::Constant { value, .. }) => {
                (Operation::AddConstant, whole(*value))
            }
            (MacroOp::Addc, MacroImm::Integer(value)) => {
                (Operation::AddConstant, u64::try_from(*value).ok())
            }
            _ => return Err(instr.misshapen()),
        };
        let residues = constant.into_iter();
        let residues = residues.flat_map(|c| params.moduli().iter().map(move |q| c % q));
        Ok(Code::Call {
            operation,
            keys: vec![],
            immediates: residues.collect(),
        })
    }
}

impl Runs for Clear {
    type Report = String;

    fn check(
        input: &CompiledInput<Self>,
        slots: usize,
        entries: &Vec<u64>,
    ) -> Result<(), RuntimeError<ClearError>> {
        if entries.len() == slots {
            return Ok(());
        }
        Err(RuntimeError::VectorLength {
            name: input.name.clone(),
            expected: slots,
            got: entries.len(),
        })
    }

    fn report(
        compiled: &Compiled<Self>,
        device: &str,
        outcome: &Outcome,
        _: Option<KeyReport>,
    ) -> String {
        let cycles = outcome.machine.as_ref().map(|m| m.cycles);
        format!(
            "{} on {device}: {cycles:?} cycles",
            compiled.params.summary()
        )
    }
}
