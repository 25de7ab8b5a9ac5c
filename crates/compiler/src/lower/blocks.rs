// SPDX-License-Identifier: Apache-2.0
//! Lowers procedures to blocks of the mid-level program. A block is made once and run from many
//! places, and has limbs of its own. The procedure that a bootstrap calls is a block too.

use std::mem;

use ringmill_isa::Level;
use ringmill_isa::macros::{MacroInstr, MacroProc, MacroType, MacroValue};
use ringmill_isa::mid::pack::{Loose, pack};
use ringmill_isa::mid::walk::Held;
use ringmill_isa::mid::{Action, Block, Form, LimbType, ValueType};

use super::outside::misshapen;
use super::{Limbs, Lowering, Scope};
use crate::scheme::{Compiles, ErrorOf};

impl<'a, S: Compiles> Lowering<'a, S> {
    /// Makes the block of a procedure and returns its number. The blocks of the procedures that it calls must exist.
    pub(super) fn procedure(&mut self, proc: &'a MacroProc) -> Result<u32, ErrorOf<S>> {
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
        Ok(self.block(&proc.name, params, count, inner, &kept))
    }

    fn block(
        &mut self,
        name: &str,
        params: Vec<ValueType>,
        count: u32,
        scope: Scope<'_>,
        kept: &[Held],
    ) -> u32 {
        let (steps, results) = pack(count, scope.made as usize, scope.steps, kept);
        let number = self.program.blocks.len() as u32;
        self.program.blocks.push(Block {
            // Two procedures may have the same name, two blocks may not.
            name: format!("b{number}.{}", label(name)),
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

    /// Returns new limbs for a ciphertext parameter of a block, and appends their types to `types`.
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

    /// Lowers a call of a procedure, or its repetition, to a step that runs its block.
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

    /// Adds a step that runs a block on the limbs of an instruction's operands and defines the limbs of its results.
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

    /// Lowers a `BOOTSTRAP` to a run of the block of the bootstrap's procedure. The block is made
    /// at its first use.
    pub(super) fn bootstrap(&mut self, instr: &MacroInstr) -> Result<(), ErrorOf<S>> {
        let block = match self.bootstrap {
            Some(block) => block,
            None => {
                let linked = self.linked.ok_or_else(|| misshapen(instr))?;
                let block = self.procedure(linked)?;
                self.bootstrap = Some(block);
                block
            }
        };
        self.run(Action::Run { block }, instr)
    }
}

/// Returns the name of a procedure in the form that names of blocks must have.
fn label(name: &str) -> String {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let letters = name.chars().map(|c| if letter(c) { c } else { '_' });
    letters.take(100).collect()
}
