// SPDX-License-Identifier: Apache-2.0
//! A verified program, and the stream of its calls, which a device pulls one by one.
//!
//! The stream's memory does not grow with the length of the run: a repeat is pulled one iteration after the other, and
//! the stream forgets limbs that died.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use super::head::Head;
use super::procedure::Procedure;
use super::program::{Action, Program, Step};
use super::unrolled::{Call, LimbId, Unrolled};
use super::verify::{ProgramTypes, in_program, verify_program};
use super::walk::{Held, Pulled, Walk};
use crate::error::{Fault, VerifyError};

/// A program that [`verify_program`] accepts, so that a function that takes one need not check it
/// again. It also has procedures without immediate parameters: one for each procedure and each list
/// of immediates with which a step calls it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verified {
    program: Program,
    types: ProgramTypes,
    procs: Vec<Arc<Procedure>>,
    /// For each procedure of the program, a map from a call's immediates to an index into `procs`:
    /// the procedure with these immediates in place of its parameters.
    bound: Vec<HashMap<Vec<u64>, u32>>,
}

impl Verified {
    /// Verifies a program, and makes from its procedures those without immediate parameters that
    /// its calls need.
    ///
    /// # Errors
    /// Fails if the program does not verify.
    pub fn new(program: Program) -> Result<Self, VerifyError> {
        let mut made = Self {
            types: verify_program(&program)?,
            procs: Vec::new(),
            bound: vec![HashMap::new(); program.procs.len()],
            program,
        };
        let program = &made.program;
        let steps = program.blocks.iter().flat_map(|block| &block.steps);
        for step in steps.chain(&program.steps) {
            let Some((bound, procedure, immediates)) = called(program, &mut made.bound, step)
            else {
                continue;
            };
            if bound.contains_key(immediates) {
                continue;
            }
            let number = u32::try_from(made.procs.len()).unwrap_or(u32::MAX);
            made.procs.push(match immediates {
                [] => Arc::clone(procedure),
                given => Arc::new(procedure.bind(given)?),
            });
            bound.insert(immediates.to_vec(), number);
        }
        Ok(made)
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    pub fn into_program(self) -> Program {
        self.program
    }

    /// Returns the types that the verifier computed: those of the results of blocks and of the
    /// program's outputs.
    pub fn types(&self) -> &ProgramTypes {
        &self.types
    }

    /// Returns the procedures without immediate parameters, which the calls of a [`Stream`] name by
    /// index. They were made from the program's own procedures and the immediates of its calls.
    pub fn bound_procs(&self) -> &[Arc<Procedure>] {
        &self.procs
    }

    /// Returns the procedures without immediate parameters that were made from procedure number `proc` of the program,
    /// in no fixed order. A procedure that no step calls has none.
    pub fn forms(&self, proc: usize) -> impl Iterator<Item = &Procedure> {
        let bound = self.bound.get(proc).into_iter().flat_map(HashMap::values);
        bound.filter_map(|&number| self.procs.get(number as usize).map(|p| &**p))
    }

    /// Returns the index in [`Self::bound_procs`] of the procedure that a step calls. It is `None` for a step that
    /// calls no procedure.
    pub fn called(&self, step: &Step) -> Option<u32> {
        match step.action {
            Action::Call { proc } => self.bound(proc, &step.immediates),
            Action::Run { .. } | Action::Repeat { .. } | Action::Halt => None,
        }
    }

    fn bound(&self, proc: u32, immediates: &[u64]) -> Option<u32> {
        self.bound.get(proc as usize)?.get(immediates).copied()
    }

    /// Returns the head of the program, which a device needs before the first call: ring, moduli,
    /// inputs, procedures, and whether the machine halts at the end.
    pub fn head(&self) -> Head<'_> {
        Head {
            log_n: self.program.log_n,
            moduli: &self.program.moduli,
            inputs: &self.program.inputs,
            procs: &self.procs,
            halts: self.program.halts(),
        }
    }

    /// Returns a stream of the program's calls from the first on.
    pub fn stream(&self) -> Stream<'_> {
        Stream {
            verified: self,
            walk: Walk::verified(&self.program),
            limbs: Vec::new(),
            made: self.program.inputs.len() as u64,
            number: 0,
        }
    }
}

type Bound<'m, 'p> = (
    &'m mut HashMap<Vec<u64>, u32>,
    &'p Arc<Procedure>,
    &'p [u64],
);

fn called<'m, 'p>(
    program: &'p Program,
    bound: &'m mut [HashMap<Vec<u64>, u32>],
    step: &'p Step,
) -> Option<Bound<'m, 'p>> {
    let Action::Call { proc } = step.action else {
        return None;
    };
    let procedure = program.procs.get(proc as usize)?;
    Some((bound.get_mut(proc as usize)?, procedure, &step.immediates))
}

impl Deref for Verified {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}

impl TryFrom<Unrolled> for Verified {
    type Error = VerifyError;

    fn try_from(unrolled: Unrolled) -> Result<Self, VerifyError> {
        Self::new(unrolled.into())
    }
}

/// A call that a device pulled from a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Called {
    /// The number of this call, which is the number of calls before it in the run.
    pub number: u64,
    /// The call itself. Its procedure is an index into [`Verified::bound_procs`]. Each limb of the
    /// run has a number of its own, that no other limb of the run has. The program's inputs have
    /// the first numbers, in their order.
    pub call: Call,
    /// The limbs that die with this call: no later call reads them, and they are no outputs of the
    /// program. Inputs stay readable and are never among them.
    pub dies: Vec<LimbId>,
}

/// A stream of the calls of a [`Verified`] program, in the order of a run.
pub struct Stream<'p> {
    verified: &'p Verified,
    walk: Walk<'p>,
    /// For each number that the walk through the program gives to limbs, the limb that has it now.
    /// The walk gives the number of a dead limb to a later one.
    limbs: Vec<LimbId>,
    /// The number of limbs of the run so far: the program's inputs, and the results of the calls
    /// that were pulled.
    made: u64,
    number: u64,
}

impl Stream<'_> {
    /// Returns the next call of the program, or `None` after the last.
    ///
    /// # Errors
    /// None for a program that was verified.
    pub fn next_call(&mut self) -> Result<Option<Called>, VerifyError> {
        let Some(pulled) = self.walk.next_call()? else {
            return Ok(None);
        };
        let call = self.call(&pulled)?;
        let dies = pulled.dies.iter().map(|&n| self.limb(Held::Made(n)));
        let dies = dies.collect::<Result<_, _>>()?;
        let number = self.number;
        self.number += 1;
        Ok(Some(Called { number, call, dies }))
    }

    fn call(&mut self, pulled: &Pulled<'_>) -> Result<Call, VerifyError> {
        let args = pulled.args.iter().map(|&held| self.limb(held));
        let args = args.collect::<Result<_, _>>()?;
        let proc = self.verified.bound(pulled.proc, pulled.immediates);
        let mut results = Vec::with_capacity(pulled.results.len());
        // The results of a call do not get a number that dies with the call.
        for &number in &pulled.results {
            let (limb, at) = (LimbId(self.made), number as usize);
            self.made += 1;
            if self.limbs.len() <= at {
                self.limbs.resize(at + 1, LimbId(u64::MAX));
            }
            if let Some(slot) = self.limbs.get_mut(at) {
                *slot = limb;
            }
            results.push(limb);
        }
        Ok(Call {
            proc: proc.ok_or_else(undefined)?,
            args,
            seeds: pulled.seeds.to_vec(),
            results,
            loc: pulled.loc.cloned(),
        })
    }

    fn limb(&self, held: Held) -> Result<LimbId, VerifyError> {
        match held {
            Held::Input(n) => Ok(LimbId(u64::from(n))),
            Held::Made(n) => self.limbs.get(n as usize).copied().ok_or_else(undefined),
        }
    }

    /// Returns the limbs that are the program's outputs, in their order. The caller must have taken the last call.
    ///
    /// # Errors
    /// Fails before the last call if an output does not exist yet.
    pub fn outputs(&self) -> Result<Vec<LimbId>, VerifyError> {
        let held = self.walk.outputs()?;
        held.into_iter().map(|held| self.limb(held)).collect()
    }
}

fn undefined() -> VerifyError {
    in_program(Fault::Undefined {
        item: "a limb or procedure".to_owned(),
    })
}
