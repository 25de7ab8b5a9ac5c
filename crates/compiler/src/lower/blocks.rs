// SPDX-License-Identifier: Apache-2.0
//! What is made once and run from many places: procedures, and the operations of a bootstrap, each a block of the mid-level
//! program with limbs of its own.

use std::mem;

use ringmill_device::call::{Bound, Place, bind};
use ringmill_isa::macros::{MacroInstr, MacroProc, MacroType, MacroValue};
use ringmill_isa::mid::pack::{Loose, pack};
use ringmill_isa::mid::walk::Held;
use ringmill_isa::mid::{Action, Block, Form, InputRole, LimbType, ValueType};
use ringmill_isa::{Level, Poly};
use ringmill_schemes::Operation;

use super::{Limbs, Lowering, PlainRequest, PlainSource, Scope};
use crate::error::CompileError;
use crate::scheme::{Compiles, ErrorOf, Sequence, SequenceRead, SequenceStep};

impl<'a, S: Compiles> Lowering<'a, S> {
    /// Makes the block of a procedure, of which those that it calls have been made.
    pub(super) fn procedure(&mut self, proc: &'a MacroProc) -> Result<(), ErrorOf<S>> {
        let outer = mem::replace(&mut self.scope, Scope::new(&proc.types));
        let mut params = Vec::new();
        for &param in &proc.params {
            let polys = self.polys(param);
            let level = self.level(param);
            let limbs = self.parameter(polys, level, &mut params);
            if let Some(slot) = self.scope.limbs.get_mut(param.0 as usize) {
                *slot = limbs;
            }
        }
        let count = self.scope.made;
        let done = self.body(&proc.instrs);
        let limbs = |v: &MacroValue| self.scope.limbs.get(v.0 as usize);
        let kept: Vec<Held> = proc
            .results
            .iter()
            .filter_map(limbs)
            .flatten()
            .flatten()
            .copied()
            .collect();
        let inner = mem::replace(&mut self.scope, outer);
        done?;
        let block = self.block(proc.name.clone(), params, count, inner, &kept);
        self.block_of_proc.push(block);
        Ok(())
    }

    fn block(
        &mut self,
        name: String,
        params: Vec<ValueType>,
        count: u32,
        scope: Scope<'_>,
        kept: &[Held],
    ) -> u32 {
        let (steps, results) = pack(count, scope.made as usize, scope.steps, kept);
        let number = self.program.blocks.len() as u32;
        self.program.blocks.push(Block {
            // Procedures of one name are legal, blocks are not.
            name: format!("b{number}.{}", label(&name)),
            params,
            steps,
            results,
        });
        number
    }

    fn polys(&self, value: MacroValue) -> u32 {
        let ty = self.scope.types.get(value.0 as usize).copied();
        ty.and_then(MacroType::polys).unwrap_or(0)
    }

    /// Limbs of a ciphertext that a block is given.
    fn parameter(&mut self, polys: u32, level: Level, types: &mut Vec<ValueType>) -> Limbs {
        let mut limbs = Vec::with_capacity(polys as usize);
        for _ in 0..polys {
            let mut poly = Vec::with_capacity(level.primes());
            for modulus in Self::moduli_at(level) {
                let ty = LimbType {
                    ring: self.ring,
                    modulus,
                    form: Form::Eval,
                };
                types.push(ty.into());
                poly.push(Held::Made(self.fresh()));
            }
            limbs.push(poly);
        }
        limbs
    }

    /// A call of a procedure, or its repetition.
    pub(super) fn enter(
        &mut self,
        proc: u32,
        count: Option<u64>,
        instr: &MacroInstr,
    ) -> Result<(), ErrorOf<S>> {
        let block = self.block_of_proc.get(proc as usize).copied();
        let block = block.ok_or_else(|| misshapen(instr))?;
        let action = match count {
            None => Action::Run { block },
            Some(count) => Action::Repeat { block, count },
        };
        self.run(action, instr)
    }

    /// A step that runs a block on the limbs of an instruction's operands, for those of its results.
    fn run(&mut self, action: Action, instr: &MacroInstr) -> Result<(), ErrorOf<S>> {
        let limbs = |v: &MacroValue| self.scope.limbs.get(v.0 as usize);
        let args = instr.src.iter().filter_map(limbs).flatten().flatten();
        let args = args.copied().collect();
        let mut results = Vec::new();
        for &dst in &instr.dst {
            let (polys, primes) = (self.polys(dst), self.level(dst).primes());
            let mut limbs: Limbs = Vec::with_capacity(polys as usize);
            for _ in 0..polys {
                let numbers: Vec<u32> = (0..primes).map(|_| self.fresh()).collect();
                limbs.push(numbers.iter().map(|&n| Held::Made(n)).collect());
                results.extend(numbers);
            }
            if let Some(slot) = self.scope.limbs.get_mut(dst.0 as usize) {
                *slot = limbs;
            }
        }
        self.scope.steps.push(Loose {
            action,
            args,
            seeds: Vec::new(),
            immediates: Vec::new(),
            results,
            loc: instr.loc.clone(),
        });
        Ok(())
    }

    /// A `BOOTSTRAP`: its block, made where it is first wanted.
    pub(super) fn bootstrap(&mut self, instr: &MacroInstr) -> Result<(), ErrorOf<S>> {
        let block = match self.bootstrap {
            Some(block) => block,
            None => {
                let sequence = self.sequence.take().ok_or_else(|| misshapen(instr))?;
                let made = self.sequence(&sequence, instr);
                self.sequence = Some(sequence);
                let block = made?;
                self.bootstrap = Some(block);
                block
            }
        };
        self.run(Action::Run { block }, instr)
    }

    fn sequence(&mut self, sequence: &Sequence<S>, instr: &MacroInstr) -> Result<u32, ErrorOf<S>> {
        let first = self.plaintexts.len() as u32;
        for (number, &at) in (0..).zip(&sequence.constants) {
            let from = PlainSource::Lifted(number);
            self.plaintexts.push(PlainRequest { from, at });
        }
        let outer = mem::replace(&mut self.scope, Scope::new(&[]));
        let mut params = Vec::new();
        let operand = self.parameter(S::FRESH_POLYS as u32, sequence.start, &mut params);
        let count = self.scope.made;
        let mut values = vec![operand];
        let mut done = Ok(());
        for step in &sequence.steps {
            done = self.watch.check().map_err(CompileError::from);
            done = done.and_then(|()| self.step(step, first, &mut values, instr));
            if done.is_err() {
                break;
            }
        }
        let kept = values.get(sequence.output as usize).into_iter();
        let kept: Vec<Held> = kept.flatten().flatten().copied().collect();
        let inner = mem::replace(&mut self.scope, outer);
        done?;
        Ok(self.block(sequence.name.clone(), params, count, inner, &kept))
    }

    /// One operation, on values that were made before.
    fn step(
        &mut self,
        step: &SequenceStep<S>,
        first: u32,
        values: &mut Vec<Limbs>,
        instr: &MacroInstr,
    ) -> Result<(), ErrorOf<S>> {
        let operation = &step.operation;
        let procedure = self.procs.get(operation).map_err(CompileError::Scheme)?;
        let none = self.key_numbers.len() as u32;
        let number = |key: &S::KeyName| self.key_numbers.get(key).copied().unwrap_or(none);
        let keys: Vec<u32> = step.keys.iter().map(number).collect();
        let secret: Vec<Option<u32>> = step
            .ciphers
            .iter()
            .map(|read| match read {
                SequenceRead::Value(_) => None,
                SequenceRead::Key(key) => Some(number(key)),
            })
            .collect();
        let (ciphers, plains) = (step.ciphers.len(), step.constants.len());
        let key_of = |arg: u16| {
            let key = usize::from(arg).checked_sub(ciphers + plains)?;
            keys.get(key).copied()
        };
        let known = &*values;
        let limb = |lowering: &mut Self, place: Place| {
            let arg = usize::from(place.arg);
            if let Some(read) = step.ciphers.get(arg) {
                return match (read, secret.get(arg).copied().flatten()) {
                    (SequenceRead::Key(_), Some(key)) => Some(lowering.key_limb(key, place)),
                    (SequenceRead::Value(value), _) => {
                        let poly = known.get(*value as usize)?.get(place.poly.index())?;
                        poly.get(usize::from(place.modulus.0)).copied()
                    }
                    (SequenceRead::Key(_), None) => None,
                };
            }
            match step.constants.get(arg - ciphers) {
                Some(constant) => Some(lowering.constant_limb(first + constant, place)),
                None => Some(lowering.key_limb(key_of(place.arg)?, place)),
            }
        };
        let seed = |lowering: &mut Self, arg| key_of(arg).map(|key| lowering.seed_index(key));
        let Bound { limbs, seeds } = bind(&procedure, self, limb, seed)?;
        let size = operation.result_size();
        let mut results: Vec<Limbs> = vec![vec![Vec::new(); size as usize]; step.results.len()];
        let mut fresh = Vec::with_capacity(procedure.results.len());
        for result in &procedure.results {
            let number = self.fresh();
            fresh.push(number);
            let of = results.get_mut(usize::from(result.index));
            if let Some(limbs) = of.and_then(|r| r.get_mut(result.poly.index())) {
                limbs.push(Held::Made(number));
            }
        }
        for (&value, mut limbs) in step.results.iter().zip(results) {
            for (poly, slot) in Poly::of(size).zip(&mut limbs) {
                let through = operation.passes_through(poly).map(usize::from);
                let read = through.and_then(|arg| step.ciphers.get(arg));
                if let Some(SequenceRead::Value(operand)) = read {
                    let operand = values.get(*operand as usize);
                    let kept = operand.and_then(|limbs| limbs.get(poly.index()));
                    slot.clone_from(kept.ok_or_else(|| misshapen(instr))?);
                }
            }
            if value as usize != values.len() {
                return Err(misshapen(instr));
            }
            values.push(limbs);
        }
        let action = self.called(operation, procedure);
        self.scope.steps.push(Loose {
            action,
            args: limbs,
            seeds,
            immediates: step.immediates.clone(),
            results: fresh,
            loc: None,
        });
        Ok(())
    }

    fn constant_limb(&mut self, number: u32, place: Place) -> Held {
        if let Some(&known) = self.constant_limbs.get(&(number, place.modulus)) {
            return known;
        }
        let name = format!("p{number}.q{}", place.modulus.0);
        let role = InputRole::Plain { input: number };
        let held = self.input(name, (place.modulus, Form::Eval), role);
        self.constant_limbs.insert((number, place.modulus), held);
        held
    }
}

/// A name as blocks may have it.
fn label(name: &str) -> String {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let letters = name.chars().map(|c| if letter(c) { c } else { '_' });
    letters.take(100).collect()
}

fn misshapen<E>(instr: &MacroInstr) -> CompileError<E> {
    CompileError::Misshapen {
        at: crate::error::At(instr.loc.clone()),
        op: instr.op.mnemonic(),
    }
}
