// SPDX-License-Identifier: Apache-2.0
//! The head of a program, which a device gets when it opens the program, and a check of the
//! program's calls.

use std::sync::Arc;

use super::procedure::Procedure;
use super::program::HeadInput;
use super::stream::Called;
use super::types::{TableModulus, ValueType};
use super::unrolled::LimbId;
use super::verify::in_program;
use crate::def::Arity;
use crate::error::{Fault, VerifyError};

/// The head of a program is what a device gets before the first call: ring, moduli, inputs,
/// procedures, and whether the machine halts at the end. Its size does not grow with the number of
/// calls.
#[derive(Clone, Copy, Debug)]
pub struct Head<'p> {
    /// The base-2 logarithm of the ring degree N.
    pub log_n: u8,
    pub moduli: &'p [TableModulus],
    pub inputs: &'p [HeadInput],
    /// The procedures that the program's calls name, by index. None has immediate parameters.
    pub procs: &'p [Arc<Procedure>],
    /// Whether the program ends with the halt instruction `HCF`, after which the machine awaits new instructions.
    pub halts: bool,
}

impl<'p> Head<'p> {
    /// Returns the name and type of the first of the program's inputs for whose type `such` returns
    /// true. A device uses it to refuse inputs of types that it does not hold.
    pub fn input_of(&self, such: impl Fn(ValueType) -> bool) -> Option<(&'p str, ValueType)> {
        let input = self.inputs.iter().find(|input| such(input.ty))?;
        Some((input.name.as_str(), input.ty))
    }
}

/// A check of a program's calls as a device receives them, one after another. Each call must have the next number, name
/// a procedure of the program's head, read limbs that exist, and have as many arguments and results as the procedure.
/// Its results must have the next limb numbers. Types and seeds are not checked. All calls of a
/// [`Stream`](super::Stream) pass.
#[derive(Clone, Debug)]
pub struct Order<'p> {
    procs: &'p [Arc<Procedure>],
    number: u64,
    /// The number of limbs that exist so far: the program's inputs, and the results of the calls
    /// that were checked.
    limbs: u64,
}

impl<'p> Order<'p> {
    pub fn new(head: &Head<'p>) -> Self {
        Self {
            procs: head.procs,
            number: 0,
            limbs: head.inputs.len() as u64,
        }
    }

    /// Checks the next call of the program and returns its procedure. A refused call changes nothing.
    ///
    /// # Errors
    /// - [`Fault::Illegal`] for a call out of turn, or one whose results are not numbered next.
    /// - [`Fault::Range`] for a call of no procedure of the head.
    /// - [`Fault::Count`] for another number of arguments or results.
    /// - [`Fault::Undefined`] for an argument that is neither an input nor a result of an earlier call.
    pub fn take(&mut self, called: &Called) -> Result<&'p Arc<Procedure>, VerifyError> {
        let call = &called.call;
        let illegal = |what, expected: u64, found: u64| {
            in_program(Fault::Illegal {
                what,
                expected: format!("number {expected}"),
                found: format!("number {found}"),
            })
        };
        if called.number != self.number {
            return Err(illegal("the next call", self.number, called.number));
        }
        let procedure = self.procs.get(call.proc as usize).ok_or_else(|| {
            in_program(Fault::Range {
                what: "procedure",
                limit: self.procs.len() as u64,
                found: call.proc.into(),
            })
        })?;
        for (what, expected, found) in [
            ("arguments", procedure.params.len(), call.args.len()),
            ("results", procedure.results.len(), call.results.len()),
        ] {
            if expected != found {
                let expected = Arity::Exactly(expected);
                return Err(in_program(Fault::Count {
                    what,
                    expected,
                    found,
                }));
            }
        }
        self.check(&call.args)?;
        for (limb, next) in call.results.iter().zip(self.limbs..) {
            if limb.0 != next {
                return Err(illegal("a result's limb", next, limb.0));
            }
        }
        self.number += 1;
        self.limbs += call.results.len() as u64;
        Ok(procedure)
    }

    /// Checks that limbs are inputs of the program or results of checked calls.
    ///
    /// # Errors
    /// [`Fault::Undefined`] for another limb.
    pub fn check(&self, limbs: &[LimbId]) -> Result<(), VerifyError> {
        match limbs.iter().find(|limb| limb.0 >= self.limbs) {
            None => Ok(()),
            Some(limb) => Err(in_program(Fault::Undefined {
                item: format!("limb {}", limb.0),
            })),
        }
    }
}
