// SPDX-License-Identifier: Apache-2.0
//! The common part of the evaluators of all ring schemes: checks of operands, calls of procedures, and rotations by
//! the keys that the caller has.

use std::fmt;
use std::sync::Arc;

use ringmill_isa::{Galois, Level};

use super::cipher::{Annotation, Ciphertext};
use super::error::RlweError;
use super::key::{GaloisKeys, KSwitchKey};
use super::ops::{OpKey, Table};
use super::params::{Params, RingParams};
use crate::cache::ProcCache;
use crate::scheme::{Operation, Scheme};
use ringmill_device::KeyId;
use ringmill_device::Limbed;
use ringmill_device::call::{Interpreted, Results, Runs, call};

/// Runs operations of scheme `S`, by default on the reference interpreter.
pub(crate) struct Evaluation<S: Scheme> {
    cache: Arc<ProcCache<S>>,
    runs: Arc<dyn Runs>,
}

impl<S: Scheme> fmt::Debug for Evaluation<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cache.fmt(f)
    }
}

impl<S, T, A> Evaluation<S>
where
    S: Scheme<Params = T::Params, Operation = OpKey<T>, Annotation = A, Error = T::Error>,
    T: Table,
    A: Annotation,
{
    pub fn new(params: Arc<S::Params>) -> Self {
        Self::on(params, Arc::new(Interpreted))
    }

    pub fn on(params: Arc<S::Params>, runs: Arc<dyn Runs>) -> Self {
        Self {
            cache: Arc::new(ProcCache::new(params)),
            runs,
        }
    }

    pub fn cache(&self) -> &Arc<ProcCache<S>> {
        &self.cache
    }

    pub fn params(&self) -> &Params {
        self.cache.params().ring_params()
    }

    pub fn check(&self, a: &Ciphertext<A>) -> Result<(), RlweError> {
        self.params().check_id("ciphertext", a.params_id())
    }

    /// Refuses two ciphertext operands that do not belong to the parameters, or whose levels differ.
    pub fn check_pair(&self, a: &Ciphertext<A>, b: &Ciphertext<A>) -> Result<(), RlweError> {
        self.check(a)?;
        self.check(b)?;
        check_level("second operand", a.level(), b.level())
    }

    /// Runs one operation. The results have the level that the operation gives them, and the annotation
    /// `annotation`. Transparent results, which hide nothing, are refused.
    pub fn all(
        &self,
        op: &OpKey<T>,
        ciphers: &[&Ciphertext<A>],
        plains: &[&dyn Limbed],
        keys: &[&KSwitchKey],
        annotation: A,
    ) -> Result<Vec<Ciphertext<A>>, S::Error> {
        for k in keys {
            self.params().check_id("key-switching key", k.params_id())?;
        }
        let operands = ciphers.iter().map(|c| ("ciphertext", c.key_id()));
        let switching = keys.iter().map(|k| ("key-switching key", k.key_id()));
        let key_id = KeyId::common(operands.chain(switching)).map_err(RlweError::from)?;
        let procedure = self.cache.get(op)?;
        let ciphers = ciphers.iter().map(|&c| c as &dyn Limbed);
        let keys = keys.iter().map(|&k| k as &dyn Limbed);
        let operands: Vec<&dyn Limbed> =
            ciphers.chain(plains.iter().copied()).chain(keys).collect();
        if operands.len() != op.operands() {
            return Err(RlweError::Length {
                what: "the list of operands",
                expected: op.operands(),
                got: operands.len(),
            }
            .into());
        }
        let made_of = Results {
            size: op.result_size(),
            passes_through: &|poly| op.passes_through(poly),
            short: self.params().short_words(),
        };
        let results = call(&*self.runs, &procedure, &operands, &made_of);
        let results = results.map_err(RlweError::from)?;
        let level = op.result_level(self.params())?;
        let cipher = |polys| {
            let annotation = annotation.clone();
            let cipher = Ciphertext::trusted(self.params(), level, annotation, polys, key_id);
            Ok(opaque(cipher)?)
        };
        results.into_iter().map(cipher).collect()
    }

    /// Runs an operation with one result, as [`Evaluation::all`] does.
    pub fn one(
        &self,
        op: &OpKey<T>,
        ciphers: &[&Ciphertext<A>],
        plains: &[&dyn Limbed],
        keys: &[&KSwitchKey],
        annotation: A,
    ) -> Result<Ciphertext<A>, S::Error> {
        let none = || RlweError::Length {
            what: "result",
            expected: 1,
            got: 0,
        };
        let result = self.all(op, ciphers, plains, keys, annotation)?.pop();
        Ok(result.ok_or_else(none)?)
    }

    /// Computes the automorphism a(x^g) for the Galois element g = `element` and switches it back to the secret key.
    /// The function `op` returns the scheme's operation for a level, a Galois element, and a key with or without a
    /// seed.
    pub fn automorphism(
        &self,
        a: &Ciphertext<A>,
        element: Galois,
        keys: &GaloisKeys,
        op: impl Fn(Level, Galois, bool) -> OpKey<T>,
    ) -> Result<Ciphertext<A>, S::Error> {
        self.check(a)?;
        check_two(a)?;
        let key = keys.get(element)?;
        let op = op(a.level(), element, key.seed().is_some());
        self.one(&op, &[a], &[], &[key], a.annotation().clone())
    }

    /// Rotates the rows of N / 2 slots, one row in CKKS and two in BFV and BGV. Slot i of a row of the result is
    /// slot i + `step` of `a`, cyclically. A rotation by 0 is `a`. If `keys` has no key for the step, it rotates by
    /// the powers of two of the step's non-adjacent form, the least first, as SEAL does.
    pub fn rotate(
        &self,
        a: &Ciphertext<A>,
        step: i64,
        keys: &GaloisKeys,
        op: impl Fn(Level, Galois, bool) -> OpKey<T>,
    ) -> Result<Ciphertext<A>, S::Error> {
        self.check(a)?;
        if step == 0 {
            return Ok(a.clone());
        }
        let params = self.params();
        let element = params.galois_element(step)?;
        if keys.get(element).is_ok() {
            return self.automorphism(a, element, keys, op);
        }
        let mut elements = Vec::new();
        for power in powers_of_two(step) {
            // A rotation by all slots changes nothing.
            if power.unsigned_abs() == params.degree() as u64 / 2 {
                continue;
            }
            let element = params.galois_element(power)?;
            keys.get(element)
                .map_err(|_| RlweError::MissingKey(missing_rotation(step, power)))?;
            elements.push(element);
        }
        let mut turned: Option<Ciphertext<A>> = None;
        for element in elements {
            turned = Some(self.automorphism(turned.as_ref().unwrap_or(a), element, keys, &op)?);
        }
        Ok(turned.unwrap_or_else(|| a.clone()))
    }

    /// Rotates the slots by several numbers of places `steps`, with one decomposition of the ciphertext for all.
    /// Returns one result for each step. Either all keys must come with seeds, or none. A step of 0 is refused, and so
    /// is an empty list.
    pub fn rotate_hoisted(
        &self,
        a: &Ciphertext<A>,
        steps: &[i64],
        keys: &GaloisKeys,
        op: impl Fn(Level, Vec<Galois>, bool) -> OpKey<T>,
    ) -> Result<Vec<Ciphertext<A>>, S::Error> {
        let elements = steps.iter().map(|&s| self.params().galois_element(s));
        let elements = elements.collect::<Result<Vec<_>, _>>()?;
        self.automorphisms(a, elements, keys, op)
    }

    /// Computes several automorphisms that share one decomposition of the ciphertext. Returns one result for each
    /// Galois element. Either all keys must come with seeds, or none.
    pub fn automorphisms(
        &self,
        a: &Ciphertext<A>,
        elements: Vec<Galois>,
        keys: &GaloisKeys,
        op: impl Fn(Level, Vec<Galois>, bool) -> OpKey<T>,
    ) -> Result<Vec<Ciphertext<A>>, S::Error> {
        self.check(a)?;
        check_two(a)?;
        let keys = elements.iter().map(|&g| keys.get(g));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let seeded = keys.iter().all(|k| k.seed().is_some());
        let op = op(a.level(), elements, seeded);
        self.all(&op, &[a], &[], &keys, a.annotation().clone())
    }
}

/// Refuses a ciphertext whose message is visible without the secret key.
pub(crate) fn opaque<A: Annotation>(cipher: Ciphertext<A>) -> Result<Ciphertext<A>, RlweError> {
    if cipher.is_transparent() {
        Err(RlweError::Transparent)
    } else {
        Ok(cipher)
    }
}

pub(crate) fn check_level(
    what: &'static str,
    expected: Level,
    got: Level,
) -> Result<(), RlweError> {
    if expected == got {
        return Ok(());
    }
    Err(RlweError::LevelMismatch {
        what,
        expected,
        got,
    })
}

fn check_size<A: Annotation>(
    what: &'static str,
    expected: usize,
    a: &Ciphertext<A>,
) -> Result<(), RlweError> {
    if a.size() == expected {
        return Ok(());
    }
    Err(RlweError::Size {
        what,
        expected: expected.to_string(),
        got: a.size(),
    })
}

/// Refuses a ciphertext that does not have two polynomials.
pub(crate) fn check_two<A: Annotation>(a: &Ciphertext<A>) -> Result<(), RlweError> {
    check_size("ciphertext operand", 2, a)
}

/// Refuses two ciphertexts whose product has more polynomials than a ciphertext may have. The product of
/// ciphertexts of a and b polynomials has a + b - 1.
pub(crate) fn check_factors<A: Annotation>(
    a: &Ciphertext<A>,
    b: &Ciphertext<A>,
) -> Result<(), RlweError> {
    let (first, second, most) = (a.size(), b.size(), Ciphertext::<A>::MAX_SIZE);
    if first + second > most + 1 {
        return Err(RlweError::Product {
            first,
            second,
            most,
        });
    }
    Ok(())
}

/// Refuses a ciphertext that does not have the three polynomials of a product before relinearisation.
pub(crate) fn check_three<A: Annotation>(a: &Ciphertext<A>) -> Result<(), RlweError> {
    check_size("ciphertext to relinearise", 3, a)
}

fn missing_rotation(step: i64, power: i64) -> String {
    if power == step {
        return format!("Galois (rotation by {step})");
    }
    format!(
        "Galois (rotation by {step}, or by {power} and the other powers of two that make it up)"
    )
}

/// Returns the non-adjacent form of the rotation `step`: the fewest signed powers of two that add up to it, the
/// least first.
pub fn powers_of_two(step: i64) -> Vec<i64> {
    let (mut rest, mut power, mut powers) = (step, 1, Vec::new());
    while rest != 0 {
        if rest % 2 != 0 {
            // 1 or -1, so that the rest is a multiple of 4.
            let digit = 2 - rest.rem_euclid(4);
            powers.push(digit * power);
            rest -= digit;
        }
        rest /= 2;
        power *= 2;
    }
    powers
}
