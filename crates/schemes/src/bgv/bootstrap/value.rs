//! Ciphertexts with bounds of their noise, and the operations of bootstrapping on them: levels follow from the bounds.

use ringmill_isa::{Galois, Level};
use ringmill_math::Modulus;

use super::error::BootstrapError;
use super::keys::BootstrapKeys;
use super::maps::Stage;
use crate::bgv::evaluator::Evaluator;
use crate::bgv::{Ciphertext, Factor, Noise, NoiseModel, OpKey, Params};
use crate::rlwe::arith::{limbs_mut, plan};
use crate::rlwe::{self, Annotation, RlweError};

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

/// A product that drops a prime is worth that many bits of modulus.
const WASTE: f64 = 4.0;

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

    /// Down to where noise is little more than what divisions leave.
    pub fn settle(&self, mut a: Value) -> Result<Value, BootstrapError> {
        while a.level() > Level::LOWEST {
            let model = self.model(a.factor())?;
            let prime = self.params.moduli().get(a.level().index());
            let prime = prime.map_or(0.0, |&q| (q as f64).log2());
            if a.noise.log2() - prime < model.floor().log2() - WASTE {
                break;
            }
            a = self.switch(a)?;
        }
        Ok(a)
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

    /// The product, relinearised, where its noise is little.
    pub fn mul(&self, a: &Value, b: &Value) -> Result<Value, BootstrapError> {
        let product = self.tensor(a, b)?;
        let product = self.relinearise(&product)?;
        self.settle(self.check("a product", product)?)
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
        let model = self.model(a.factor())?;
        Ok(Value {
            cipher: self
                .evaluator
                .add_integer(&a.cipher, t.centred(integer).into())?,
            noise: model.add_plain(a.noise),
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

    /// a + a(x^g).
    pub fn add_turned(&self, a: &Value, g: Galois) -> Result<Value, BootstrapError> {
        let key = self.galois(g)?;
        let turned = Value {
            cipher: self.evaluator.automorphism(&a.cipher, g, key)?,
            noise: self.model(a.factor())?.switch_key(a.noise, a.level()),
        };
        self.add(a, &turned)
    }

    fn galois(&self, g: Galois) -> Result<&rlwe::GaloisKeys, BootstrapError> {
        let keys = &self.keys.galois;
        keys.get(g).map_err(|_| BootstrapError::MissingKey(g))?;
        Ok(keys)
    }

    /// A linear map: hoisted rotations times constants.
    pub fn linear(&self, a: &Value, stage: &Stage) -> Result<Value, BootstrapError> {
        let model = self.model(a.factor())?;
        let others: Vec<Galois> = stage
            .terms
            .iter()
            .map(|(g, _)| *g)
            .filter(|g| g.0 != 1)
            .collect();
        for &g in &others {
            self.galois(g)?;
        }
        let turned = match others.as_slice() {
            [] => Vec::new(),
            some => self
                .evaluator
                .automorphisms_hoisted(&a.cipher, some, &self.keys.galois)?,
        };
        let switched = model.switch_key(a.noise, a.level());
        let mut turned = turned.into_iter();
        let mut sum: Option<Value> = None;
        for (g, constant) in &stage.terms {
            let (cipher, noise) = match g.0 {
                1 => (a.cipher.clone(), a.noise),
                _ => match turned.next() {
                    Some(cipher) => (cipher, switched),
                    None => continue,
                },
            };
            let (lifted, size) = self.lift(constant, a.factor(), a.level())?;
            let op = OpKey::mul_lifted(a.level(), cipher.size() as u32);
            let shared = self.evaluator.shared();
            let product = Value {
                cipher: shared.one(&op, &[&cipher], &[&lifted], &[], a.factor())?,
                noise: model.mul_known(noise, size),
            };
            sum = Some(match sum {
                Some(sum) => self.add(&sum, &product)?,
                None => product,
            });
        }
        let sum = sum.ok_or_else(|| BootstrapError::Parameters {
            reason: "a linear map without terms".into(),
        })?;
        self.settle(self.check("a linear map", sum)?)
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
