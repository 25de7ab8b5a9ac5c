// SPDX-License-Identifier: Apache-2.0
//! Bootstraps BGV ciphertexts: runs the steps of a whole bootstrap one after the other.

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

/// A step of a bootstrap. The steps are in the order in which they run.
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

/// A function that receives the result of each step of a bootstrap.
pub type Observer<'a> = &'a mut dyn FnMut(Step, &Value);

/// Bootstraps BGV ciphertexts of one parameter set.
pub struct Bootstrapper {
    pub(super) setup: Bootstrapping,
    pub(super) maps: Maps,
    /// The plaintext constants by which the linear maps of a bootstrap multiply.
    constants: Constants,
    evaluator: Evaluator,
    /// The noise models for messages modulo each plaintext modulus of the parameters: p^r, the modulus of messages,
    /// up to p^e, the one after the raising of the modulus.
    models: Vec<NoiseModel>,
    pub(super) removal: DigitRemoval,
    pub(super) start: Level,
}

impl Bootstrapper {
    /// Makes a bootstrapper that runs on the reference interpreter.
    ///
    /// # Errors
    /// Fails if the maps belong to other parameters, or if the parameters have too few primes for the map to
    /// coefficients.
    pub fn new(setup: Bootstrapping, maps: Maps) -> Result<Self, BootstrapError> {
        Self::on(setup, maps, Arc::new(Interpreted))
    }

    /// Makes a bootstrapper that runs on `runs`: a device, or anything that runs procedures.
    ///
    /// # Errors
    /// Fails if the maps belong to other parameters, or if the parameters have too few primes for the map to
    /// coefficients.
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

    /// Returns the cost of the step that removes the digits below the message: its products, its key switches and its
    /// depth.
    pub fn removal(&self) -> PlanCount {
        self.removal.count()
    }

    pub fn maps(&self) -> &Maps {
        &self.maps
    }

    /// Returns the lowest level that a ciphertext may have for a thin bootstrap ([`Bootstrapper::bootstrap`]).
    pub fn start(&self) -> Level {
        self.start
    }

    /// Bootstraps a ciphertext whose slots hold integers modulo p^r. The result has the same integers in slots, a high
    /// level, and a noise bound of its own. The noise bound of `value` must hold, as one that [`NoiseModel`] computes
    /// does.
    ///
    /// # Errors
    /// [`BootstrapError::NoLevel`] for a level below [`Bootstrapper::start`]. [`BootstrapError::NoRoom`] if the
    /// parameters have too few primes. Also fails for missing keys, and for keys or ciphertexts of other parameters.
    pub fn bootstrap(&self, value: &Value, keys: &BootstrapKeys) -> Result<Value, BootstrapError> {
        self.bootstrapped(value, keys, None)
    }

    /// Bootstraps a ciphertext and applies a table to the integer in each slot. The plaintext modulus must be a
    /// prime p. The table costs the evaluation of one more polynomial, of degree p - 1.
    ///
    /// # Errors
    /// The errors of [`Bootstrapper::bootstrap`], and a table of other parameters.
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

    /// Bootstraps as [`Bootstrapper::bootstrap`] does, and passes each step's result to `observe`.
    ///
    /// # Errors
    /// The errors of [`Bootstrapper::bootstrap`].
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

    /// Emits the steps that the function `walk` makes for the ciphertexts `values`. Returns the emitted steps
    /// together with the ciphertexts on which they will run.
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

    /// Emits the steps that the function `walk` makes for the ciphertexts `values`, and runs them with `keys`.
    pub(super) fn ran(
        &self,
        values: &[&Value],
        keys: &BootstrapKeys,
        walk: impl FnOnce(&Emitter<'_>, &[Emitted]) -> Result<Emitted, BootstrapError>,
    ) -> Result<Value, BootstrapError> {
        self.execute(self.emitted(values, walk)?, keys)
    }

    /// Runs steps that were emitted, with the keys that they need.
    pub(super) fn execute(
        &self,
        running: Running<'_>,
        keys: &BootstrapKeys,
    ) -> Result<Value, BootstrapError> {
        running.run(&self.evaluator, keys, None)
    }

    /// Refuses a ciphertext of other parameters, or whose level is below `needed`, or whose plaintext modulus or number
    /// of polynomials is not that of a bootstrap's operand. Refuses an encrypted sparse secret of other parameters,
    /// too.
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
