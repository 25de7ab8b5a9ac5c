// SPDX-License-Identifier: Apache-2.0
//! The interface of a scheme to the front ends: the `ringmill` command and the Python package.
//!
//! It covers the parameters that users may ask for, the predictions and measurements of results, and their faults.
//! Numbers are [`Values`](ringmill_compiler::Values) of the scheme's [`NUMBERS`](Compiles::NUMBERS).

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_compiler::{Accuracy, Compiled, CompiledInput, Compiles};
use ringmill_device::Outcome;
use ringmill_schemes::Scheme;
use ringmill_schemes::ckks::Flooding;
use ringmill_schemes::rlwe::{
    Ciphertext, KeyRequest, PublicKey, RingParams, RlweError, SecretKey, SecurityLevel,
    SecurityTable,
};
use ringmill_schemes::roles::{KeyHolder, Sender};

use super::scheme::{ErrorOf, Runs};
use super::{Ciphers, Client, EvaluationKeys, Messages, RuntimeError};
use crate::report::{Digits, KeyReport, NoiseReport, PrecisionReport, RunReport};

/// The user's demands on the parameters that the compiler chooses. Each scheme uses those of the demands that apply
/// to its kind of values.
#[derive(Clone, Copy, Debug)]
pub struct Wishes {
    /// The accuracy that the user wants of the outputs.
    pub accuracy: Option<Accuracy>,
    /// The least number of bits before the binary point for which outputs have room.
    pub integer_bits: Option<u32>,
    pub table: SecurityTable,
    pub level: SecurityLevel,
    /// Whether approximate values may be bootstrapped if no parameters have enough levels.
    pub bootstrapping: bool,
}

/// The parameters that a user gives, in place of parameters that the compiler chooses.
#[derive(Clone, Copy, Debug)]
pub struct Own<'a> {
    pub log_n: u8,
    /// The sizes in bits of the ciphertext primes, and those of the special primes.
    pub bits: Option<(&'a [u32], &'a [u32])>,
    /// The number of key-switching digits, or `None` if it follows from the number of special primes.
    pub dnum: Option<usize>,
    pub table: SecurityTable,
    pub level: SecurityLevel,
    /// The CKKS scale, or `None` for its default or for exact values.
    pub scale: Option<f64>,
    /// The plaintext modulus t, or `None` for approximate values.
    pub plain_modulus: Option<u64>,
    pub insecure: bool,
}

/// The scale or the plaintext modulus of a parameter set, which determines the values that a plaintext can hold.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Figures {
    /// The factor by which approximate values are multiplied before they are rounded.
    pub default_scale: Option<f64>,
    /// The plaintext modulus t of exact values, or `None` for approximate ones.
    pub plain_modulus: Option<u64>,
}

/// The compiler's prediction for one output of a program.
#[derive(Clone, PartialEq, Debug)]
pub enum Predicted {
    /// The prediction for approximate values: the bits after the binary point that are right, for all inputs and
    /// for inputs like the sample. It also has the right decimal digits, relative to a magnitude of the output.
    /// `conditional` says that it rests on bounds that the program states of values inside it.
    Precision {
        bits: f64,
        like_sample: Option<f64>,
        digits: Digits,
        conditional: bool,
    },
    /// The prediction for exact values: the bits by which noise may still grow, and the range of the values.
    Budget { bits: f64, range: String },
}

/// The reason why a message does not suit an input of a compiled program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unfit {
    /// The message has this number of values, which is not the program's number of slots.
    Length(usize),
    /// A value of the message lies outside of the input's range. The value and the range are given as text.
    Outside {
        slot: usize,
        value: String,
        range: String,
    },
}

/// A function that decrypts a client's outputs for others to see, and adds noise that hides the outputs' errors.
pub type SharedDecryption<S> =
    fn(&Client<S>, &Ciphers<S>, &Flooding) -> Result<Messages<S>, ErrorOf<S>>;

/// The functions that decrypt outputs for other people to see, in schemes whose decryption errors tell of the secret
/// key.
#[derive(Debug)]
pub struct Sharing<S: Served> {
    /// Returns for each output the bits after the binary point that are left after noise is added. An output whose
    /// error has no bound has minus infinity. `decrypt` may refuse other outputs too, although they have a number here.
    pub bits: fn(&Client<S>, &Flooding) -> BTreeMap<String, f64>,
    pub decrypt: SharedDecryption<S>,
}

/// A scheme on rings whose programs users compile, run and store.
pub trait Served:
    Compiles<Range: Send + Sync, Wanted: Send + Sync, Prediction: Send + Sync>
    + Scheme<
        Params: RingParams,
        Ciphertext = Ciphertext<<Self as Scheme>::Annotation>,
        Keys = EvaluationKeys,
        KeyName = KeyRequest,
        Message: Send + Sync,
        Holder: KeyHolder<
            SecretKey = SecretKey,
            Sender: Sender<Scheme = Self, PublicKey = PublicKey>,
        >,
    >
{
    /// The words with which an error message describes the outputs that [`Served::judge`] returns: those that are
    /// wrong, or noisier than predicted.
    const WRONG: &'static str;
    /// The functions for outputs that others see. `None` for a scheme whose decryptions hold no error that must be
    /// hidden.
    const SHARING: Option<Sharing<Self>> = None;

    /// Returns the scheme's named parameter set `_name`, with the security table, level, scale and opt-out of `_own`.
    /// Returns `None` for a scheme without named sets. A scheme that has some returns an error for an unknown name.
    fn named(_name: &str, _own: &Own<'_>) -> Option<Result<Arc<Self::Params>, Self::Error>> {
        None
    }

    /// Makes a parameter set from a user's own values.
    ///
    /// # Errors
    /// The scheme's error for parameters that are malformed or not secure.
    fn made(own: &Own<'_>) -> Result<Arc<Self::Params>, Self::Error>;

    fn wanted(wishes: &Wishes) -> Self::Wanted;

    fn figures(params: &Self::Params) -> Figures;

    fn predicted(prediction: &Self::Prediction) -> Predicted;

    /// Checks that a message has `slots` values, all within an input's range.
    ///
    /// # Errors
    /// [`Unfit`] unless there are `slots` values, all within the range.
    fn check(range: &Self::Range, slots: usize, message: &Self::Message) -> Result<(), Unfit>;

    /// Makes the evaluation keys that a compiled program needs, from the secret key.
    ///
    /// # Errors
    /// The scheme's error if memory or randomness is missing.
    fn evaluation_keys(
        compiled: &Compiled<Self>,
        holder: &Self::Holder,
    ) -> Result<Self::Keys, Self::Error> {
        holder.evaluation_keys(&compiled.keys, compiled.seeded)
    }

    /// Compares decrypted outputs with the computation without encryption, and adds the measurements to the report.
    /// Returns a text for each output that is wrong or noisier than predicted.
    ///
    /// # Errors
    /// [`RuntimeError`] for inputs or ciphertexts that are not the program's.
    fn judge(
        client: &Client<Self>,
        inputs: &Messages<Self>,
        outputs: (&Ciphers<Self>, &Messages<Self>),
        report: &mut RunReport,
    ) -> Result<Vec<String>, ErrorOf<Self>>;

    /// Returns the measured precision of outputs, or `None` for a scheme whose outputs are exact.
    fn measure(
        _client: &Client<Self>,
        _inputs: &Messages<Self>,
        _outputs: &Ciphers<Self>,
    ) -> Option<Result<Vec<PrecisionReport>, ErrorOf<Self>>> {
        None
    }

    /// Returns the bits by which the noise of a ciphertext may still grow before its message is lost, or `None` if
    /// values are approximate.
    fn noise_budget(
        _client: &Client<Self>,
        _cipher: &Self::Ciphertext,
    ) -> Option<Result<u32, ErrorOf<Self>>> {
        None
    }

    /// Returns the error of the code that all ring schemes share, if `error` is such an error, otherwise `None`.
    fn ring_error(error: &Self::Error) -> Option<&RlweError>;
}

impl<S: Served> Runs for S {
    type Report = RunReport;

    fn evaluation_keys(
        compiled: &Compiled<Self>,
        holder: &Self::Holder,
    ) -> Result<Self::Keys, Self::Error> {
        <S as Served>::evaluation_keys(compiled, holder)
    }

    fn check(
        input: &CompiledInput<Self>,
        slots: usize,
        message: &Self::Message,
    ) -> Result<(), RuntimeError<Self::Error>> {
        let name = || input.name.clone();
        <S as Served>::check(&input.range, slots, message).map_err(|unfit| match unfit {
            Unfit::Length(got) => RuntimeError::VectorLength {
                name: name(),
                expected: slots,
                got,
            },
            Unfit::Outside { slot, value, range } => RuntimeError::OutOfRange {
                name: name(),
                slot,
                value,
                range,
            },
        })
    }

    fn report(
        compiled: &Compiled<Self>,
        device: &str,
        outcome: &Outcome,
        keys: Option<KeyReport>,
    ) -> RunReport {
        let mut report = RunReport::new(device, compiled, outcome);
        report.keys = keys;
        let Figures {
            default_scale,
            plain_modulus,
        } = S::figures(&compiled.params);
        report.parameters.log2_scale = default_scale.map(f64::log2);
        report.parameters.plain_modulus = plain_modulus;
        for (output, predicted) in compiled.outputs.iter().zip(&compiled.predicted) {
            let output = output.name.clone();
            match S::predicted(predicted) {
                Predicted::Precision {
                    bits,
                    like_sample,
                    digits,
                    conditional,
                } => {
                    report.precision.push(PrecisionReport {
                        output,
                        predicted_bits: bits,
                        predicted_bits_like_sample: like_sample,
                        predicted_digits: digits,
                        measured_bits: None,
                        conditional,
                    });
                }
                Predicted::Budget { bits, range: _ } => report.noise.push(NoiseReport {
                    output,
                    predicted_bits: bits,
                    measured_bits: None,
                }),
            }
        }
        report
    }
}
