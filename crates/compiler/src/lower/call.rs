//! Calls and limbs of the mid-level program under construction.

use ringmill_isa::macros::{MacroInstr, MacroValue};
use ringmill_isa::mid::pack::Loose;
use ringmill_isa::mid::walk::Held;
use ringmill_isa::mid::{Action, Form, HeadInput, InputRole, LimbType, ModulusId};
use ringmill_isa::source::SourceLoc;
use ringmill_schemes::Operation;
use ringmill_schemes::call::{Bound, Place, bind, key_digit};
use ringmill_schemes::ckks::OpKey;
use ringmill_schemes::rlwe::RlweError;

use super::{KeyRequest, Limbs, Lowering};
use crate::error::CompileError;

impl Lowering<'_> {
    /// The number of a limb that is about to be made.
    fn fresh(&mut self) -> u32 {
        let number = self.made;
        self.made = number.saturating_add(1);
        number
    }

    pub(super) fn input(&mut self, name: String, modulus: ModulusId, role: InputRole) -> Held {
        let ty = LimbType {
            ring: self.procs.params().ring(),
            modulus,
            form: Form::Eval,
        };
        let inputs = &mut self.program.inputs;
        inputs.push(HeadInput { ty, name, role });
        Held::Input(inputs.len() as u32 - 1)
    }

    pub(super) fn moduli_at(level: u32) -> impl Iterator<Item = ModulusId> {
        (0..=level as u16).map(ModulusId)
    }

    /// Appends the call of `key` on `operands` and `keys`, and defines the results of `instr`.
    pub(super) fn call(
        &mut self,
        key: OpKey,
        instr: &MacroInstr,
        operands: &[MacroValue],
        keys: &[KeyRequest],
        loc: &Option<SourceLoc>,
    ) -> Result<(), CompileError> {
        let (key, immediates) = key.opened();
        let procedure = self.procs.get(&key)?;
        let numbers: Vec<u32> = keys.iter().map(|k| self.key_number(*k)).collect();
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
        let Bound { limbs, seeds } =
            bound.map_err(|e| CompileError::Scheme(RlweError::from(e).into()))?;

        let mut results: Vec<Limbs> =
            vec![vec![Vec::new(); key.result_size() as usize]; instr.dst.len()];
        let mut fresh = Vec::with_capacity(procedure.results.len());
        for result in &procedure.results {
            let number = self.fresh();
            fresh.push(number);
            if let Some(limbs) = results
                .get_mut(usize::from(result.index))
                .and_then(|r| r.get_mut(usize::from(result.poly)))
            {
                limbs.push(Held::Made(number));
            }
        }
        for (&v, mut limbs) in instr.dst.iter().zip(results) {
            for (poly, slot) in (0u32..).zip(&mut limbs) {
                if let Some(&operand) = key
                    .passes_through(poly)
                    .and_then(|arg| operands.get(usize::from(arg)))
                {
                    slot.clone_from(&self.limbs[operand.0 as usize][poly as usize]);
                }
            }
            self.limbs[v.0 as usize] = limbs;
        }

        let next = self.program.procs.len() as u32;
        let proc = *self.proc_of.entry(key).or_insert(next);
        if proc == next {
            self.program.procs.push(procedure);
        }
        self.steps.push(Loose {
            action: Action::Call { proc },
            args: limbs,
            seeds,
            immediates,
            results: fresh,
            loc: loc.clone(),
        });
        Ok(())
    }

    fn operand_limb(&self, operands: &[MacroValue], place: Place) -> Option<Held> {
        let operand = operands.get(usize::from(place.arg))?;
        let limbs = self.limbs.get(operand.0 as usize)?.get(place.poly)?;
        limbs.get(usize::from(place.modulus.0)).copied()
    }

    fn key_number(&self, request: KeyRequest) -> u32 {
        let number = self.key_numbers.get(&request).copied();
        number.unwrap_or(self.keys.len() as u32)
    }

    fn key_limb(&mut self, key: u32, place: Place) -> Held {
        if let Some(&known) = self.key_limbs.get(&(key, place.poly, place.modulus)) {
            return known;
        }
        let (digit, part) = key_digit(place.poly);
        let letter = if part == 0 { 'b' } else { 'a' };
        let name = format!("k{key}.d{digit}.{letter}.q{}", place.modulus.0);
        let role = InputRole::Key { key, digit, part };
        let held = self.input(name, place.modulus, role);
        self.key_limbs
            .insert((key, place.poly, place.modulus), held);
        held
    }

    fn seed_index(&mut self, key: u32) -> u32 {
        let next = self.program.seeds.len() as u32;
        let index = *self.seed_of_key.entry(key).or_insert(next);
        if index == next {
            self.program.seeds.push(key);
        }
        index
    }
}
