// SPDX-License-Identifier: Apache-2.0
//! Compiles one program for several machines, at parameters that suit all of them if there are any.

use std::sync::Arc;

use ringmill_compiler::{Compiled, Options, ParamsChoice, Target};
use ringmill_isa::macros::MacroProgram;
use ringmill_limits::Watch;
use ringmill_runtime::Served;
use ringmill_runtime::report::ParameterReport;
use ringmill_sim::Case;

use crate::commands::program::{Plan, Read};
use crate::error::CliError;
use crate::waiting::Waiting;

/// A program compiled for a machine, or the reason why the machine cannot run it.
pub type Made<S> = Result<Arc<Compiled<S>>, CliError>;

/// A function that takes a program compiled for a machine, and returns the program that the CPU runs beside it, at the
/// same parameters.
pub type ForCpu<S> = Box<dyn Fn(&Arc<Compiled<S>>) -> Made<S>>;

/// A program compiled for each machine of a comparison.
pub struct Suited<S: Served> {
    /// The compiled program for each case of the comparison, in order.
    pub compiled: Vec<Made<S>>,
    /// Returns, for a program compiled for a machine, the program that the CPU runs in the comparison, at the same
    /// parameters.
    pub cpu: ForCpu<S>,
    /// Sentences to print below the table. They say why machines have parameters of their own, or which machines would
    /// get other parameters if they were compared alone.
    pub notes: Vec<String>,
}

/// Compiles a program for the machines of a comparison. It compiles once for all machines if `--target` names a machine
/// or if the program was saved. Otherwise it compiles for each machine. If the chosen parameters then differ, it looks
/// for parameters that suit every machine that can run the program.
///
/// # Errors
/// Fails if a saved program, or one with `--target`, does not compile, or if the work is stopped. A machine that
/// refuses the program is no error.
pub fn suited<S: Served>(
    plan: Plan<S>,
    read: &Read,
    cases: &[Case],
    watch: &Watch,
) -> Result<Suited<S>, CliError> {
    let _waiting = Waiting::new(format!("compiling {:?}", read.program.name));
    let options = match plan {
        Plan::AsSaved(recipe) => {
            let (compiled, _) = recipe.compile(read.program.clone(), watch)?;
            return Ok(one_for_all(compiled, cases));
        }
        Plan::Anew(options) if options.target.is_some() => {
            let compiled = ringmill_compiler::compile(read.program.clone(), &options)?;
            return Ok(one_for_all(compiled, cases));
        }
        Plan::Anew(options) => options,
    };
    let mut compiler = Compiler {
        program: read.program.clone(),
        options,
        made: Vec::new(),
    };
    let mut own = Vec::new();
    for case in cases {
        own.push(match &case.opened {
            Ok(machine) => compiler.refusable(&machine.target)?,
            Err(refused) => Err(CliError::Usage(refused.to_string())),
        });
    }
    let mut notes = Vec::new();
    if differ(&own)
        && let Some(together) = compiler.together(cases, &own, &mut notes)?
    {
        notes.extend(apart(cases, &own, &together));
        own = together;
    }
    Ok(Suited {
        compiled: own,
        cpu: Box::new(move |compiled| compiler.for_cpu(compiled)),
        notes,
    })
}

fn one_for_all<S: Served>(compiled: Compiled<S>, cases: &[Case]) -> Suited<S> {
    let compiled = Arc::new(compiled);
    Suited {
        compiled: cases.iter().map(|_| Ok(Arc::clone(&compiled))).collect(),
        cpu: Box::new(|compiled| Ok(Arc::clone(compiled))),
        notes: Vec::new(),
    }
}

/// Returns a note that names the machines which would get other parameters if the program were compiled for them alone.
/// The note says how to compare them at those parameters. Returns `None` if there is no such machine.
fn apart<S: Served>(cases: &[Case], own: &[Made<S>], together: &[Made<S>]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for ((case, own), together) in cases.iter().zip(own).zip(together) {
        if let (Ok(own), Ok(together)) = (own, together)
            && ParameterReport::new(&*own.params) != ParameterReport::new(&*together.params)
            && !names.contains(&case.machine.as_str())
        {
            names.push(&case.machine);
        }
    }
    (!names.is_empty()).then(|| {
        format!(
            "these parameters suit all machines together; better ones for {} alone: compare with that --machine only, or \
             compile(target=NAME) in Python",
            names.join(" or ")
        )
    })
}

/// Returns whether some of the compiled programs have different parameters.
fn differ<S: Served>(made: &[Made<S>]) -> bool {
    let mut parameters = made
        .iter()
        .flatten()
        .map(|made| ParameterReport::new(&*made.params));
    let first = parameters.next();
    parameters.any(|other| Some(other) != first)
}

/// A compiler of one program for several targets, which compiles once for equal targets.
struct Compiler<S: Served> {
    program: MacroProgram,
    options: Options<S>,
    made: Vec<(Target, Arc<Compiled<S>>)>,
}

/// Returns a target without the machine's name, so that targets with equal limits compare equal.
fn nameless(target: &Target) -> Target {
    Target {
        machine: String::new(),
        ..target.clone()
    }
}

impl<S: Served> Compiler<S> {
    fn compile(&self, target: &Target) -> Result<Arc<Compiled<S>>, CliError> {
        let options = Options {
            target: Some(target.clone()),
            ..self.options.clone()
        };
        Ok(Arc::new(ringmill_compiler::compile(
            self.program.clone(),
            &options,
        )?))
    }

    /// Returns the program compiled for a target, or the reason why that is not possible. An interruption is an error.
    fn refusable(&mut self, target: &Target) -> Result<Made<S>, CliError> {
        let asked = nameless(target);
        if let Some((_, made)) = self.made.iter().find(|(known, _)| *known == asked) {
            return Ok(Ok(Arc::clone(made)));
        }
        match self.compile(target) {
            Ok(made) => {
                self.made.push((asked, Arc::clone(&made)));
                Ok(Ok(made))
            }
            Err(stopped) if stopped.is_interrupt() => Err(stopped),
            Err(refused) => Ok(Err(refused)),
        }
    }

    /// Compiles the program at parameters that suit every machine which can run it with parameters of its own. Returns
    /// `None` if there are no such parameters, and adds a note that says why. Returns `None` without a note if the
    /// command line gives the parameters.
    fn together(
        &mut self,
        cases: &[Case],
        own: &[Made<S>],
        notes: &mut Vec<String>,
    ) -> Result<Option<Vec<Made<S>>>, CliError> {
        let taking = |(case, made): (&'_ Case, &Made<S>)| {
            let machine = case.opened.as_ref().ok()?;
            made.is_ok().then(|| machine.target.clone())
        };
        let targets: Vec<Target> = cases.iter().zip(own).filter_map(taking).collect();
        if matches!(self.options.params, ParamsChoice::Given(_)) {
            return Ok(None);
        }
        let Some(all) = all_of(&targets) else {
            notes.push(
                "no ring degree suits all machines, so each has its own parameters".to_owned(),
            );
            return Ok(None);
        };
        let mut together = Vec::new();
        for (case, made) in cases.iter().zip(own) {
            let (Ok(machine), Ok(_)) = (&case.opened, made) else {
                together.push(None);
                continue;
            };
            // The limits are those of all machines; each machine keeps its own form of programs.
            let target = Target {
                machine: all.machine.clone(),
                expands_seeds: machine.target.expands_seeds,
                explicit: machine.target.explicit,
                ..all.clone()
            };
            match self.refusable(&target)? {
                Ok(made) => together.push(Some(made)),
                Err(refused) => {
                    notes.push(format!(
                        "no parameters suit all machines, so each has its own: {refused}"
                    ));
                    return Ok(None);
                }
            }
        }
        let kept = together
            .into_iter()
            .zip(own)
            .map(|(made, own)| match (made, own) {
                (Some(made), _) => Ok(made),
                (None, Ok(own)) => Ok(Arc::clone(own)),
                (None, Err(refused)) => Err(CliError::Usage(refused.to_string())),
            });
        Ok(Some(kept.collect()))
    }

    /// Returns the program at the same parameters in the form that the CPU's kernels take. Its keys come from seeds. It
    /// has no `LOAD` (from distant memory), `MORPH` (an automorphism) or `KSW` (a key switch).
    fn for_cpu(&self, compiled: &Arc<Compiled<S>>) -> Result<Arc<Compiled<S>>, CliError> {
        let made = self
            .made
            .iter()
            .find(|(_, made)| Arc::ptr_eq(made, compiled));
        let Some((target, _)) = made.filter(|(target, _)| target.explicit || !target.expands_seeds)
        else {
            return Ok(Arc::clone(compiled));
        };
        let target = Target {
            expands_seeds: true,
            explicit: false,
            ..target.clone()
        };
        let known = self.made.iter().find(|(known, _)| *known == target);
        known.map_or_else(|| self.compile(&target), |(_, made)| Ok(Arc::clone(made)))
    }
}

/// Returns one target with the limits of all machines together, under all their names. Returns `None` if the limits
/// exclude each other.
fn all_of(targets: &[Target]) -> Option<Target> {
    let mut names: Vec<&str> = targets.iter().map(|t| t.machine.as_str()).collect();
    names.dedup();
    let mut targets = targets.iter().cloned();
    let first = targets.next()?;
    let all = targets.try_fold(first, Target::and)?;
    Some(Target {
        machine: names.join(" and "),
        ..all
    })
}
