// SPDX-License-Identifier: Apache-2.0
//! Manages BGV programs of any depth, for parameters that bootstrap. Procedures stay procedures, arithmetic is modulo
//! the plaintext modulus, and `BOOTSTRAP` is inserted before levels run out.

use std::rc::Rc;
use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_isa::macros::{
    LevelNote, MacroImm, MacroInput, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue,
    Note, SchemeName, Visibility,
};
use ringmill_math::slots::SlotStructure;
use ringmill_schemes::ParameterSet;
use ringmill_schemes::bgv::bootstrap::{BootstrapError, Bootstrapping, Procedure};
use ringmill_schemes::bgv::{Bgv, BgvError, ExactParams, Factor, Params};

use super::cost::Costs;
use super::levels::{self, Callee, Convention, Deep, Frame, Managed, Misfit, Placed};
use super::procedures::{Table, Variant, cheapest, chosen, linked};
use super::unroll;
use super::{CompileError, Compiled, Options, ParamsChoice, Prediction};
use crate::bodies;
use crate::bootstrappable::{self, Unfit};
use crate::compile::lowered;
use crate::cures::Cures;
use crate::error::At;
use crate::exact::IntegerRange;
use crate::refresh::Placement;
use crate::scheme::{Compiles, Fitted};
use crate::target::{self, Target};

/// Gives the values of a program levels and correction factors for a bootstrap's parameters, and inserts bootstraps.
/// Calls stay. Repeats stay too, but one call may then run several iterations.
///
/// # Errors
/// Fails for parameters that are to be chosen, that are not the bootstrap's, or that the target does not take. Fails
/// for keys that have seeds where the bootstrap's have none, or the reverse. Fails for vectors longer than a row of the
/// parameters' slots, for operations and procedures that programs that bootstrap do not have, and if the work is
/// stopped. Fails if no placement of bootstraps keeps the noise small enough, and names the line of the first value
/// that is lost.
pub(super) fn fit(
    program: &MacroProgram,
    options: &Options,
    procedure: &Arc<Procedure>,
) -> Result<Fitted<Bgv>, CompileError> {
    let params = procedure.params();
    check(program, options, procedure)?;
    let costs = Costs::new(params, procedure)?;
    let setting = Setting {
        options,
        procedure,
        costs: &costs,
    };
    let program = &unroll::run(program, &setting)?;
    let fit = setting.managed(program)?;
    let fit = fit.map_err(|lost| CompileError::TooNoisy {
        at: lost.at,
        bits: lost.bits.ceil() as u32,
        log_n: params.log_n().into(),
        allowed_bits: params.log_q(procedure.end().0).ceil() as u32,
        sequence: None,
        cures: Cures::default(),
    })?;
    let model = levels::model(program, params);
    let half = params.plain_modulus().value() / 2;
    let predicted = fit.outputs.iter().map(|output| Prediction {
        budget: output.map_or(0.0, |at| model.budget(at.noise, at.level).into()),
        range: IntegerRange::up_to(half),
    });
    Ok(Fitted {
        output_level: options.output_level.min(params.max_level()),
        predicted: predicted.collect(),
        managed: fit.program,
        params: Arc::clone(params),
        bootstrapping: options.bootstrapping.clone(),
    })
}

/// The most levels that the compiler tries first for the arguments and results of a procedure.
const CONVENTIONS: usize = 6;
/// The misfit (lost values) of a procedure whose arguments and results have no level that can be tried.
const NOTHING: Misfit = Misfit {
    at: At(None),
    number: 0,
    bits: 1.0,
};

struct Fit {
    program: MacroProgram,
    outputs: Vec<Option<Placed>>,
}

/// The conditions under which the values of a program that bootstraps get levels: the options, the bootstrap's
/// procedure, and the costs of instructions.
pub struct Setting<'a> {
    pub options: &'a Options,
    pub procedure: &'a Arc<Procedure>,
    pub costs: &'a Costs,
}

impl Setting<'_> {
    fn managed(&self, program: &MacroProgram) -> Result<Result<Fit, Misfit>, CompileError> {
        let mut tables: Vec<Table> = Vec::with_capacity(program.procs.len());
        for proc in &program.procs {
            let body = bodies::opened(proc, &program.scheme, program.slots);
            match self.procedure(&body, &tables)? {
                Ok(table) => tables.push(table),
                Err(misfit) => return Ok(Err(misfit)),
            }
        }
        let mut main =
            MacroProgram::new(program.name.clone(), program.scheme.clone(), program.slots);
        main.inputs.clone_from(&program.inputs);
        main.outputs.clone_from(&program.outputs);
        main.instrs.clone_from(&program.instrs);
        main.types.clone_from(&program.types);
        let manage = |callees: &[Callee]| self.body(&main, callees, None);
        Ok(
            chosen(&main, &tables, cheapest(&tables), manage)?.map(|(managed, choice)| Fit {
                outputs: managed.outputs,
                program: MacroProgram {
                    data: program.data.clone(),
                    ..linked(managed.program, &choice, tables, &program.procs)
                },
            }),
        )
    }

    /// Gives the values of a procedure levels, several times: each time its arguments and results
    /// are at another level. Each time it takes the variants of the called procedures (with
    /// arguments and results at one level) that make the procedure cheapest. If the procedure fits
    /// at none of the tried levels, all levels are tried. Returns the table of the procedure's own
    /// variants, or the lost values if it fits at no level.
    pub fn procedure(
        &self,
        body: &MacroProgram,
        tables: &[Table],
    ) -> Result<Result<Table, Misfit>, CompileError> {
        let (start, (end, _)) = (self.procedure.start(), self.procedure.end());
        let tried: Vec<Level> = start.above(1).to(end).collect();
        let spaced = tried.len().div_ceil(CONVENTIONS).max(1);
        let few = tried.into_iter().rev().step_by(spaced);
        match self.variants(body, tables, few)? {
            Ok(table) => Ok(Ok(table)),
            Err(_) => {
                let all: Vec<Level> = start.to(end).collect();
                self.variants(body, tables, all.into_iter().rev())
            }
        }
    }

    /// Gives the values of a procedure levels, once for each of `levels`, at which the arguments
    /// and results are then. Returns those of the resulting variants whose values fit their levels.
    /// If none fits, it returns the misfit (lost values) at the first of the levels.
    fn variants(
        &self,
        body: &MacroProgram,
        tables: &[Table],
        levels: impl Iterator<Item = Level>,
    ) -> Result<Result<Table, Misfit>, CompileError> {
        let params = self.procedure.params();
        let model = levels::model(body, params);
        let mut table = Table::new();
        let mut lost: Option<Misfit> = None;
        let mut choice = cheapest(tables);
        for level in levels {
            self.options.watch.check()?;
            let convention = Convention::new(params, &model, level);
            let manage = |callees: &[Callee]| self.body(body, callees, Some(convention));
            match chosen(body, tables, choice.clone(), manage)? {
                Ok((managed, found)) => {
                    let cost = managed.cost;
                    // Levels beside each other choose alike.
                    choice.clone_from(&found);
                    table.push(Variant {
                        callee: Callee { convention, cost },
                        managed,
                        choice: found,
                    });
                }
                Err(misfit) => lost = lost.or(Some(misfit)),
            }
        }
        Ok(match table.is_empty() {
            true => Err(lost.unwrap_or(NOTHING)),
            false => Ok(table),
        })
    }

    /// Gives the values of a body, the program's or a procedure's, levels, and places bootstraps in
    /// it. For a procedure, `convention` fixes the level and noise of its arguments and results.
    pub fn body(
        &self,
        body: &MacroProgram,
        callees: &[Callee],
        convention: Option<Convention>,
    ) -> Result<Result<Managed, Misfit>, CompileError> {
        let params = self.procedure.params();
        let deep = Deep {
            procedure: self.procedure,
            costs: self.costs,
            convention,
            callees,
        };
        let frame = Frame {
            params,
            entry: &[],
            output: self.options.output_level,
            measure: false,
            deep: Some(deep),
            watch: &self.options.watch,
        };
        // Inputs are tried at the highest level, which has the most room, and at the level of bootstrapped values, at
        // which computing is cheaper.
        let mut tops = vec![params.max_level()];
        if convention.is_none() {
            tops.push(self.procedure.end().0);
        }
        let mut best: Option<(Vec<Level>, Placement, f64)> = None;
        let mut lost: Option<Misfit> = None;
        for top in tops {
            let entry = vec![top; body.inputs.len()];
            let frame = Frame {
                entry: &entry,
                ..frame
            };
            match levels::best(body, frame)? {
                Ok((placement, cost)) => {
                    let suffices = placement.is_empty();
                    if best.as_ref().is_none_or(|&(.., least)| cost < least) {
                        best = Some((entry, placement, cost));
                    }
                    if suffices {
                        break;
                    }
                }
                Err(misfit) => lost = lost.or(Some(misfit)),
            }
        }
        let Some((entry, placement, _)) = best else {
            return Ok(Err(lost.unwrap_or(NOTHING)));
        };
        let placement = Rc::new(placement);
        let frame = Frame {
            entry: &entry,
            ..frame
        };
        let managed = levels::run_with(body, frame, &placement)?;
        let managed = match convention {
            Some(_) => managed,
            // Each input is encrypted at the highest level at which it is used.
            None => {
                let entry = super::params::entries(&managed.program, params.max_level());
                let frame = Frame {
                    entry: &entry,
                    ..frame
                };
                let lower = levels::run_with(body, frame, &placement)?;
                match lower.misfit {
                    None => lower,
                    Some(_) => managed,
                }
            }
        };
        Ok(match managed.misfit.clone() {
            None => Ok(managed),
            Some(misfit) => Err(misfit),
        })
    }
}

fn check(
    program: &MacroProgram,
    options: &Options,
    procedure: &Procedure,
) -> Result<(), CompileError> {
    let params = procedure.params();
    let ParamsChoice::Given(given) = &options.params else {
        return Err(CompileError::NotBootstrapped {
            at: At(None),
            what: "a choice of parameters",
            cure: "give those of a bootstrapping set",
        });
    };
    if given.id() != params.id() || procedure.seeded() != options.seeded() {
        return Err(CompileError::NotBootstrapped {
            at: At(None),
            what: "a bootstrap of other parameters or other keys",
            cure: "make it for the parameters that are given, with seeds as the keys, and for the target, if there is one",
        });
    }
    if let Some(target) = &options.target {
        target::check(target, &**params)?;
        target::check_divisions(target, params.primes_alone())?;
    }
    let structure = structure(params)?;
    let available = structure.columns() as u32;
    if program.slots > available {
        return Err(CompileError::TooManySlots {
            slots: program.slots,
            log_n: params.log_n().into(),
            available,
        });
    }
    bootstrappable::check(program)
        .map_err(|Unfit { at, what, cure }| CompileError::NotBootstrapped { at, what, cure })
}

fn structure(params: &Params) -> Result<SlotStructure, CompileError> {
    let power = params.prime_power()?;
    let structure = SlotStructure::new(params.log_n().into(), power.prime());
    structure.map_err(|e| BgvError::from(BootstrapError::from(e)).into())
}

impl From<BootstrapError> for CompileError {
    fn from(error: BootstrapError) -> Self {
        Self::Scheme(error.into())
    }
}

/// Returns a bootstrapping set in the form that a machine takes: it divides modulo primes alone if the machine computes
/// modulo nothing else. A set that changes keeps its bound on the probability of failure, or gets the default bound if
/// that is larger. If the bootstrap never fails, it still never fails afterwards.
///
/// # Errors
/// Fails for a set whose bootstrap does not work in this form, as divisions modulo primes alone leave more noise.
pub fn bootstrapping_for(
    setup: Bootstrapping,
    target: &Target,
) -> Result<Bootstrapping, BootstrapError> {
    let params = setup.params();
    if params.primes_alone() || !target.primes_alone.is {
        return Ok(setup);
    }
    let (cipher, special) = params.moduli().split_at(params.cipher_count());
    let builder = Params::builder(params.log_n(), params.plain_modulus())
        .primes(cipher, special)
        .further_plain_moduli(params.last_plain())
        .divide_modulo_primes_alone();
    let builder = match params.insecure_allowed() {
        true => builder.allow_insecure_parameters_for_tests_only(),
        false => builder,
    };
    let chance = setup.log2_chance();
    let made = Bootstrapping::accepting(builder.build()?, setup.weight(), chance)?;
    let made = made.with_map_depth(setup.shape().depth);
    Ok(made.with_removal(setup.removal()))
}

/// Compiles the program of one bootstrap, of a ciphertext at the level at which the procedure takes it.
///
/// # Errors
/// None for a valid procedure.
pub fn one_bootstrap(procedure: &Arc<Procedure>) -> Result<Compiled, CompileError> {
    let params = procedure.params();
    let (start, (end, noise)) = (procedure.start(), procedure.end());
    let scheme = SchemeName::new(Bgv::NAME).unwrap_or_default();
    let slots = structure(params)?.columns() as u32;
    let mut managed = MacroProgram::new("bootstrap".to_owned(), scheme, slots);
    managed.inputs.push(MacroInput {
        name: "x".to_owned(),
        visibility: Visibility::Encrypted,
    });
    managed.outputs.push("y".to_owned());
    let cipher = |level, factor: Factor| MacroType::Cipher {
        size: 2,
        at: Some(LevelNote {
            level,
            note: Note::Factor(factor.value()),
        }),
    };
    let [x, y] = [MacroValue(0), MacroValue(1)];
    managed.types = vec![
        cipher(start, Factor::ONE),
        cipher(end, procedure.factor(Factor::ONE)),
    ];
    let instr = |op, dst: &[MacroValue], src: &[MacroValue], imm| MacroInstr {
        op,
        dst: dst.to_vec(),
        src: src.to_vec(),
        imm,
        loc: None,
    };
    managed.instrs = vec![
        instr(MacroOp::Input, &[x], &[], MacroImm::Input(0)),
        instr(MacroOp::Bootstrap, &[y], &[x], MacroImm::Level(end)),
        instr(MacroOp::Output, &[], &[y], MacroImm::Output(0)),
    ];
    let range = IntegerRange::up_to(params.plain_modulus().value() / 2);
    let options = Options {
        bootstrapping: Some(Arc::clone(procedure)),
        seeded_keys: procedure.seeded(),
        ..Options::given(Arc::clone(params))
    };
    let model = levels::model(&managed, params);
    let fitted = Fitted {
        params: Arc::clone(params),
        output_level: Level::LOWEST,
        predicted: vec![Prediction {
            budget: model.budget(noise, end).into(),
            range,
        }],
        managed: managed.clone(),
        bootstrapping: options.bootstrapping.clone(),
    };
    lowered(managed, fitted, &options, &[range])
}
