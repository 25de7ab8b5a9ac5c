// SPDX-License-Identifier: Apache-2.0
//! Verifies a mid-level program that is written out call by call.

use std::collections::HashSet;

use super::procedure::value_text;
use super::program::{called, exactly, in_program, procedures, seed_keys, seed_numbers};
use super::{at_most, check_label, check_part, unique};
use crate::error::{Fault, InstrPlace, Place, VerifyError};
use crate::limits;
use crate::mid::procedure::Procedure;
use crate::mid::program::InputRole;
use crate::mid::rules::{self, Scope};
use crate::mid::text;
use crate::mid::types::{ValueId, ValueType};
use crate::mid::unrolled::{Call, LimbId, Unrolled};
use crate::source::SourceLoc;

/// Checks an unrolled program:
///
/// - its ring and moduli,
/// - every procedure, with the program's ring and moduli and a name of its own,
/// - that no procedure that a call names has immediate parameters left,
/// - that every limb is defined once, before its use, and that inputs and outputs are unique,
/// - every call's arguments, seeds and results against the procedure's.
///
/// # Errors
/// [`VerifyError`] with the place and the kind of the first fault. A fault inside a procedure names the first known
/// source line among the procedure's calls.
pub fn verify_unrolled(program: &Unrolled) -> Result<(), VerifyError> {
    UnrolledVerifier::new(program)?.run()
}

fn limb_text(limb: LimbId) -> String {
    format!("@{}", limb.0)
}

struct UnrolledVerifier<'a> {
    program: &'a Unrolled,
    defined: Vec<bool>,
}

impl<'a> UnrolledVerifier<'a> {
    fn new(program: &'a Unrolled) -> Result<Self, VerifyError> {
        let sizes = || {
            at_most("procedures", limits::MAX_PROCS, program.procs.len())?;
            at_most("limbs", limits::MAX_LIMBS, program.limbs.len())?;
            at_most("inputs", limits::MAX_LIMBS, program.inputs.len())?;
            at_most("calls", limits::MAX_LIMBS, program.calls.len())?;
            at_most("outputs", limits::MAX_LIMBS, program.outputs.len())?;
            at_most("seeds", limits::MAX_LIMBS, program.seeds.len())?;
            rules::check_ring(program.log_n, &program.moduli)
        };
        sizes().map_err(in_program)?;
        Ok(Self {
            program,
            defined: vec![false; program.limbs.len()],
        })
    }

    fn scope(&self) -> Scope<'a> {
        Scope {
            log_n: self.program.log_n,
            moduli: &self.program.moduli,
            seeds: 0,
            immediates: &[],
        }
    }

    fn run(&mut self) -> Result<(), VerifyError> {
        let program = self.program;
        let first = |proc| self.first_loc(proc);
        procedures(&program.procs, program.log_n, &program.moduli, first)?;
        self.inputs().map_err(in_program)?;
        for (number, call) in program.calls.iter().enumerate() {
            self.call(call).map_err(|fault| {
                let name = program
                    .procs
                    .get(call.proc as usize)
                    .map(|p| p.name.clone());
                let text = text::shorten(format!("call {}", name.unwrap_or_default()));
                let instruction = Some(InstrPlace { number, text });
                VerifyError::new(
                    Place {
                        loc: call.loc.clone(),
                        procedure: "program".to_owned(),
                        instruction,
                    },
                    fault,
                )
            })?;
        }
        self.outputs().map_err(in_program)
    }

    /// Returns the source line of the first call of procedure number `proc` whose line is known, or
    /// `None` if no call of the procedure has a known line.
    fn first_loc(&self, proc: usize) -> Option<&'a SourceLoc> {
        self.program
            .calls
            .iter()
            .filter(|call| call.proc as usize == proc)
            .find_map(|call| call.loc.as_ref())
    }

    fn define(&mut self, limb: LimbId) -> Result<ValueType, Fault> {
        let index = limb.0 as usize;
        let (Some(&ty), Some(defined)) =
            (self.program.limbs.get(index), self.defined.get_mut(index))
        else {
            let limit = self.program.limbs.len() as u64;
            return Err(Fault::Range {
                what: "limb number",
                limit,
                found: limb.0,
            });
        };
        if *defined {
            return Err(Fault::Redefined {
                item: limb_text(limb),
            });
        }
        *defined = true;
        self.scope().check_value(|| limb_text(limb), ty)?;
        Ok(ty)
    }

    fn use_of(&self, limb: LimbId) -> Result<ValueType, Fault> {
        let index = limb.0 as usize;
        match (self.program.limbs.get(index), self.defined.get(index)) {
            (Some(&ty), Some(true)) => Ok(ty),
            _ => Err(Fault::Undefined {
                item: limb_text(limb),
            }),
        }
    }

    fn inputs(&mut self) -> Result<(), Fault> {
        let mut roles = HashSet::new();
        for input in &self.program.inputs {
            check_label("input name", &input.name)?;
            let ty = self.define(input.limb)?;
            if let InputRole::Key { part, .. } = input.role {
                check_part(part)?;
            }
            unique(&mut roles, (input.role, ty.part()), "input", || {
                limb_text(input.limb)
            })?;
        }
        seed_keys(&self.program.seeds)
    }

    fn call(&mut self, call: &Call) -> Result<(), Fault> {
        let program = self.program;
        let p = called(&program.procs, call.proc)?;
        exactly("arguments", p.params.len(), call.args.len())?;
        exactly("seeds", p.seeds.len(), call.seeds.len())?;
        exactly("immediate parameters left", 0, p.immediates.len())?;
        exactly("results", p.results.len(), call.results.len())?;
        for (&limb, param) in call.args.iter().zip(&p.params) {
            let found = self.use_of(limb)?;
            let item = || {
                format!(
                    "{} for parameter %{} {:?}",
                    limb_text(limb),
                    param.value.0,
                    param.name
                )
            };
            self.expect(item, p, param.value, found)?;
        }
        seed_numbers(&program.seeds, &call.seeds)?;
        for (&limb, result) in call.results.iter().zip(&p.results) {
            let found = self.define(limb)?;
            let item = || {
                format!(
                    "{} for result %{} {:?}",
                    limb_text(limb),
                    result.value.0,
                    result.name
                )
            };
            self.expect(item, p, result.value, found)?;
        }
        Ok(())
    }

    /// Checks that the type `found` of an argument or result of a call is that of the value `v` of
    /// the called procedure `p`.
    fn expect(
        &self,
        item: impl Fn() -> String,
        p: &Procedure,
        v: ValueId,
        found: ValueType,
    ) -> Result<(), Fault> {
        match p.types.get(v.0 as usize) {
            Some(&expected) => self.scope().expect_value(item, expected, found),
            None => Err(Fault::Undefined {
                item: value_text(v),
            }),
        }
    }

    fn outputs(&self) -> Result<(), Fault> {
        let mut places = HashSet::new();
        for o in &self.program.outputs {
            check_label("output name", &o.name)?;
            let ty = self.use_of(o.limb)?;
            unique(&mut places, (o.output, o.poly, ty.part()), "output", || {
                limb_text(o.limb)
            })?;
        }
        match self.defined.iter().position(|defined| !defined) {
            Some(index) => Err(Fault::NeverDefined {
                item: format!("@{index}"),
            }),
            None => Ok(()),
        }
    }
}
