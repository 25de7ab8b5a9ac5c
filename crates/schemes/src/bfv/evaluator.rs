// SPDX-License-Identifier: Apache-2.0
//! Computes on BFV ciphertexts one operation after the other, for simple callers, by the reference interpreter or on a
//! device. Programs go through the compiler instead. All run the same procedures.

use std::sync::Arc;

use super::error::BfvError;
use super::ops::{OpKey, ProcCache};
use super::params::Params;
use super::{Bfv, Ciphertext, scalar};
use crate::exact::scalar::residues;
use crate::exact::{ExactParams, Plaintext};
use crate::rlwe::evaluator::{Evaluation, check_factors, check_three};
use crate::rlwe::{GaloisKeys, Level, RelinKey, RlweError};
use ringmill_device::call::Runs;

/// Homomorphic operations on whole BFV ciphertexts. Operands must agree in level, and operands and keys must belong to
/// one secret key. An operand or a key may lack the identity of its secret key. Then nothing checks that, and the
/// result lacks the identity, too.
///
/// Like SEAL, it refuses transparent results ([`RlweError::Transparent`]), which hide nothing, such as `a - a` or a
/// product with zero.
#[derive(Debug)]
pub struct Evaluator {
    shared: Evaluation<Bfv>,
}

impl Evaluator {
    pub fn new(params: Arc<Params>) -> Self {
        Self {
            shared: Evaluation::new(params),
        }
    }

    /// Makes an evaluator whose operations run on `runs`: a device, or anything that runs procedures.
    pub fn on(params: Arc<Params>, runs: Arc<dyn Runs>) -> Self {
        Self {
            shared: Evaluation::on(params, runs),
        }
    }

    pub fn cache(&self) -> &Arc<ProcCache> {
        self.shared.cache()
    }

    fn params(&self) -> &Params {
        self.cache().params()
    }

    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BfvError> {
        self.shared.check_pair(a, b)?;
        let op = OpKey::add(a.level(), a.size() as u32, b.size() as u32);
        self.shared.one(&op, &[a, b], &[], &[], ())
    }

    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BfvError> {
        self.shared.check_pair(a, b)?;
        let op = OpKey::sub(a.level(), a.size() as u32, b.size() as u32);
        self.shared.one(&op, &[a, b], &[], &[], ())
    }

    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, BfvError> {
        self.shared.check(a)?;
        let op = OpKey::neg(a.level(), a.size() as u32);
        self.shared.one(&op, &[a], &[], &[], ())
    }

    fn with_plain(
        &self,
        op: fn(Level, u32) -> OpKey,
        a: &Ciphertext,
        m: &Plaintext,
    ) -> Result<Ciphertext, BfvError> {
        self.shared.check(a)?;
        self.params().check_id("plaintext", m.params_id())?;
        let op = op(a.level(), a.size() as u32);
        self.shared.one(&op, &[a], &[m], &[], ())
    }

    pub fn add_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, BfvError> {
        self.with_plain(OpKey::add_plain, a, m)
    }

    pub fn sub_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, BfvError> {
        self.with_plain(OpKey::sub_plain, a, m)
    }

    pub fn mul_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, BfvError> {
        self.with_plain(OpKey::mul_plain, a, m)
    }

    /// Multiplies a ciphertext by a plaintext as [`Evaluator::mul_plain`] does, with SEAL's bits in every case. If all
    /// primes of the level are above the plaintext modulus, SEAL takes the coefficient of a plaintext of one term as an
    /// integer that is not negative. The product then has the same message and more noise.
    pub fn mul_plain_as_seal(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, BfvError> {
        let primes = self.params().cipher_moduli();
        let mut primes = primes.iter().take(a.level().primes());
        let t = self.params().plain_modulus().value();
        let monomial = m.residues().iter().filter(|&&c| c != 0).count() == 1;
        if monomial && primes.all(|&q| q > t) {
            self.with_plain(OpKey::mul_plain_unsigned, a, m)
        } else {
            self.mul_plain(a, m)
        }
    }

    /// Adds an integer, taken modulo the plaintext modulus, to coefficient 0 of the message and so to every slot.
    pub fn add_integer(&self, a: &Ciphertext, value: i128) -> Result<Ciphertext, BfvError> {
        self.shared.check(a)?;
        let term = scalar::term(self.params(), value, a.level())?;
        let op = OpKey::add_scalar(a.level(), a.size() as u32, term);
        self.shared.one(&op, &[a], &[], &[], ())
    }

    /// Multiplies every slot by an integer, taken modulo the plaintext modulus.
    pub fn mul_integer(&self, a: &Ciphertext, value: i128) -> Result<Ciphertext, BfvError> {
        self.shared.check(a)?;
        let factor = residues(self.params(), value, a.level());
        let op = OpKey::mul_scalar(a.level(), a.size() as u32, factor);
        self.shared.one(&op, &[a], &[], &[], ())
    }

    fn check_factors(&self, a: &Ciphertext, b: &Ciphertext) -> Result<(), BfvError> {
        self.shared.check_pair(a, b)?;
        Ok(check_factors(a, b)?)
    }

    /// Multiplies two ciphertexts of two polynomials. The product has three.
    pub fn mul(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BfvError> {
        self.check_factors(a, b)?;
        let op = OpKey::mul(a.level());
        self.shared.one(&op, &[a, b], &[], &[], ())
    }

    pub fn square(&self, a: &Ciphertext) -> Result<Ciphertext, BfvError> {
        self.check_factors(a, a)?;
        let op = OpKey::square(a.level());
        self.shared.one(&op, &[a], &[], &[], ())
    }

    pub fn relinearise(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, BfvError> {
        self.shared.check(a)?;
        check_three(a)?;
        let op = OpKey::relin(a.level(), key.0.seed().is_some());
        self.shared.one(&op, &[a], &[], &[&key.0], ())
    }

    pub fn mul_relin(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinKey,
    ) -> Result<Ciphertext, BfvError> {
        self.check_factors(a, b)?;
        let op = OpKey::mul_relin(a.level(), key.0.seed().is_some());
        self.shared.one(&op, &[a, b], &[], &[&key.0], ())
    }

    pub fn square_relin(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, BfvError> {
        self.check_factors(a, a)?;
        let op = OpKey::square_relin(a.level(), key.0.seed().is_some());
        self.shared.one(&op, &[a], &[], &[&key.0], ())
    }

    /// Divides the ciphertext by the last prime of its level, with rounding. The result is one level lower. The error
    /// in its phase is divided, too, so the noise relative to Q stays, but for the rounding.
    pub fn mod_switch_to_next(&self, a: &Ciphertext) -> Result<Ciphertext, BfvError> {
        self.shared.check(a)?;
        let op = OpKey::mod_switch(a.level(), a.size() as u32);
        self.shared.one(&op, &[a], &[], &[], ())
    }

    /// Divides the ciphertext by one prime after another, down to `level`.
    ///
    /// # Errors
    /// [`RlweError::LevelMismatch`] if `level` is above the ciphertext's. Also fails for a ciphertext of other
    /// parameters.
    pub fn mod_switch(&self, a: &Ciphertext, level: Level) -> Result<Ciphertext, BfvError> {
        self.shared.check(a)?;
        if level > a.level() {
            return Err(BfvError::Rlwe(RlweError::LevelMismatch {
                what: "ciphertext to switch down",
                expected: level,
                got: a.level(),
            }));
        }
        let mut switched = a.clone();
        while switched.level() > level {
            switched = self.mod_switch_to_next(&switched)?;
        }
        Ok(switched)
    }

    /// Rotates both rows of slots: column i of the result is column i + `step` of `a`, cyclically. A rotation by 0 is
    /// `a`. If `keys` has no key for the step, it rotates by the powers of two of the step's non-adjacent form, the
    /// least first, as SEAL does.
    ///
    /// # Errors
    /// [`RlweError::MissingKey`] if the step's key is missing, and so is that of one of its powers of two.
    /// [`RlweError::RotationStep`] for a step of N / 2 or more in absolute value. Also fails for a ciphertext of three
    /// polynomials.
    pub fn rotate_rows(
        &self,
        a: &Ciphertext,
        step: i64,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, BfvError> {
        self.shared.rotate(a, step, keys, OpKey::rotate)
    }

    /// Exchanges the two rows of slots, as SEAL's `rotate_columns`.
    pub fn rotate_columns(
        &self,
        a: &Ciphertext,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, BfvError> {
        let element = self.params().conjugation_element();
        self.shared.automorphism(a, element, keys, OpKey::rotate)
    }

    /// Rotates the rows of slots by several steps that share one decomposition of the ciphertext. Returns one result
    /// for each step. Either all keys come with seeds, or none. A step of 0 is refused, and so is an empty list.
    pub fn rotate_rows_hoisted(
        &self,
        a: &Ciphertext,
        steps: &[i64],
        keys: &GaloisKeys,
    ) -> Result<Vec<Ciphertext>, BfvError> {
        self.shared
            .rotate_hoisted(a, steps, keys, OpKey::hoisted_rotate)
    }
}
