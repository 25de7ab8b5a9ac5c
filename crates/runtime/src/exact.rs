// SPDX-License-Identifier: Apache-2.0
//! Runs programs on exact integers (BFV and BGV): checks messages, compares results exactly, and reports noise budgets.

use std::sync::Arc;

use ringmill_compiler::Compiled;
use ringmill_compiler::exact::reference::{evaluate, evaluate_modulo};
use ringmill_compiler::exact::{IntegerRange, Prediction};
use ringmill_schemes::bfv::{Bfv, BfvError};
use ringmill_schemes::bgv::bootstrap::Procedure;
use ringmill_schemes::bgv::{Bgv, BgvError};
use ringmill_schemes::exact::{ExactError, ExactParams, ExactScheme, PlainModulus};
use ringmill_schemes::rlwe::{KeyHolder, RlweError};
use ringmill_schemes::{Scheme, bfv, bgv};

use super::bootstrapping::evaluation_keys;
use super::client::Client;
use super::scheme::{ErrorOf, Runs};
use super::served::{Figures, Own, Predicted, Served, Unfit, Wishes};
use super::{Ciphers, EvaluationKeys, Messages, RuntimeError};
use crate::report::RunReport;

/// The bits by which a measured noise budget may be below the predicted one before it counts as wrong. A measured
/// budget is rounded down to whole bits.
const ROUNDED: f64 = 2.0;

/// Returns the plaintext modulus t among the parameters `own` that the user gives. Fails if there is none, or if t
/// allows no batching at the ring degree.
fn plain_modulus(own: &Own<'_>) -> Result<PlainModulus, ExactError> {
    let t = PlainModulus::new(own.plain_modulus.unwrap_or(0))?;
    t.check_batchable(own.log_n)?;
    Ok(t)
}

/// Returns the sizes in bits of the ciphertext primes, and those of the special primes, as the user gives them. Both
/// lists are empty if the user gives no ciphertext primes.
fn sizes<'a>(own: &Own<'a>) -> (&'a [u32], &'a [u32]) {
    match own.bits {
        Some((cipher, special)) if !cipher.is_empty() => (cipher, special),
        Some(_) | None => (&[], &[]),
    }
}

fn predicted(prediction: &Prediction) -> Predicted {
    Predicted::Budget {
        bits: prediction.budget,
        range: prediction.range.to_string(),
    }
}

/// Checks that a message has `slots` values, all within the range of a program's input.
fn check(range: IntegerRange, slots: usize, values: &[i64]) -> Result<(), Unfit> {
    if values.len() != slots {
        return Err(Unfit::Length(values.len()));
    }
    let mut values = values.iter().enumerate();
    match values.find(|&(_, &x)| !range.contains(x.into())) {
        None => Ok(()),
        Some((slot, value)) => Err(Unfit::Outside {
            slot,
            value: value.to_string(),
            range: format!("whole numbers from {range}"),
        }),
    }
}

/// Returns a text for each output that differs from the computation without encryption, and for each output whose noise
/// budget is more than 2 bits below the prediction. The text names the output and the device.
fn judge<S>(
    client: &Client<S>,
    inputs: &Messages<S>,
    (ciphers, clear): (&Ciphers<S>, &Messages<S>),
    report: &mut RunReport,
) -> Result<Vec<String>, ErrorOf<S>>
where
    S: Served + Scheme<Message = Vec<i64>, Params: ExactParams>,
{
    let compiled = client.compiled();
    let source = &compiled.source;
    let mut vectors = Vec::with_capacity(source.inputs.len());
    for input in &source.inputs {
        let missing = || RuntimeError::MissingInput {
            kind: "clear",
            name: input.name.clone(),
        };
        let values = inputs.get(&input.name).ok_or_else(missing)?;
        vectors.push(values.iter().map(|&x| x.into()).collect());
    }
    let expected = match compiled.bootstrapping {
        None => evaluate(source, &vectors)?,
        Some(_) => evaluate_modulo(source, &vectors, compiled.params.plain_modulus().value())?,
    };
    let mut wrong = Vec::new();
    for (name, expected) in source.outputs.iter().zip(&expected) {
        let found = clear.get(name).into_iter().flatten();
        if !found.map(|&x| i128::from(x)).eq(expected.iter().copied()) {
            wrong.push(format!("{name} on {}", report.device));
        }
    }
    for row in &mut report.noise {
        let cipher = ciphers.get(&row.output);
        let budget = cipher.and_then(|cipher| S::noise_budget(client, cipher));
        row.measured_bits = budget.transpose()?;
        let less = |bits| f64::from(bits) + ROUNDED < row.predicted_bits;
        if row.measured_bits.is_some_and(less) {
            wrong.push(format!("the budget of {} on {}", row.output, report.device));
        }
    }
    Ok(wrong)
}

/// Implements the functions of [`Served`] that schemes on exact integers have in common, for the module and the
/// error type of one such scheme.
macro_rules! of_integers {
    ($module:ident, $error:ident) => {
        const WRONG: &'static str =
            "not what the computation in the clear gives, or noisier than predicted";

        fn made(own: &Own<'_>) -> Result<Arc<Self::Params>, $error> {
            let (cipher, special) = sizes(own);
            let mut builder = $module::Params::builder(own.log_n, plain_modulus(own)?)
                .prime_bits(cipher, special)
                .security(own.table, own.level);
            if let Some(dnum) = own.dnum {
                builder = builder.dnum(dnum);
            }
            if own.insecure {
                builder = builder.allow_insecure_parameters_for_tests_only();
            }
            builder.build()
        }

        fn wanted(wishes: &Wishes) -> Self::Wanted {
            let mut wanted = Self::Wanted::default();
            (wanted.table, wanted.level) = (wishes.table, wishes.level);
            wanted
        }

        fn figures(params: &Self::Params) -> Figures {
            Figures {
                default_scale: None,
                plain_modulus: Some(params.plain_modulus().value()),
            }
        }

        fn predicted(prediction: &Prediction) -> Predicted {
            predicted(prediction)
        }

        fn check(range: &IntegerRange, slots: usize, message: &Vec<i64>) -> Result<(), Unfit> {
            check(*range, slots, message)
        }

        fn judge(
            client: &Client<Self>,
            inputs: &Messages<Self>,
            outputs: (&Ciphers<Self>, &Messages<Self>),
            report: &mut RunReport,
        ) -> Result<Vec<String>, ErrorOf<Self>> {
            judge(client, inputs, outputs, report)
        }

        fn noise_budget(
            client: &Client<Self>,
            cipher: &Self::Ciphertext,
        ) -> Option<Result<u32, ErrorOf<Self>>> {
            Some(client.noise_budget(cipher))
        }

        fn ring_error(error: &$error) -> Option<&RlweError> {
            match error {
                $error::Rlwe(error) => Some(error),
                _ => None,
            }
        }
    };
}

impl Served for Bfv {
    of_integers!(bfv, BfvError);
}

impl Served for Bgv {
    of_integers!(bgv, BgvError);

    /// Makes the evaluation keys of a program. For a program that bootstraps, these are the keys of bootstrapping and
    /// the program's other keys.
    fn evaluation_keys(
        compiled: &Compiled<Self>,
        holder: &bgv::KeyHolder,
    ) -> Result<EvaluationKeys, BgvError> {
        let own = |procedure: &Arc<Procedure>| Ok(procedure.keys(holder.generator())?);
        evaluation_keys(compiled, holder, own)
    }
}

impl<S> Client<S>
where
    S: Runs + ExactScheme + Scheme<Holder = KeyHolder<S>>,
{
    /// Returns the bits by which the noise of a ciphertext may still grow before its message is lost.
    ///
    /// # Errors
    /// [`RuntimeError::Scheme`] for a ciphertext of other parameters or of another key.
    pub fn noise_budget(&self, cipher: &S::Ciphertext) -> Result<u32, RuntimeError<S::Error>> {
        let budget = self.holder().noise_budget(cipher);
        budget.map_err(RuntimeError::Scheme)
    }
}
