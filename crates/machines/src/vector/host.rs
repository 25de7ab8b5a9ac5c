// SPDX-License-Identifier: Apache-2.0
//! The host's work on a plaintext's limb before the vector machine reads the limb: arithmetic modulo the plaintext
//! modulus.
//!
//! The machine's multipliers do not support that modulus. The limb is public, and crosses the link after the host's
//! work.

use std::collections::HashMap;

use ringmill_isa::mid::{Imm, Op, ParamRole, Procedure, TableModulus, ValueId};
use ringmill_math::Modulus;

use super::description::WORD_BITS;
use crate::MachineError;

/// A map of residues: x to `times` x + `plus`, modulo the plaintext modulus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Affine {
    times: u64,
    plus: u64,
}

/// The host's work on the limb of one plaintext operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostWork {
    /// The index of the procedure's parameter that is the operand.
    pub param: usize,
    /// The procedure's value that the machine reads in place of the parameter.
    pub value: ValueId,
    modulus: Modulus,
    does: Affine,
}

impl HostWork {
    /// Returns whether the host has nothing to do, since the machine reads the limb unchanged.
    pub fn is_none(&self) -> bool {
        self.does == Affine { times: 1, plus: 0 }
    }

    /// Returns the residue that the machine reads for a residue of the operand below the plaintext modulus.
    pub fn on(&self, residue: u64) -> u64 {
        let t = self.modulus;
        t.add(t.mul(residue, self.does.times), self.does.plus)
    }
}

/// The values of a procedure that the host computes before the vector machine runs it.
#[derive(Clone, Debug, Default)]
pub struct Hosted {
    /// The host's work, one entry for each limb modulo a plaintext modulus that the machine reads. An entry may leave
    /// the limb unchanged.
    pub work: Vec<HostWork>,
    /// For each value that the host has or computes, the parameter from which it is computed, and
    /// the map of residues from the parameter to the value.
    from: HashMap<ValueId, (usize, Affine)>,
}

impl Hosted {
    /// Returns the parameter from which the host computes a value, or that is the value. Returns `None` if the host
    /// neither has nor computes the value.
    pub fn param(&self, value: ValueId) -> Option<usize> {
        self.from.get(&value).map(|&(param, _)| param)
    }

    /// Returns the host's work on a parameter, or `None` if the host does not change the parameter. The host does
    /// this work anew in each call.
    pub fn fresh(&self, param: usize) -> Option<&HostWork> {
        let mut work = self.work.iter();
        work.find(|work| work.param == param && !work.is_none())
    }
}

/// Finds the host's work in a procedure without immediate parameters. This work computes values modulo a plaintext
/// modulus from one plaintext operand, by the operations `ADDI`, `MULI` and `NEG`.
///
/// # Errors
/// [`MachineError::Unsupported`] for a plaintext that the machine would read in two different forms, or a limb whose
/// residues exceed the machine's words.
pub fn hosted(procedure: &Procedure) -> Result<Hosted, MachineError> {
    let mut found = Hosted::default();
    let plain = |value: ValueId| -> Option<Modulus> {
        let id = procedure.limb(value)?.modulus;
        match procedure.moduli.get(usize::from(id.0))? {
            TableModulus::Plain(t) => Modulus::new(*t).ok(),
            TableModulus::Prime(_) | TableModulus::PowerOfTwo(_) => None,
        }
    };
    let unsupported = |what: String| MachineError::Unsupported {
        procedure: procedure.name.clone(),
        what,
    };
    let mut moduli: HashMap<usize, Modulus> = HashMap::new();
    for (number, param) in procedure.params.iter().enumerate() {
        let (ParamRole::Plain { .. }, Some(t)) = (&param.role, plain(param.value)) else {
            continue;
        };
        if t.value() >> WORD_BITS != 0 {
            return Err(unsupported(format!(
                "a plaintext modulo {}, beyond its words of {WORD_BITS} bits (`kind`)",
                t.value()
            )));
        }
        moduli.insert(number, t);
        (found.from).insert(param.value, (number, Affine { times: 1, plus: 0 }));
    }
    // The values that the machine reads, in the order of the instructions that read them.
    let mut read: Vec<(usize, ValueId, Affine)> = Vec::new();
    for instr in &procedure.instrs {
        let (from, to) = (instr.src.as_slice(), instr.dst.as_slice());
        if let (&[a], &[d]) = (from, to)
            && let Some(&(param, of)) = found.from.get(&a)
            && let Some(t) = plain(d)
            && moduli.get(&param) == Some(&t)
        {
            let after = match (instr.op, instr.imm) {
                (Op::Addi, Imm::Scalar(w)) => Some(Affine {
                    plus: t.add(of.plus, w),
                    ..of
                }),
                (Op::Muli, Imm::Scalar(w)) => Some(Affine {
                    times: t.mul(of.times, w),
                    plus: t.mul(of.plus, w),
                }),
                (Op::Neg, Imm::None) => Some(Affine {
                    times: t.neg(of.times),
                    plus: t.neg(of.plus),
                }),
                _ => None,
            };
            if let Some(after) = after {
                found.from.insert(d, (param, after));
                continue;
            }
        }
        for &value in from {
            if let Some(&(param, of)) = found.from.get(&value)
                && !read.contains(&(param, value, of))
            {
                read.push((param, value, of));
            }
        }
    }
    for (param, value, does) in read {
        let Some(&modulus) = moduli.get(&param) else {
            continue;
        };
        match found.work.iter().find(|work| work.param == param) {
            None => found.work.push(HostWork {
                param,
                value,
                modulus,
                does,
            }),
            Some(other) if other.does == does => {}
            Some(_) => {
                return Err(unsupported(
                    "two limbs of one plaintext, of which the host gives it one".to_owned(),
                ));
            }
        }
    }
    Ok(found)
}
