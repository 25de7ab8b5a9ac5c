// SPDX-License-Identifier: Apache-2.0
//! What a consumer of calls is opened on, and whether the calls that it is fed are those of a program with that head.

use std::sync::Arc;

use super::procedure::Procedure;
use super::program::HeadInput;
use super::stream::Called;
use super::types::{TableModulus, ValueType};
use super::unrolled::LimbId;
use super::verify::in_program;
use crate::def::Arity;
use crate::error::{Fault, VerifyError};

/// All of a program that does not grow with its run.
#[derive(Clone, Copy, Debug)]
pub struct Head<'p> {
    /// log2 of the ring degree.
    pub log_n: u8,
    pub moduli: &'p [TableModulus],
    pub inputs: &'p [HeadInput],
    /// The procedures that calls name, immediates in their places.
    pub procs: &'p [Arc<Procedure>],
    /// Whether the machine is told to halt behind the last call (`HCF`).
    pub halts: bool,
}

impl<'p> Head<'p> {
    /// The first input of such a type, by its name: what a device refuses that does not hold it.
    pub fn input_of(&self, such: impl Fn(ValueType) -> bool) -> Option<(&'p str, ValueType)> {
        let input = self.inputs.iter().find(|input| such(input.ty))?;
        Some((input.name.as_str(), input.ty))
    }
}

/// Looks at calls as a consumer is fed them: each must be the next one, of a procedure of the head, on limbs that are
/// there. What a [`Stream`](super::Stream) gives passes.
#[derive(Clone, Debug)]
pub struct Order<'p> {
    procs: &'p [Arc<Procedure>],
    number: u64,
    /// Limbs there are so far.
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

    /// The procedure of the next call.
    ///
    /// # Errors
    /// A call out of turn ([`Fault::Illegal`]), of no procedure of the head ([`Fault::Range`]), with other numbers of
    /// arguments and results ([`Fault::Count`]), on limbs that no call made ([`Fault::Undefined`]), or one whose results
    /// are not numbered next ([`Fault::Illegal`]). Nothing is taken then.
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

    /// Checks that limbs are inputs or results of calls taken.
    ///
    /// # Errors
    /// [`Fault::Undefined`].
    pub fn check(&self, limbs: &[LimbId]) -> Result<(), VerifyError> {
        match limbs.iter().find(|limb| limb.0 >= self.limbs) {
            None => Ok(()),
            Some(limb) => Err(in_program(Fault::Undefined {
                item: format!("limb {}", limb.0),
            })),
        }
    }
}
