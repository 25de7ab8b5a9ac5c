// SPDX-License-Identifier: Apache-2.0
//! The host's work on a plaintext's limb before the vector machine reads it: arithmetic modulo the plaintext modulus.
//!
//! The machine's multipliers do not support that modulus. The limb is public, and goes over the link afterwards.

use std::collections::HashMap;

use ringmill_isa::mid::{Imm, Op, ParamRole, Procedure, TableModulus, ValueId};
use ringmill_math::Modulus;

use super::description::WORD_BITS;
use crate::MachineError;

/// A map of a residue to another: a product, then a sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Affine {
    times: u64,
    plus: u64,
}

/// The work on one plaintext operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostWork {
    /// Number of the parameter.
    pub param: usize,
    /// The value that the machine reads in its place.
    pub value: ValueId,
    modulus: Modulus,
    does: Affine,
}

impl HostWork {
    /// Returns whether the machine reads the limb unchanged.
    pub fn is_none(&self) -> bool {
        self.does == Affine { times: 1, plus: 0 }
    }

    /// Returns the machine's residue for a residue below the plaintext modulus.
    pub fn on(&self, residue: u64) -> u64 {
        let t = self.modulus;
        t.add(t.mul(residue, self.does.times), self.does.plus)
    }
}

/// The limbs that the host makes.
#[derive(Clone, Debug, Default)]
pub struct Hosted {
    pub work: Vec<HostWork>,
    /// For each value that the host makes or has, the parameter from which it is made.
    from: HashMap<ValueId, (usize, Affine)>,
}

impl Hosted {
    /// Returns the parameter from which the host makes a value.
    pub fn param(&self, value: ValueId) -> Option<usize> {
        self.from.get(&value).map(|&(param, _)| param)
    }

    /// Returns the work on a parameter, if there is some: an operand that is new in each call.
    pub fn fresh(&self, param: usize) -> Option<&HostWork> {
        let mut work = self.work.iter();
        work.find(|work| work.param == param && !work.is_none())
    }
}

/// Finds the host's work: the values that are modulo something else than a friendly prime, and are made from one
/// plaintext operand and constants. The procedure must have no immediate parameters.
///
/// # Errors
/// [`MachineError::Unsupported`] for a plaintext of which the machine would read more than one limb, or a limb beyond
/// its words.
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
    // The values that the machine reads, in the order of the parameters.
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
