//! What the schemes of exact integers share in Python.

use std::path::Path;
use std::sync::Arc;

use pyo3::prelude::*;
use ringmill_cli::scheme::{Ciphers, Messages};
use ringmill_compiler::Compiles;
use ringmill_compiler::exact::{IntegerRange, reference};
use ringmill_devices::runtime::Client;
use ringmill_isa::macros::MacroProgram;
use ringmill_limits::Watch;
use ringmill_schemes::At;
use ringmill_schemes::bgv::bootstrap::Procedure;
use ringmill_schemes::ckks::Flooding;
use ringmill_schemes::exact::{ExactError, ExactParams, PlainModulus};
use ringmill_schemes::file;
use ringmill_schemes::rlwe::{RlweError, SecretKey};

use super::{Ends, Own, Rows, Spoken, Values, Wishes, failed};
use crate::errors::{DataError, ParameterError, raise};
use crate::files;

fn message(values: Values) -> Option<Vec<i64>> {
    match values {
        Values::Whole(values) => Some(values),
        Values::Complex(_) => None,
    }
}

fn declared(ends: &Ends) -> Option<IntegerRange> {
    let Ends::Whole(ends) = ends else { return None };
    match *ends.as_slice() {
        [low, high] => IntegerRange::new(low, high),
        _ => None,
    }
}

fn ends(range: IntegerRange) -> Ends {
    Ends::Whole(vec![range.low(), range.high()])
}

/// Outputs in the clear, of 64 bits as those that are decrypted.
fn evaluate(program: &MacroProgram, inputs: &[Vec<i64>]) -> PyResult<Vec<Vec<i64>>> {
    let widened = inputs.iter();
    let widened: Vec<Vec<i128>> = widened
        .map(|vector| vector.iter().map(|&x| x.into()).collect())
        .collect();
    let outputs = reference::evaluate(program, &widened).map_err(raise::<DataError, _>)?;
    let narrow = |(vector, name): (Vec<i128>, &String)| {
        let one = |(slot, value): (usize, i128)| {
            let beyond = |_| {
                DataError::new_err(format!(
                    "value {slot} of output {name} is {value}, beyond 64 bits; evaluate smaller inputs"
                ))
            };
            i64::try_from(value).map_err(beyond)
        };
        vector.into_iter().enumerate().map(one).collect()
    };
    outputs
        .into_iter()
        .zip(&program.outputs)
        .map(narrow)
        .collect()
}

/// The plain modulus of parameters of one's own.
fn plain_modulus(own: &Own<'_>, scheme: &str) -> PyResult<PlainModulus> {
    let refused = |text: String| Err(ParameterError::new_err(text));
    if let Some(name) = own.name {
        return refused(format!(
            "there is no set of {scheme} parameters named {name:?}; give log_n=, bits= and plain_modulus="
        ));
    }
    if own.scale.is_some() {
        return refused(format!(
            "{scheme} has no scale: whole numbers are computed on exactly; leave scale= out"
        ));
    }
    let Some(t) = own.plain_modulus else {
        return refused(format!(
            "{scheme} computes modulo a plain modulus; give plain_modulus=, a prime that is 1 mod 2^{}, as rm.plain_modulus \
             finds one",
            u32::from(own.log_n) + 1
        ));
    };
    let t = PlainModulus::new(t).map_err(raise::<ParameterError, ExactError>)?;
    let batches = t.check_batchable(own.log_n);
    batches.map_err(raise::<ParameterError, ExactError>)?;
    Ok(t)
}

/// That exact results have no precision.
fn no_precision() -> PyErr {
    DataError::new_err(
        "results of this program are exact, so there is no precision to measure; client.noise_budget says how much noise they \
         can still take",
    )
}

/// That exact results need no noise to be shared.
fn no_share() -> PyErr {
    DataError::new_err(
        "results of this program are exact: they hold no error that noise would have to hide; decrypt without share=",
    )
}

/// Schemes of integers, each by its module, with its error.
macro_rules! spoken {
    ($($module:ident::{$scheme:ident, $error:ident, $bootstrapping:expr}),*) => {$(
        impl Spoken for ringmill_schemes::$module::$scheme {
            fn message(values: Values) -> Option<Vec<i64>> {
                message(values)
            }

            fn values(message: Vec<i64>) -> Values {
                Values::Whole(message)
            }

            fn wanted_for(wishes: &Wishes) -> Self::Wanted {
                let mut wanted = Self::Wanted::default();
                (wanted.table, wanted.level) = (wishes.table, wishes.level);
                wanted
            }

            fn own_params(own: &Own<'_>) -> PyResult<Arc<Self::Params>> {
                let t = plain_modulus(own, Self::NAME)?;
                let (cipher, special) = own.bits.unwrap_or((&[], 0));
                let special = [special];
                let special = if cipher.is_empty() { &[] } else { &special[..] };
                let mut builder = Self::Params::builder(own.log_n, t)
                    .prime_bits(cipher, special)
                    .security(own.table, own.level);
                if own.insecure {
                    builder = builder.allow_insecure_parameters_for_tests_only();
                }
                builder.build().map_err(raise::<ParameterError, _>)
            }

            fn bootstrapping(procedure: &Arc<Procedure>) -> Option<Self::Bootstrapping> {
                let taken: fn(&Arc<Procedure>) -> Option<Self::Bootstrapping> = $bootstrapping;
                taken(procedure)
            }

            fn declared(ends: &Ends) -> Option<IntegerRange> {
                declared(ends)
            }

            fn ends(range: &IntegerRange) -> Ends {
                ends(*range)
            }

            fn default_scale(_: &Self::Params) -> Option<f64> {
                None
            }

            fn scale(_: &At<Self::Annotation>) -> Option<f64> {
                None
            }

            fn plain_modulus(params: &Self::Params) -> Option<u64> {
                Some(ExactParams::plain_modulus(params).value())
            }

            fn predicted_bits(_: &Self::Prediction) -> Option<f64> {
                None
            }

            fn predicted_bits_like_sample(_: &Self::Prediction) -> Option<f64> {
                None
            }

            fn predicted_budget(prediction: &Self::Prediction) -> Option<f64> {
                Some(prediction.budget)
            }

            fn evaluate(program: &MacroProgram, inputs: &[Vec<i64>]) -> PyResult<Vec<Vec<i64>>> {
                evaluate(program, inputs)
            }

            fn below(error: &Self::Error) -> Option<&RlweError> {
                match error {
                    ringmill_schemes::$module::$error::Rlwe(error) => Some(error),
                    _ => None,
                }
            }

            fn measure(_: &Client<Self>, _: &Messages<Self>, _: &Ciphers<Self>) -> PyResult<Rows> {
                Err(no_precision())
            }

            fn shared_bits(_: &Client<Self>, _: &Flooding) -> PyResult<Vec<(String, f64)>> {
                Err(no_share())
            }

            fn decrypt_to_share(
                _: &Client<Self>,
                _: &Ciphers<Self>,
                _: &Flooding,
            ) -> PyResult<Messages<Self>> {
                Err(no_share())
            }

            fn shared_decryptions(_: &Client<Self>) -> PyResult<Option<u64>> {
                Err(no_share())
            }

            fn save_secret(key: &SecretKey, path: &Path, watch: &Watch) -> PyResult<()> {
                files::write_secret(path, watch, &file::write_secret_key_in_the_clear(key))
            }

            fn noise_budget(client: &Client<Self>, cipher: &Self::Ciphertext) -> PyResult<u32> {
                client.noise_budget(cipher).map_err(failed::<Self>)
            }
        }
    )*};
}

spoken!(
    bfv::{Bfv, BfvError, |_| None},
    bgv::{Bgv, BgvError, |procedure| Some(Arc::clone(procedure))}
);
