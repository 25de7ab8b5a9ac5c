// SPDX-License-Identifier: Apache-2.0
//! Brings keys, seeds and lifted constants (the constant polynomials of a bootstrap) into the mid-level program as
//! inputs at their first use.

use ringmill_device::call::{Place, key_digit};
use ringmill_isa::macros::MacroInstr;
use ringmill_isa::mid::walk::Held;
use ringmill_isa::mid::{Form, InputRole};

use super::{Lowering, PlainRequest, PlainSource};
use crate::error::{At as Line, CompileError};
use crate::scheme::{Compiles, ErrorOf, place};

/// A value that is an input of the mid-level program beside the ciphertexts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outside {
    /// An evaluation key, by its number.
    Key(u32),
    /// A lifted constant, a constant polynomial of the bootstrap, by the number of its plaintext.
    Lifted(u32),
}

impl<S: Compiles> Lowering<'_, S> {
    /// Makes the result of the instruction `to` the evaluation key `name`, which is a ciphertext.
    /// The key's limbs come into the program at their first use.
    pub(super) fn key(&mut self, name: &S::KeyName, to: &MacroInstr) -> Result<(), ErrorOf<S>> {
        let number = self.key_numbers.get(name).copied();
        let (Some(number), Some(&value)) = (number, to.dst.first()) else {
            return Err(misshapen(to));
        };
        self.scope.outside.insert(value, Outside::Key(number));
        Ok(())
    }

    /// Makes the result of an instruction a constant polynomial of the bootstrap, given by its
    /// number. Its limbs come into the program at their first use.
    pub(super) fn lift(&mut self, instr: &MacroInstr, number: u32) -> Result<(), ErrorOf<S>> {
        let value = instr.dst.first().copied();
        let place = value.and_then(|v| Some((v, place::<S>(self.scope.types, v)?)));
        let Some((value, at)) = place else {
            return Err(misshapen(instr));
        };
        let plaintext = self.plaintexts.len() as u32;
        let from = PlainSource::Lifted(number);
        self.plaintexts.push(PlainRequest { from, at });
        self.scope.outside.insert(value, Outside::Lifted(plaintext));
        Ok(())
    }

    /// Returns a limb of a lifted constant (a constant polynomial of the bootstrap), by the number of the constant's
    /// plaintext and the limb's place.
    pub(super) fn constant_limb(&mut self, number: u32, place: Place) -> Held {
        if let Some(&known) = self.constant_limbs.get(&(number, place.modulus)) {
            return known;
        }
        let name = format!("p{number}.q{}", place.modulus.0);
        let role = InputRole::Plain { input: number };
        let held = self.input(name, (place.modulus, Form::Eval), role);
        self.constant_limbs.insert((number, place.modulus), held);
        held
    }

    pub(super) fn key_limb(&mut self, key: u32, place: Place) -> Held {
        if let Some(&known) = self.key_limbs.get(&(key, place.poly, place.modulus)) {
            return known;
        }
        let (digit, part) = key_digit(place.poly);
        let letter = if part == 0 { 'b' } else { 'a' };
        let name = format!("k{key}.d{digit}.{letter}.q{}", place.modulus.0);
        let role = InputRole::Key { key, digit, part };
        let held = self.input(name, (place.modulus, Form::Eval), role);
        self.key_limbs
            .insert((key, place.poly, place.modulus), held);
        held
    }

    pub(super) fn seed_index(&mut self, key: u32) -> u32 {
        let next = self.program.seeds.len() as u32;
        let index = *self.seed_of_key.entry(key).or_insert(next);
        if index == next {
            self.program.seeds.push(key);
        }
        index
    }
}

/// Returns the error for an instruction that an earlier pass should have refused.
pub(super) fn misshapen<E>(instr: &MacroInstr) -> CompileError<E> {
    CompileError::Misshapen {
        at: Line(instr.loc.clone()),
        op: instr.op.mnemonic(),
    }
}
