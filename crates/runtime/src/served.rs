// SPDX-License-Identifier: Apache-2.0
//! What a scheme shows people, in the command and in Python alike: the parameters that they may ask for, what is predicted and
//! measured of results, and what is wrong with them. Numbers in and out are [`Values`](ringmill_compiler::Values) of the
//! scheme's [`NUMBERS`](Compiles::NUMBERS).

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_compiler::{Compiled, CompiledInput, Compiles};
use ringmill_device::Outcome;
use ringmill_schemes::Scheme;
use ringmill_schemes::ckks::Flooding;
use ringmill_schemes::rlwe::{
    Ciphertext, RingParams, RlweError, SecretKey, SecurityLevel, SecurityTable,
};
use ringmill_schemes::roles::KeyHolder;

use super::scheme::{ErrorOf, Runs};
use super::{Ciphers, Client, EvaluationKeys, Messages, RuntimeError};
use crate::report::{KeyReport, NoiseReport, PrecisionReport, RunReport};

/// What parameters must be that the compiler chooses. A scheme takes of it what there is of its values.
#[derive(Clone, Copy, Debug)]
pub struct Wishes {
    /// Bits after the binary point.
    pub precision: Option<u32>,
    /// Bits before it, at least.
    pub integer_bits: Option<u32>,
    pub table: SecurityTable,
    pub level: SecurityLevel,
}

/// What parameters are of one's own.
#[derive(Clone, Copy, Debug)]
pub struct Own<'a> {
    pub log_n: u8,
    /// Sizes of the ciphertext primes and of the special one.
    pub bits: Option<(&'a [u32], u32)>,
    pub table: SecurityTable,
    pub level: SecurityLevel,
    /// Of approximate values.
    pub scale: Option<f64>,
    /// Of exact ones.
    pub plain_modulus: Option<u64>,
    pub insecure: bool,
}

/// What parameters say of values.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Figures {
    /// What approximate values are multiplied by before they are rounded.
    pub default_scale: Option<f64>,
    /// What exact ones are modulo.
    pub plain_modulus: Option<u64>,
}

/// What is predicted of an output.
#[derive(Clone, PartialEq, Debug)]
pub enum Predicted {
    /// Of approximate values: right bits after the binary point, for all inputs and for those like the sample.
    Precision { bits: f64, like_sample: Option<f64> },
    /// Of exact ones: bits by which noise may still grow, and where values lie.
    Budget { bits: f64, range: String },
}

/// What keeps a message from being one that an input was compiled for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unfit {
    /// So many values.
    Length(usize),
    /// One outside the range, and both in words.
    Outside {
        slot: usize,
        value: String,
        range: String,
    },
}

/// Decrypts outputs with noise that hides their errors.
pub type SharedDecryption<S> =
    fn(&Client<S>, &Ciphers<S>, &Flooding) -> Result<Messages<S>, ErrorOf<S>>;

/// How outputs are decrypted for others to see, of schemes whose errors tell of the secret key.
#[derive(Debug)]
pub struct Sharing<S: Served> {
    /// For each output the bits after the binary point that are left; minus infinity where it is not shared.
    pub bits: fn(&Client<S>, &Flooding) -> BTreeMap<String, f64>,
    pub decrypt: SharedDecryption<S>,
}

/// A ring scheme whose programs people compile, run and keep.
pub trait Served:
    Compiles<Range: Send + Sync, Wanted: Send + Sync, Prediction: Send + Sync>
    + Scheme<
        Params: RingParams,
        Ciphertext = Ciphertext<<Self as Scheme>::Annotation>,
        Keys = EvaluationKeys,
        KeyName: Send + Sync,
        Message: Send + Sync,
        Holder: KeyHolder<SecretKey = SecretKey>,
    >
{
    /// What outputs are that are not as they should be.
    const WRONG: &'static str;
    /// `None` where decryptions hold no error that would have to be hidden.
    const SHARING: Option<Sharing<Self>> = None;

    /// The set that people know by this name, as `own` says the rest; `None` where the scheme names none.
    fn named(_name: &str, _own: &Own<'_>) -> Option<Result<Arc<Self::Params>, Self::Error>> {
        None
    }

    /// Parameters of one's own.
    ///
    /// # Errors
    /// Parameters that are malformed or not secure.
    fn made(own: &Own<'_>) -> Result<Arc<Self::Params>, Self::Error>;

    fn wanted(wishes: &Wishes) -> Self::Wanted;

    fn figures(params: &Self::Params) -> Figures;

    fn predicted(prediction: &Self::Prediction) -> Predicted;

    /// # Errors
    /// [`Unfit`] unless there are `slots` values, all within the range.
    fn check(range: &Self::Range, slots: usize, message: &Self::Message) -> Result<(), Unfit>;

    /// The evaluation keys that a program takes.
    ///
    /// # Errors
    /// No memory or randomness.
    fn evaluation_keys(
        compiled: &Compiled<Self>,
        holder: &Self::Holder,
    ) -> Result<Self::Keys, Self::Error> {
        holder.evaluation_keys(&compiled.keys, compiled.seeded)
    }

    /// Compares decrypted outputs with the computation in the clear, adds what was measured to the report and says what
    /// is not as it was predicted.
    ///
    /// # Errors
    /// Inputs or ciphertexts that are not the program's.
    fn judge(
        client: &Client<Self>,
        inputs: &Messages<Self>,
        outputs: (&Ciphers<Self>, &Messages<Self>),
        report: &mut RunReport,
    ) -> Result<Vec<String>, ErrorOf<Self>>;

    /// The precision of outputs; `None` where they are exact.
    fn measure(
        _client: &Client<Self>,
        _inputs: &Messages<Self>,
        _outputs: &Ciphers<Self>,
    ) -> Option<Result<Vec<PrecisionReport>, ErrorOf<Self>>> {
        None
    }

    /// Bits of noise that a ciphertext can still take; `None` where values are approximate.
    fn noise_budget(
        _client: &Client<Self>,
        _cipher: &Self::Ciphertext,
    ) -> Option<Result<u32, ErrorOf<Self>>> {
        None
    }

    /// The error of what ring schemes share, where it is one.
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
                Predicted::Precision { bits, like_sample } => {
                    report.precision.push(PrecisionReport {
                        output,
                        predicted_bits: bits,
                        predicted_bits_like_sample: like_sample,
                        measured_bits: None,
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
