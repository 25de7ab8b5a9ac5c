// SPDX-License-Identifier: Apache-2.0
//! Thin bootstrapping, whole.

use std::fmt;
use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_math::digits::{DigitRemoval, PlanCosts, PlanCount};

use super::error::BootstrapError;
use super::keys::BootstrapKeys;
use super::maps::{Constants, Maps};
use super::params::Bootstrapping;
use super::plan;
use super::table::Table;
use super::value::{Engine, Value};
use crate::bgv::{Evaluator, ExactParams, Factor, NoiseModel, OpKey};
use crate::rlwe::RlweError;
use crate::rlwe::evaluator::check_two;
use ringmill_device::call::{Interpreted, Runs};

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
    /// Of the maps, in the order in which they come.
    constants: [Constants; 3],
    pub(super) evaluator: Evaluator,
    /// One a plaintext modulus.
    models: Vec<NoiseModel>,
    removal: DigitRemoval,
    start: Level,
}

impl Bootstrapper {
    /// By the reference interpreter.
    ///
    /// # Errors
    /// Maps of other parameters.
    pub fn new(setup: Bootstrapping, maps: Maps) -> Result<Self, BootstrapError> {
        Self::on(setup, maps, Arc::new(Interpreted))
    }

    /// By what runs procedures fast.
    ///
    /// # Errors
    /// Maps of other parameters.
    pub fn on(
        setup: Bootstrapping,
        maps: Maps,
        runs: Arc<dyn Runs>,
    ) -> Result<Self, BootstrapError> {
        let params = Arc::clone(setup.params());
        params.check_id("linear maps", maps.params_id())?;
        let model = NoiseModel::of_program(&params, 1 << 10);
        let models: Vec<NoiseModel> = params
            .plain_moduli()
            .into_iter()
            .map(|t| model.modulo(t))
            .collect();
        let top = setup.top()?;
        let digits = u32::from(params.last_plain());
        let removal = DigitRemoval::by(
            setup.removal(),
            top.prime(),
            top.exponent(),
            digits,
            setup.bound(),
            PlanCosts::default(),
        )?;
        let start = setup.start()?;
        Ok(Self {
            evaluator: Evaluator::on(Arc::clone(&params), runs),
            setup,
            maps,
            constants: Default::default(),
            models,
            removal,
            start,
        })
    }

    pub fn setup(&self) -> &Bootstrapping {
        &self.setup
    }

    /// What the removal of digits takes: products with a key, depth.
    pub fn removal(&self) -> PlanCount {
        self.removal.count()
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

    /// The same of what a table makes of the integer in each slot: one polynomial of degree p - 1 more.
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`]; a table of other parameters.
    pub fn bootstrap_table(
        &self,
        value: &Value,
        table: &Table,
        keys: &BootstrapKeys,
    ) -> Result<Value, BootstrapError> {
        self.setup.params().check_id("table", table.params_id())?;
        let fresh = self.bootstrap(value, keys)?;
        plan::run(&self.engine(keys), table.plan(), vec![fresh])
    }

    pub(super) fn constants(&self) -> &[Constants; 3] {
        &self.constants
    }

    pub(super) fn engine<'a>(&'a self, keys: &'a BootstrapKeys) -> Engine<'a> {
        Engine {
            params: self.setup.params(),
            evaluator: &self.evaluator,
            models: &self.models,
            keys,
        }
    }

    /// [`Bootstrapper::bootstrap`] with each step's result shown.
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`].
    pub fn observed(
        &self,
        value: &Value,
        keys: &BootstrapKeys,
        observe: Observer<'_>,
    ) -> Result<Value, BootstrapError> {
        self.check_operand(value, keys, self.start)?;
        let engine = self.engine(keys);
        let [low, traced, high] = &self.constants;
        let mut value = engine.down(value, self.start)?;
        value = engine.map(value, (&self.maps.to_coefficients, low), &keys.low)?;
        observe(Step::ToCoefficients, &value);
        let (mut value, outer) = self.refreshed(&engine, &value, observe)?;
        value = engine.map(value, (&self.maps.trace, traced), &keys.high)?;
        observe(Step::Trace, &value);
        value = engine.map(value, (&self.maps.to_slots, high), &keys.high)?;
        observe(Step::ToSlots, &value);
        let value = self.without_digits(&engine, value, outer)?;
        observe(Step::RemoveDigits, &value);
        Ok(value)
    }

    /// Refuses what is not to be bootstrapped from a level, or not by these keys.
    pub(super) fn check_operand(
        &self,
        value: &Value,
        keys: &BootstrapKeys,
        needed: Level,
    ) -> Result<(), BootstrapError> {
        let params = self.setup.params();
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
        let got = cipher.level();
        if got < needed {
            return Err(BootstrapError::NoLevel { got, needed });
        }
        Ok(())
    }

    /// An encryption modulo p^e at the highest level, with rho below the message in every coefficient, and the factor that its
    /// message has for the one that was.
    pub(super) fn refreshed(
        &self,
        engine: &Engine<'_>,
        value: &Value,
        observe: Observer<'_>,
    ) -> Result<(Value, Factor), BootstrapError> {
        let inner = self.setup.inner();
        let value = engine.down(value, inner)?;
        if value.level() != inner {
            let step = "slots to coefficients";
            let level = value.level();
            return Err(BootstrapError::NoRoom { step, level });
        }
        let value = self.encapsulated(engine, &value)?;
        self.setup.check(value.noise)?;
        observe(Step::Encapsulate, &value);
        let (value, outer) = self.raised(engine, &value)?;
        observe(Step::Raise, &value);
        Ok((value, outer))
    }

    /// Integers in slots modulo p^r, of those modulo p^e with rho below them, under the factor `outer` of what they are.
    pub(super) fn without_digits(
        &self,
        engine: &Engine<'_>,
        mut value: Value,
        outer: Factor,
    ) -> Result<Value, BootstrapError> {
        let params = engine.params;
        let p = params.prime_power()?.prime();
        for round in self.removal.rounds() {
            value = plan::run(engine, &round.plan, vec![value])?;
            value = engine.divide(&value, p)?;
        }
        let factor = value
            .factor()
            .times(outer, params.plain_modulus().reducer());
        value.cipher = value.cipher.with_annotation(factor);
        engine.check("a bootstrap", value)
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
