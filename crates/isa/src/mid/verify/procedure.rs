// SPDX-License-Identifier: Apache-2.0
//! Verifies one mid-level procedure.

use std::collections::{HashMap, HashSet};

use super::{at_most, check_label, check_name, check_part, unique};
use crate::error::{Fault, InstrPlace, Place, VerifyError};
use crate::limits;
use crate::mid::op::ImmKind;
use crate::mid::procedure::{Imm, ImmType, Instr, ParamRole, Procedure};
use crate::mid::rules::{self, Scope, Typed};
use crate::mid::text;
use crate::mid::types::{ValueId, ValueType};

/// Checks a procedure:
///
/// - its name and sizes, its ring and moduli,
/// - that every value is defined once, before its use, with a type of this ring,
/// - every instruction's arity, operand and result types by its rule, and its immediate,
/// - that slots are stored before they are loaded, with the same type,
/// - that roles of parameters and places of results are unique.
///
/// # Errors
/// [`VerifyError`] with the place and the kind of the first fault.
pub fn verify_procedure(procedure: &Procedure) -> Result<(), VerifyError> {
    let checked = rules::check_ring(procedure.log_n, &procedure.moduli);
    checked.map_err(|fault| VerifyError::new(in_procedure(procedure, None), fault))?;
    verify_body(procedure)
}

pub(super) fn in_procedure(procedure: &Procedure, instr: Option<(usize, &Instr)>) -> Place {
    Place {
        loc: None,
        procedure: text::shorten(procedure.name.clone()),
        instruction: instr.map(|(number, instr)| InstrPlace {
            number,
            text: text::instr_text(instr, &procedure.types),
        }),
    }
}

pub(super) fn value_text(v: ValueId) -> String {
    format!("%{}", v.0)
}

/// Checks a procedure except for its ring and moduli, which the caller has checked already.
pub(super) fn verify_body(procedure: &Procedure) -> Result<(), VerifyError> {
    let mut body = Body {
        procedure,
        scope: Scope {
            log_n: procedure.log_n,
            moduli: &procedure.moduli,
            seeds: procedure.seeds.len(),
            immediates: &procedure.immediates,
        },
        defined: Vec::new(),
        slots: HashMap::new(),
    };
    let outside = |fault| VerifyError::new(in_procedure(procedure, None), fault);
    body.head().map_err(outside)?;
    let (mut src, mut dst) = (Vec::new(), Vec::new());
    for (number, instr) in procedure.instrs.iter().enumerate() {
        let checked = body.instr(instr, &mut src, &mut dst);
        checked.map_err(|fault| {
            VerifyError::new(in_procedure(procedure, Some((number, instr))), fault)
        })?;
    }
    body.tail().map_err(outside)
}

struct Body<'a> {
    procedure: &'a Procedure,
    scope: Scope<'a>,
    defined: Vec<bool>,
    slots: HashMap<u32, ValueType>,
}

impl Body<'_> {
    fn head(&mut self) -> Result<(), Fault> {
        let p = self.procedure;
        check_name("procedure name", &p.name)?;
        at_most("parameters", limits::MAX_VALUES, p.params.len())?;
        at_most("instructions", limits::MAX_VALUES, p.instrs.len())?;
        at_most("results", limits::MAX_VALUES, p.results.len())?;
        at_most("values", limits::MAX_VALUES, p.types.len())?;
        at_most("seeds", usize::from(u16::MAX), p.seeds.len())?;
        at_most("immediates", usize::from(u16::MAX), p.immediates.len())?;
        for ty in &p.immediates {
            if let ImmType::Scalar(id) = ty {
                self.scope.check_modulus(*id)?;
            }
        }
        self.defined = vec![false; p.types.len()];
        let mut seen = HashSet::new();
        for &arg in &p.seeds {
            unique(&mut seen, arg, "seed of key operand", || arg.to_string())?;
        }
        let mut roles = HashSet::new();
        for param in &p.params {
            check_label("parameter name", &param.name)?;
            let v = self.define(param.value)?;
            if let ParamRole::Key { part, .. } = param.role {
                check_part(part)?;
            }
            let key = (param.role, v.ty.part());
            unique(&mut roles, key, "parameter role", || {
                format!("of {}", value_text(param.value))
            })?;
        }
        Ok(())
    }

    fn define(&mut self, value: ValueId) -> Result<Typed, Fault> {
        let index = value.0 as usize;
        let (Some(&ty), Some(defined)) =
            (self.procedure.types.get(index), self.defined.get_mut(index))
        else {
            let limit = self.procedure.types.len() as u64;
            return Err(Fault::Range {
                what: "value number",
                limit,
                found: u64::from(value.0),
            });
        };
        if *defined {
            return Err(Fault::Redefined {
                item: value_text(value),
            });
        }
        *defined = true;
        self.scope.check_value(|| value_text(value), ty)?;
        Ok(Typed { value, ty })
    }

    fn use_of(&self, value: ValueId) -> Result<Typed, Fault> {
        let index = value.0 as usize;
        match (self.procedure.types.get(index), self.defined.get(index)) {
            (Some(&ty), Some(true)) => Ok(Typed { value, ty }),
            _ => Err(Fault::Undefined {
                item: value_text(value),
            }),
        }
    }

    fn instr(
        &mut self,
        instr: &Instr,
        src: &mut Vec<Typed>,
        dst: &mut Vec<Typed>,
    ) -> Result<(), Fault> {
        (instr.op.info()).check_counts(instr.src.len(), instr.dst.len())?;
        src.clear();
        dst.clear();
        for &v in &instr.src {
            src.push(self.use_of(v)?);
        }
        for &v in &instr.dst {
            dst.push(self.define(v)?);
        }
        rules::check_instr(self.scope, instr.op, src, instr.imm, dst)?;
        if let (ImmKind::Slot, Imm::Slot(slot)) = (instr.op.info().immediate, instr.imm) {
            for v in src.iter() {
                self.slots.insert(slot, v.ty);
            }
            for v in dst.iter() {
                let stored = *self.slots.get(&slot).ok_or(Fault::EmptySlot { slot })?;
                self.scope
                    .expect_value(|| value_text(v.value), stored, v.ty)?;
            }
        }
        Ok(())
    }

    fn tail(&self) -> Result<(), Fault> {
        let p = self.procedure;
        let mut places = HashSet::new();
        for r in &p.results {
            check_label("result name", &r.name)?;
            let v = self.use_of(r.value)?;
            let key = (r.index, r.poly, v.ty.part());
            unique(&mut places, key, "result", || {
                let modulus = v.ty.modulus().map(|id| format!(" modulus q{}", id.0));
                let modulus = modulus.unwrap_or_default();
                format!("cipher {} poly {}{modulus}", r.index, r.poly)
            })?;
        }
        match self.defined.iter().position(|defined| !defined) {
            Some(index) => Err(Fault::NeverDefined {
                item: format!("%{index}"),
            }),
            None => Ok(()),
        }
    }
}
