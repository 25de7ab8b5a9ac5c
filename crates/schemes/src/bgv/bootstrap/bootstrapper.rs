// SPDX-License-Identifier: Apache-2.0
//! Thin bootstrapping, whole.

use std::fmt;
use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_math::digits::{DigitRemoval, PlanCosts, PlanCount};

use super::emit::{Emitted, Emitter};
use super::error::BootstrapError;
use super::keys::BootstrapKeys;
use super::maps::{Constants, Maps};
use super::params::Bootstrapping;
use super::plan;
use super::run::Running;
use super::table::Table;
use super::value::Value;
use crate::bgv::{Evaluator, ExactParams, NoiseModel};
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
    pub(super) setup: Bootstrapping,
    pub(super) maps: Maps,
    /// Of the maps.
    constants: Constants,
    evaluator: Evaluator,
    /// One a plaintext modulus.
    models: Vec<NoiseModel>,
    pub(super) removal: DigitRemoval,
    pub(super) start: Level,
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
            constants: Constants::default(),
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
        self.bootstrapped(value, keys, None)
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
        self.ran(&[&fresh], keys, |e, inputs| {
            plan::run(e, table.plan(), inputs)
        })
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
        self.bootstrapped(value, keys, Some(observe))
    }

    fn bootstrapped(
        &self,
        value: &Value,
        keys: &BootstrapKeys,
        observe: Option<Observer<'_>>,
    ) -> Result<Value, BootstrapError> {
        self.check_operand(value, keys, self.start)?;
        let running = self.emitted(&[value], |e, given| match *given {
            [operand] => self.thin(e, operand),
            _ => Err(misshapen()),
        })?;
        running.run(&self.evaluator, keys, observe)
    }

    pub(super) fn emitter(&self) -> Emitter<'_> {
        Emitter::new(self.setup.params(), &self.models, &self.constants)
    }

    /// The steps that a walk emits for values, and what they are to run on.
    pub(super) fn emitted<'a>(
        &self,
        values: &[&'a Value],
        walk: impl FnOnce(&Emitter<'_>, &[Emitted]) -> Result<Emitted, BootstrapError>,
    ) -> Result<Running<'a>, BootstrapError> {
        let emitter = self.emitter();
        let given = |value: &&Value| emitter.given(value.level(), value.factor(), value.noise);
        let given: Vec<Emitted> = values.iter().map(given).collect();
        let result = walk(&emitter, &given)?;
        let ciphers = values.iter().map(|value| &value.cipher).collect();
        Ok(Running::new(emitter.code(), ciphers, result))
    }

    /// The steps that a walk emits for values, run on them.
    pub(super) fn ran(
        &self,
        values: &[&Value],
        keys: &BootstrapKeys,
        walk: impl FnOnce(&Emitter<'_>, &[Emitted]) -> Result<Emitted, BootstrapError>,
    ) -> Result<Value, BootstrapError> {
        self.execute(self.emitted(values, walk)?, keys)
    }

    /// What was emitted, run.
    pub(super) fn execute(
        &self,
        running: Running<'_>,
        keys: &BootstrapKeys,
    ) -> Result<Value, BootstrapError> {
        running.run(&self.evaluator, keys, None)
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
}

fn misshapen() -> BootstrapError {
    BootstrapError::Parameters {
        reason: "a walk of other values than it is given".into(),
    }
}
