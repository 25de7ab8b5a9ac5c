// SPDX-License-Identifier: Apache-2.0
//! The plaintext operands of a program on its server: constants, constants of bootstrapping and plain inputs, and their
//! encoding before a run or when a step reads them.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_compiler::Compiled;
use ringmill_device::{Constant, DeviceError, Limbed};
use ringmill_limits::Watch;
use ringmill_schemes::roles::{Operator, Place};

use super::Server;
use crate::RuntimeError;
use crate::scheme::{ErrorOf, Runs, constant, limb_bytes, slots};

/// A plaintext operand of the program: the source of its values, and the level and scale of its encoding.
pub(super) enum Prepared<S: Runs> {
    /// The operand is a constant vector of the program, given by its index. A device that expands constants
    /// ([`ringmill_device::Device::expands`]) encodes it when a step of a run reads it. For other devices the server
    /// encodes it at each run.
    Constant(u32, Place<S>),
    /// The operand is a plain input of the program, given by its index. The server encodes it at each run.
    Input(u32, Place<S>),
    /// The operand is a constant of bootstrapping, given by its index. Its small integers are reduced modulo all primes
    /// of the operand, at the same time as a constant is encoded.
    Lifted(u32),
}

/// A plaintext operand that the server prepares before a run: an encoded plaintext, or a constant of bootstrapping
/// whose small integers are reduced modulo the operand's primes.
pub(super) enum Plain<S: Runs> {
    Encoded(S::Plaintext),
    Lifted(Box<dyn Limbed + Send + Sync>),
}

/// The real and the imaginary part of each slot of a vector.
type Slots = [(f64, f64)];

/// A constant that is encoded when a step of a run reads it, or `None` for an operand that is encoded before the run.
pub(super) type Lazy<'a> = Option<Arc<Constant<'a>>>;

impl<S: Runs> Server<S> {
    /// Returns an entry for each plaintext operand of the program: the constant that the device encodes when a step
    /// reads it, or `None` if the server encodes the operand before the run. The server encodes plain inputs. It
    /// encodes all operands for a device that encodes no constants (`expands` is false).
    pub(super) fn constants(&self, expands: bool) -> Result<Vec<Lazy<'_>>, ErrorOf<S>> {
        let numbered = (0..).zip(&self.plaintexts);
        let constant = |(number, plain): (u32, &Prepared<S>)| {
            Ok(match *plain {
                _ if !expands => None,
                Prepared::Input(..) => None,
                Prepared::Lifted(lifted) => Some(self.lifted(number, lifted)),
                Prepared::Constant(vector, at) => {
                    let (name, data) = self.data(vector)?;
                    Some(self.constant(number, data, name, at))
                }
            }
            .map(Arc::new))
        };
        numbered.map(constant).collect()
    }

    /// Returns the slots of a constant vector of the program, and its name for messages.
    fn data(&self, vector: u32) -> Result<(String, &Slots), ErrorOf<S>> {
        let name = format!("constant vector {vector}");
        let data = self.compiled.managed.data.get(vector as usize);
        match data {
            Some(data) => Ok((name, data)),
            None => Err(RuntimeError::MissingInput {
                kind: "constant",
                name,
            }),
        }
    }

    /// Returns for each plaintext operand the plaintext that the server encodes before a run, or `None` if the
    /// device encodes the operand itself. The server encodes plain inputs, at the level and scale of each operand.
    /// For a device that encodes no constants (`expands` is false), it encodes the constants too.
    pub(super) fn plains(
        &self,
        plains: &BTreeMap<String, S::Message>,
        expands: bool,
        watch: &Watch,
    ) -> Result<Vec<Option<Plain<S>>>, ErrorOf<S>> {
        let mut all = Vec::with_capacity(self.plaintexts.len());
        for plain in &self.plaintexts {
            watch.check()?;
            all.push(match plain {
                Prepared::Input(input, at) => Some(Plain::Encoded(self.input(plains, *input, at)?)),
                Prepared::Lifted(..) | Prepared::Constant(..) if expands => None,
                &Prepared::Lifted(lifted) => {
                    let bootstrapping = self.compiled.bootstrapping.as_ref();
                    let lifted = lift::<S>(bootstrapping, &self.compiled.params, lifted)?;
                    Some(Plain::Lifted(lifted))
                }
                Prepared::Constant(vector, at) => {
                    let (name, data) = self.data(*vector)?;
                    let plain = encode_constant::<S>(&self.operator, data, &name, at)?;
                    Some(Plain::Encoded(plain))
                }
            });
        }
        Ok(all)
    }

    /// Encodes a plain input at the level and scale of one operand.
    fn input(
        &self,
        plains: &BTreeMap<String, S::Message>,
        number: u32,
        at: &Place<S>,
    ) -> Result<S::Plaintext, ErrorOf<S>> {
        let missing = |name: &str| RuntimeError::MissingInput {
            kind: "plain",
            name: name.to_owned(),
        };
        let input = self.compiled.inputs.get(number as usize);
        let input = input.ok_or_else(|| missing(&format!("number {number}")))?;
        let message = plains.get(&input.name);
        let message = message.ok_or_else(|| missing(&input.name))?;
        S::check(input, slots(&self.compiled), message)?;
        let refused = |source| RuntimeError::Value {
            name: input.name.clone(),
            source,
        };
        self.operator.encode(message, at).map_err(refused)
    }

    /// Makes a constant whose limbs are encoded when a step of a run reads them.
    fn constant<'a>(
        &'a self,
        number: u32,
        data: &'a [(f64, f64)],
        name: String,
        at: Place<S>,
    ) -> Constant<'a> {
        let bytes = encoded_bytes(&self.compiled, &at);
        let operator = &self.operator;
        Constant {
            expanded: Arc::clone(&self.expanded),
            number,
            bytes,
            len: limb_bytes(&self.compiled) as usize / size_of::<u64>(),
            encode: Box::new(
                move || match encode_constant::<S>(operator, data, &name, &at) {
                    Ok(plain) => Ok(Box::new(plain)),
                    Err(error) => Err(DeviceError::Constant(error.into())),
                },
            ),
        }
    }

    /// Makes a constant of bootstrapping whose small integers are reduced modulo the operand's primes when a step
    /// of a run reads it.
    fn lifted(&self, number: u32, lifted: u32) -> Constant<'_> {
        let compiled = &self.compiled;
        let (bootstrapping, params) = (compiled.bootstrapping.clone(), compiled.params.clone());
        Constant {
            expanded: Arc::clone(&self.expanded),
            number,
            bytes: lifted_bytes(compiled, lifted, true),
            len: limb_bytes(compiled) as usize / size_of::<u64>(),
            encode: Box::new(move || {
                let made = lift::<S>(bootstrapping.as_ref(), &params, lifted);
                made.map_err(|error| DeviceError::Constant(error.into()))
            }),
        }
    }
}

/// Returns the number of bytes that a plaintext takes, encoded at the level of `at`.
pub(super) fn encoded_bytes<S: Runs>(compiled: &Compiled<S>, at: &Place<S>) -> u64 {
    at.level.primes() as u64 * limb_bytes(compiled)
}

/// Returns the number of bytes that an encoded constant of bootstrapping takes. A device that expands constants holds each
/// block of equal residues once (`blocks`); for other devices all residues are written out.
pub(super) fn lifted_bytes<S: Runs>(compiled: &Compiled<S>, lifted: u32, blocks: bool) -> u64 {
    let with = compiled.bootstrapping.as_ref().zip(S::BOOTSTRAPS);
    let limbs = with.map(|(with, how)| (how.limbs)(with, &compiled.params, lifted));
    let [limbs, repeated] = limbs.unwrap_or([0, 1]);
    let bytes = limbs as u64 * limb_bytes(compiled);
    match blocks {
        true => bytes / repeated.max(1) as u64,
        false => bytes,
    }
}

/// Returns a constant of bootstrapping, whose small integers are reduced modulo the primes of an operand.
fn lift<S: Runs>(
    bootstrapping: Option<&S::Bootstrapping>,
    params: &S::Params,
    number: u32,
) -> Result<Box<dyn Limbed + Send + Sync>, ErrorOf<S>> {
    let name = || format!("constant {number} of bootstrapping");
    let with = bootstrapping.zip(S::BOOTSTRAPS);
    let lifted = with.and_then(|(with, how)| (how.lifted)(with, params, number));
    let lifted = lifted.ok_or_else(|| RuntimeError::MissingInput {
        kind: "constant",
        name: name(),
    })?;
    lifted.map_err(|source| RuntimeError::Value {
        name: name(),
        source,
    })
}

fn encode_constant<S: Runs>(
    operator: &S::Operator,
    data: &[(f64, f64)],
    name: &str,
    at: &Place<S>,
) -> Result<S::Plaintext, ErrorOf<S>> {
    let missing = || RuntimeError::MissingInput {
        kind: "constant",
        name: name.to_owned(),
    };
    let message = constant::<S>(data).ok_or_else(missing)?;
    let refused = |source| RuntimeError::Value {
        name: name.to_owned(),
        source,
    };
    operator.encode(&message, at).map_err(refused)
}
