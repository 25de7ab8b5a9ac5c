// SPDX-License-Identifier: Apache-2.0
//! A bootstrap as a procedure: the operations that [`Bootstrapper`] runs, in order, made once per parameters.

use std::fmt;
use std::sync::Arc;

use ringmill_isa::Level;

use super::bootstrapper::Bootstrapper;
use super::error::BootstrapError;
use super::keys::BootstrapKeys;
use super::maps::Maps;
use super::params::Bootstrapping;
use super::value::Value;
use crate::bgv::{
    Ciphertext, Evaluator, ExactParams, Factor, KeyForm, KeyGenerator, Noise, NoiseModel, Op,
    OpKey, Params,
};
use crate::rlwe::record::{Lifted, Notes, Recorder};
use crate::rlwe::{EvaluationKeys, KeyRequest};

/// What a step of a procedure reads as a ciphertext.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Read {
    /// The procedure's operand, 0, or what a step made.
    Value(u32),
    Key(KeyRequest),
}

/// An operation of a procedure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcedureStep {
    pub operation: OpKey,
    pub ciphers: Vec<Read>,
    /// Indices into [`Procedure::constants`].
    pub constants: Vec<u32>,
    pub keys: Vec<KeyRequest>,
    /// Numbers of the values it makes.
    pub results: Vec<u32>,
}

/// The operations of a bootstrap. It takes a ciphertext at [`Procedure::start`] whose phase is within [`Procedure::noise`], and
/// gives what [`Bootstrapper::bootstrap`] gives for one of just that bound, bit for bit: levels follow from bounds, and factors change
/// no operation.
#[derive(Clone)]
pub struct Procedure {
    setup: Bootstrapping,
    maps: Maps,
    steps: Vec<ProcedureStep>,
    constants: Vec<Lifted>,
    output: u32,
    start: Level,
    noise: Noise,
    end: (Level, Noise),
    /// What the operand's factor is multiplied by.
    ratio: Factor,
    seeded: bool,
}

impl fmt::Debug for Procedure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = self.steps.len();
        write!(f, "Procedure({steps} operations, {})", self.setup)
    }
}

impl Procedure {
    /// Of the largest bound that a ciphertext at [`Bootstrapper::start`] may have, to a bit.
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`]: parameters with too few primes, maps of others.
    pub fn new(setup: Bootstrapping, maps: Maps, seeded: bool) -> Result<Self, BootstrapError> {
        let params = Arc::clone(setup.params());
        let model = NoiseModel::new(&params);
        let start = Bootstrapper::new(setup.clone(), maps.clone())?.start();
        let bound = |bits: u32| model.mul_integer(model.floor(), 1 << bits);
        // The map to coefficients decides; no bootstrap takes less than what a division leaves.
        let (mut low, mut high) = (0, 62);
        while low < high {
            let middle = u32::midpoint(low, high) + 1;
            match fits(&setup, &maps, bound(middle), seeded)? {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        let noise = bound(low);
        let (notes, names, fresh) = noted(&setup, &maps, noise, seeded, |_| false)?;
        let misshapen = || BootstrapError::Parameters {
            reason: "a bootstrap whose operations do not fit it".into(),
        };
        let first = Recorder::<()>::FIRST_KEY;
        let name = |number: u64| {
            let index = number.checked_sub(first).map(|index| index as usize);
            index.and_then(|index| names.get(index)).copied()
        };
        let value = |number: u64| u32::try_from(number).ok().filter(|_| number < first);
        let read = |&number: &u64| match value(number) {
            Some(value) => Some(Read::Value(value)),
            None => name(number).map(Read::Key),
        };
        let steps = notes.calls.into_iter().map(|call| {
            Some(ProcedureStep {
                ciphers: call.ciphers.iter().map(read).collect::<Option<_>>()?,
                keys: call.keys.iter().map(|&k| name(k)).collect::<Option<_>>()?,
                results: call
                    .results
                    .iter()
                    .map(|&r| value(r))
                    .collect::<Option<_>>()?,
                constants: call.constants,
                operation: call.operation,
            })
        });
        let steps = steps.collect::<Option<_>>().ok_or_else(misshapen)?;
        let polys = fresh.cipher.polys().first();
        let output = polys.and_then(|p| value(p.residues().at(0)?));
        Ok(Self {
            steps,
            constants: notes.constants,
            output: output.ok_or_else(misshapen)?,
            start,
            noise,
            end: (fresh.level(), fresh.noise),
            ratio: fresh.factor(),
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

    pub fn steps(&self) -> &[ProcedureStep] {
        &self.steps
    }

    pub fn constants(&self) -> &[Lifted] {
        &self.constants
    }

    /// The number of the value that it gives.
    pub fn output(&self) -> u32 {
        self.output
    }

    /// Whether its keys come with seeds.
    pub fn seeded(&self) -> bool {
        self.seeded
    }

    /// The level of its operand.
    pub fn start(&self) -> Level {
        self.start
    }

    /// The bound on its operand's phase.
    pub fn noise(&self) -> Noise {
        self.noise
    }

    /// Level and bound of what it gives.
    pub fn end(&self) -> (Level, Noise) {
        self.end
    }

    /// The factor of what it gives for an operand of this factor.
    pub fn factor(&self, of: Factor) -> Factor {
        of.times(self.ratio, self.params().plain_modulus().reducer())
    }

    /// The keys that it takes, each once.
    pub fn key_names(&self) -> Vec<KeyRequest> {
        let mut names = Vec::new();
        for step in &self.steps {
            let keys = step.ciphers.iter().filter_map(|read| match read {
                Read::Key(name) => Some(*name),
                Read::Value(_) => None,
            });
            names.extend(keys.chain(step.keys.iter().copied()));
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The keys themselves, with a sparse secret that is forgotten.
    ///
    /// # Errors
    /// A generator of other parameters; no memory or randomness.
    pub fn keys(&self, keygen: &KeyGenerator) -> Result<EvaluationKeys, BootstrapError> {
        let form = match self.seeded {
            true => KeyForm::Seeded,
            false => KeyForm::Stored,
        };
        let keys = BootstrapKeys::generate(&self.setup, &self.maps, keygen, form)?;
        Ok(keys.named(&self.setup))
    }
}

/// Whether a ciphertext of this bound gets as far as the raising of the modulus, where its noise ends.
fn fits(
    setup: &Bootstrapping,
    maps: &Maps,
    noise: Noise,
    seeded: bool,
) -> Result<bool, BootstrapError> {
    match noted(setup, maps, noise, seeded, |op| op.op() == Op::Raise) {
        Err(BootstrapError::NoRoom { .. }) => Ok(false),
        // The recorder's own, at the end.
        Err(BootstrapError::Bgv(_)) | Ok(_) => Ok(true),
        Err(other) => Err(other),
    }
}

type NotedBootstrap = (Notes<OpKey>, Vec<KeyRequest>, Value);

fn noted(
    setup: &Bootstrapping,
    maps: &Maps,
    noise: Noise,
    seeded: bool,
    last: fn(&OpKey) -> bool,
) -> Result<NotedBootstrap, BootstrapError> {
    let params = setup.params();
    let recorder = Arc::new(Recorder::until(last));
    let mut bootstrapper = Bootstrapper::new(setup.clone(), maps.clone())?;
    bootstrapper.evaluator = Evaluator::noting(Arc::clone(params), Arc::clone(&recorder));
    let (keys, names) = BootstrapKeys::symbols(setup, maps, seeded);
    let start = bootstrapper.start();
    let cipher: Ciphertext = recorder.symbol(params, 0, start, 2, Factor::ONE);
    let fresh = bootstrapper.bootstrap(&Value { cipher, noise }, &keys)?;
    Ok((recorder.taken(), names, fresh))
}
