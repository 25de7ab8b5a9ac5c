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

/// The polynomial with coefficients c_i of x^(2i + 1), by baby steps and giant steps: with y = x^2 and k a power of two,
/// the sum over j of y^(jk) (the sum over i < k of c_(jk + i) x^(2i + 1)), relinearised once.
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
    let log_k = log2_babies(count);
    let k = 1usize << log_k;
    let (odds, giants) = steps(engine, x, count.min(k), log_k, count.div_ceil(k) - 1)?;
    let level = lowest(&odds).unwrap_or(x.level());
    let odds = odds.into_iter().map(|odd| engine.down(odd, level));
    let odds = odds.collect::<Result<Vec<_>, _>>()?;
    let inner = |j: usize, factor: Factor| -> Result<Option<Value>, BootstrapError> {
        let constants = coefficients.iter().skip(j * k);
        let mut sum: Option<Value> = None;
        for (power, &c) in odds.iter().zip(constants).filter(|(_, c)| **c != 0) {
            let term = engine.under(power, factor, c)?;
            sum = Some(match sum {
                Some(sum) => engine.add(&sum, &term)?,
                None => term,
            });
        }
        Ok(sum)
    };
    // The level of the products: where an inner sum's noise is little, or the powers' lowest.
    let target = match inner(0, factor)? {
        Some(sum) if !giants.is_empty() => engine.settle(sum)?.level(),
        _ => level,
    };
    let target = lowest(&giants).map_or(target, |giant| giant.min(target));
    // What a value's factor is divided by from `level` down to `target`.
    let mut dropped = factor;
    let primes = engine.params.moduli().get(target.primes()..level.primes());
    for &q in primes.unwrap_or_default() {
        dropped = dropped.over(q, t)?;
    }
    let raised = dropped.inverse(t)?;
    let mut sum: Option<Value> = None;
    for j in 0..=giants.len() {
        let giant = match j.checked_sub(1).and_then(|j| giants.get(j)) {
            Some(giant) => Some(engine.down(giant.clone(), target)?),
            None => None,
        };
        // The factor that is wanted, times `dropped` and the giant's own, is 1.
        let inverse = match &giant {
            Some(giant) => giant.factor().inverse(t)?,
            None => 1,
        };
        let wanted = Factor::new(t.mul(raised, inverse), t)?.modulo(factor.plain(), t);
        let Some(part) = inner(j, wanted)? else {
            continue;
        };
        let part = engine.down(part, target)?;
        let term = match giant {
            Some(giant) => engine.tensor(&part, &giant)?,
            None => part,
        };
        sum = Some(match sum {
            Some(sum) => engine.add(&term, &sum)?,
            None => term,
        });
    }
    let mut sum = sum.ok_or_else(|| BootstrapError::Parameters {
        reason: "a polynomial that is zero".into(),
    })?;
    if sum.cipher.size() > 2 {
        sum = engine.relinearise(&sum)?;
    }
    engine.settle(engine.check("a polynomial", sum)?)
}

fn lowest(values: &[Value]) -> Option<Level> {
    values.iter().map(Value::level).min()
}

/// log2 of the number k of baby steps of a polynomial of `count` odd powers: the fewest relinearisations, k - 1 for odd powers of x,
/// log2 k + 1 for squarings, the other giant steps and one.
fn log2_babies(count: usize) -> u32 {
    let cost = |log_k: &u32| (1usize << log_k) + *log_k as usize + count.div_ceil(1 << log_k);
    (0..count.max(1).ilog2() + 1).min_by_key(cost).unwrap_or(0)
}

/// The first `odd` odd powers of x, and the first `giants` powers of y^k, y = x^2 and k = 2^`log_k`.
fn steps(
    engine: &Engine<'_>,
    x: &Value,
    odd: usize,
    log_k: u32,
    giants: usize,
) -> Result<(Vec<Value>, Vec<Value>), BootstrapError> {
    // y, y^2, y^4, ...
    let mut squares: Vec<Value> = Vec::new();
    let needed = log_k as usize + usize::from(giants > 0);
    while squares.len() < needed {
        let base = squares.last().unwrap_or(x);
        let square = engine.mul(base, base)?;
        squares.push(square);
    }
    let mut odds = vec![x.clone()];
    for i in 1..odd {
        let log = i.ilog2() as usize;
        let product = match (odds.get(i - (1 << log)), squares.get(log)) {
            (Some(odd), Some(square)) => engine.mul(odd, square)?,
            _ => break,
        };
        odds.push(product);
    }
    let giants = match squares.pop() {
        Some(base) if giants > 0 => powers(engine, base, giants)?,
        _ => Vec::new(),
    };
    Ok((odds, giants))
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
