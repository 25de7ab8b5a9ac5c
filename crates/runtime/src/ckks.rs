// SPDX-License-Identifier: Apache-2.0
//! Runs CKKS programs: checks inputs against ranges, measures precision, and decrypts with noise that hides errors.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;

use num_complex::Complex64;
use ringmill_compiler::Compiled;
use ringmill_compiler::ckks::bounded;
use ringmill_compiler::ckks::{InputRange, Precision, Wanted};
use ringmill_limits::room;
use ringmill_math::Prng;
use ringmill_schemes::ckks::bootstrap::Procedure;
use ringmill_schemes::ckks::noise::measured_bits;
use ringmill_schemes::ckks::{
    Ciphertext, Ckks, CkksError, Flooding, KeyHolder, Params, ParamsBuilder,
};
use ringmill_schemes::rlwe::RlweError;

use super::bootstrapping::evaluation_keys;
use super::client::Client;
use super::served::{Figures, Own, Predicted, Served, Sharing, Unfit, Wishes};
use super::{Ciphertexts, EvaluationKeys, RuntimeError, Vectors, check_names};
use crate::report::{Digits, PrecisionReport, RunReport};

/// Completes a builder of CKKS parameters with the values in `own`, which the user gives, and builds the
/// parameters.
fn finished(mut builder: ParamsBuilder, own: &Own<'_>) -> Result<Arc<Params>, CkksError> {
    builder = builder.security(own.table, own.level);
    if let Some(scale) = own.scale {
        builder = builder.default_scale(scale);
    }
    if own.insecure {
        builder = builder.allow_insecure_parameters_for_tests_only();
    }
    builder.build()
}

/// Formats a complex value for an error message. A real number has no imaginary part, and very large or small numbers
/// have an exponent.
fn shown(z: Complex64) -> String {
    if z.im == 0.0 {
        format!("{:?}", z.re)
    } else {
        format!("{:?}{:+?}i", z.re, z.im)
    }
}

impl Served for Ckks {
    const WRONG: &'static str = "less precise than predicted";
    const SHARING: Option<Sharing<Self>> = Some(Sharing {
        bits: Client::shared_bits,
        decrypt: Client::decrypt_to_share,
    });

    fn named(name: &str, own: &Own<'_>) -> Option<Result<Arc<Params>, CkksError>> {
        let builder = ParamsBuilder::named(name);
        Some(builder.and_then(|builder| finished(builder, own)))
    }

    fn made(own: &Own<'_>) -> Result<Arc<Params>, CkksError> {
        let builder = Params::builder(own.log_n);
        let builder = match own.bits {
            Some((cipher, special)) => builder.prime_bits(cipher, special),
            None => builder.prime_bits(&[], &[]),
        };
        let builder = match own.dnum {
            Some(dnum) => builder.dnum(dnum),
            None => builder,
        };
        finished(builder, own)
    }

    fn wanted(wishes: &Wishes) -> Wanted {
        let default = Wanted::default();
        Wanted {
            accuracy: wishes.accuracy.unwrap_or(default.accuracy),
            integer_bits: wishes.integer_bits.unwrap_or(default.integer_bits),
            table: wishes.table,
            level: wishes.level,
            bootstrapping: wishes.bootstrapping,
        }
    }

    /// Makes the evaluation keys of a program. For a program that bootstraps, these are the keys of bootstrapping and
    /// the program's other keys.
    fn evaluation_keys(
        compiled: &Compiled<Self>,
        holder: &KeyHolder,
    ) -> Result<EvaluationKeys, CkksError> {
        let own = |procedure: &Arc<Procedure>| procedure.keys(holder.generator());
        evaluation_keys(compiled, holder, own)
    }

    fn figures(params: &Params) -> Figures {
        Figures {
            default_scale: Some(params.default_scale()),
            plain_modulus: None,
        }
    }

    fn predicted(prediction: &Precision) -> Predicted {
        Predicted::Precision {
            bits: prediction.bits(),
            like_sample: prediction.bits_like_sample(),
            digits: Digits::of(prediction),
            conditional: prediction.conditional,
        }
    }

    fn check(range: &InputRange, slots: usize, values: &Vec<Complex64>) -> Result<(), Unfit> {
        if values.len() != slots {
            return Err(Unfit::Length(values.len()));
        }
        // The encoder refuses values that are not finite.
        let outside = |z: &Complex64| z.is_finite() && !range.contains(z.re, z.im);
        match values.iter().enumerate().find(|(_, z)| outside(z)) {
            None => Ok(()),
            Some((slot, value)) => Err(Unfit::Outside {
                slot,
                value: shown(*value),
                range: format!("values {range}"),
            }),
        }
    }

    /// Returns a text "OUTPUT on DEVICE" for each output whose measured error is larger than the noise model
    /// predicts.
    fn judge(
        client: &Client<Self>,
        inputs: &Vectors,
        (_, clear): (&Ciphertexts, &Vectors),
        report: &mut RunReport,
    ) -> Result<Vec<String>, RuntimeError> {
        report.precision = client.measure(inputs, clear)?;
        let wrong = report.precision.iter().filter(|row| {
            row.measured_bits
                .is_some_and(|bits| bits < row.predicted_bits)
        });
        let wrong = wrong.map(|row| format!("{} on {}", row.output, report.device));
        Ok(wrong.collect())
    }

    fn measure(
        client: &Client<Self>,
        inputs: &Vectors,
        outputs: &Ciphertexts,
    ) -> Option<Result<Vec<PrecisionReport>, RuntimeError>> {
        let clear = client.decrypt(outputs);
        Some(clear.and_then(|clear| client.measure(inputs, &clear)))
    }

    fn ring_error(error: &CkksError) -> Option<&RlweError> {
        match error {
            CkksError::Rlwe(error) => Some(error),
            _ => None,
        }
    }
}

impl Client<Ckks> {
    /// Decrypts outputs of the client's program for others to see. First it adds noise of the width that `flooding`
    /// asks for, fresh for each output. The width follows from a bound on the error that holds for all inputs that
    /// [`Client::encrypt`] takes (docs/security.md). The noise hides the errors from people who know or chose the
    /// inputs, if the outputs were computed as the program says.
    ///
    /// Each output is one decryption, and is counted with the secret key before the method returns it.
    ///
    /// # Errors
    /// The errors of [`Client::decrypt`]. [`RuntimeError::UnknownName`] for a name that is no output of the program.
    /// [`RuntimeError::NotShareable`] for a ciphertext that is not at its output's level and scale, and for an output
    /// without a bound, or with one that rests on stated bounds which `flooding` does not assume. Also for an output
    /// that the noise would hide, or that with the noise does not fit its level. [`RuntimeError::Count`] if the secret
    /// key's count of decryptions refuses more.
    pub fn decrypt_to_share(
        &self,
        outputs: &Ciphertexts,
        flooding: &Flooding,
    ) -> Result<Vectors, RuntimeError> {
        let mut opened = Vec::with_capacity(outputs.len());
        for (name, cipher) in outputs {
            let bound = self.shareable(name, cipher, flooding)?;
            opened.push((name, self.open(name, cipher)?, bound));
        }
        if let Some(count) = NonZeroU64::new(opened.len() as u64) {
            self.secret_key().charge(&flooding.charge(count))?;
        }
        let mut shared = Vectors::new();
        for (name, plain, bound) in opened {
            let refused = |source| RuntimeError::Value {
                name: name.clone(),
                source,
            };
            // The memory of the noise, of its residues by prime, and of the plaintext to which it is added.
            let words = 2 * self.compiled().params.degree() + 2 * plain.limbs().len();
            room("the noise of a shared decryption", 8 * words as u64)?;
            let mut prng = Prng::from_os().map_err(|e| refused(e.into()))?;
            let noisy = flooding
                .flood(&self.compiled().params, &plain, bound, &mut prng)
                .map_err(refused)?;
            shared.insert(name.clone(), self.decode(name, &noisy)?);
        }
        Ok(shared)
    }

    /// Returns for each output of the program how many bits after the binary point are still right after
    /// [`Client::decrypt_to_share`] has added its noise. An output whose error has no bound is not shared and has minus
    /// infinity. For other reasons of [`RuntimeError::NotShareable`] an output still has a number.
    pub fn shared_bits(&self, flooding: &Flooding) -> BTreeMap<String, f64> {
        let compiled = self.compiled();
        let outputs = compiled.outputs.iter().zip(&compiled.predicted);
        outputs
            .map(|(output, predicted)| {
                let scale = output.at.annotation.0;
                let after = flooding.bound_after(&compiled.params, predicted.error, scale);
                (output.name.clone(), -after.log2())
            })
            .collect()
    }

    /// Returns the bound on the error of an output, from which the width of the added noise follows. Fails as
    /// [`Client::decrypt_to_share`] does for an output that must not be shared.
    fn shareable(
        &self,
        name: &str,
        cipher: &Ciphertext,
        flooding: &Flooding,
    ) -> Result<f64, RuntimeError> {
        let compiled = self.compiled();
        let known: Vec<&str> = compiled.outputs.iter().map(|o| o.name.as_str()).collect();
        check_names(std::iter::once(&name.to_owned()), &known, "output")?;
        let refused = |reason: String| RuntimeError::NotShareable {
            name: name.to_owned(),
            reason,
        };
        let place = known.iter().position(|&known| known == name);
        let found = place.and_then(|i| compiled.outputs.get(i).zip(compiled.predicted.get(i)));
        let (output, predicted) =
            found.ok_or_else(|| refused("nothing is predicted of it".into()))?;
        let (at, params) = (output.at, &compiled.params);
        if cipher.level() != at.level
            || !cipher.annotation().agrees(at.annotation)
            || cipher.size() != 2
        {
            return Err(refused(
                "the ciphertext is not at the level and scale of the program's output, so the predicted error is not \
                 its own; share what this program's run gave"
                    .into(),
            ));
        }
        if predicted.conditional && !flooding.assumes_bounds() {
            return Err(refused(
                "its error is bounded only if values inside the program are where rm.bounded says, and nobody can check \
                 that of ciphertexts; where data break it, the error tells of the secret key; if it holds for sure, say \
                 assume_bounded=True"
                    .into(),
            ));
        }
        let bound = predicted.error;
        let check = flooding.check(params, bound, at.annotation.0);
        check.map_err(|fault| refused(fault.to_string()))?;
        let after = flooding.bound_after(params, bound, at.annotation.0);
        let magnitude = predicted.magnitude;
        if after >= magnitude {
            return Err(refused(format!(
                "the noise would be up to 2^{:.1}, and values are at most 2^{:.1}; compile with {:.0} bits more of \
                 precision, or ask for fewer statistical bits",
                after.log2(),
                magnitude.log2(),
                (after / magnitude).log2().ceil() + 1.0,
            )));
        }
        let capacity = predicted.capacity;
        if magnitude + after >= capacity {
            return Err(refused(format!(
                "values of 2^{:.1} with noise of 2^{:.1} do not fit the level, which holds 2^{:.1}; compile with more \
                 integer bits",
                magnitude.log2(),
                after.log2(),
                capacity.log2(),
            )));
        }
        Ok(bound)
    }

    /// Measures the precision of decrypted outputs against the program evaluated without encryption on `inputs`, which
    /// must have every input, plain ones too. Outputs that are not given are reported with their prediction alone.
    ///
    /// The program can state bounds of values inside it (instruction `BOUNDED`). Inputs for which such a value is
    /// outside of its bounds are refused, because no prediction holds for them.
    ///
    /// The measurement is the largest error of an output. This error tells of the secret key: never share it.
    ///
    /// # Errors
    /// [`RuntimeError::MissingInput`] for an input that is not given; [`RuntimeError::Bounded`] for a value outside of
    /// its stated bounds; [`RuntimeError::Evaluate`].
    pub fn measure(
        &self,
        inputs: &Vectors,
        outputs: &Vectors,
    ) -> Result<Vec<PrecisionReport>, RuntimeError> {
        let compiled = self.compiled();
        let mut clear = Vec::with_capacity(compiled.source.inputs.len());
        for input in &compiled.source.inputs {
            let missing = || RuntimeError::MissingInput {
                kind: "clear",
                name: input.name.clone(),
            };
            clear.push(inputs.get(&input.name).ok_or_else(missing)?.clone());
        }
        let (expected, broken) = bounded::evaluate(&compiled.source, &clear)?;
        if let Some(broken) = broken {
            return Err(RuntimeError::Bounded(Box::new(broken)));
        }
        let mut report = PrecisionReport::predicted(compiled);
        for (row, expected) in report.iter_mut().zip(&expected) {
            row.measured_bits = outputs
                .get(&row.output)
                .and_then(|got| measured_bits(got, expected));
        }
        Ok(report)
    }
}
