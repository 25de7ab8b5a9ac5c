// SPDX-License-Identifier: Apache-2.0
//! The macro instructions of a bootstrap, with the types of their values.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProc, MacroType, MacroValue};

use super::bootstrapper::Step;
use super::emit::Emitted;
use super::error::BootstrapError;
use super::lift::{Lift, Lifted};

/// The macro instructions of a bootstrap in order, with the types of their values.
#[derive(Default)]
pub(super) struct Code {
    /// The values that are inputs of the bootstrap: the caller's ciphertexts.
    pub params: Vec<MacroValue>,
    pub instrs: Vec<MacroInstr>,
    pub types: Vec<MacroType>,
    /// The plaintext constants of the bootstrap, each with the macro value that holds it. A constant's position is
    /// its number in `LIFT` instructions.
    pub lifts: Vec<(Arc<Lift>, MacroValue)>,
    known: HashMap<Lifted, usize>,
    lift_of: HashMap<MacroValue, usize>,
    /// The value that is the encrypted sparse secret, if an instruction of the bootstrap uses it.
    secret: Option<MacroValue>,
    /// The result of each step of the bootstrap, with the number of instructions up to it.
    pub stages: Vec<(usize, Step, Emitted)>,
}

impl Code {
    fn value(&mut self, ty: MacroType) -> MacroValue {
        self.types.push(ty);
        MacroValue(self.types.len() as u32 - 1)
    }

    /// Adds an input of the bootstrap, a ciphertext of the caller, and returns its value.
    pub fn param(&mut self, ty: MacroType) -> MacroValue {
        let value = self.value(ty);
        self.params.push(value);
        value
    }

    /// Adds an instruction whose results have these types, and returns the results.
    pub fn push(
        &mut self,
        op: MacroOp,
        src: Vec<MacroValue>,
        imm: MacroImm,
        types: impl IntoIterator<Item = MacroType>,
    ) -> Vec<MacroValue> {
        let dst: Vec<MacroValue> = types.into_iter().map(|ty| self.value(ty)).collect();
        self.instrs.push(MacroInstr {
            op,
            dst: dst.clone(),
            src,
            imm,
            loc: None,
        });
        dst
    }

    /// Adds a plaintext constant to the bootstrap and returns its macro value. A constant that was added before
    /// keeps its value.
    pub fn lift(&mut self, lift: &Arc<Lift>, ty: MacroType) -> MacroValue {
        if let Some(&known) = self.known.get(&lift.lifted)
            && let Some(&(_, value)) = self.lifts.get(known)
        {
            return value;
        }
        let value = self.value(ty);
        self.known.insert(lift.lifted.clone(), self.lifts.len());
        self.lift_of.insert(value, self.lifts.len());
        self.lifts.push((Arc::clone(lift), value));
        value
    }

    /// Returns the constant that a value holds, or `None` for another value.
    pub fn lift_of(&self, value: MacroValue) -> Option<&Lift> {
        let (lift, _) = self.lifts.get(*self.lift_of.get(&value)?)?;
        Some(lift)
    }

    /// Returns the value that stands for the encrypted sparse secret, and creates it on the first call.
    /// [`Self::procedure`] adds the `KEY` instruction that defines it.
    pub fn secret(&mut self, ty: MacroType) -> MacroValue {
        match self.secret {
            Some(known) => known,
            None => {
                let value = self.value(ty);
                self.secret = Some(value);
                value
            }
        }
    }

    /// Returns the instructions of the bootstrap as a procedure that ends with `result`. The instructions that define
    /// the encrypted sparse secret and the constants come first.
    pub fn procedure(&self, name: &str, result: MacroValue) -> MacroProc {
        let given = |op, imm, value| MacroInstr {
            op,
            dst: vec![value],
            src: Vec::new(),
            imm,
            loc: None,
        };
        let secret = self.secret.into_iter();
        let secret = secret.map(|value| given(MacroOp::Key, MacroImm::None, value));
        let lifts = (0..).zip(&self.lifts);
        let lifts = lifts.map(|(n, &(_, v))| given(MacroOp::Lift, MacroImm::Lifted(n), v));
        let instrs = secret.chain(lifts).chain(self.instrs.iter().cloned());
        MacroProc {
            name: name.to_owned(),
            params: self.params.clone(),
            instrs: instrs.collect(),
            types: self.types.clone(),
            results: vec![result],
            loc: None,
        }
    }
}

pub(super) fn misshapen(instr: &MacroInstr) -> BootstrapError {
    BootstrapError::Parameters {
        reason: format!("a step that does not fit: {}", instr.op.mnemonic()),
    }
}
