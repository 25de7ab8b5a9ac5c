//! Ciphertexts with bounds of their noise, and the operations of bootstrapping on them: levels follow from the bounds.

use ringmill_isa::{Galois, Level};
use ringmill_math::Modulus;
use ringmill_math::slots::CorePoly;
use ringmill_math::slots::linear::{Factor as Term, LinearMap, Stage};

use super::error::BootstrapError;
use super::keys::BootstrapKeys;
use crate::bgv::evaluator::Evaluator;
use crate::bgv::{Ciphertext, Factor, Noise, NoiseModel, OpKey, Params};
use crate::rlwe::arith::{limbs_mut, plan};
use crate::rlwe::{self, Annotation, GaloisKeys, RlweError};

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
        let level = a.level();
        if self.model(a.factor())?.room(a.noise, level) > 0.0 {
            return Ok(a);
        }
        Err(BootstrapError::NoRoom { step, level })
    }

    /// Down to a level, at or below the value's own.
    pub fn down(&self, mut a: Value, level: Level) -> Result<Value, BootstrapError> {
        while a.level() > level {
            a = self.switch(a)?;
        }
        Ok(a)
    }

    fn switch(&self, a: Value) -> Result<Value, BootstrapError> {
        let noise = self
            .model(a.factor())?
            .mod_switch(a.noise, a.level(), a.cipher.size());
        Ok(Value {
            cipher: self.evaluator.mod_switch_to_next(&a.cipher)?,
            noise,
        })
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
    pub fn lowered(&self, model: &NoiseModel, mut noise: Noise, from: Level, to: Level) -> Noise {
        let mut level = from;
        while let Some(below) = level.below().filter(|_| level > to) {
            noise = model.mod_switch(noise, level, 2);
            level = below;
        }
        noise
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
        self.down(a, level)
    }

    /// The sum of values; none of none.
    pub fn sum(&self, values: Vec<Value>) -> Result<Option<Value>, BootstrapError> {
        let mut sum: Option<Value> = None;
        for value in values {
            sum = Some(match sum {
                Some(sum) => self.add(&sum, &value)?,
                None => value,
            });
        }
        Ok(sum)
    }

    /// The product of three polynomials, at the lower of the levels.
    pub fn tensor(&self, a: &Value, b: &Value) -> Result<Value, BootstrapError> {
        let level = a.level().min(b.level());
        let (a, b) = (self.down(a.clone(), level)?, self.down(b.clone(), level)?);
        Ok(Value {
            cipher: self.evaluator.mul(&a.cipher, &b.cipher)?,
            noise: self.model(a.factor())?.mul(a.noise, b.noise),
        })
    }

    pub fn relinearise(&self, a: &Value) -> Result<Value, BootstrapError> {
        Ok(Value {
            cipher: self.evaluator.relinearise(&a.cipher, &self.keys.relin)?,
            noise: self.model(a.factor())?.switch_key(a.noise, a.level()),
        })
    }

    pub fn add(&self, a: &Value, b: &Value) -> Result<Value, BootstrapError> {
        Ok(Value {
            cipher: self.evaluator.add(&a.cipher, &b.cipher)?,
            noise: self.model(a.factor())?.add(a.noise, b.noise),
        })
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

    pub fn add_integer(&self, a: &Value, integer: u64) -> Result<Value, BootstrapError> {
        let t = self.params.plain_at(a.factor().plain())?;
        let integer = t.centred(integer).into();
        Ok(Value {
            cipher: self.evaluator.add_integer(&a.cipher, integer)?,
            noise: self.model(a.factor())?.add_plain(a.noise),
        })
    }

    /// The message over p, which divides it: modulo p times less.
    pub fn divide(&self, a: &Value, p: u64) -> Result<Value, BootstrapError> {
        let plain = a.factor().plain().checked_sub(1);
        let plain = plain.ok_or_else(|| BootstrapError::Parameters {
            reason: "a message modulo p^r is not to be divided".into(),
        })?;
        let level = a.level();
        let primes = self.params.reducers().iter().take(level.primes());
        let inverses = primes.map(|q| q.inv(q.reduce(p)));
        let inverses = inverses.collect::<Result<Vec<_>, _>>()?;
        let t = self.params.plain_at(plain)?.reducer();
        let factor = a.factor().modulo(plain, t);
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
        map: &LinearMap,
        keys: &GaloisKeys,
    ) -> Result<Value, BootstrapError> {
        for g in map.galois_elements() {
            let g = Galois(g as u32);
            keys.get(g).map_err(|_| BootstrapError::MissingKey(g))?;
        }
        for stage in &map.stages {
            a = match sum_of(stage) {
                Some(elements) => self.sum_turned(&a, elements, keys)?,
                None => self.stage(&a, stage, keys)?,
            };
            a = self.check("a linear map", a)?;
        }
        self.settle(a)
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
        let count = elements.len() as u64;
        let op = OpKey::sum_rotations(a.level(), elements, seeded);
        let op = op.modulo(a.factor().plain());
        let model = self.model(a.factor())?;
        let switched = model.switch_key(a.noise, a.level());
        Ok(Value {
            cipher: self
                .evaluator
                .shared()
                .one(&op, &[&a.cipher], &[], &keys, a.factor())?,
            noise: model.add(a.noise, model.mul_integer(switched, count)),
        })
    }

    /// Baby steps hoisted, products with constants, each giant step's sum down to where its noise is little, and moved.
    fn stage(&self, a: &Value, stage: &Stage, keys: &GaloisKeys) -> Result<Value, BootstrapError> {
        let model = self.model(a.factor())?;
        let moved = |g: &u64| (*g != 1).then_some(Galois(*g as u32));
        let others: Vec<Galois> = stage.babies.iter().filter_map(moved).collect();
        let turned = match others.as_slice() {
            [] => Vec::new(),
            some => self
                .evaluator
                .automorphisms_hoisted(&a.cipher, some, keys)?,
        };
        let switched = model.switch_key(a.noise, a.level());
        let mut turned = turned.into_iter();
        let babies = stage.babies.iter().map(|&g| match g {
            1 => Some(a.clone()),
            _ => turned.next().map(|cipher| Value {
                cipher,
                noise: switched,
            }),
        });
        let babies: Vec<Value> = babies.flatten().collect();
        let mut sums = Vec::with_capacity(stage.giants.len());
        for giant in &stage.giants {
            let mut sum: Option<Value> = None;
            for term in &giant.terms {
                let baby = babies.get(term.baby).ok_or_else(misshapen)?;
                let product = match &term.factor {
                    Term::One => baby.clone(),
                    Term::Constant(constant) => self.times_constant(baby, constant)?,
                };
                sum = Some(match sum {
                    Some(sum) => self.add(&sum, &product)?,
                    None => product,
                });
            }
            sums.push((giant.galois, sum.ok_or_else(misshapen)?));
        }
        // One level for all, that of the largest noise.
        let noises = sums.iter().map(|(_, sum)| sum.noise);
        let largest = noises.max_by(|a, b| a.log2().total_cmp(&b.log2()));
        let mut total: Option<Value> = None;
        for (g, mut sum) in sums {
            sum.noise = largest.unwrap_or(sum.noise);
            let mut sum = self.settle(self.check("a linear map", sum)?)?;
            if g != 1 {
                sum = self.turned(&sum, Galois(g as u32), keys)?;
            }
            total = Some(match total {
                Some(total) => self.add(&total, &sum)?,
                None => sum,
            });
        }
        total.ok_or_else(misshapen)
    }

    /// a(x^g).
    fn turned(&self, a: &Value, g: Galois, keys: &GaloisKeys) -> Result<Value, BootstrapError> {
        Ok(Value {
            cipher: self.evaluator.automorphism(&a.cipher, g, keys)?,
            noise: self.model(a.factor())?.switch_key(a.noise, a.level()),
        })
    }

    fn times_constant(&self, a: &Value, constant: &CorePoly) -> Result<Value, BootstrapError> {
        let (lifted, size) = self.lift(&constant.expand(), a.factor(), a.level())?;
        let op = OpKey::mul_lifted(a.level(), a.cipher.size() as u32);
        let shared = self.evaluator.shared();
        Ok(Value {
            cipher: shared.one(&op, &[&a.cipher], &[&lifted], &[], a.factor())?,
            noise: self.model(a.factor())?.mul_known(a.noise, size),
        })
    }

    /// A constant's integers about zero, in evaluation form at a level, and the sum of their absolute values.
    fn lift(
        &self,
        constant: &[u64],
        factor: Factor,
        level: Level,
    ) -> Result<(rlwe::Plaintext<Factor>, f64), BootstrapError> {
        let t = self.params.plain_at(factor.plain())?;
        let indices: Vec<usize> = level.moduli().collect();
        let integers: Vec<i64> = constant.iter().map(|&c| t.centred(c)).collect();
        let size = integers.iter().map(|c| c.unsigned_abs() as f64).sum();
        let mut limbs = vec![0u64; indices.len() * self.params.degree()];
        for (i, q, limb) in limbs_mut(self.params, &indices, &mut limbs) {
            for (x, &c) in limb.iter_mut().zip(&integers) {
                let size = q.reduce(c.unsigned_abs());
                *x = if c < 0 { q.neg(size) } else { size };
            }
            plan(self.params, i)?.forward(limb)?;
        }
        factor.check(self.params, level)?;
        let plain = rlwe::Plaintext::trusted(self.params, level, factor, limbs);
        Ok((plain, size))
    }
}

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
