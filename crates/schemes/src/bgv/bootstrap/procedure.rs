// SPDX-License-Identifier: Apache-2.0
//! A bootstrap as one macro procedure, which programs link in and call. It has the instructions of the steps that
//! [`Bootstrapper`] runs, in order. One procedure serves every ciphertext of a parameter set and its maps.

use std::fmt;
use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_isa::macros::{MacroInstr, MacroProgram, SchemeName};

use super::bootstrapper::Bootstrapper;
use super::error::BootstrapError;
use super::keys::BootstrapKeys;
use super::lift::Lifted;
use super::maps::Maps;
use super::operation::{keys as keys_of, operation};
use super::params::Bootstrapping;
use crate::bgv::{ExactParams, Factor, KeyForm, KeyGenerator, Noise, NoiseModel, OpKey, Params};
use crate::rlwe::{EvaluationKeys, KeyRequest};

/// A bootstrap as a procedure of programs. It takes a ciphertext at level [`Procedure::start`] whose phase is
/// within the bound [`Procedure::noise`]. The result equals that of [`Bootstrapper::bootstrap`] for a ciphertext
/// with exactly that bound, bit for bit. Levels follow from noise bounds, and correction factors change no
/// operation.
#[derive(Clone)]
pub struct Procedure {
    setup: Bootstrapping,
    maps: Maps,
    /// A macro program whose one procedure is the bootstrap.
    program: MacroProgram,
    /// The BGV operations of the bootstrap's instructions, each with the number of its results.
    operations: Vec<(OpKey, usize)>,
    constants: Vec<Lifted>,
    key_names: Vec<KeyRequest>,
    start: Level,
    noise: Noise,
    end: (Level, Noise),
    /// The correction factor of the bootstrap's result for an operand with factor 1, modulo the plaintext modulus
    /// of messages.
    ratio: Factor,
    seeded: bool,
}

impl fmt::Debug for Procedure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = self.operations.len();
        write!(f, "Procedure({steps} operations, {})", self.setup)
    }
}

impl Procedure {
    /// Emits a bootstrap whose operand is at level [`Bootstrapper::start`]. The bootstrap allows the largest noise
    /// bound, to within one bit, with which an operand can be bootstrapped, but at most 2^62 times the noise that a
    /// division leaves. `seeded` says whether the bootstrap's keys come with seeds.
    ///
    /// # Errors
    /// The errors of [`Bootstrapper::bootstrap`]: too few primes, or maps of other parameters.
    pub fn new(setup: Bootstrapping, maps: Maps, seeded: bool) -> Result<Self, BootstrapError> {
        let params = Arc::clone(setup.params());
        let model = NoiseModel::new(&params);
        let bootstrapper = Bootstrapper::new(setup.clone(), maps.clone())?;
        let start = bootstrapper.start();
        let bound = |bits: u32| model.mul_integer(model.floor(), 1 << bits);
        // The map to coefficients limits the bound. Every bootstrap takes at least the noise that a division leaves.
        let (mut low, mut high) = (0, 62);
        while low < high {
            let middle = u32::midpoint(low, high) + 1;
            match fits(&bootstrapper, bound(middle))? {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        let noise = bound(low);
        let emitter = bootstrapper.emitter();
        let operand = emitter.given(start, Factor::ONE, noise);
        let fresh = bootstrapper.thin(&emitter, operand)?;
        let code = emitter.code();
        let proc = code.procedure("bgv.bootstrap", fresh.value);
        let operation = |instr: &MacroInstr| {
            let made = operation(&params, &proc.types, instr, seeded)?;
            Ok::<_, BootstrapError>((made, instr.dst.len()))
        };
        let operations = code.instrs.iter().map(operation);
        let operations = operations.collect::<Result<_, _>>()?;
        let mut key_names = Vec::new();
        for instr in &proc.instrs {
            key_names.extend(keys_of(&proc.types, instr)?);
        }
        key_names.sort_unstable();
        key_names.dedup();
        let lifts = code.lifts.iter();
        let constants = lifts.map(|(lift, _)| lift.lifted.clone()).collect();
        // The program has no vectors.
        let scheme = SchemeName::new("bgv").unwrap_or_default();
        let mut program = MacroProgram::new(proc.name.clone(), scheme, 1);
        program.procs.push(proc);
        Ok(Self {
            program,
            operations,
            constants,
            key_names,
            start,
            noise,
            end: (fresh.level, fresh.noise),
            ratio: fresh.factor,
            setup,
            maps,
            seeded,
        })
    }

    pub fn params(&self) -> &Arc<Params> {
        self.setup.params()
    }

    pub fn setup(&self) -> &Bootstrapping {
        &self.setup
    }

    pub fn maps(&self) -> &Maps {
        &self.maps
    }

    /// Returns a macro program whose only procedure is the bootstrap.
    pub fn program(&self) -> &MacroProgram {
        &self.program
    }

    /// Returns the BGV operations of the bootstrap's steps in order, each with the number of its results.
    pub fn operations(&self) -> &[(OpKey, usize)] {
        &self.operations
    }

    /// Returns the constants that the bootstrap's `LIFT` instructions name, in the order of their numbers.
    pub fn constants(&self) -> &[Lifted] {
        &self.constants
    }

    /// Returns whether the bootstrap's keys come with seeds.
    pub fn seeded(&self) -> bool {
        self.seeded
    }

    /// Returns the level of the bootstrap's operand.
    pub fn start(&self) -> Level {
        self.start
    }

    /// Returns the bound on the phase of the bootstrap's operand.
    pub fn noise(&self) -> Noise {
        self.noise
    }

    /// Returns the level of the bootstrap's result and the bound on its phase.
    pub fn end(&self) -> (Level, Noise) {
        self.end
    }

    /// Returns the correction factor of the bootstrap's result, for an operand with factor `of`.
    pub fn factor(&self, of: Factor) -> Factor {
        of.times(self.ratio, self.params().plain_modulus().reducer())
    }

    /// Returns the names of the keys that the bootstrap needs, each once.
    pub fn key_names(&self) -> &[KeyRequest] {
        &self.key_names
    }

    /// Generates the bootstrap's keys for a new sparse secret, which it wipes afterwards.
    ///
    /// # Errors
    /// Fails for a generator of other parameters, and for missing memory or randomness.
    pub fn keys(&self, keygen: &KeyGenerator) -> Result<EvaluationKeys, BootstrapError> {
        let form = match self.seeded {
            true => KeyForm::Seeded,
            false => KeyForm::Stored,
        };
        let keys = BootstrapKeys::generate(&self.setup, &self.maps, keygen, form)?;
        Ok(keys.named(&self.setup))
    }
}

/// Returns whether a ciphertext with this noise bound can reach the raising of the modulus, after which its noise does
/// not matter.
fn fits(bootstrapper: &Bootstrapper, noise: Noise) -> Result<bool, BootstrapError> {
    let emitter = bootstrapper.emitter();
    let operand = emitter.given(bootstrapper.start(), Factor::ONE, noise);
    match bootstrapper.to_raised(&emitter, operand) {
        Ok(_) => Ok(true),
        Err(BootstrapError::NoRoom { .. }) => Ok(false),
        Err(other) => Err(other),
    }
}
