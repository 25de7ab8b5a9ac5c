// SPDX-License-Identifier: Apache-2.0
//! A program written out call by call, for tests and for small programs made by hand.
//!
//! Blocks are inlined, repeats unrolled and immediates bound, and every limb has a unique number. An `HCF` is no call
//! and is left out. Devices pull calls instead ([`super::stream`]).

use std::sync::Arc;

use super::procedure::Procedure;
use super::program::InputRole;
use super::stats;
use super::stream::{Called, Verified};
use super::types::{LimbType, TableModulus, ValueType};
use super::verify::{at_most, in_program};
use crate::error::VerifyError;
use crate::numbers::Poly;
use crate::source::SourceLoc;

/// A limb of the whole program: index into [`Unrolled::limbs`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LimbId(pub u64);

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
    /// A limb for each parameter, in order, of equal type.
    pub args: Vec<LimbId>,
    /// For each seed parameter, an index into [`Unrolled::seeds`].
    pub seeds: Vec<u32>,
    /// A new limb for each result, in order.
    pub results: Vec<LimbId>,
    /// The user's source line from which this call came.
    pub loc: Option<SourceLoc>,
}

/// Polynomial `poly` of output ciphertext `output`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    pub limb: LimbId,
    pub name: String,
    pub output: u32,
    pub poly: Poly,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unrolled {
    pub log_n: u8,
    pub moduli: Vec<TableModulus>,
    pub procs: Vec<Arc<Procedure>>,
    /// The types of all limbs of the program, and of inputs of other kinds.
    pub limbs: Vec<ValueType>,
    pub inputs: Vec<Input>,
    /// The numbers of the keys whose seeds the run time supplies.
    pub seeds: Vec<u32>,
    pub calls: Vec<Call>,
    pub outputs: Vec<Output>,
}

impl Unrolled {
    /// Makes a program without procedures, inputs, calls and outputs.
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

    /// Returns the type of a limb, if the value is one.
    pub fn limb_type(&self, limb: LimbId) -> Option<LimbType> {
        self.limbs.get(limb.0 as usize)?.limb()
    }

    /// Writes a program out.
    ///
    /// # Errors
    /// A program of more than `most` calls.
    pub fn of(verified: &Verified, most: usize) -> Result<Self, VerifyError> {
        let program = verified.program();
        let calls = stats::calls(program);
        let calls = usize::try_from(calls).unwrap_or(usize::MAX);
        at_most("calls, repeats written out", most, calls).map_err(in_program)?;
        let inputs = (0..).map(LimbId).zip(&program.inputs);
        let inputs = inputs.map(|(limb, input)| Input {
            limb,
            name: input.name.clone(),
            role: input.role,
        });
        let mut made = Self {
            procs: verified.bound_procs().to_vec(),
            limbs: program.inputs.iter().map(|input| input.ty).collect(),
            inputs: inputs.collect(),
            seeds: program.seeds.clone(),
            calls: Vec::with_capacity(calls),
            ..Self::empty(program.log_n, program.moduli.clone())
        };
        let mut stream = verified.stream();
        while let Some(Called { call, .. }) = stream.next_call()? {
            let results = made.procs.get(call.proc as usize).into_iter();
            let results = results.flat_map(|procedure| procedure.result_types());
            made.limbs.extend(results);
            at_most("limbs", crate::limits::MAX_LIMBS, made.limbs.len()).map_err(in_program)?;
            made.calls.push(call);
        }
        let limbs = stream.outputs()?.into_iter();
        made.outputs = limbs
            .zip(&program.outputs)
            .map(|(limb, output)| Output {
                limb,
                name: output.name.clone(),
                output: output.output,
                poly: output.poly,
            })
            .collect();
        Ok(made)
    }
}
