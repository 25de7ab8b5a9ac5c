//! CKKS in Python: complex numbers, scales, precision.

use std::path::Path;
use std::sync::Arc;

use num_complex::Complex64;
use pyo3::prelude::*;
use ringmill_cli::scheme::{Ciphers, Messages};
use ringmill_compiler::ckks::reference::evaluate;
use ringmill_compiler::ckks::{InputRange, Precision, Wanted};
use ringmill_devices::runtime::Client;
use ringmill_isa::macros::MacroProgram;
use ringmill_limits::Watch;
use ringmill_schemes::At;
use ringmill_schemes::bgv::bootstrap::Procedure;
use ringmill_schemes::ckks::{Ciphertext, Ckks, CkksError, Flooding, Params, ParamsBuilder, Scale};
use ringmill_schemes::rlwe::{RlweError, SecretKey};

use super::{Ends, Own, Rows, Spoken, Values, Wishes, failed};
use crate::errors::{DataError, ParameterError, raise};
use crate::files;

impl Spoken for Ckks {
    fn message(values: Values) -> Option<Vec<Complex64>> {
        match values {
            Values::Complex(values) => Some(values),
            Values::Whole(_) => None,
        }
    }

    fn values(message: Vec<Complex64>) -> Values {
        Values::Complex(message)
    }

    fn wanted_for(wishes: &Wishes) -> Wanted {
        Wanted {
            precision_bits: wishes.precision,
            integer_bits: wishes.integer_bits,
            table: wishes.table,
            level: wishes.level,
        }
    }

    fn own_params(own: &Own<'_>) -> PyResult<Arc<Params>> {
        if own.plain_modulus.is_some() {
            return Err(ParameterError::new_err(
                "ckks has no plain modulus; leave plain_modulus= out, or name a scheme of integers by scheme=",
            ));
        }
        let build = || -> Result<Arc<Params>, CkksError> {
            let mut builder = match (own.name, own.bits) {
                (Some(name), _) => ParamsBuilder::named(name)?,
                (None, Some((cipher, special))) => {
                    Params::builder(own.log_n).prime_bits(cipher, &[special])
                }
                (None, None) => Params::builder(own.log_n).prime_bits(&[], &[]),
            };
            builder = builder.security(own.table, own.level);
            if let Some(scale) = own.scale {
                builder = builder.default_scale(scale);
            }
            if own.insecure {
                builder = builder.allow_insecure_parameters_for_tests_only();
            }
            builder.build()
        };
        build().map_err(raise::<ParameterError, _>)
    }

    fn bootstrapping(_: &Arc<Procedure>) -> Option<Self::Bootstrapping> {
        None
    }

    fn declared(ends: &Ends) -> Option<InputRange> {
        let Ends::Real(ends) = ends else { return None };
        match *ends.as_slice() {
            [radius] => Some(InputRange::Disc { radius }),
            [lowest, highest] => Some(InputRange::Real { lowest, highest }),
            _ => None,
        }
    }

    fn ends(range: &InputRange) -> Ends {
        Ends::Real(match *range {
            InputRange::Real { lowest, highest } => vec![lowest, highest],
            InputRange::Disc { radius } => vec![radius],
        })
    }

    fn default_scale(params: &Params) -> Option<f64> {
        Some(params.default_scale())
    }

    fn scale(at: &At<Scale>) -> Option<f64> {
        Some(at.annotation.0)
    }

    fn plain_modulus(_: &Params) -> Option<u64> {
        None
    }

    fn predicted_bits(prediction: &Precision) -> Option<f64> {
        Some(prediction.bits())
    }

    fn predicted_bits_like_sample(prediction: &Precision) -> Option<f64> {
        prediction.bits_like_sample()
    }

    fn predicted_budget(_: &Precision) -> Option<f64> {
        None
    }

    fn evaluate(
        program: &MacroProgram,
        inputs: &[Vec<Complex64>],
    ) -> PyResult<Vec<Vec<Complex64>>> {
        evaluate(program, inputs).map_err(raise::<DataError, _>)
    }

    fn below(error: &CkksError) -> Option<&RlweError> {
        match error {
            CkksError::Rlwe(error) => Some(error),
            _ => None,
        }
    }

    fn measure(
        client: &Client<Self>,
        inputs: &Messages<Self>,
        outputs: &Ciphers<Self>,
    ) -> PyResult<Rows> {
        let clear = client.decrypt(outputs).map_err(failed::<Self>)?;
        let rows = client.measure(inputs, &clear).map_err(failed::<Self>)?;
        let row = rows.into_iter();
        Ok(row
            .map(|row| (row.output, row.predicted_bits, row.measured_bits))
            .collect())
    }

    fn shared_bits(client: &Client<Self>, flooding: &Flooding) -> PyResult<Vec<(String, f64)>> {
        Ok(client.shared_bits(flooding).into_iter().collect())
    }

    fn decrypt_to_share(
        client: &Client<Self>,
        outputs: &Ciphers<Self>,
        flooding: &Flooding,
    ) -> PyResult<Messages<Self>> {
        let shared = client.decrypt_to_share(outputs, flooding);
        shared.map_err(failed::<Self>)
    }

    fn shared_decryptions(client: &Client<Self>) -> PyResult<Option<u64>> {
        Ok(client.secret_key().shared_decryptions())
    }

    /// The file keeps the count of decryptions that are shared.
    fn save_secret(key: &SecretKey, path: &Path, watch: &Watch) -> PyResult<()> {
        files::save_counted_secret(path, watch, key)
    }

    fn noise_budget(_: &Client<Self>, _: &Ciphertext) -> PyResult<u32> {
        Err(DataError::new_err(
            "values of ckks are approximate and have no noise budget; client.measure compares them with the clear",
        ))
    }
}
