// SPDX-License-Identifier: Apache-2.0
//! Computes on CKKS ciphertexts one operation after the other, for simple callers, by default on the reference
//! interpreter. Programs go through the compiler and a device instead. Both run the same procedures.

use std::sync::Arc;

use num_bigint::BigUint;

use super::error::CkksError;
use super::ops::{OpKey, ProcCache};
use super::params::Params;
use super::{Ciphertext, Ckks, Plaintext, Scale};
use crate::rlwe::evaluator::{Evaluation, check_factors, check_level, check_three, opaque};
use crate::rlwe::{GaloisKeys, KSwitchKey, Level, RelinKey, RlweError};
use ringmill_device::Limbed;
use ringmill_device::call::{Interpreted, Runs};

/// Homomorphic operations on whole CKKS ciphertexts. Operands must agree in level, and operands of a sum also in scale.
/// Operands and keys must belong to one secret key. An operand or a key may lack the identity of its secret key. Then
/// nothing checks that, and the result lacks the identity, too.
///
/// Like SEAL, it refuses products and modulus switches whose result has a scale that is too large for its level's
/// modulus ([`CkksError::Scale`]). Sums of ciphertexts and rescalings do not check their scale. It also refuses
/// transparent results ([`RlweError::Transparent`]), which hide nothing, such as `a - a` or a product with zero.
#[derive(Debug)]
pub struct Evaluator {
    shared: Evaluation<Ckks>,
    /// The number of bits of the modulus of each level.
    modulus_bits: Vec<u32>,
}

impl Evaluator {
    pub fn new(params: Arc<Params>) -> Self {
        Self::on(params, Arc::new(Interpreted))
    }

    /// Makes an evaluator whose operations run on `runs`: a device, or anything that runs procedures.
    pub fn on(params: Arc<Params>, runs: Arc<dyn Runs>) -> Self {
        let mut product = BigUint::from(1u32);
        let bits = params.cipher_moduli().iter().map(|&q| {
            product *= q;
            product.bits() as u32
        });
        Self {
            modulus_bits: bits.collect(),
            shared: Evaluation::on(params, runs),
        }
    }

    pub fn cache(&self) -> &Arc<ProcCache> {
        self.shared.cache()
    }

    fn params(&self) -> &Params {
        self.cache().params()
    }

    fn check_scale(a: f64, b: f64) -> Result<(), CkksError> {
        if Scale(a).agrees(Scale(b)) {
            Ok(())
        } else {
            Err(CkksError::ScaleMismatch { a, b })
        }
    }

    /// Refuses a scale that is too large for a level: its integer part must not have more bits than the level's modulus
    /// (SEAL's condition).
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

    /// Returns the scale of a product of two values with scales `a` and `b`, or an error if it is too large for the
    /// level.
    fn product(&self, level: Level, a: f64, b: f64) -> Result<f64, CkksError> {
        self.check_held(level, a * b)?;
        Ok(a * b)
    }

    fn one(
        &self,
        op: &OpKey,
        ciphers: &[&Ciphertext],
        plains: &[&dyn Limbed],
        keys: &[&KSwitchKey],
        scale: f64,
    ) -> Result<Ciphertext, CkksError> {
        self.shared.one(op, ciphers, plains, keys, Scale(scale))
    }

    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.shared.check_pair(a, b)?;
        Self::check_scale(a.scale(), b.scale())?;
        let key = OpKey::add(a.level(), a.size() as u32, b.size() as u32);
        self.one(&key, &[a, b], &[], &[], a.scale())
    }

    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.shared.check_pair(a, b)?;
        Self::check_scale(a.scale(), b.scale())?;
        let key = OpKey::sub(a.level(), a.size() as u32, b.size() as u32);
        self.one(&key, &[a, b], &[], &[], a.scale())
    }

    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.shared.check(a)?;
        let key = OpKey::neg(a.level(), a.size() as u32);
        self.one(&key, &[a], &[], &[], a.scale())
    }

    fn check_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<(), CkksError> {
        self.shared.check(a)?;
        self.params().check_id("plaintext", m.params_id())?;
        Ok(check_level("plaintext operand", a.level(), m.level())?)
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

    /// Adds the constant `value` to every slot, rounded to a multiple of 1 over the ciphertext's scale.
    pub fn add_scalar(&self, a: &Ciphertext, value: f64) -> Result<Ciphertext, CkksError> {
        self.shared.check(a)?;
        let residues = super::encoder::scalar_residues(self.params(), value, a.level(), a.scale())?;
        let key = OpKey::add_scalar(a.level(), a.size() as u32, residues);
        self.one(&key, &[a], &[], &[], a.scale())
    }

    /// Multiplies every slot by the constant `value`, rounded to a multiple of 1 / `scale`. The scale of the result is
    /// the ciphertext's scale times `scale`.
    pub fn mul_scalar(
        &self,
        a: &Ciphertext,
        value: f64,
        scale: f64,
    ) -> Result<Ciphertext, CkksError> {
        self.shared.check(a)?;
        let residues = super::encoder::scalar_residues(self.params(), value, a.level(), scale)?;
        let key = OpKey::mul_scalar(a.level(), a.size() as u32, residues);
        let scale = self.product(a.level(), a.scale(), scale)?;
        self.one(&key, &[a], &[], &[], scale)
    }

    /// Multiplies two ciphertexts of two polynomials. The product has three.
    pub fn mul(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.shared.check_pair(a, b)?;
        check_factors(a, b)?;
        let key = OpKey::mul(a.level());
        let scale = self.product(a.level(), a.scale(), b.scale())?;
        self.one(&key, &[a, b], &[], &[], scale)
    }

    pub fn square(&self, a: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.shared.check(a)?;
        check_factors(a, a)?;
        let key = OpKey::square(a.level());
        let scale = self.product(a.level(), a.scale(), a.scale())?;
        self.one(&key, &[a], &[], &[], scale)
    }

    pub fn relinearise(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, CkksError> {
        self.shared.check(a)?;
        check_three(a)?;
        let op = OpKey::relin(a.level(), key.0.seed().is_some());
        self.one(&op, &[a], &[], &[&key.0], a.scale())
    }

    pub fn mul_relin(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinKey,
    ) -> Result<Ciphertext, CkksError> {
        self.shared.check_pair(a, b)?;
        check_factors(a, b)?;
        let op = OpKey::mul_relin(a.level(), key.0.seed().is_some());
        let scale = self.product(a.level(), a.scale(), b.scale())?;
        self.one(&op, &[a, b], &[], &[&key.0], scale)
    }

    pub fn square_relin(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, CkksError> {
        self.shared.check(a)?;
        check_factors(a, a)?;
        let op = OpKey::square_relin(a.level(), key.0.seed().is_some());
        let scale = self.product(a.level(), a.scale(), a.scale())?;
        self.one(&op, &[a], &[], &[&key.0], scale)
    }

    /// Divides the ciphertext by the last prime of its level, with rounding. The result is one level lower.
    pub fn rescale(&self, a: &Ciphertext) -> Result<Ciphertext, CkksError> {
        self.shared.check(a)?;
        let op = OpKey::rescale(a.level(), a.size() as u32);
        let last = self
            .params()
            .moduli()
            .get(a.level().index())
            .map_or(1.0, |&q| q as f64);
        self.one(&op, &[a], &[], &[], a.scale() / last)
    }

    /// Drops primes of the ciphertext down to `level`. The scale stays.
    ///
    /// # Errors
    /// [`RlweError::LevelMismatch`] if `level` is above the ciphertext's, and [`CkksError::Scale`] if the scale is too
    /// large for `level`. Also fails for a ciphertext of other parameters.
    pub fn mod_switch(&self, a: &Ciphertext, level: Level) -> Result<Ciphertext, CkksError> {
        self.shared.check(a)?;
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
        let polys = a.polys().iter().map(|p| p.first(length)).collect();
        let (scale, key_id) = (a.scale(), a.key_id());
        let cipher = Ciphertext::trusted(self.params(), level, Scale(scale), polys, key_id);
        Ok(opaque(cipher)?)
    }

    /// Rotates the slots: slot i of the result is slot i + `step` of `a`, cyclically. A rotation by 0 is `a`. If `keys`
    /// has no key for the step, it rotates by the powers of two of the step's non-adjacent form, the least first, as
    /// SEAL does.
    ///
    /// # Errors
    /// [`RlweError::MissingKey`] if the step's key is missing, and so is that of one of its powers of two.
    /// [`RlweError::RotationStep`] for a step of N / 2 or more in absolute value. Also fails for a ciphertext of other
    /// parameters and, unless the step is 0, for one of three polynomials.
    pub fn rotate(
        &self,
        a: &Ciphertext,
        step: i64,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, CkksError> {
        self.shared.rotate(a, step, keys, OpKey::rotate)
    }

    pub fn conjugate(&self, a: &Ciphertext, keys: &GaloisKeys) -> Result<Ciphertext, CkksError> {
        let element = self.params().conjugation_element();
        self.shared.automorphism(a, element, keys, OpKey::rotate)
    }

    /// Returns twice the real part of each slot: the sum of a ciphertext and its conjugate.
    ///
    /// # Errors
    /// Fails for a ciphertext of other parameters or of three polynomials, and if `keys` lack the key of the
    /// conjugation.
    pub fn two_real(&self, a: &Ciphertext, keys: &GaloisKeys) -> Result<Ciphertext, CkksError> {
        let element = self.params().conjugation_element();
        self.shared.automorphism(a, element, keys, OpKey::two_real)
    }

    /// Rotates the slots by several steps that share one decomposition of the ciphertext. Returns one result for each
    /// step, for which `keys` must have the key. Either all these keys must come with seeds, or none. A step of 0 is
    /// refused, and so is an empty list.
    pub fn rotate_hoisted(
        &self,
        a: &Ciphertext,
        steps: &[i64],
        keys: &GaloisKeys,
    ) -> Result<Vec<Ciphertext>, CkksError> {
        self.shared
            .rotate_hoisted(a, steps, keys, OpKey::hoisted_rotate)
    }
}
