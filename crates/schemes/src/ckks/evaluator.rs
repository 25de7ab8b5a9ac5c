//! Homomorphic operations for simple callers, run by the reference interpreter. Programs go through the compiler and a
//! device instead; both run the same procedures.

use std::sync::Arc;

use num_bigint::BigUint;

use super::error::CkksError;
use super::ops::{OpKey, ProcCache};
use super::params::Params;
use super::{Ciphertext, Plaintext, Scale};
use crate::call::call;
use crate::rlwe::{Galois, GaloisKeys, KSwitchKey, KeyId, Level, RelinKey, RlweError};
use crate::scheme::Limbed;

/// Homomorphic operations on whole ciphertexts. Operands must agree in level, and in scale where they are added, and must
/// belong to one secret key, as must keys: where one has no identity that cannot be checked, and the result has none.
///
/// As SEAL does, it refuses results whose scale their level's modulus cannot hold ([`CkksError::Scale`]), and transparent
/// ones ([`RlweError::Transparent`]): those of `a - a`, of a product with zero.
#[derive(Debug)]
pub struct Evaluator {
    cache: Arc<ProcCache>,
    /// Bits of the modulus of each level.
    modulus_bits: Vec<u32>,
}

fn missing_rotation(step: i64, power: i64) -> String {
    if power == step {
        return format!("Galois (rotation by {step})");
    }
    format!(
        "Galois (rotation by {step}, or by {power} and the other powers of two that make it up)"
    )
}

/// The non-adjacent form of a step (less than the slots): signed powers of two that add up to it, the fewest that do, the least first.
fn powers_of_two(step: i64) -> Vec<i64> {
    let (mut rest, mut power, mut powers) = (step, 1, Vec::new());
    while rest != 0 {
        if rest % 2 != 0 {
            // 1 or -1, so that what remains is a multiple of 4.
            let digit = 2 - rest.rem_euclid(4);
            powers.push(digit * power);
            rest -= digit;
        }
        rest /= 2;
        power *= 2;
    }
    powers
}

impl Evaluator {
    pub fn new(params: Arc<Params>) -> Self {
        let mut product = BigUint::from(1u32);
        let bits = params.cipher_moduli().iter().map(|&q| {
            product *= q;
            product.bits() as u32
        });
        Self {
            modulus_bits: bits.collect(),
            cache: Arc::new(ProcCache::new(params)),
        }
    }

    pub fn cache(&self) -> &Arc<ProcCache> {
        &self.cache
    }

    fn params(&self) -> &Params {
        self.cache.params()
    }

    fn check(&self, a: &Ciphertext) -> Result<(), CkksError> {
        Ok(self.params().check_id("ciphertext", a.params_id())?)
    }

    fn check_scale(a: f64, b: f64) -> Result<(), CkksError> {
        if Scale(a).agrees(Scale(b)) {
            Ok(())
        } else {
            Err(CkksError::ScaleMismatch { a, b })
        }
    }

    fn check_pair(&self, a: &Ciphertext, b: &Ciphertext) -> Result<(), CkksError> {
        self.check(a)?;
        self.check(b)?;
        Self::check_level("second operand", a.level(), b.level())
    }

    /// A scale that a result may have at a level: its integer part in bits is below the modulus's (SEAL's condition).
    fn check_held(&self, level: Level, scale: f64) -> Result<(), CkksError> {
        let bits = self.modulus_bits.get(level.index()).copied();
        let bits = f64::from(bits.unwrap_or(0));
        if scale.is_finite() && scale > 0.0 && scale.log2().trunc() < bits {
            return Ok(());
        }
        Err(CkksError::Scale {
            got: scale,
            max_log2: bits,
        })
    }

    /// The scale of a product.
    fn product(&self, level: Level, a: f64, b: f64) -> Result<f64, CkksError> {
        self.check_held(level, a * b)?;
        Ok(a * b)
    }

    fn opaque(cipher: Ciphertext) -> Result<Ciphertext, CkksError> {
        if cipher.is_transparent() {
            Err(RlweError::Transparent.into())
        } else {
            Ok(cipher)
        }
    }

    fn check_level(what: &'static str, expected: Level, got: Level) -> Result<(), CkksError> {
        if expected == got {
            Ok(())
        } else {
            Err(RlweError::LevelMismatch {
                what,
                expected,
                got,
            }
            .into())
        }
    }

    fn check_two(a: &Ciphertext) -> Result<(), CkksError> {
        if a.size() == 2 {
            return Ok(());
        }
        Err(RlweError::Size {
            what: "ciphertext operand",
            expected: "2".into(),
            got: a.size(),
        }
        .into())
    }

    /// Runs one operation; the results have its level and this scale.
    fn apply(
        &self,
        op: &OpKey,
        ciphers: &[&Ciphertext],
        plains: &[&Plaintext],
        keys: &[&KSwitchKey],
        scale: f64,
    ) -> Result<Vec<Ciphertext>, CkksError> {
        for k in keys {
            self.params().check_id("key-switching key", k.params_id())?;
        }
        let operands = ciphers.iter().map(|c| ("ciphertext", c.key_id()));
        let switching = keys.iter().map(|k| ("key-switching key", k.key_id()));
        let key_id = KeyId::common(operands.chain(switching)).map_err(RlweError::from)?;
        let procedure = self.cache.get(op)?;
        let ciphers = ciphers.iter().map(|&c| c as &dyn Limbed);
        let plains = plains.iter().map(|&m| m as &dyn Limbed);
        let keys = keys.iter().map(|&k| k as &dyn Limbed);
        let operands: Vec<&dyn Limbed> = ciphers.chain(plains).chain(keys).collect();
        if operands.len() != op.operands() {
            return Err(CkksError::Rlwe(RlweError::Length {
                what: "the list of operands",
                expected: op.operands(),
                got: operands.len(),
            }));
        }
        let results = call(op, &procedure, &operands).map_err(RlweError::from)?;
        let level = op.result_level()?;
        let cipher = |polys| {
            let (params, scale) = (self.params(), Scale(scale));
            let cipher = Ciphertext::trusted(params, level, scale, polys, key_id);
            Self::opaque(cipher)
        };
        results.into_iter().map(cipher).collect()
    }

    fn one(
        &self,
        op: &OpKey,
        ciphers: &[&Ciphertext],
        plains: &[&Plaintext],
        keys: &[&KSwitchKey],
        scale: f64,
    ) -> Result<Ciphertext, CkksError> {
        let none = || RlweError::Length {
            what: "result",
            expected: 1,
            got: 0,
        };
        let result = self.apply(op, ciphers, plains, keys, scale)?.pop();
        Ok(result.ok_or_else(none)?)
    }

    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.check_pair(a, b)?;
        Self::check_scale(a.scale(), b.scale())?;
        let key = OpKey::add(a.level(), a.size() as u32, b.size() as u32);
        self.one(&key, &[a, b], &[], &[], a.scale())
    }

    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.check_pair(a, b)?;
        Self::check_scale(a.scale(), b.scale())?;
        let key = OpKey::sub(a.level(), a.size() as u32, b.size() as u32);
        self.one(&key, &[a, b], &[], &[], a.scale())
    }

    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        let key = OpKey::neg(a.level(), a.size() as u32);
        self.one(&key, &[a], &[], &[], a.scale())
    }

    fn check_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<(), CkksError> {
        self.check(a)?;
        self.params().check_id("plaintext", m.params_id())?;
        Self::check_level("plaintext operand", a.level(), m.level())
    }

    pub fn add_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, CkksError> {
        self.check_plain(a, m)?;
        Self::check_scale(a.scale(), m.scale())?;
        let key = OpKey::add_plain(a.level(), a.size() as u32);
        self.one(&key, &[a], &[m], &[], a.scale())
    }

    pub fn sub_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, CkksError> {
        self.check_plain(a, m)?;
        Self::check_scale(a.scale(), m.scale())?;
        let key = OpKey::sub_plain(a.level(), a.size() as u32);
        self.one(&key, &[a], &[m], &[], a.scale())
    }

    pub fn mul_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, CkksError> {
        self.check_plain(a, m)?;
        let key = OpKey::mul_plain(a.level(), a.size() as u32);
        let scale = self.product(a.level(), a.scale(), m.scale())?;
        self.one(&key, &[a], &[m], &[], scale)
    }

    /// Adds `value` to every slot.
    pub fn add_scalar(&self, a: &Ciphertext, value: f64) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        let residues = super::encoder::scalar_residues(self.params(), value, a.level(), a.scale())?;
        let key = OpKey::add_scalar(a.level(), a.size() as u32, residues);
        self.one(&key, &[a], &[], &[], a.scale())
    }

    /// Multiplies every slot by `value`, rounded to a multiple of 1 / `scale`; the scales multiply.
    pub fn mul_scalar(
        &self,
        a: &Ciphertext,
        value: f64,
        scale: f64,
    ) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        let residues = super::encoder::scalar_residues(self.params(), value, a.level(), scale)?;
        let key = OpKey::mul_scalar(a.level(), a.size() as u32, residues);
        let scale = self.product(a.level(), a.scale(), scale)?;
        self.one(&key, &[a], &[], &[], scale)
    }

    /// The product, of three polynomials.
    pub fn mul(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.check_pair(a, b)?;
        Self::check_two(a)?;
        Self::check_two(b)?;
        let key = OpKey::mul(a.level());
        let scale = self.product(a.level(), a.scale(), b.scale())?;
        self.one(&key, &[a, b], &[], &[], scale)
    }

    pub fn square(&self, a: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        Self::check_two(a)?;
        let key = OpKey::square(a.level());
        let scale = self.product(a.level(), a.scale(), a.scale())?;
        self.one(&key, &[a], &[], &[], scale)
    }

    pub fn relinearise(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        if a.size() != 3 {
            return Err(RlweError::Size {
                what: "ciphertext to relinearise",
                expected: "3".into(),
                got: a.size(),
            }
            .into());
        }
        let op = OpKey::relin(a.level(), key.0.seed().is_some());
        self.one(&op, &[a], &[], &[&key.0], a.scale())
    }

    pub fn mul_relin(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinKey,
    ) -> Result<Ciphertext, CkksError> {
        self.check_pair(a, b)?;
        Self::check_two(a)?;
        Self::check_two(b)?;
        let op = OpKey::mul_relin(a.level(), key.0.seed().is_some());
        let scale = self.product(a.level(), a.scale(), b.scale())?;
        self.one(&op, &[a, b], &[], &[&key.0], scale)
    }

    pub fn square_relin(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        Self::check_two(a)?;
        let op = OpKey::square_relin(a.level(), key.0.seed().is_some());
        let scale = self.product(a.level(), a.scale(), a.scale())?;
        self.one(&op, &[a], &[], &[&key.0], scale)
    }

    /// Divides by the last prime of the level with rounding: one level lower.
    pub fn rescale(&self, a: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        let op = OpKey::rescale(a.level(), a.size() as u32);
        let last = self
            .params()
            .moduli()
            .get(a.level().index())
            .map_or(1.0, |&q| q as f64);
        self.one(&op, &[a], &[], &[], a.scale() / last)
    }

    /// Drops primes down to `level`; the scale stays, and must be one that the level holds.
    pub fn mod_switch(&self, a: &Ciphertext, level: Level) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        if level > a.level() {
            return Err(RlweError::LevelMismatch {
                what: "ciphertext to switch down",
                expected: level,
                got: a.level(),
            }
            .into());
        }
        self.check_held(level, a.scale())?;
        let length = level.primes() * self.params().degree();
        let polys = a
            .polys()
            .iter()
            .map(|p| p.iter().take(length).copied().collect())
            .collect();
        let (scale, key_id) = (a.scale(), a.key_id());
        Self::opaque(Ciphertext::trusted(
            self.params(),
            level,
            Scale(scale),
            polys,
            key_id,
        ))
    }

    /// Slot i of the result is slot i + `step` of `a`, cyclically; a rotation by 0 is `a`. Where `keys` has none for the
    /// step, it goes by the powers of two of the step's non-adjacent form, the least first, as SEAL goes.
    ///
    /// # Errors
    /// [`RlweError::MissingKey`] where neither the step's key is there nor those of its powers of two.
    pub fn rotate(
        &self,
        a: &Ciphertext,
        step: i64,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        if step == 0 {
            return Ok(a.clone());
        }
        let element = self.params().galois_element(step)?;
        if keys.get(element).is_ok() {
            return self.automorphism(a, element, keys);
        }
        let mut elements = Vec::new();
        for power in powers_of_two(step) {
            // A rotation by all slots is none.
            if power.unsigned_abs() == self.params().slots() as u64 {
                continue;
            }
            let element = self.params().galois_element(power)?;
            keys.get(element)
                .map_err(|_| RlweError::MissingKey(missing_rotation(step, power)))?;
            elements.push(element);
        }
        let mut turned: Option<Ciphertext> = None;
        for element in elements {
            turned = Some(self.automorphism(turned.as_ref().unwrap_or(a), element, keys)?);
        }
        Ok(turned.unwrap_or_else(|| a.clone()))
    }

    pub fn conjugate(&self, a: &Ciphertext, keys: &GaloisKeys) -> Result<Ciphertext, CkksError> {
        self.automorphism(a, self.params().conjugation_element(), keys)
    }

    fn automorphism(
        &self,
        a: &Ciphertext,
        galois: Galois,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, CkksError> {
        self.check(a)?;
        Self::check_two(a)?;
        let key = keys.get(galois)?;
        let op = OpKey::rotate(a.level(), galois, key.seed().is_some());
        self.one(&op, &[a], &[], &[key], a.scale())
    }

    /// Several rotations that share one decomposition, one result a step. All keys seeded, or none.
    pub fn rotate_hoisted(
        &self,
        a: &Ciphertext,
        steps: &[i64],
        keys: &GaloisKeys,
    ) -> Result<Vec<Ciphertext>, CkksError> {
        self.check(a)?;
        Self::check_two(a)?;
        let galois = steps
            .iter()
            .map(|&s| self.params().galois_element(s))
            .collect::<Result<Vec<_>, _>>()?;
        let keys = galois
            .iter()
            .map(|&g| keys.get(g))
            .collect::<Result<Vec<_>, _>>()?;
        let seeded = keys.iter().all(|k| k.seed().is_some());
        let op = OpKey::hoisted_rotate(a.level(), galois, seeded);
        self.apply(&op, &[a], &[], &keys, a.scale())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_sums_of_few_powers_of_two() {
        assert_eq!(powers_of_two(0), []);
        assert_eq!(powers_of_two(7), [-1, 8]);
        assert_eq!(powers_of_two(-7), [1, -8]);
        assert_eq!(powers_of_two(11), [-1, -4, 16]);
        for step in (-300..300).chain([(1 << 40) - 1]) {
            let powers = powers_of_two(step);
            assert_eq!(powers.iter().sum::<i64>(), step);
            let adjacent = powers
                .windows(2)
                .any(|w| w[1].unsigned_abs() < 4 * w[0].unsigned_abs());
            assert!(!adjacent, "{step}: {powers:?}");
        }
    }
}
