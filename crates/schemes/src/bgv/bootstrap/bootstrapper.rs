//! Thin bootstrapping, whole.

use std::fmt;
use std::sync::Arc;

use ringmill_isa::Level;

use super::digits::lowest_digit_polynomial;
use super::error::BootstrapError;
use super::keys::BootstrapKeys;
use super::maps::Maps;
use super::params::Bootstrapping;
use super::value::{Engine, Value};
use crate::bgv::{Evaluator, ExactParams, Factor, NoiseModel, OpKey};
use crate::rlwe::RlweError;
use crate::rlwe::evaluator::check_two;

/// The steps of a bootstrap, in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    ToCoefficients,
    Encapsulate,
    Raise,
    Trace,
    ToSlots,
    RemoveDigits,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ToCoefficients => "slots to coefficients",
            Self::Encapsulate => "encapsulation",
            Self::Raise => "the raising of the modulus",
            Self::Trace => "the trace",
            Self::ToSlots => "coefficients to slots",
            Self::RemoveDigits => "digit removal",
        })
    }
}

/// Sees what each step makes.
pub type Observer<'a> = &'a mut dyn FnMut(Step, &Value);

/// Bootstraps ciphertexts of one parameter set.
pub struct Bootstrapper {
    setup: Bootstrapping,
    maps: Maps,
    evaluator: Evaluator,
    /// One a plaintext modulus.
    models: Vec<NoiseModel>,
    /// For each digit that is removed, the first first, the coefficients of x, x^3, ... of x less its lowest digit.
    removers: Vec<Vec<u64>>,
    start: Level,
}

impl Bootstrapper {
    /// # Errors
    /// Maps of other parameters.
    pub fn new(setup: Bootstrapping, maps: Maps) -> Result<Self, BootstrapError> {
        let params = Arc::clone(setup.params());
        let model = NoiseModel::of_program(&params, 1 << 10);
        let models: Vec<NoiseModel> = params
            .plain_moduli()
            .into_iter()
            .map(|t| model.modulo(t))
            .collect();
        let mut removers = Vec::new();
        for plain in (1..=params.last_plain()).rev() {
            let power = params.prime_power()?;
            let power = power.with_exponent(power.exponent() + u32::from(plain))?;
            let t = params.plain_at(plain)?.reducer();
            let digit = lowest_digit_polynomial(power)?;
            let mut odd: Vec<u64> = digit.iter().skip(1).step_by(2).map(|&c| t.neg(c)).collect();
            if let Some(linear) = odd.first_mut() {
                *linear = t.add(*linear, 1);
            }
            removers.push(odd);
        }
        let start = setup.start()?;
        Ok(Self {
            evaluator: Evaluator::new(Arc::clone(&params)),
            setup,
            maps,
            models,
            removers,
            start,
        })
    }

    pub fn setup(&self) -> &Bootstrapping {
        &self.setup
    }

    pub fn maps(&self) -> &Maps {
        &self.maps
    }

    /// The level that ciphertexts are bootstrapped from: at it or above.
    pub fn start(&self) -> Level {
        self.start
    }

    /// A ciphertext of the same integers in slots, with as much noise as its bound says, at a high level. The bound of what comes in
    /// is what [`NoiseModel`] gives.
    ///
    /// # Errors
    /// [`BootstrapError::NoLevel`] below [`Bootstrapper::start`]; missing keys, keys or ciphertexts of other parameters;
    /// [`BootstrapError::NoRoom`] where the parameters have too few primes.
    pub fn bootstrap(&self, value: &Value, keys: &BootstrapKeys) -> Result<Value, BootstrapError> {
        self.observed(value, keys, &mut |_, _| {})
    }

    /// The same, with each step's result shown.
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`].
    pub fn observed(
        &self,
        value: &Value,
        keys: &BootstrapKeys,
        observe: Observer<'_>,
    ) -> Result<Value, BootstrapError> {
        let params = &**self.setup.params();
        let cipher = &value.cipher;
        params.check_id("ciphertext", cipher.params_id())?;
        params.check_id("bootstrapping key", keys.secret.params_id())?;
        check_two(cipher)?;
        if cipher.annotation().plain() != 0 {
            return Err(BootstrapError::Bgv(
                RlweError::Parameter {
                    what: "plaintext modulus of a ciphertext to bootstrap",
                    expected: "t, number 0".into(),
                    got: format!("number {}", cipher.annotation().plain()),
                }
                .into(),
            ));
        }
        let (got, needed) = (cipher.level(), self.start);
        if got < needed {
            return Err(BootstrapError::NoLevel { got, needed });
        }
        let engine = Engine {
            params,
            evaluator: &self.evaluator,
            models: &self.models,
            keys,
        };
        let mut value = engine.down(value.clone(), self.start)?;
        value = engine.map(value, &self.maps.to_coefficients, &keys.low)?;
        observe(Step::ToCoefficients, &value);
        let value = engine.down(value, self.setup.inner())?;
        let value = self.encapsulated(&engine, &value)?;
        self.setup.check(value.noise)?;
        observe(Step::Encapsulate, &value);
        let (mut value, outer) = self.raised(&engine, &value)?;
        observe(Step::Raise, &value);
        value = engine.map(value, &self.maps.trace, &keys.high)?;
        observe(Step::Trace, &value);
        value = engine.map(value, &self.maps.to_slots, &keys.high)?;
        observe(Step::ToSlots, &value);
        let p = params.prime_power()?.prime();
        for remover in &self.removers {
            value = odd_polynomial(&engine, &value, remover)?;
            value = engine.divide(&value, p)?;
        }
        let t = params.plain_modulus().reducer();
        let factor = value.factor().times(outer, t);
        value.cipher = value.cipher.with_annotation(factor);
        let value = engine.check("a bootstrap", value)?;
        observe(Step::RemoveDigits, &value);
        Ok(value)
    }

    fn encapsulated(&self, engine: &Engine<'_>, a: &Value) -> Result<Value, BootstrapError> {
        let (level, key) = (a.level(), &engine.keys.encapsulation);
        let op = OpKey::encapsulate(level, key.seed().is_some());
        let shared = self.evaluator.shared();
        Ok(Value {
            cipher: shared.one(&op, &[&a.cipher], &[], &[key], a.factor())?,
            noise: engine
                .model(a.factor())?
                .encapsulate(a.noise, level, self.setup.weight()),
        })
    }

    /// An encryption modulo p^e, of factor 1, and the factor that its message p^(e-r) m + rho has for the message that was: f / q.
    fn raised(&self, engine: &Engine<'_>, a: &Value) -> Result<(Value, Factor), BootstrapError> {
        let params = engine.params;
        let t = params.plain_modulus().reducer();
        let mut outer = a.factor();
        for &q in params.moduli().iter().take(a.level().primes()) {
            outer = outer.over(q, t)?;
        }
        let factor = Factor::one_modulo(params.last_plain());
        let op = OpKey::raise(a.level());
        let shared = self.evaluator.shared();
        let cipher = shared.one(&op, &[&a.cipher, &engine.keys.secret], &[], &[], factor)?;
        let noise = engine.model(factor)?.raised(self.setup.weight());
        Ok((Value { cipher, noise }, outer))
    }
}

/// The polynomial with coefficients c_i of x^(2i + 1), by baby steps and giant steps in y = x^2: with k about the square root of
/// their number, x (sum over j of (sum over i < k of c_(jk + i) y^i) y^(jk)), the sum over j relinearised once.
///
/// Constants carry the factors: each inner sum has the factor that its product with a power of y needs.
fn odd_polynomial(
    engine: &Engine<'_>,
    x: &Value,
    coefficients: &[u64],
) -> Result<Value, BootstrapError> {
    let factor = Factor::one_modulo(x.factor().plain());
    let t = engine.t(factor)?;
    let count = coefficients.len();
    let k = (1..=count).find(|k| k * k >= count).unwrap_or(1);
    // Powers 1, 2, ... of y, then those of y^k.
    let first = engine.mul(x, x)?;
    let babies = powers(engine, first, k)?;
    let giants = match babies.get(k - 1) {
        Some(giant) if count > k => powers(engine, giant.clone(), count.div_ceil(k) - 1)?,
        _ => Vec::new(),
    };
    let lowest = |values: &[Value]| values.iter().map(Value::level).min();
    let level = lowest(babies.get(..k - 1).unwrap_or_default()).unwrap_or(x.level());
    let below = babies.iter().take(k - 1);
    let babies = below.map(|b| engine.down(b.clone(), level));
    let babies = babies.collect::<Result<Vec<_>, _>>()?;
    // Of each inner sum of noise at least what its constants make; then all at one level.
    let inner = |from: usize, factor: Factor| -> Result<Inner, BootstrapError> {
        let constants = coefficients
            .get(from..count.min(from + k))
            .unwrap_or_default();
        let mut sum: Option<Value> = None;
        for (power, &c) in babies.iter().zip(constants.iter().skip(1)) {
            if c == 0 {
                continue;
            }
            let term = engine.under(power, factor, c)?;
            sum = Some(match sum {
                Some(sum) => engine.add(&sum, &term)?,
                None => term,
            });
        }
        let constant = constants.first().copied().unwrap_or(0);
        Ok(match sum {
            Some(sum) => Inner::Sum(engine.add_integer(&sum, constant)?),
            None => Inner::Constant(constant),
        })
    };
    let target = {
        let zeroth = inner(0, factor)?;
        let settled = match zeroth {
            Inner::Sum(sum) => engine.settle(sum)?.level(),
            Inner::Constant(_) => level,
        };
        lowest(&giants).map_or(settled, |giant| giant.min(settled))
    };
    // What a value's factor is divided by from `level` down to `target`.
    let mut dropped = factor;
    let primes = engine.params.moduli().get(target.primes()..level.primes());
    for &q in primes.unwrap_or_default() {
        dropped = dropped.over(q, t)?;
    }
    let raised = dropped.inverse(t)?;
    let (mut sum, mut constant): (Option<Value>, u64) = (None, 0);
    for j in 0..=giants.len() {
        let giant = match j.checked_sub(1).and_then(|j| giants.get(j)) {
            Some(giant) => Some(engine.down(giant.clone(), target)?),
            None => None,
        };
        // f / dropped times the giant's factor is 1.
        let inverse = match &giant {
            Some(giant) => giant.factor().inverse(t)?,
            None => 1,
        };
        let scaled = factor.modulo(factor.plain(), t);
        let wanted = Factor::new(t.mul(raised, inverse), t)?.modulo(scaled.plain(), t);
        let term = match (inner(j * k, wanted)?, giant) {
            (Inner::Sum(sum), Some(giant)) => {
                let sum = engine.down(sum, target)?;
                Some(engine.tensor(&sum, &giant)?)
            }
            (Inner::Sum(sum), None) => Some(engine.down(sum, target)?),
            (Inner::Constant(0), _) => None,
            (Inner::Constant(c), Some(giant)) => Some(engine.under(&giant, factor, c)?),
            (Inner::Constant(c), None) => {
                constant = c;
                None
            }
        };
        sum = match (sum, term) {
            (Some(sum), Some(term)) => Some(engine.add(&term, &sum)?),
            (sum, term) => sum.or(term),
        };
    }
    let Some(mut sum) = sum else {
        return engine.under(x, factor, constant);
    };
    if sum.cipher.size() > 2 {
        sum = engine.relinearise(&sum)?;
    }
    if constant != 0 {
        sum = engine.add_integer(&sum, constant)?;
    }
    let sum = engine.settle(engine.check("a polynomial", sum)?)?;
    engine.mul(&sum, x)
}

/// What baby steps make.
enum Inner {
    Sum(Value),
    Constant(u64),
}

/// Powers 1 to `count` of a value.
fn powers(engine: &Engine<'_>, base: Value, count: usize) -> Result<Vec<Value>, BootstrapError> {
    let mut all = vec![base];
    for i in 2..=count {
        let (half, rest) = (i / 2, i - i / 2);
        let product = match (all.get(half - 1), all.get(rest - 1)) {
            (Some(a), Some(b)) => engine.mul(a, b)?,
            _ => break,
        };
        all.push(product);
    }
    all.truncate(count);
    Ok(all)
}
