// SPDX-License-Identifier: Apache-2.0
//! Runs the emitted steps of a bootstrap on ciphertexts, one after another.

use std::borrow::Cow;
use std::sync::Arc;

use ringmill_device::Limbed;
use ringmill_isa::macros::{MacroInstr, MacroType, MacroValue};

use super::bootstrapper::Observer;
use super::code::{Code, misshapen};
use super::emit::Emitted;
use super::error::BootstrapError;
use super::keys::BootstrapKeys;
use super::operation::{keys as keys_of, operation};
use super::value::Value;
use crate::bgv::{Ciphertext, Evaluator, Factor, Params};
use crate::rlwe::key::KSwitchKey;
use crate::rlwe::{Annotation, KeyRequest, Spread};

/// The emitted steps of a bootstrap, and the ciphertexts on which they will run.
pub(super) struct Running<'a> {
    code: Code,
    given: Vec<&'a Ciphertext>,
    result: Emitted,
}

/// A value that an instruction of a bootstrap reads: a ciphertext or a plaintext constant.
enum Read<'a> {
    Cipher(&'a Ciphertext),
    Constant(Arc<Spread>),
}

impl<'a> Running<'a> {
    pub fn new(code: Code, given: Vec<&'a Ciphertext>, result: Emitted) -> Self {
        Self {
            code,
            given,
            result,
        }
    }

    /// Returns the value that is the result of the bootstrap's steps.
    pub fn result(&self) -> Emitted {
        self.result
    }

    /// Runs the steps of the bootstrap, and drops each ciphertext after its last use.
    ///
    /// # Errors
    /// Fails for missing keys, and with the errors of the evaluator.
    pub fn run(
        self,
        evaluator: &Evaluator,
        keys: &BootstrapKeys,
        mut observe: Option<Observer<'_>>,
    ) -> Result<Value, BootstrapError> {
        let code = &self.code;
        let mut run = Run {
            code,
            evaluator,
            params: evaluator.cache().params(),
            keys,
            made: vec![None; code.types.len()],
            uses: vec![0; code.types.len()],
        };
        run.count(self.result)?;
        for (&value, &given) in code.params.iter().zip(&self.given) {
            run.set(value, Cow::Borrowed(given));
        }
        let mut stages = code.stages.iter().peekable();
        for done in 0..=code.instrs.len() {
            while let Some((_, stage, value)) = stages.next_if(|(at, ..)| *at == done) {
                if let Some(observe) = &mut observe {
                    observe(*stage, &run.shown(*value)?);
                }
                run.read(value.value);
            }
            if let Some(instr) = code.instrs.get(done) {
                run.step(instr)?;
            }
        }
        run.value(self.result)
    }
}

struct Run<'a> {
    code: &'a Code,
    evaluator: &'a Evaluator,
    params: &'a Params,
    keys: &'a BootstrapKeys,
    made: Vec<Option<Cow<'a, Ciphertext>>>,
    /// For each value of the bootstrap, how often instructions and the observer will still read it.
    uses: Vec<usize>,
}

impl<'a> Run<'a> {
    /// Counts how often each value of the bootstrap is read. Refuses missing keys before any instruction runs.
    fn count(&mut self, result: Emitted) -> Result<(), BootstrapError> {
        let stages = self.code.stages.iter().map(|(.., value)| value.value);
        let instrs = self.code.instrs.iter().flat_map(|instr| &instr.src);
        for value in instrs.copied().chain(stages).chain([result.value]) {
            if let Some(uses) = self.uses.get_mut(value.0 as usize) {
                *uses += 1;
            }
        }
        for instr in &self.code.instrs {
            for name in keys_of(&self.code.types, instr)? {
                self.key(name)?;
            }
        }
        Ok(())
    }

    fn key(&self, name: KeyRequest) -> Result<&'a KSwitchKey, BootstrapError> {
        let keys = self.keys;
        match name {
            KeyRequest::Relin => Ok(&keys.relin.0),
            KeyRequest::Encapsulation => Ok(&keys.encapsulation),
            KeyRequest::Galois(g) => keys.high.get(g).map_err(|_| BootstrapError::MissingKey(g)),
            KeyRequest::LowGalois(g) => keys.low.get(g).map_err(|_| BootstrapError::MissingKey(g)),
            KeyRequest::SparseSecret | KeyRequest::Decapsulation => {
                Err(BootstrapError::Parameters {
                    reason: "the encrypted secret is no switching key".into(),
                })
            }
        }
    }

    fn set(&mut self, value: MacroValue, cipher: Cow<'a, Ciphertext>) {
        let read = self
            .uses
            .get(value.0 as usize)
            .is_some_and(|&uses| uses > 0);
        if let Some(slot) = self.made.get_mut(value.0 as usize)
            && read
        {
            *slot = Some(cipher);
        }
    }

    /// Counts one read of a value, and drops the ciphertext that it holds after its last read.
    fn read(&mut self, value: MacroValue) {
        let place = value.0 as usize;
        let (Some(uses), Some(slot)) = (self.uses.get_mut(place), self.made.get_mut(place)) else {
            return;
        };
        *uses = uses.saturating_sub(1);
        if *uses == 0 {
            *slot = None;
        }
    }

    fn cipher(&self, value: MacroValue) -> Option<&Ciphertext> {
        self.made.get(value.0 as usize)?.as_deref()
    }

    fn operand(&self, value: MacroValue, instr: &MacroInstr) -> Result<Read<'_>, BootstrapError> {
        match self.code.types.get(value.0 as usize) {
            Some(MacroType::Key { .. }) => Ok(Read::Cipher(&self.keys.secret)),
            Some(MacroType::Lifted { .. }) => {
                let lift = self.code.lift_of(value).ok_or_else(|| misshapen(instr))?;
                Ok(Read::Constant(lift.constant(self.params)?))
            }
            Some(MacroType::Cipher { .. } | MacroType::Morphed { .. }) => {
                let cipher = self.cipher(value).ok_or_else(|| misshapen(instr))?;
                Ok(Read::Cipher(cipher))
            }
            Some(MacroType::Plain { .. } | MacroType::Distant { .. }) | None => {
                Err(misshapen(instr))
            }
        }
    }

    fn step(&mut self, instr: &MacroInstr) -> Result<(), BootstrapError> {
        let keys = keys_of(&self.code.types, instr)?.into_iter();
        let keys = keys.map(|name| self.key(name));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let seeded = keys.iter().all(|key| key.seed().is_some());
        let op = operation(self.params, &self.code.types, instr, seeded)?;
        let first = instr.dst.first().ok_or_else(|| misshapen(instr))?;
        let ty = self.code.types.get(first.0 as usize);
        let factor = ty.and_then(|ty| Factor::of_note(ty.at()?.note));
        let factor = factor.ok_or_else(|| misshapen(instr))?;
        let (mut ciphers, mut constants) = (Vec::new(), Vec::new());
        for &value in &instr.src {
            match self.operand(value, instr)? {
                Read::Cipher(cipher) => ciphers.push(cipher),
                Read::Constant(constant) => constants.push(constant),
            }
        }
        let plains: Vec<&dyn Limbed> = constants.iter().map(|c| &**c as &dyn Limbed).collect();
        let shared = self.evaluator.shared();
        let results = shared.all(&op, &ciphers, &plains, &keys, factor)?;
        for &value in &instr.src {
            self.read(value);
        }
        for (&value, cipher) in instr.dst.iter().zip(results) {
            self.set(value, Cow::Owned(cipher));
        }
        Ok(())
    }

    /// Returns the result of a step as a ciphertext with its noise bound, for the observer of the bootstrap.
    fn shown(&self, value: Emitted) -> Result<Value, BootstrapError> {
        let cipher = self.cipher(value.value).cloned().ok_or_else(lost)?;
        let noise = value.noise;
        Ok(Value { cipher, noise })
    }

    fn value(&mut self, result: Emitted) -> Result<Value, BootstrapError> {
        let made = self.made.get_mut(result.value.0 as usize);
        let cipher = made.and_then(Option::take).ok_or_else(lost)?;
        Ok(Value {
            cipher: cipher.into_owned(),
            noise: result.noise,
        })
    }
}

fn lost() -> BootstrapError {
    BootstrapError::Parameters {
        reason: "a value that no step gives".into(),
    }
}
