// SPDX-License-Identifier: Apache-2.0
//! A mid-level program written out call by call, for tests and for small programs written by hand.
//!
//! Blocks are inlined, repeats unrolled and immediates bound, and every limb has a number of its own. The halt
//! instruction `HCF` is no call and is left out. Devices pull the calls of a [`super::stream`] instead.

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

/// A limb of a whole run of a program, as its index into [`Unrolled::limbs`].
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
    /// The number of the called procedure: an index into [`Unrolled::procs`].
    pub proc: u32,
    /// The limb for each parameter of the procedure, in order, of equal type.
    pub args: Vec<LimbId>,
    /// For each seed parameter of the procedure, an index into [`Unrolled::seeds`].
    pub seeds: Vec<u32>,
    /// For each result of the procedure, in order, a limb that no earlier call defines.
    pub results: Vec<LimbId>,
    /// The line of the user's source from which this call came.
    pub loc: Option<SourceLoc>,
}

/// An output of the program: polynomial `poly` of output ciphertext number `output`, a limb of it, or an LWE vector.
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
    /// The types of all limbs of the run, by their numbers. Inputs of other kinds than limbs also
    /// have numbers and types here.
    pub limbs: Vec<ValueType>,
    pub inputs: Vec<Input>,
    /// The numbers of the keys whose 32-byte seeds the caller supplies.
    pub seeds: Vec<u32>,
    pub calls: Vec<Call>,
    pub outputs: Vec<Output>,
}

impl Unrolled {
    /// Makes a program without procedures, inputs, calls and outputs, over the ring of degree
    /// 2^`log_n` and with these moduli.
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

    /// Returns the type of the value `limb` if it is a limb, or `None` for another kind of value.
    pub fn limb_type(&self, limb: LimbId) -> Option<LimbType> {
        self.limbs.get(limb.0 as usize)?.limb()
    }

    /// Unrolls a verified program into the list of its calls, without blocks and repeats.
    ///
    /// # Errors
    /// Fails if the program has more than `most` calls, or a run of it more than
    /// [`MAX_LIMBS`](crate::limits::MAX_LIMBS) limbs.
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
