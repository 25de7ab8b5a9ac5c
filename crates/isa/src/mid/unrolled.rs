//! A program written out call by call: blocks inlined, repeats unrolled, immediates bound, every limb with a number of its
//! own. It is what a consumer takes that looks ahead further than the next call.

use std::collections::HashMap;
use std::sync::Arc;

use super::procedure::Procedure;
use super::program::{InputRole, Program};
use super::stats::call_counts;
use super::types::{LimbType, TableModulus};
use super::verify::{at_most, in_program};
use super::walk::{Held, Pulled, Walk};
use crate::error::{Fault, VerifyError};
use crate::source::SourceLoc;

/// A limb of the whole program: index into [`Unrolled::limbs`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LimbId(pub u32);

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    pub limb: LimbId,
    pub name: String,
    pub role: InputRole,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Index into [`Unrolled::procs`].
    pub proc: u32,
    /// One limb for each parameter, in order, of equal type.
    pub args: Vec<LimbId>,
    /// For each seed parameter, an index into [`Unrolled::seeds`].
    pub seeds: Vec<u32>,
    /// One fresh limb for each result, in order.
    pub results: Vec<LimbId>,
    /// The user's source line this call came from.
    pub loc: Option<SourceLoc>,
}

/// Polynomial `poly` of output ciphertext `output`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    pub limb: LimbId,
    pub name: String,
    pub output: u32,
    pub poly: u16,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unrolled {
    pub log_n: u8,
    pub moduli: Vec<TableModulus>,
    pub procs: Vec<Arc<Procedure>>,
    /// Types of all program-level limbs.
    pub limbs: Vec<LimbType>,
    pub inputs: Vec<Input>,
    /// Key numbers whose seed the run time supplies.
    pub seeds: Vec<u32>,
    pub calls: Vec<Call>,
    pub outputs: Vec<Output>,
}

impl Unrolled {
    /// Without procedures, inputs, calls and outputs.
    pub fn empty(log_n: u8, moduli: Vec<TableModulus>) -> Self {
        Self {
            log_n,
            moduli,
            procs: Vec::new(),
            limbs: Vec::new(),
            inputs: Vec::new(),
            seeds: Vec::new(),
            calls: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Writes a program out.
    ///
    /// # Errors
    /// A program that does not verify, or has more than `most` calls.
    pub fn of(program: &Program, most: usize) -> Result<Self, VerifyError> {
        let walk = Walk::new(program)?;
        let calls = call_counts(program).into_iter();
        let calls = calls.fold(0, u64::saturating_add);
        let calls = usize::try_from(calls).unwrap_or(usize::MAX);
        at_most("calls, repeats written out", most, calls).map_err(in_program)?;
        Unroller::new(program, calls).run(walk)
    }
}

struct Unroller<'a> {
    program: &'a Program,
    made: Unrolled,
    /// The limb that has each number now.
    limbs: Vec<LimbId>,
    /// Each procedure with the immediates of a call.
    bound: HashMap<(u32, &'a [u64]), u32>,
}

impl<'a> Unroller<'a> {
    fn new(program: &'a Program, calls: usize) -> Self {
        let inputs = (0..).map(LimbId).zip(&program.inputs);
        let inputs = inputs.map(|(limb, input)| Input {
            limb,
            name: input.name.clone(),
            role: input.role,
        });
        let made = Unrolled {
            limbs: program.inputs.iter().map(|input| input.ty).collect(),
            inputs: inputs.collect(),
            seeds: program.seeds.clone(),
            calls: Vec::with_capacity(calls),
            ..Unrolled::empty(program.log_n, program.moduli.clone())
        };
        Self {
            program,
            made,
            limbs: Vec::new(),
            bound: HashMap::new(),
        }
    }

    fn run(mut self, mut walk: Walk<'a>) -> Result<Unrolled, VerifyError> {
        while let Some(call) = walk.next_call()? {
            self.call(&call)?;
        }
        let held = walk.outputs()?;
        for (output, held) in self.program.outputs.iter().zip(held) {
            let limb = self.limb(held)?;
            self.made.outputs.push(Output {
                limb,
                name: output.name.clone(),
                output: output.output,
                poly: output.poly,
            });
        }
        Ok(self.made)
    }

    fn limb(&self, held: Held) -> Result<LimbId, VerifyError> {
        match held {
            Held::Input(n) => Ok(LimbId(n)),
            Held::Made(n) => self.limbs.get(n as usize).copied().ok_or_else(undefined),
        }
    }

    fn call(&mut self, call: &Pulled<'a>) -> Result<(), VerifyError> {
        let args = call.args.iter().map(|&held| self.limb(held));
        let args = args.collect::<Result<Vec<_>, _>>()?;
        let proc = self.procedure(call.proc, call.immediates)?;
        let procedure = self.made.procs.get(proc as usize).ok_or_else(undefined)?;
        let mut results = Vec::with_capacity(call.results.len());
        for (&number, result) in call.results.iter().zip(&procedure.results) {
            let limb = LimbId(self.made.limbs.len() as u32);
            let ty = procedure.types.get(result.value.0 as usize);
            self.made.limbs.push(*ty.ok_or_else(undefined)?);
            if self.limbs.len() <= number as usize {
                self.limbs.resize(number as usize + 1, LimbId(u32::MAX));
            }
            if let Some(slot) = self.limbs.get_mut(number as usize) {
                *slot = limb;
            }
            results.push(limb);
        }
        at_most("limbs", crate::limits::MAX_LIMBS, self.made.limbs.len()).map_err(in_program)?;
        self.made.calls.push(Call {
            proc,
            args,
            seeds: call.seeds.to_vec(),
            results,
            loc: call.loc.cloned(),
        });
        Ok(())
    }

    /// The procedure with these immediates, made when first met.
    fn procedure(&mut self, proc: u32, immediates: &'a [u64]) -> Result<u32, VerifyError> {
        if let Some(&known) = self.bound.get(&(proc, immediates)) {
            return Ok(known);
        }
        let procedure = self.program.procs.get(proc as usize);
        let procedure = procedure.ok_or_else(undefined)?;
        let number = self.made.procs.len() as u32;
        let made = if immediates.is_empty() {
            Arc::clone(procedure)
        } else {
            Arc::new(procedure.bind(immediates)?)
        };
        self.made.procs.push(made);
        self.bound.insert((proc, immediates), number);
        Ok(number)
    }
}

fn undefined() -> VerifyError {
    in_program(Fault::Undefined {
        item: "a limb or procedure".to_owned(),
    })
}
