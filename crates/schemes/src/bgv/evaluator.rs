// SPDX-License-Identifier: Apache-2.0
//! Computes on BGV ciphertexts one operation after the other, for simple callers, by the reference interpreter or on a
//! device. Programs go through the compiler instead. All run the same procedures.

use std::borrow::Cow;
use std::sync::Arc;

use ringmill_math::Modulus;

use super::error::BgvError;
use super::ops::{OpKey, ProcCache};
use super::params::Params;
use super::{Bgv, Ciphertext, Factor, scalar};
use crate::exact::Plaintext;
use crate::exact::scalar::residues_modulo;
use crate::rlwe::evaluator::{Evaluation, check_factors, check_three};
use crate::rlwe::{Galois, GaloisKeys, Level, RelinKey, RlweError};
use ringmill_device::call::Runs;

/// Homomorphic operations on whole BGV ciphertexts. Operands must agree in level and plaintext modulus, and operands
/// and keys must belong to one secret key. An operand or a key may lack the identity of its secret key. Then nothing
/// checks that, and the result lacks the identity, too. Correction factors may differ: sums first make them equal, by
/// [`Factor::balance`].
///
/// Like SEAL, it refuses transparent results ([`RlweError::Transparent`]), which hide nothing, such as `a - a` or a
/// product with zero.
#[derive(Debug)]
pub struct Evaluator {
    shared: Evaluation<Bgv>,
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

    /// Returns the plaintext modulus of a ciphertext with this correction factor.
    fn t(&self, factor: Factor) -> Result<Modulus, RlweError> {
        Ok(self.params().plain_at(factor.plain())?.reducer())
    }

    /// Refuses two operands of different levels or plaintext moduli.
    fn check_pair(&self, a: &Ciphertext, b: &Ciphertext) -> Result<(), RlweError> {
        self.shared.check_pair(a, b)?;
        let [expected, got] = [a, b].map(|c| c.annotation().plain());
        if expected == got {
            return Ok(());
        }
        Err(RlweError::Parameter {
            what: "plaintext modulus of the second operand",
            expected: format!("number {expected}, the first operand's"),
            got: format!("number {got}"),
        })
    }

    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BgvError> {
        self.sum(OpKey::add, a, b)
    }

    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BgvError> {
        self.sum(OpKey::sub, a, b)
    }

    fn sum(
        &self,
        op: fn(Level, u32, u32) -> OpKey,
        a: &Ciphertext,
        b: &Ciphertext,
    ) -> Result<Ciphertext, BgvError> {
        self.check_pair(a, b)?;
        let op = op(a.level(), a.size() as u32, b.size() as u32);
        let (mut a, mut b, mut factor) = (Cow::Borrowed(a), Cow::Borrowed(b), *a.annotation());
        if factor != *b.annotation() {
            let balance = Factor::balance(factor, *b.annotation(), self.t(factor)?)?;
            let [x, y] = balance.by;
            factor = balance.factor;
            a = Cow::Owned(self.times(&a, x, factor)?);
            b = Cow::Owned(self.times(&b, y, factor)?);
        }
        self.shared.one(&op, &[&*a, &*b], &[], &[], factor)
    }

    /// Returns the part of the evaluator that all ring schemes share. The operations of bootstrapping run on this part,
    /// too.
    pub(super) fn shared(&self) -> &Evaluation<Bgv> {
        &self.shared
    }

    /// Multiplies the ciphertext by the integer `by`. The result is marked with the correction factor `factor`.
    fn times(&self, a: &Ciphertext, by: u64, factor: Factor) -> Result<Ciphertext, BgvError> {
        let primes = self.params().reducers().iter().take(a.level().primes());
        let residues = primes.map(|q| q.reduce(by)).collect();
        let op = OpKey::mul_scalar(a.level(), a.size() as u32, residues);
        self.shared.one(&op, &[a], &[], &[], factor)
    }

    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, BgvError> {
        self.shared.check(a)?;
        let op = OpKey::neg(a.level(), a.size() as u32);
        self.shared.one(&op, &[a], &[], &[], *a.annotation())
    }

    fn with_plain(
        &self,
        op: &OpKey,
        a: &Ciphertext,
        m: &Plaintext,
    ) -> Result<Ciphertext, BgvError> {
        self.shared.check(a)?;
        self.params().check_id("plaintext", m.params_id())?;
        self.shared.one(op, &[a], &[m], &[], *a.annotation())
    }

    pub fn add_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, BgvError> {
        let op = OpKey::add_plain(a.level(), a.size() as u32, *a.annotation());
        self.with_plain(&op, a, m)
    }

    pub fn sub_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, BgvError> {
        let op = OpKey::sub_plain(a.level(), a.size() as u32, *a.annotation());
        self.with_plain(&op, a, m)
    }

    pub fn mul_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, BgvError> {
        let op = OpKey::mul_plain(a.level(), a.size() as u32).modulo(a.annotation().plain());
        self.with_plain(&op, a, m)
    }

    /// Adds an integer, taken modulo the plaintext modulus, to coefficient 0 of the message and so to every slot.
    pub fn add_integer(&self, a: &Ciphertext, value: i128) -> Result<Ciphertext, BgvError> {
        self.shared.check(a)?;
        let factor = *a.annotation();
        let term = scalar::term(self.params(), value, factor, a.level())?;
        let op = OpKey::add_scalar(a.level(), a.size() as u32, term);
        self.shared.one(&op, &[a], &[], &[], factor)
    }

    /// Multiplies every slot by an integer, taken modulo the plaintext modulus.
    pub fn mul_integer(&self, a: &Ciphertext, value: i128) -> Result<Ciphertext, BgvError> {
        self.shared.check(a)?;
        let t = self.params().plain_at(a.annotation().plain())?;
        let factor = residues_modulo(self.params(), t, value, a.level());
        let op = OpKey::mul_scalar(a.level(), a.size() as u32, factor);
        self.shared.one(&op, &[a], &[], &[], *a.annotation())
    }

    /// Returns the correction factor of the product of `a` and `b`. Refuses ciphertexts that cannot be multiplied.
    fn product(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Factor, BgvError> {
        self.check_pair(a, b)?;
        check_factors(a, b)?;
        let (f, g) = (*a.annotation(), *b.annotation());
        Ok(f.times(g, self.t(f)?))
    }

    /// Multiplies two ciphertexts of two polynomials. The product has three.
    pub fn mul(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, BgvError> {
        let factor = self.product(a, b)?;
        let op = OpKey::mul(a.level());
        self.shared.one(&op, &[a, b], &[], &[], factor)
    }

    pub fn square(&self, a: &Ciphertext) -> Result<Ciphertext, BgvError> {
        let factor = self.product(a, a)?;
        let op = OpKey::square(a.level());
        self.shared.one(&op, &[a], &[], &[], factor)
    }

    pub fn relinearise(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, BgvError> {
        self.shared.check(a)?;
        check_three(a)?;
        let op = OpKey::relin(a.level(), key.0.seed().is_some()).modulo(a.annotation().plain());
        self.shared.one(&op, &[a], &[], &[&key.0], *a.annotation())
    }

    pub fn mul_relin(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinKey,
    ) -> Result<Ciphertext, BgvError> {
        let factor = self.product(a, b)?;
        let op = OpKey::mul_relin(a.level(), key.0.seed().is_some()).modulo(factor.plain());
        self.shared.one(&op, &[a, b], &[], &[&key.0], factor)
    }

    pub fn square_relin(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, BgvError> {
        let factor = self.product(a, a)?;
        let op =
            OpKey::square_relin(a.level(), key.0.seed().is_some()).modulo(a.annotation().plain());
        self.shared.one(&op, &[a], &[], &[&key.0], factor)
    }

    /// Divides the ciphertext by the last prime of its level. The result is one level lower. Its noise is divided by
    /// the prime and grows by that of the rounding. Its correction factor is divided by the prime modulo the plaintext
    /// modulus.
    pub fn mod_switch_to_next(&self, a: &Ciphertext) -> Result<Ciphertext, BgvError> {
        self.shared.check(a)?;
        let op = OpKey::mod_switch(a.level(), a.size() as u32).modulo(a.annotation().plain());
        let last = self.params().moduli().get(a.level().index()).copied();
        let factor = a
            .annotation()
            .over(last.unwrap_or(1), self.t(*a.annotation())?)?;
        self.shared.one(&op, &[a], &[], &[], factor)
    }

    /// Divides the ciphertext by one prime after another, down to `level`.
    ///
    /// # Errors
    /// [`RlweError::LevelMismatch`] if `level` is above the ciphertext's. Also fails for a ciphertext of other
    /// parameters.
    pub fn mod_switch(&self, a: &Ciphertext, level: Level) -> Result<Ciphertext, BgvError> {
        self.shared.check(a)?;
        if level > a.level() {
            return Err(BgvError::Rlwe(RlweError::LevelMismatch {
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
    ) -> Result<Ciphertext, BgvError> {
        let plain = a.annotation().plain();
        let op = |level, g, seeded| OpKey::rotate(level, g, seeded).modulo(plain);
        self.shared.rotate(a, step, keys, op)
    }

    /// Exchanges the two rows of slots, as SEAL's `rotate_columns`.
    pub fn rotate_columns(
        &self,
        a: &Ciphertext,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, BgvError> {
        self.automorphism(a, self.params().conjugation_element(), keys)
    }

    /// Computes the automorphism a(x^g) for Galois element g and switches it back to the secret key.
    ///
    /// # Errors
    /// [`RlweError::MissingKey`] if the Galois key of the element is missing.
    pub fn automorphism(
        &self,
        a: &Ciphertext,
        element: Galois,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, BgvError> {
        let plain = a.annotation().plain();
        let op = |level, g, seeded| OpKey::rotate(level, g, seeded).modulo(plain);
        self.shared.automorphism(a, element, keys, op)
    }

    /// Computes several automorphisms a(x^g) of one ciphertext that share its decomposition. Returns one result for
    /// each Galois element g. Either all keys come with seeds, or none.
    pub fn automorphisms_hoisted(
        &self,
        a: &Ciphertext,
        elements: &[Galois],
        keys: &GaloisKeys,
    ) -> Result<Vec<Ciphertext>, BgvError> {
        let plain = a.annotation().plain();
        let op = |level, elements, seeded| {
            OpKey::hoisted_rotate(level, Vec::into_iter(elements), seeded).modulo(plain)
        };
        self.shared.automorphisms(a, elements.to_vec(), keys, op)
    }

    /// Rotates the rows of slots by several steps that share one decomposition of the ciphertext. Returns one result
    /// for each step. Either all keys come with seeds, or none. A step of 0 is refused, and so is an empty list.
    pub fn rotate_rows_hoisted(
        &self,
        a: &Ciphertext,
        steps: &[i64],
        keys: &GaloisKeys,
    ) -> Result<Vec<Ciphertext>, BgvError> {
        let plain = a.annotation().plain();
        let op = |level, elements, seeded| {
            OpKey::hoisted_rotate(level, Vec::into_iter(elements), seeded).modulo(plain)
        };
        self.shared.rotate_hoisted(a, steps, keys, op)
    }
}
