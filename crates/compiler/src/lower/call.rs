// SPDX-License-Identifier: Apache-2.0
//! Makes the calls and the limbs of the mid-level program that lowering builds.

use std::sync::Arc;

use ringmill_device::call::{Bound, Place, bind};
use ringmill_isa::macros::{MacroInstr, MacroType, MacroValue};
use ringmill_isa::mid::pack::Loose;
use ringmill_isa::mid::walk::Held;
use ringmill_isa::mid::{Action, Form, HeadInput, InputRole, LimbType, ModulusId, Procedure};
use ringmill_isa::{Level, Poly};
use ringmill_schemes::Operation;

use super::{Limbs, Lowering, Outside};
use crate::error::CompileError;
use crate::scheme::{self, Compiles, ErrorOf};

impl<S: Compiles> Lowering<'_, S> {
    /// Returns the number of a new limb.
    pub(super) fn fresh(&mut self) -> u32 {
        let number = self.scope.made;
        self.scope.made = number.saturating_add(1);
        number
    }

    pub(super) fn input(
        &mut self,
        name: String,
        (modulus, form): (ModulusId, Form),
        role: InputRole,
    ) -> Held {
        let ty = LimbType {
            ring: self.ring,
            modulus,
            form,
        }
        .into();
        let inputs = &mut self.program.inputs;
        inputs.push(HeadInput { ty, name, role });
        Held::Input(inputs.len() as u32 - 1)
    }

    pub(super) fn moduli_at(level: Level) -> impl Iterator<Item = ModulusId> {
        level.moduli().map(|i| ModulusId(i as u16))
    }

    /// Appends the call of `operation`, whose arguments are the operands of `instr` and then
    /// `keys`. The results of the call become the limbs of the results of `to`.
    pub(super) fn call(
        &mut self,
        operation: S::Operation,
        immediates: Vec<u64>,
        keys: &[S::KeyName],
        instr: &MacroInstr,
        to: &MacroInstr,
    ) -> Result<(), ErrorOf<S>> {
        let operands = &instr.src;
        let procedure = self.procs.get(&operation).map_err(CompileError::Scheme)?;
        let known = keys.iter().map(|key| self.key_numbers.get(key).copied());
        let none = self.key_numbers.len() as u32;
        let numbers: Vec<u32> = known.map(|known| known.unwrap_or(none)).collect();
        // The key operands' own argument numbers follow the ciphertexts' and plaintexts'.
        let key_number = |arg: u16| {
            let key = usize::from(arg).checked_sub(operands.len())?;
            numbers.get(key).copied()
        };
        let bound = bind(
            &procedure,
            self,
            |lowering, place| match key_number(place.arg) {
                Some(key) => Some(lowering.key_limb(key, place)),
                None => lowering.operand_limb(operands, place),
            },
            |lowering, arg| key_number(arg).map(|key| lowering.seed_index(key)),
        );
        let Bound { limbs, seeds } = bound?;

        let mut results: Vec<Limbs> =
            vec![vec![Vec::new(); operation.result_size() as usize]; to.dst.len()];
        let mut fresh = Vec::with_capacity(procedure.results.len());
        for result in &procedure.results {
            let number = self.fresh();
            fresh.push(number);
            if let Some(limbs) = results
                .get_mut(usize::from(result.index))
                .and_then(|r| r.get_mut(result.poly.index()))
            {
                limbs.push(Held::Made(number));
            }
        }
        for (&v, mut limbs) in to.dst.iter().zip(results) {
            for (poly, slot) in Poly::of(operation.result_size()).zip(&mut limbs) {
                if let Some(&operand) = operation
                    .passes_through(poly)
                    .and_then(|arg| operands.get(usize::from(arg)))
                {
                    slot.clone_from(&self.scope.limbs[operand.0 as usize][poly.index()]);
                }
            }
            self.scope.limbs[v.0 as usize] = limbs;
        }

        let action = self.called(&operation, procedure);
        self.scope.steps.push(Loose {
            action,
            args: limbs,
            seeds,
            immediates,
            results: fresh,
            loc: instr.loc.clone(),
        });
        Ok(())
    }

    fn operand_limb(&mut self, operands: &[MacroValue], place: Place) -> Option<Held> {
        let operand = operands.get(usize::from(place.arg))?;
        match self.scope.outside.get(operand) {
            Some(&Outside::Key(key)) => return Some(self.key_limb(key, place)),
            Some(&Outside::Lifted(number)) => return Some(self.constant_limb(number, place)),
            None => {}
        }
        let limbs = self
            .scope
            .limbs
            .get(operand.0 as usize)?
            .get(place.poly.index())?;
        let number = match self.scope.types.get(operand.0 as usize)? {
            MacroType::Cipher { .. } | MacroType::Morphed { .. } => usize::from(place.modulus.0),
            // Only `LOAD` reads a value in distant memory. Keys and lifted constants were handled above.
            MacroType::Distant { .. } | MacroType::Key { .. } | MacroType::Lifted { .. } => {
                return None;
            }
            MacroType::Plain { .. } => {
                let at = scheme::place::<S>(self.scope.types, *operand)?;
                let moduli = S::plaintext(self.procs.params(), &at);
                moduli.iter().position(|&(q, _)| q == place.modulus)?
            }
        };
        limbs.get(number).copied()
    }

    /// Returns the call of an operation's procedure. The procedure is added to the program at its first call.
    pub(super) fn called(&mut self, operation: &S::Operation, procedure: Arc<Procedure>) -> Action {
        let next = self.program.procs.len() as u32;
        let proc = *self.proc_of.entry(operation.clone()).or_insert(next);
        if proc == next {
            self.stands_for.push(operation.stands_for());
            self.program.procs.push(procedure);
        }
        Action::Call { proc }
    }
}
