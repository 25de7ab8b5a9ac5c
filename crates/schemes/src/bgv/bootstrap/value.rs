// SPDX-License-Identifier: Apache-2.0
//! Ciphertexts with bounds of their noise, and the operations of bootstrapping on them: levels follow from the bounds.

use ringmill_isa::{Galois, Level};
use ringmill_math::Modulus;
use ringmill_math::slots::linear::{Factor as Term, Giant, LinearMap, Stage};

use super::constant::Constant;
use super::error::BootstrapError;
use super::keys::BootstrapKeys;
use super::maps::Constants;
use crate::bgv::evaluator::Evaluator;
use crate::bgv::{Ciphertext, Factor, Noise, NoiseModel, OpKey, Params};
use crate::rlwe::{GaloisKeys, RlweError};
use ringmill_device::Limbed;

/// A ciphertext with a bound on its phase.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    pub cipher: Ciphertext,
    pub noise: Noise,
}

impl Value {
    pub fn level(&self) -> Level {
        self.cipher.level()
    }

    pub fn factor(&self) -> Factor {
        *self.cipher.annotation()
    }
}

/// Runs operations by an evaluator, with the bounds of a noise model a plaintext modulus.
pub(super) struct Engine<'a> {
    pub params: &'a Params,
    pub evaluator: &'a Evaluator,
    pub models: &'a [NoiseModel],
    pub keys: &'a BootstrapKeys,
}

impl Engine<'_> {
    pub fn model(&self, factor: Factor) -> Result<&NoiseModel, RlweError> {
        let plain = usize::from(factor.plain());
        let missing = || RlweError::Length {
            what: "list of plaintext moduli",
            expected: plain + 1,
            got: self.models.len(),
        };
        self.models.get(plain).ok_or_else(missing)
    }

    pub fn t(&self, factor: Factor) -> Result<Modulus, RlweError> {
        Ok(self.params.plain_at(factor.plain())?.reducer())
    }

    /// Refuses a value that may be lost.
    pub fn check(&self, step: &'static str, a: Value) -> Result<Value, BootstrapError> {
        self.check_room(step, a.noise, a.level(), a.factor())?;
        Ok(a)
    }

    /// Refuses noise that may be too much at a level.
    pub fn check_room(
        &self,
        step: &'static str,
        noise: Noise,
        level: Level,
        factor: Factor,
    ) -> Result<(), BootstrapError> {
        if self.model(factor)?.room(noise, level) > 0.0 {
            return Ok(());
        }
        Err(BootstrapError::NoRoom { step, level })
    }

    /// Down to a level, at or below the value's own, by one division.
    pub fn down(&self, a: &Value, level: Level) -> Result<Value, BootstrapError> {
        let count = a.level().primes().saturating_sub(level.primes());
        if count == 0 {
            return Ok(a.clone());
        }
        let factor = self.over(a.factor(), a.level(), level)?;
        let size = a.cipher.size() as u32;
        let op = match count {
            1 => OpKey::mod_switch(a.level(), size),
            _ => OpKey::drop_primes(a.level(), size, count as u16),
        };
        let op = op.modulo(factor.plain());
        let shared = self.evaluator.shared();
        Ok(Value {
            cipher: shared.one(&op, &[&a.cipher], &[], &[], factor)?,
            noise: (self.model(factor)?).mod_switch_by(a.noise, a.level(), count),
        })
    }

    /// The factor that one at a level becomes at a level below.
    pub fn over(&self, factor: Factor, from: Level, to: Level) -> Result<Factor, RlweError> {
        let t = self.t(factor)?;
        let primes = self.params.moduli().get(to.primes()..from.primes());
        let mut primes = primes.unwrap_or_default().iter();
        primes.try_fold(factor, |factor, &q| factor.over(q, t))
    }

    /// The level to which a value of that noise goes down: a prime goes where it takes more of the noise, which the next product has
    /// twice, than it wastes of the modulus.
    pub fn settled(&self, model: &NoiseModel, mut noise: Noise, mut level: Level) -> Level {
        while let Some(below) = level.below() {
            let prime = self.params.moduli().get(level.index());
            let prime = prime.map_or(0.0, |&q| (q as f64).log2());
            let after = model.mod_switch(noise, level, 2);
            if noise.log2() - after.log2() < prime / 2.0 {
                break;
            }
            (noise, level) = (after, below);
        }
        level
    }

    /// What noise becomes of a ciphertext of two polynomials that goes down.
    pub fn lowered(&self, model: &NoiseModel, noise: Noise, from: Level, to: Level) -> Noise {
        model.mod_switch_by(noise, from, from.primes().saturating_sub(to.primes()))
    }

    /// The factor at one level that becomes `factor` at a level below.
    pub fn before(&self, factor: Factor, from: Level, to: Level) -> Result<Factor, BootstrapError> {
        let t = self.t(factor)?;
        let primes = self.params.moduli().get(to.primes()..from.primes());
        let primes = primes.unwrap_or_default().iter();
        let value = primes.fold(factor.value(), |f, &q| t.mul(f, t.reduce(q)));
        Ok(Factor::new(value, t)?.modulo(factor.plain(), t))
    }

    /// Down to where noise is little.
    pub fn settle(&self, a: Value) -> Result<Value, BootstrapError> {
        let level = self.settled(self.model(a.factor())?, a.noise, a.level());
        self.down(&a, level)
    }

    /// Times an integer, given modulo the plaintext modulus.
    pub fn times(&self, a: &Value, by: u64) -> Result<Value, BootstrapError> {
        let t = self.params.plain_at(a.factor().plain())?;
        let integer = t.centred(by);
        Ok(Value {
            cipher: self.evaluator.mul_integer(&a.cipher, integer.into())?,
            noise: self
                .model(a.factor())?
                .mul_integer(a.noise, integer.unsigned_abs()),
        })
    }

    /// The value times `factor` / its own factor, so that it has that one, and times an integer modulo the plaintext modulus.
    pub fn under(&self, a: &Value, factor: Factor, by: u64) -> Result<Value, BootstrapError> {
        let t = self.t(factor)?;
        let ratio = t.mul(factor.value(), a.factor().inverse(t)?);
        let mut scaled = self.times(a, t.mul(ratio, by))?;
        scaled.cipher = scaled.cipher.with_annotation(factor);
        Ok(scaled)
    }

    /// The message over p, which divides it: modulo p times less.
    pub fn divide(&self, a: &Value, p: u64) -> Result<Value, BootstrapError> {
        let plain = a.factor().plain().checked_sub(1);
        let plain = plain.ok_or_else(|| BootstrapError::Parameters {
            reason: "a message modulo p^r is not to be divided".into(),
        })?;
        let t = self.params.plain_at(plain)?.reducer();
        self.divided(a, p, a.factor().modulo(plain, t))
    }

    /// The message over p, which divides it, of the same plaintext modulus p^j: known modulo p^(j-1).
    pub fn quotient(&self, a: &Value, p: u64) -> Result<Value, BootstrapError> {
        self.divided(a, p, a.factor())
    }

    fn divided(&self, a: &Value, p: u64, factor: Factor) -> Result<Value, BootstrapError> {
        let level = a.level();
        let primes = self.params.reducers().iter().take(level.primes());
        let inverses = primes.map(|q| q.inv(q.reduce(p)));
        let inverses = inverses.collect::<Result<Vec<_>, _>>()?;
        let op = OpKey::mul_scalar(level, a.cipher.size() as u32, inverses);
        let shared = self.evaluator.shared();
        Ok(Value {
            cipher: shared.one(&op, &[&a.cipher], &[], &[], factor)?,
            noise: self.model(factor)?.divide_exactly(a.noise, p),
        })
    }

    /// The stages of a linear map, each down to where its noise is little.
    pub fn map(
        &self,
        mut a: Value,
        (map, constants): (&LinearMap, &Constants),
        keys: &GaloisKeys,
    ) -> Result<Value, BootstrapError> {
        for g in map.galois_elements() {
            let g = Galois(g as u32);
            keys.get(g).map_err(|_| BootstrapError::MissingKey(g))?;
        }
        for (number, stage) in map.stages.iter().enumerate() {
            a = match sum_of(stage) {
                Some(elements) => self.sum_turned(&a, elements, keys)?,
                None => {
                    let constants = constants.of(self.params, number, stage, &a)?;
                    self.stage(a, stage, &constants, keys)?
                }
            };
            a = self.check("a linear map", a)?;
        }
        self.settle(a)
    }

    /// The level to which what keys were switched of goes down, with the noise `a` before, and its noise there.
    fn switched(
        &self,
        a: Noise,
        level: Level,
        factor: Factor,
    ) -> Result<(Level, Noise), BootstrapError> {
        let model = self.model(factor)?;
        let before = model.switch_key(a, level);
        self.check_room("a linear map", before, level, factor)?;
        let to = self.settled(model, before, level);
        let count = level.primes() - to.primes();
        Ok((to, model.switch_key_by(a, level, count)))
    }

    /// a and its automorphisms in sum, by one decomposition and one division.
    fn sum_turned(
        &self,
        a: &Value,
        elements: Vec<Galois>,
        keys: &GaloisKeys,
    ) -> Result<Value, BootstrapError> {
        let keys = elements.iter().map(|&g| keys.get(g));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let seeded = keys.iter().all(|key| key.seed().is_some());
        let (level, count) = (a.level(), elements.len() as u64);
        let model = self.model(a.factor())?;
        // Each has the errors of its own key.
        let turned = model.mul_integer(model.switch_key(a.noise, level), count);
        let (to, noise) = self.switched(model.add(a.noise, turned), level, a.factor())?;
        let factor = self.over(a.factor(), level, to)?;
        let op = OpKey::sum_rotations(level, elements, seeded);
        let op = op.dropping(level.0 as u16 - to.0 as u16);
        let op = op.modulo(factor.plain());
        let shared = self.evaluator.shared();
        Ok(Value {
            cipher: shared.one(&op, &[&a.cipher], &[], &keys, factor)?,
            noise,
        })
    }

    /// Baby steps hoisted, products with constants in sum, and the sums moved by giant steps and added, a few by one division.
    fn stage(
        &self,
        a: Value,
        stage: &Stage,
        constants: &[Vec<Option<Constant>>],
        keys: &GaloisKeys,
    ) -> Result<Value, BootstrapError> {
        let (level, factor) = (a.level(), a.factor());
        let model = self.model(factor)?;
        let moved = |g: &u64| (*g != 1).then_some(Galois(*g as u32));
        let others: Vec<Galois> = stage.babies.iter().filter_map(moved).collect();
        let turned = match others.as_slice() {
            [] => Vec::new(),
            some => self
                .evaluator
                .automorphisms_hoisted(&a.cipher, some, keys)?,
        };
        let noise = model.switch_key(a.noise, level);
        let mut turned = turned.into_iter();
        let mut still = Some(a);
        let babies = stage.babies.iter().map(|&g| match g {
            1 => still.take(),
            _ => turned.next().map(|cipher| Value { cipher, noise }),
        });
        let mut babies: Vec<Value> = babies.flatten().collect();
        // One level for all, by all that is summed.
        let mut before: Option<Noise> = None;
        for (giant, constants) in stage.giants.iter().zip(constants) {
            for (term, constant) in giant.terms.iter().zip(constants) {
                let baby = babies.get(term.baby).ok_or_else(misshapen)?.noise;
                let size = constant.as_ref().map_or(1.0, Constant::size);
                let term = model.mul_known(baby, size);
                before = Some(before.map_or(term, |sum| model.add(sum, term)));
            }
            if giant.galois != 1 {
                before = before.map(|sum| model.switch_key(sum, level));
            }
        }
        let before = before.ok_or_else(misshapen)?;
        let sum = |babies: &[Value], number: usize| {
            let (giant, constants) = stage.giants.get(number).zip(constants.get(number))?;
            Some(self.sum_of_terms(babies, giant, constants))
        };
        let (here, there): (Vec<usize>, Vec<usize>) = (0..stage.giants.len())
            .partition(|&i| stage.giants.get(i).is_some_and(|g| g.galois == 1));
        let mut total: Option<Ciphertext> = None;
        for &number in &here {
            let own = sum(&babies, number).ok_or_else(misshapen)??;
            total = Some(match total {
                Some(total) => self.evaluator.add(&total, &own)?,
                None => own,
            });
        }
        let (to, noise) = match there.is_empty() {
            true => (level, before),
            false => self.switched(before, level, factor)?,
        };
        let shared = self.evaluator.shared();
        // The last group is as large as any: its babies are gone when it is worked on.
        let (odd, even) = there.split_at(there.len() % GIANTS_TOGETHER);
        let groups = [odd]
            .into_iter()
            .filter(|odd| !odd.is_empty())
            .chain(even.chunks(GIANTS_TOGETHER));
        let last = there.len().div_ceil(GIANTS_TOGETHER);
        for (at, group) in groups.enumerate() {
            let sums = group
                .iter()
                .map(|&number| sum(&babies, number).ok_or_else(misshapen)?);
            let mut sums = sums.collect::<Result<Vec<_>, _>>()?;
            if at + 1 == last {
                babies.clear();
            }
            sums.extend(total.take());
            let elements = group.iter().filter_map(|&i| stage.giants.get(i));
            let elements: Vec<Galois> = elements.map(|g| Galois(g.galois as u32)).collect();
            let switching = elements.iter().map(|&g| keys.get(g));
            let switching = switching.collect::<Result<Vec<_>, _>>()?;
            let seeded = switching.iter().all(|key| key.seed().is_some());
            let (dropped, factor) = match at + 1 == last {
                true => (level.0 - to.0, self.over(factor, level, to)?),
                false => (0, factor),
            };
            let op = OpKey::turn_sum(level, sums.len(), elements, seeded);
            let op = op.dropping(dropped as u16).modulo(factor.plain());
            let ciphers: Vec<&Ciphertext> = sums.iter().collect();
            total = Some(shared.one(&op, &ciphers, &[], &switching, factor)?);
        }
        let cipher = total.ok_or_else(misshapen)?;
        Ok(Value { cipher, noise })
    }

    fn sum_of_terms(
        &self,
        babies: &[Value],
        giant: &Giant,
        constants: &[Option<Constant>],
    ) -> Result<Ciphertext, BootstrapError> {
        let shared = self.evaluator.shared();
        let (mut ciphers, mut plains, mut plain) = (Vec::new(), Vec::new(), Vec::new());
        for (term, constant) in giant.terms.iter().zip(constants) {
            let cipher = &babies.get(term.baby).ok_or_else(misshapen)?.cipher;
            match constant {
                Some(constant) => {
                    ciphers.push(cipher);
                    plains.push(constant as &dyn Limbed);
                }
                None => plain.push(cipher),
            }
        }
        let mut sum = match ciphers.first() {
            Some(first) => {
                let op = OpKey::sum_plain(first.level(), ciphers.len());
                Some(shared.one(&op, &ciphers, &plains, &[], *first.annotation())?)
            }
            None => None,
        };
        for cipher in plain {
            sum = Some(match sum {
                Some(sum) => self.evaluator.add(&sum, cipher)?,
                None => cipher.clone(),
            });
        }
        sum.ok_or_else(misshapen)
    }
}

/// Giant steps whose digits are in memory at one time.
const GIANTS_TOGETHER: usize = 2;

/// The automorphisms other than 1 that a stage sums with its input, where it does nothing else.
fn sum_of(stage: &Stage) -> Option<Vec<Galois>> {
    let [giant] = stage.giants.as_slice() else {
        return None;
    };
    let plain = giant.terms.iter().all(|term| term.factor == Term::One);
    let in_order = giant.terms.iter().map(|term| term.baby);
    let all = giant.galois == 1 && in_order.eq(0..stage.babies.len());
    match stage.babies.split_first() {
        Some((1, others)) if plain && all && !others.is_empty() => {
            Some(others.iter().map(|&g| Galois(g as u32)).collect())
        }
        _ => None,
    }
}

fn misshapen() -> BootstrapError {
    BootstrapError::Parameters {
        reason: "a linear map whose terms do not fit it".into(),
    }
}
