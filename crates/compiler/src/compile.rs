// SPDX-License-Identifier: Apache-2.0
//! Compiles a traced program to calls of limb procedures: the whole sequence of passes.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_isa::macros::{
    MacroImm, MacroOp, MacroProgram, MacroValue, Visibility, verify_with_primes,
};
use ringmill_isa::mid::Verified;
use ringmill_isa::target::Target;
use ringmill_schemes::{At, ParameterSet, ProcCache};

use crate::lower::{Lowered, PlainRequest, PlainSource};
use crate::scheme::options::Options;
use crate::scheme::{Compiles, ErrorOf, Fitted, place};
use crate::{bodies, explicit, lower, pipeline, transparent, trial};

/// An input of a compiled program. An encrypted input is encrypted at `at`. For a plain input `at` is the place (level
/// and annotation) of its first use, and [`Compiled::plaintexts`] lists all uses. An input that the compiled program
/// does not read is at `output_level`, or above it if its range or a fresh encryption needs that.
#[derive(Clone, PartialEq, Debug)]
pub struct CompiledInput<S: Compiles> {
    pub name: String,
    pub visibility: Visibility,
    pub at: At<S::Annotation>,
    /// The range in which the input's slots must lie: that which the program was compiled for.
    pub range: S::Range,
}

/// An output of a compiled program, with the level and the annotation (scale or correction factor) of its ciphertext.
#[derive(Clone, PartialEq, Debug)]
pub struct CompiledOutput<S: Compiles> {
    pub name: String,
    pub at: At<S::Annotation>,
}

/// A compiled program and all that is needed to run it.
#[derive(Clone, Debug)]
pub struct Compiled<S: Compiles> {
    pub params: Arc<S::Params>,
    /// The traced program, with its calls and repeats.
    pub source: MacroProgram,
    /// The program with relinearisations, levels and annotations (scales or correction factors). It contains `LOAD`,
    /// `MORPH` and `KSW` if the options or the target ask for them.
    pub managed: MacroProgram,
    /// The verified mid-level program, which calls limb procedures.
    pub program: Verified,
    /// For each limb procedure of `program`, the macro instructions that it computes, in order.
    pub stands_for: Vec<&'static [MacroOp]>,
    /// The inputs of the program, in the order of the source's inputs. `InputRole::Cipher { input, .. }` is an index of
    /// this list.
    pub inputs: Vec<CompiledInput<S>>,
    /// The encoded plaintexts that the program reads. `InputRole::Plain { input }` is an index of this list.
    pub plaintexts: Vec<PlainRequest<S>>,
    /// The names of the evaluation keys that the program needs. `InputRole::Key { key, .. }` and `Program::seeds` are
    /// indices of this list.
    pub keys: Vec<S::KeyName>,
    /// The outputs of the program, in the order of the source's outputs.
    pub outputs: Vec<CompiledOutput<S>>,
    /// The predicted precision or noise of each output, in the order of `outputs`.
    pub predicted: Vec<S::Prediction>,
    /// The lowest level at which outputs may end: that of the options, above it if the parameters need that, and never
    /// above their highest. In BFV it is the highest. Each output's own level is in `outputs`.
    pub output_level: Level,
    /// Whether the uniform halves of keys are made from seeds.
    pub seeded: bool,
    /// The bootstrap that `BOOTSTRAP` instructions call. `None` means that the program has no such instruction.
    pub bootstrapping: Option<S::Bootstrapping>,
}

impl<S: Compiles> Compiled<S> {
    /// Returns the bytes of memory of the evaluation keys that the program needs, before any is made. Each counts as a
    /// key for the highest level. So the result is a bound if the program bootstraps, since some keys of a bootstrap
    /// are smaller.
    pub fn key_bytes(&self) -> u64 {
        self.params.key_bytes(self.keys.len(), self.seeded)
    }

    /// Returns whether `options` compiled the program for no target, and the program can be compiled for `target`. A
    /// machine that refuses this program may accept the one compiled for it.
    pub fn suits_once_compiled_for(&self, target: Target, options: &Options<S>) -> bool {
        let for_target = Options {
            target: Some(target),
            ..options.clone()
        };
        options.target.is_none() && attempt(self.source.clone(), &for_target).is_ok()
    }

    /// Returns for each limb procedure, by the name that calls use, the macro instructions that it computes.
    pub fn macros_of_procedures(&self) -> BTreeMap<&str, &'static [MacroOp]> {
        let procs = self.stands_for.iter().enumerate();
        let named = procs.flat_map(|(number, &ops)| {
            let forms = self.program.forms(number);
            forms.map(move |procedure| (procedure.name.as_str(), ops))
        });
        named.collect()
    }
}

/// Compiles a traced program: simplifies it, places relinearisations, hoists rotations, chooses or checks parameters,
/// manages levels and annotations (scales or correction factors), and lowers it to the mid level.
///
/// ```
/// use ringmill_compiler::builder::TraceBuilder;
/// use ringmill_compiler::ckks::Options;
/// use ringmill_compiler::compile;
/// use ringmill_isa::Level;
/// use ringmill_isa::macros::Visibility;
/// let mut t = TraceBuilder::new("square", 64)?;
/// let x = t.input("x", Visibility::Encrypted, None)?;
/// let y = t.square(x, None)?;
/// t.output("y", y, None)?;
/// let compiled = compile(t.finish(), &Options::default())?;
/// assert_eq!(compiled.inputs[0].at.level, Level(1));
/// assert!(compiled.predicted[0].bits() >= 20.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CompileError`](crate::CompileError) if the program is ill-formed, has an operation or a constant that its scheme
/// does not take, or does not fit the parameters or the target. Also if an output would be transparent, if no secure
/// parameters meet the demands, or if the watch of the options stops the work.
pub fn compile<S: Compiles>(
    source: MacroProgram,
    options: &Options<S>,
) -> Result<Compiled<S>, ErrorOf<S>> {
    let with_cures = |error, source: &MacroProgram, prepared: &Prepared<S>| {
        let Prepared {
            relinearised,
            ranges,
        } = prepared;
        trial::with_cures::<S>(error, source, relinearised, options, ranges)
    };
    compile_or(source, options, with_cures)
}

/// Compiles a traced program as [`compile`] does, but looks for no cures if the program is too deep, since they take
/// several compilations. It serves callers that show the error to nobody.
///
/// # Errors
/// Fails like [`compile`], but the error names no cures that were tried.
pub(crate) fn attempt<S: Compiles>(
    source: MacroProgram,
    options: &Options<S>,
) -> Result<Compiled<S>, ErrorOf<S>> {
    compile_or(source, options, |error, _, _| error)
}

/// Compiles a traced program as [`compile`] does. If the program fits no parameters, `refused` adds to the error what
/// helps the user.
fn compile_or<S: Compiles>(
    source: MacroProgram,
    options: &Options<S>,
    refused: impl FnOnce(ErrorOf<S>, &MacroProgram, &Prepared<S>) -> ErrorOf<S>,
) -> Result<Compiled<S>, ErrorOf<S>> {
    let prepared = prepared(&source, options)?;
    let fitted = S::fit(&prepared.relinearised, options, &prepared.ranges);
    let fitted = fitted.map_err(|error| refused(error, &source, &prepared))?;
    lowered(source, fitted, options, &prepared.ranges)
}

/// A traced program after the passes that run before parameters are chosen.
struct Prepared<S: Compiles> {
    relinearised: MacroProgram,
    /// The range of each input.
    ranges: Vec<S::Range>,
}

fn prepared<S: Compiles>(
    source: &MacroProgram,
    options: &Options<S>,
) -> Result<Prepared<S>, ErrorOf<S>> {
    options.watch.check()?;
    pipeline::check::<S>(source)?;
    let ranges = S::ranges(options, &source.inputs)?;
    let keeps = S::BOOTSTRAPS.is_some_and(|how| how.keeps_procedures);
    let plain = match options.bootstrapping.is_some() && keeps {
        false => pipeline::plain::<S>(source, &options.watch)?,
        true => bodies::each(source.clone(), S::constants)?,
    };
    pipeline::of_scheme::<S>(&plain)?;
    let passed = |body| Ok(pipeline::relinearised::<S>(body, options.passes));
    let relinearised = bodies::each::<ErrorOf<S>>(plain, passed)?;
    transparent::refuse(&relinearised)?;
    Ok(Prepared {
        relinearised,
        ranges,
    })
}

/// Lowers a program that has levels to the mid level. `source` is the traced program.
pub(crate) fn lowered<S: Compiles>(
    source: MacroProgram,
    fitted: Fitted<S>,
    options: &Options<S>,
    ranges: &[S::Range],
) -> Result<Compiled<S>, ErrorOf<S>> {
    let Fitted {
        params,
        managed,
        output_level,
        predicted,
        bootstrapping,
    } = fitted;
    let managed = match options.explicit() {
        true => explicit::run(managed, |instr| S::automorphisms(&params, instr))?,
        false => managed,
    };
    // Of the programs that the search for parameters made, only the chosen one is verified.
    verify_with_primes(&managed, params.level_primes())?;
    let linked = bootstrapping.as_ref().zip(S::BOOTSTRAPS);
    let linked = linked.map(|(with, how)| (how.program)(with));
    if let Some(linked) = linked {
        verify_with_primes(linked, params.level_primes())?;
    }
    let keys = S::keys(&managed, &params, bootstrapping.as_ref())?;
    let procs = ProcCache::new(Arc::clone(&params));
    let Lowered {
        program,
        plaintexts,
        stands_for,
    } = lower::run(&managed, &keys, &procs, (linked, options))?;
    if let Some(target) = &options.target {
        crate::target::check_procedures(target, program.program())?;
    }
    let (inputs, outputs) = interface(&managed, &plaintexts, &params, output_level, ranges)?;
    Ok(Compiled {
        params,
        source,
        managed,
        program,
        stands_for,
        inputs,
        plaintexts,
        keys,
        outputs,
        predicted,
        output_level,
        seeded: options.seeded(),
        bootstrapping,
    })
}

/// The inputs and outputs of a compiled program, each with its level and annotation (scale or correction factor).
type Interface<S> = (Vec<CompiledInput<S>>, Vec<CompiledOutput<S>>);

/// Returns the inputs and outputs of a program with levels, with their levels and annotations (scales or correction
/// factors).
fn interface<S: Compiles>(
    managed: &MacroProgram,
    plaintexts: &[PlainRequest<S>],
    params: &S::Params,
    output_level: Level,
    ranges: &[S::Range],
) -> Result<Interface<S>, ErrorOf<S>> {
    let unused = S::resting(params, output_level, None)?;
    let at = |v: Option<&MacroValue>| {
        let at = v.and_then(|&v| place::<S>(&managed.types, v));
        at.unwrap_or(unused)
    };
    // An input that no instruction reads is encrypted all the same, at the lowest level that holds it.
    let lowest = |range| S::resting(params, output_level, Some(range));
    let mut input_at = ranges.iter().map(lowest).collect::<Result<Vec<_>, _>>()?;
    let mut output_at = vec![unused; managed.outputs.len()];
    for request in plaintexts.iter().rev() {
        if let PlainSource::Input(i) = request.from
            && let Some(slot) = input_at.get_mut(i as usize)
        {
            *slot = request.at;
        }
    }
    for instr in &managed.instrs {
        match instr.imm {
            MacroImm::Input(i) => {
                let encrypted = managed
                    .inputs
                    .get(i as usize)
                    .is_some_and(|x| x.visibility == Visibility::Encrypted);
                if let Some(slot) = input_at.get_mut(i as usize).filter(|_| encrypted) {
                    *slot = at(instr.dst.first());
                }
            }
            MacroImm::Output(o) => {
                if let Some(slot) = output_at.get_mut(o as usize) {
                    *slot = at(instr.src.first());
                }
            }
            MacroImm::None
            | MacroImm::Data(_)
            | MacroImm::Constant { .. }
            | MacroImm::Integer(_)
            | MacroImm::Level(_)
            | MacroImm::Galois(_)
            | MacroImm::Interval(_)
            | MacroImm::Steps(_)
            | MacroImm::Proc(_)
            | MacroImm::Repeat { .. }
            | MacroImm::Lifted(_)
            | MacroImm::Elements(_)
            | MacroImm::Turns(_)
            | MacroImm::Matrix(_)
            | MacroImm::Combination(_)
            | MacroImm::Products(_) => {}
        }
    }
    let inputs = managed.inputs.iter().zip(input_at).zip(ranges);
    let inputs = inputs.map(|((i, at), range)| CompiledInput {
        name: i.name.clone(),
        visibility: i.visibility,
        at,
        range: range.clone(),
    });
    let inputs = inputs.collect();
    let outputs = managed
        .outputs
        .iter()
        .zip(output_at)
        .map(|(name, at)| CompiledOutput {
            name: name.clone(),
            at,
        })
        .collect();
    Ok((inputs, outputs))
}
