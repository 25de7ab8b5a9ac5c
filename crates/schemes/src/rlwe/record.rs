// SPDX-License-Identifier: Apache-2.0
//! Operations noted down instead of run. Whoever runs operations by an evaluator takes decisions by levels and bounds, never by
//! residues: so what it does with symbols in the place of ciphertexts is what it does with ciphertexts.
//!
//! A symbol is a ciphertext or key of one word a polynomial, the number by which it is known.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ringmill_isa::mid::Procedure;
use ringmill_isa::{Level, Poly};
use zeroize::Zeroizing;

use super::arith::{limbs_mut, plan, reducer};
use super::cipher::{Annotation, Ciphertext, Plaintext};
use super::error::RlweError;
use super::key::KSwitchKey;
use super::params::Params;
use ringmill_device::Limbed;
use ringmill_device::ResidueVec;

/// Integers as the coefficients of a polynomial, those that are not 0 alone, at a level.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Lifted {
    pub level: Level,
    /// Coefficient and integer, in order.
    pub integers: Vec<(u32, i64)>,
}

impl Lifted {
    /// In evaluation form modulo each prime of the level.
    ///
    /// # Errors
    /// A level that the parameters do not have.
    pub fn encoded<A: Annotation>(
        &self,
        params: &Params,
        annotation: A,
    ) -> Result<Plaintext<A>, RlweError> {
        params.check_level(self.level)?;
        let indices: Vec<usize> = self.level.moduli().collect();
        let mut limbs = Zeroizing::new(vec![0; indices.len() * params.degree()]);
        for (i, q, limb) in limbs_mut(params, &indices, &mut limbs) {
            for &(at, c) in &self.integers {
                let size = q.reduce(c.unsigned_abs());
                if let Some(x) = limb.get_mut(at as usize) {
                    *x = if c < 0 { q.neg(size) } else { size };
                }
            }
            plan(params, i)?.forward(limb)?;
        }
        Plaintext::trusted(params, self.level, annotation, limbs)
    }

    /// What a plaintext in evaluation form holds, known by its residues modulo the first prime and checked by the second.
    fn of(params: &Params, level: Level, plain: &dyn Limbed) -> Result<Self, RlweError> {
        let missing = || RlweError::Length {
            what: "limbs of a constant",
            expected: level.primes(),
            got: 0,
        };
        let limb = plain.limb(Poly::FIRST, 0).ok_or_else(missing)?;
        let mut limb = limb.wide().into_owned();
        plan(params, 0)?.inverse(&mut limb)?;
        let q = reducer(params, 0)?.value();
        let integer = |x: u64| match x > q / 2 {
            true => -((q - x) as i64),
            false => x as i64,
        };
        let integers = (0..).zip(&limb).filter(|&(_, &x)| x != 0);
        let integers = integers.map(|(i, &x)| (i, integer(x))).collect();
        let lifted = Self { level, integers };
        if let Some(second) = plain.limb(Poly::FIRST, 1) {
            let one = Self {
                level: Level(1),
                ..lifted.clone()
            };
            if one.encoded(params, ())?.limb(1) != Some(second) {
                return Err(RlweError::Parameter {
                    what: "a constant to note down",
                    expected: "integers below half the first prime".into(),
                    got: "larger ones".into(),
                });
            }
        }
        Ok(lifted)
    }
}

/// An operation on symbols.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Noted<O> {
    pub operation: O,
    /// Numbers of ciphertexts and keys.
    pub ciphers: Vec<u64>,
    /// Indices of constants.
    pub constants: Vec<u32>,
    pub keys: Vec<u64>,
    pub results: Vec<u64>,
}

/// What was noted so far.
#[derive(Clone, Debug)]
pub struct Notes<O> {
    pub calls: Vec<Noted<O>>,
    pub constants: Vec<Lifted>,
    known: HashMap<Lifted, u32>,
    next: u64,
}

/// Notes operations down. Numbers from [`Recorder::FIRST_KEY`] on are keys.
pub struct Recorder<O> {
    notes: Mutex<Notes<O>>,
    /// Ends what is noted with an error.
    last: fn(&O) -> bool,
}

/// The operands of a noted operation: ciphertexts, plaintexts, keys.
pub(crate) type Operands<'a, A> = (
    &'a [&'a Ciphertext<A>],
    &'a [&'a dyn Limbed],
    &'a [&'a KSwitchKey],
);

impl<O: Clone> Recorder<O> {
    pub const FIRST_KEY: u64 = 1 << 32;

    /// One that refuses the first operation that `last` says is too many; ciphertexts are numbered from 0.
    pub fn until(last: fn(&O) -> bool) -> Self {
        let notes = Notes {
            calls: Vec::new(),
            constants: Vec::new(),
            known: HashMap::new(),
            next: 1,
        };
        Self {
            notes: Mutex::new(notes),
            last,
        }
    }

    fn notes(&self) -> MutexGuard<'_, Notes<O>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was noted.
    pub fn taken(&self) -> Notes<O> {
        self.notes().clone()
    }

    /// The symbol of a ciphertext.
    pub(crate) fn symbol<A: Annotation>(
        &self,
        params: &Params,
        number: u64,
        level: Level,
        size: usize,
        annotation: A,
    ) -> Ciphertext<A> {
        let polys = vec![ResidueVec::Wide(vec![number]); size];
        Ciphertext::trusted(params, level, annotation, polys, None)
    }

    pub(crate) fn note<A: Annotation>(
        &self,
        params: &Params,
        operation: &O,
        procedure: &Arc<Procedure>,
        (ciphers, plains, keys): Operands<'_, A>,
    ) -> Result<Vec<u64>, RlweError> {
        if (self.last)(operation) {
            return Err(RlweError::Parameter {
                what: "what is noted down",
                expected: "operations before the last".into(),
                got: "it".into(),
            });
        }
        let level = ciphers.first().map_or(Level::LOWEST, |c| c.level());
        let lifted = plains.iter().map(|&p| Lifted::of(params, level, p));
        let lifted = lifted.collect::<Result<Vec<_>, _>>()?;
        let mut notes = self.notes();
        let constants = lifted.into_iter().map(|lifted| notes.constant(lifted));
        let constants = constants.collect();
        let number = |polys: &[ResidueVec]| polys.first()?.residues().at(0);
        let of_ciphers = ciphers.iter().map(|c| number(c.polys()));
        let of_keys = keys.iter().map(|k| k.number());
        let missing = || RlweError::Length {
            what: "symbol",
            expected: 1,
            got: 0,
        };
        let ciphers = of_ciphers.collect::<Option<_>>().ok_or_else(missing)?;
        let keys = of_keys.collect::<Option<_>>().ok_or_else(missing)?;
        let results = procedure.results.iter().map(|r| u64::from(r.index) + 1);
        let count = results.max().unwrap_or(0);
        let results: Vec<u64> = (notes.next..).take(count as usize).collect();
        notes.next += count;
        notes.calls.push(Noted {
            operation: operation.clone(),
            ciphers,
            constants,
            keys,
            results: results.clone(),
        });
        Ok(results)
    }
}

impl<O> Notes<O> {
    fn constant(&mut self, lifted: Lifted) -> u32 {
        if let Some(&known) = self.known.get(&lifted) {
            return known;
        }
        let number = self.constants.len() as u32;
        self.constants.push(lifted.clone());
        self.known.insert(lifted, number);
        number
    }
}
