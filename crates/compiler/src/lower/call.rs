//! Calls and limbs of the mid-level program under construction.

use ringmill_isa::macros::{MacroInstr, MacroValue};
use ringmill_isa::mid::{Call, Form, Input, InputRole, LimbId, LimbType, ModulusId, ParamRole};
use ringmill_isa::source::SourceLoc;
use ringmill_schemes::ckks::OpKey;

use super::{KeyRequest, Limbs, Lowering};
use crate::error::CompileError;

impl Lowering<'_> {
    fn fresh(&mut self, modulus: ModulusId) -> LimbId {
        let id = LimbId(self.program.limbs.len() as u32);
        self.program.limbs.push(LimbType {
            ring: self.procs.params().ring(),
            modulus,
            form: Form::Eval,
        });
        id
    }

    pub(super) fn input(&mut self, name: String, modulus: ModulusId, role: InputRole) -> LimbId {
        let limb = self.fresh(modulus);
        self.program.inputs.push(Input { limb, name, role });
        limb
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
        let procedure = self.procs.get(&key)?;
        let numbers: Vec<u32> = keys.iter().map(|k| self.key_number(*k)).collect();
        // The key operands' own argument numbers follow the ciphertexts' and plaintexts'.
        let key_number = |arg: u16| {
            numbers
                .get(usize::from(arg).saturating_sub(operands.len()))
                .copied()
                .unwrap_or(0)
        };

        let mut args = Vec::with_capacity(procedure.params.len());
        for param in &procedure.params {
            let modulus = procedure.types[param.value.0 as usize].modulus;
            args.push(match param.role {
                ParamRole::Cipher { arg, poly } => self.operand_limb(operands, arg, poly, modulus),
                ParamRole::Plain { arg } => self.operand_limb(operands, arg, 0, modulus),
                ParamRole::Key { arg, digit, part } => {
                    self.key_limb(key_number(arg), digit, part, modulus)
                }
            });
        }
        let seeds = procedure
            .seeds
            .iter()
            .map(|&arg| self.seed_index(key_number(arg)))
            .collect();

        let mut results: Vec<Limbs> =
            vec![vec![Vec::new(); key.result_size() as usize]; instr.dst.len()];
        let mut fresh = Vec::with_capacity(procedure.results.len());
        for result in &procedure.results {
            let limb = self.fresh(procedure.types[result.value.0 as usize].modulus);
            fresh.push(limb);
            if let Some(limbs) = results
                .get_mut(usize::from(result.index))
                .and_then(|r| r.get_mut(usize::from(result.poly)))
            {
                limbs.push(limb);
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
        self.program.calls.push(Call {
            proc,
            args,
            seeds,
            results: fresh,
            loc: loc.clone(),
        });
        Ok(())
    }

    /// The limb of an operand; a wrong one (which the verifier would refuse) if the operand lacks it.
    fn operand_limb(
        &self,
        operands: &[MacroValue],
        arg: u16,
        poly: u16,
        modulus: ModulusId,
    ) -> LimbId {
        operands
            .get(usize::from(arg))
            .and_then(|v| self.limbs[v.0 as usize].get(usize::from(poly)))
            .and_then(|limbs| limbs.get(usize::from(modulus.0)))
            .copied()
            .unwrap_or(LimbId(u32::MAX))
    }

    fn key_number(&self, request: KeyRequest) -> u32 {
        self.keys
            .iter()
            .position(|&k| k == request)
            .unwrap_or(self.keys.len()) as u32
    }

    fn key_limb(&mut self, key: u32, digit: u16, part: u16, modulus: ModulusId) -> LimbId {
        if let Some(&known) = self.key_limbs.get(&(key, digit, part, modulus)) {
            return known;
        }
        let name = format!(
            "k{key}.d{digit}.{}.q{}",
            if part == 0 { 'b' } else { 'a' },
            modulus.0
        );
        let limb = self.input(name, modulus, InputRole::Key { key, digit, part });
        self.key_limbs.insert((key, digit, part, modulus), limb);
        limb
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
