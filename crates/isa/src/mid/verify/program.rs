// SPDX-License-Identifier: Apache-2.0
//! Verifies a whole mid-level program: head, procedures and blocks.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

use ringmill_math::Ring;

use super::procedure::{in_procedure, value_text, verify_body};
use super::{at_most, check_label, check_name, check_part, unique};
use crate::error::{Fault, InstrPlace, Place, VerifyError};
use crate::limits;
use crate::mid::procedure::Procedure;
use crate::mid::program::{Action, Block, InputRole, LocalId, Operand, Program, Step};
use crate::mid::rules::{self, Scope};
use crate::mid::text;
use crate::mid::types::{TableModulus, ValueType};
use crate::source::SourceLoc;

/// Checks a program:
///
/// - its ring and moduli,
/// - every procedure, with the program's ring and moduli and a name of its own,
/// - that inputs and outputs are unique,
/// - every block, which may run only blocks before it,
/// - every step's arguments, seeds, immediates and results against its procedure or block,
/// - that no limb is used before it is defined or after it died, and none is defined while it is alive,
/// - that an `HCF`, if there is one, is the program's last step.
///
/// # Errors
/// [`VerifyError`] with the place and the kind of the first fault. A fault inside a procedure names the first known
/// source line among the procedure's calls.
pub fn verify_program(program: &Program) -> Result<ProgramTypes, VerifyError> {
    let mut verifier = Verifier {
        program,
        blocks: Vec::with_capacity(program.blocks.len()),
        looked: Cell::new(0),
    };
    verifier.head().map_err(in_program)?;
    let first = |proc| verifier.first_loc(proc);
    procedures(&program.procs, program.log_n, &program.moduli, first)?;
    verifier.blocks()?;
    let frame = verifier.frame("program", &[], &program.steps)?;
    let outputs = verifier.outputs(&frame).map_err(in_program)?;
    Ok(ProgramTypes {
        blocks: verifier.blocks,
        outputs,
    })
}

/// The types that a program's text leaves out and the verifier computes: those of the results of
/// blocks and of the program's outputs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramTypes {
    /// For each block, the types of its results.
    pub blocks: Vec<Vec<ValueType>>,
    /// The type of each output of the program.
    pub outputs: Vec<ValueType>,
}

/// The verifier of a program, with the result types of the blocks that it has verified so far.
struct Verifier<'a> {
    program: &'a Program,
    blocks: Vec<Vec<ValueType>>,
    /// The number of inputs that were checked so far as arguments of repeats, one for each
    /// iteration. A short text can make it large, so it is bounded.
    looked: Cell<usize>,
}

/// The state of a limb of a block at the step that the verifier reads: not defined yet, defined, or
/// dead (no later step reads it).
#[derive(Clone, Copy)]
enum Local {
    Never,
    Alive(ValueType),
    Died,
}

struct Frame {
    limbs: Vec<Local>,
}

impl Frame {
    fn new(params: &[ValueType], steps: &[Step]) -> Self {
        let results: usize = steps.iter().map(|step| step.results.len()).sum();
        let mut limbs: Vec<_> = params.iter().map(|&ty| Local::Alive(ty)).collect();
        limbs.resize(params.len().saturating_add(results), Local::Never);
        Self { limbs }
    }

    fn define(&mut self, local: LocalId, ty: ValueType) -> Result<(), Fault> {
        let limit = self.limbs.len() as u64;
        match self.limbs.get_mut(local.0 as usize) {
            None => Err(Fault::Range {
                what: "limb number",
                limit,
                found: u64::from(local.0),
            }),
            Some(Local::Alive(_)) => Err(Fault::Alive {
                item: local_text(local),
            }),
            Some(slot) => {
                *slot = Local::Alive(ty);
                Ok(())
            }
        }
    }

    fn get(&self, local: LocalId) -> Result<ValueType, Fault> {
        let item = local_text(local);
        match self.limbs.get(local.0 as usize) {
            Some(Local::Alive(ty)) => Ok(*ty),
            Some(Local::Died) => Err(Fault::Died { item }),
            Some(Local::Never) | None => Err(Fault::Undefined { item }),
        }
    }

    fn end(&mut self, local: LocalId) -> Result<(), Fault> {
        self.get(local)?;
        if let Some(slot) = self.limbs.get_mut(local.0 as usize) {
            *slot = Local::Died;
        }
        Ok(())
    }
}

fn local_text(local: LocalId) -> String {
    format!("@{}", local.0)
}

fn operand_text(operand: Operand) -> String {
    match operand {
        Operand::Input(n) => format!("${n}"),
        Operand::Local(local) => local_text(local),
        Operand::InTurn { first, step } => format!("${first} step {step}"),
    }
}

impl<'a> Verifier<'a> {
    fn scope(&self) -> Scope<'a> {
        Scope {
            log_n: self.program.log_n,
            moduli: &self.program.moduli,
            seeds: 0,
            immediates: &[],
        }
    }

    fn head(&self) -> Result<(), Fault> {
        let program = self.program;
        at_most("procedures", limits::MAX_PROCS, program.procs.len())?;
        at_most("blocks", limits::MAX_BLOCKS, program.blocks.len())?;
        at_most("inputs", limits::MAX_LIMBS, program.inputs.len())?;
        at_most("outputs", limits::MAX_LIMBS, program.outputs.len())?;
        at_most("seeds", limits::MAX_LIMBS, program.seeds.len())?;
        rules::check_ring(program.log_n, &program.moduli)?;
        let mut roles = HashSet::new();
        for (number, input) in (0..).zip(&program.inputs) {
            let item = || operand_text(Operand::Input(number));
            check_label("input name", &input.name)?;
            self.scope().check_value(item, input.ty)?;
            if let InputRole::Key { part, .. } = input.role {
                check_part(part)?;
            }
            let role = (input.role, input.ty.part());
            unique(&mut roles, role, "input", item)?;
        }
        seed_keys(&program.seeds)
    }

    /// Returns the line of the user's source of the first call of procedure number `proc` in the
    /// program's text, or `None` if no call has one.
    fn first_loc(&self, proc: usize) -> Option<&'a SourceLoc> {
        let program = self.program;
        let steps = program.blocks.iter().flat_map(|b| &b.steps);
        let mut steps = steps.chain(&program.steps);
        steps.find_map(|step| match step.action {
            Action::Call { proc: called } if called as usize == proc => step.loc.as_ref(),
            Action::Call { .. } | Action::Run { .. } | Action::Repeat { .. } | Action::Halt => None,
        })
    }

    fn blocks(&mut self) -> Result<(), VerifyError> {
        let mut names = HashSet::new();
        for block in &self.program.blocks {
            let outside = |fault| in_frame(&block.name, None, fault);
            let mut head = || {
                check_name("block name", &block.name)?;
                at_most("parameters", limits::MAX_VALUES, block.params.len())?;
                at_most("results", limits::MAX_VALUES, block.results.len())?;
                unique(&mut names, block.name.as_str(), "block name", || {
                    text::shorten(block.name.clone())
                })?;
                let mut params = (0..).map(LocalId).zip(&block.params);
                params.try_for_each(|(n, &ty)| self.scope().check_value(|| local_text(n), ty))
            };
            head().map_err(outside)?;
            let frame = self.frame(&block.name, &block.params, &block.steps)?;
            let results = self.results(block, &frame).map_err(outside)?;
            self.blocks.push(results);
        }
        Ok(())
    }

    fn results(&self, block: &Block, frame: &Frame) -> Result<Vec<ValueType>, Fault> {
        let results = block.results.iter();
        results.map(|&operand| self.read(frame, operand)).collect()
    }

    /// Checks the steps of a block or of the program. Returns the state of each of its limbs after
    /// the last step.
    fn frame(
        &self,
        name: &str,
        params: &[ValueType],
        steps: &[Step],
    ) -> Result<Frame, VerifyError> {
        at_most("steps", limits::MAX_LIMBS, steps.len())
            .map_err(|fault| in_frame(name, None, fault))?;
        let mut frame = Frame::new(params, steps);
        for (number, step) in steps.iter().enumerate() {
            let behind = steps.len().saturating_sub(number).saturating_sub(1);
            let checked = match step.action {
                Action::Halt => self.halt(step, behind),
                Action::Call { .. } | Action::Run { .. } | Action::Repeat { .. } => {
                    self.step(&mut frame, step)
                }
            };
            checked.map_err(|fault| {
                let text = text::step_text(step, self.program);
                let place = (InstrPlace { number, text }, step.loc.clone());
                in_frame(name, Some(place), fault)
            })?;
        }
        Ok(frame)
    }

    /// Checks the halt step `HCF`. `behind` is the number of steps after it in the same list, which
    /// must be 0. The list must be the program's own and not a block's.
    fn halt(&self, step: &Step, behind: usize) -> Result<(), Fault> {
        exactly("arguments", 0, step.args.len())?;
        exactly("seeds", 0, step.seeds.len())?;
        exactly("immediates", 0, step.immediates.len())?;
        exactly("limbs that die", 0, step.dies.len())?;
        exactly("results", 0, step.results.len())?;
        let refused = |found| {
            Err(Fault::Illegal {
                what: "HCF",
                expected: "the last step of a program".to_owned(),
                found,
            })
        };
        // As long as not all blocks are verified, the step is in a block and not in the program's own steps.
        match behind {
            _ if self.blocks.len() < self.program.blocks.len() => {
                refused("one of a block".to_owned())
            }
            0 => Ok(()),
            1 => refused("a step behind it".to_owned()),
            many => refused(format!("{many} steps behind it")),
        }
    }

    fn read(&self, frame: &Frame, operand: Operand) -> Result<ValueType, Fault> {
        match operand {
            Operand::Local(local) => frame.get(local),
            Operand::Input(n) => self.input(n.into()),
            Operand::InTurn { .. } => Err(Fault::Illegal {
                what: "an input of each turn",
                expected: "an argument of a repeat that it does not carry".to_owned(),
                found: operand_text(operand),
            }),
        }
    }

    fn input(&self, number: u64) -> Result<ValueType, Fault> {
        let known = usize::try_from(number).ok();
        match known.and_then(|n| self.program.inputs.get(n)) {
            Some(input) => Ok(input.ty),
            None => Err(Fault::Range {
                what: "input number",
                limit: self.program.inputs.len() as u64,
                found: number,
            }),
        }
    }

    /// Returns the type of an argument of a repeated block. If it is another input in each of
    /// `turns` iterations, all these inputs must exist and have one type.
    fn read_in_turns(
        &self,
        frame: &Frame,
        operand: Operand,
        turns: u64,
    ) -> Result<ValueType, Fault> {
        let Operand::InTurn { first, step } = operand else {
            return self.read(frame, operand);
        };
        self.input(Operand::last_in_turn(first, step, turns))?;
        let ty = self.input(first.into())?;
        // With a step of 0 every iteration takes the first input.
        let turns = if step == 0 { 1 } else { turns };
        let step = (step as usize).max(1);
        // The number is below that of the inputs; otherwise the last input would have been refused above.
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        let looked = self.looked.get().saturating_add(turns);
        at_most("inputs of turns", limits::MAX_LIMBS, looked)?;
        self.looked.set(looked);
        let later = self.program.inputs.iter().enumerate().skip(first as usize);
        for (n, input) in later.step_by(step).take(turns) {
            let item = || format!("${n}, an input of a turn");
            self.scope().expect_value(item, ty, input.ty)?;
        }
        Ok(ty)
    }

    fn step(&self, frame: &mut Frame, step: &Step) -> Result<(), Fault> {
        let results = match step.action {
            Action::Call { proc } => self.call(frame, proc, step)?,
            Action::Run { block } => self.run(frame, block, step, None)?,
            Action::Repeat { block, count } => {
                if !(1..=limits::MAX_REPEAT).contains(&count) {
                    return Err(Fault::Illegal {
                        what: "repeat count",
                        expected: format!("1 to {}", limits::MAX_REPEAT),
                        found: count.to_string(),
                    });
                }
                self.run(frame, block, step, Some(count))?
            }
            Action::Halt => Vec::new(),
        };
        for &local in &step.dies {
            frame.end(local)?;
            if !step.args.contains(&Operand::Local(local)) {
                return Err(Fault::Illegal {
                    what: "what dies",
                    expected: "arguments of the step".to_owned(),
                    found: local_text(local),
                });
            }
        }
        exactly("results", results.len(), step.results.len())?;
        let mut pairs = step.results.iter().zip(results);
        pairs.try_for_each(|(&local, ty)| frame.define(local, ty))
    }

    fn call(&self, frame: &Frame, proc: u32, step: &Step) -> Result<Vec<ValueType>, Fault> {
        let program = self.program;
        let p = called(&program.procs, proc)?;
        exactly("arguments", p.params.len(), step.args.len())?;
        exactly("seeds", p.seeds.len(), step.seeds.len())?;
        exactly("immediates", p.immediates.len(), step.immediates.len())?;
        let ty = |v: crate::mid::types::ValueId| {
            let known = p.types.get(v.0 as usize).copied();
            known.ok_or_else(|| Fault::Undefined {
                item: value_text(v),
            })
        };
        for (&operand, param) in step.args.iter().zip(&p.params) {
            let item = || {
                let (operand, v) = (operand_text(operand), param.value.0);
                format!("{operand} for parameter %{v} {:?}", param.name)
            };
            let found = self.read(frame, operand)?;
            self.scope().expect_value(item, ty(param.value)?, found)?;
        }
        seed_numbers(&program.seeds, &step.seeds)?;
        for (&ty, &value) in p.immediates.iter().zip(&step.immediates) {
            rules::check_given(self.scope(), ty, value)?;
        }
        p.results.iter().map(|r| ty(r.value)).collect()
    }

    fn run(
        &self,
        frame: &Frame,
        block: u32,
        step: &Step,
        repeats: Option<u64>,
    ) -> Result<Vec<ValueType>, Fault> {
        let program = self.program;
        let Some(called) = program.blocks.get(block as usize) else {
            return Err(Fault::Range {
                what: "block number",
                limit: program.blocks.len() as u64,
                found: u64::from(block),
            });
        };
        // Only blocks before this one are verified yet.
        let Some(results) = self.blocks.get(block as usize) else {
            return Err(Fault::Recursion {
                what: "block",
                caller: self.blocks.len(),
                callee: block,
            });
        };
        exactly("arguments", called.params.len(), step.args.len())?;
        exactly("seeds", 0, step.seeds.len())?;
        exactly("immediates", 0, step.immediates.len())?;
        for (n, (&operand, &expected)) in step.args.iter().zip(&called.params).enumerate() {
            let item = || format!("{} for parameter {n}", operand_text(operand));
            let found = match repeats {
                Some(turns) if n >= results.len() => self.read_in_turns(frame, operand, turns)?,
                Some(_) | None => self.read(frame, operand)?,
            };
            self.scope().expect_value(item, expected, found)?;
        }
        if repeats.is_some() {
            if results.len() > called.params.len() {
                return Err(Fault::Illegal {
                    what: "repeated block",
                    expected: "a parameter for each result, which the next turn takes".to_owned(),
                    found: format!(
                        "{} parameters and {} results",
                        called.params.len(),
                        results.len()
                    ),
                });
            }
            for (n, (&given, &taken)) in results.iter().zip(&called.params).enumerate() {
                let item = || format!("carried limb {n}, given for the next turn");
                self.scope().expect_value(item, taken, given)?;
            }
        }
        Ok(results.clone())
    }

    fn outputs(&self, frame: &Frame) -> Result<Vec<ValueType>, Fault> {
        at_most("outputs", limits::MAX_LIMBS, self.program.outputs.len())?;
        let mut places = HashSet::new();
        let outputs = self.program.outputs.iter().map(|o| {
            check_label("output name", &o.name)?;
            let ty = self.read(frame, o.from)?;
            let place = (o.output, o.poly, ty.part());
            unique(&mut places, place, "output", || operand_text(o.from))?;
            Ok(ty)
        });
        outputs.collect()
    }
}

/// Checks that every procedure verifies, has the program's ring and moduli, and has a unique name. A fault inside
/// a procedure names the source line of its first call, which `first` returns.
pub(super) fn procedures<'a>(
    procs: &[Arc<Procedure>],
    log_n: u8,
    moduli: &[TableModulus],
    first: impl Fn(usize) -> Option<&'a SourceLoc>,
) -> Result<(), VerifyError> {
    let mut names = HashSet::new();
    for (index, p) in procs.iter().enumerate() {
        let checked = unique(&mut names, p.name.as_str(), "procedure name", || {
            text::shorten(p.name.clone())
        })
        .and_then(|()| same_ring(p, log_n, moduli))
        .map_err(|fault| VerifyError::new(in_procedure(p, None), fault))
        .and_then(|()| verify_body(p));
        checked.map_err(|error| error.or_loc(first(index)))?;
    }
    Ok(())
}

/// Checks that no two seeds of a program belong to the same key.
pub(super) fn seed_keys(seeds: &[u32]) -> Result<(), Fault> {
    let mut keys = HashSet::new();
    let mut seeds = seeds.iter();
    seeds.try_for_each(|&key| unique(&mut keys, key, "seed of key", || key.to_string()))
}

/// Checks that the program has the seeds `named` of a call, which are indices into its list
/// `seeds`.
pub(super) fn seed_numbers(seeds: &[u32], named: &[u32]) -> Result<(), Fault> {
    let limit = seeds.len() as u64;
    match named.iter().find(|&&seed| u64::from(seed) >= limit) {
        None => Ok(()),
        Some(&seed) => Err(Fault::Range {
            what: "seed number",
            limit,
            found: u64::from(seed),
        }),
    }
}

/// Returns the procedure with the number `proc`, or an error if the program has none.
pub(super) fn called(procs: &[Arc<Procedure>], proc: u32) -> Result<&Procedure, Fault> {
    let known = procs.get(proc as usize).map(|p| &**p);
    known.ok_or(Fault::Range {
        what: "procedure number",
        limit: procs.len() as u64,
        found: u64::from(proc),
    })
}

/// Checks that a procedure has the program's ring and moduli.
fn same_ring(p: &Procedure, log_n: u8, moduli: &[TableModulus]) -> Result<(), Fault> {
    let item = || "the procedure".to_owned();
    if p.log_n != log_n {
        let text = |log_n| rules::ring_text(Ring::full(log_n));
        return Err(Fault::Ring {
            item: item(),
            expected: text(log_n),
            found: text(p.log_n),
        });
    }
    if p.moduli == *moduli {
        return Ok(());
    }
    let differs = |(a, b): &(Option<&TableModulus>, Option<&TableModulus>)| a != b;
    let longest = p.moduli.len().max(moduli.len());
    let mut pairs = (0..longest).map(|i| (moduli.get(i), p.moduli.get(i)));
    let at = pairs.position(|pair| differs(&pair)).unwrap_or(0);
    let text = |table: &[TableModulus]| {
        table
            .get(at)
            .map_or(format!("no q{at}"), |q| format!("q{at} = {q}"))
    };
    Err(Fault::Modulus {
        item: item(),
        expected: text(moduli),
        found: text(&p.moduli),
    })
}

fn in_frame(
    name: &str,
    step: Option<(InstrPlace, Option<SourceLoc>)>,
    fault: Fault,
) -> VerifyError {
    let (instruction, loc) = step.map_or((None, None), |(place, loc)| (Some(place), loc));
    let place = Place {
        loc,
        procedure: text::shorten(name.to_owned()),
        instruction,
    };
    VerifyError::new(place, fault)
}

pub(crate) fn in_program(fault: Fault) -> VerifyError {
    VerifyError::new(
        Place {
            procedure: "program".to_owned(),
            ..Place::default()
        },
        fault,
    )
}

pub(crate) fn exactly(what: &'static str, expected: usize, found: usize) -> Result<(), Fault> {
    if expected == found {
        return Ok(());
    }
    Err(Fault::Count {
        what,
        expected: crate::def::Arity::Exactly(expected),
        found,
    })
}
