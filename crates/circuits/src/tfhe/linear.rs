// SPDX-License-Identifier: Apache-2.0
//! Sums of LWE ciphertexts, which need no keys. The module also checks the operands of bootstraps, for the evaluator
//! and for devices.

use std::sync::Arc;

use ringmill_device::KeyId;
use ringmill_math::torus::Coefficients;

use super::TfheError;
use super::lwe::{LweCiphertext, LweKey};
use super::params::{Messages, Params};
use super::tables::bits;

/// An evaluator of sums of ciphertexts under one parameter set and one key.
pub struct LinearEvaluator {
    params: Arc<Params>,
    key_id: Option<KeyId>,
}

/// Computes sum += factor x, word by word modulo q.
///
/// # Errors
/// [`TfheError::Math`] for operands of different lengths if the factor is 1 or -1. For other factors the words beyond
/// the shorter operand are ignored.
pub(super) fn add_multiple(
    q: Coefficients,
    sum: &mut [u64],
    factor: i64,
    x: &[u64],
) -> Result<(), TfheError> {
    match factor {
        1 => q.add_assign(sum, x)?,
        -1 => q.sub_assign(sum, x)?,
        _ => {
            let factor = q.from_i64(factor);
            for (sum, &x) in sum.iter_mut().zip(x) {
                *sum = q.add(*sum, q.mul(factor, x));
            }
        }
    }
    Ok(())
}

impl LinearEvaluator {
    /// Makes an evaluator for ciphertexts under the secret key of this identity. Without an identity, ciphertexts only
    /// have to agree with each other. A ciphertext without an identity agrees with every key. Results have an identity
    /// only if the evaluator and all operands have one.
    pub fn new(params: Arc<Params>, key_id: Option<KeyId>) -> Self {
        Self { params, key_id }
    }

    pub fn params(&self) -> &Arc<Params> {
        &self.params
    }

    /// Computes a constant plus a sum of ciphertexts times factors, without a bootstrap. The noise variance of each
    /// term counts with the square of its factor. The constant is in halves of a message for integers, and in eighths
    /// of the torus for booleans.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`], [`TfheError::OtherKeys`]; [`TfheError::WrongKey`] for a ciphertext that is not under
    /// the key of inputs and outputs; [`TfheError::OutOfRange`] if there are no terms.
    pub fn sum(
        &self,
        terms: &[(i64, &LweCiphertext)],
        constant: i64,
    ) -> Result<LweCiphertext, TfheError> {
        let operands: Vec<_> = terms.iter().map(|&(_, x)| ("ciphertext", x)).collect();
        let key_id = self.resting(&operands)?;
        let log = match self.params.sizes().messages {
            Messages::Booleans => 3,
            Messages::Integers { .. } => bits(&self.params)? + 2,
        };
        let turns = constant.rem_euclid(1 << log) as u64;
        let constant = self.params.coefficients().fraction(turns, log);
        self.resting_sum(terms, constant, key_id)
    }

    /// Returns the words of a ciphertext with which a blind rotation starts, and the identity of its key. For integers
    /// it adds half a message, so that a table's entry is centred on its message.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`], [`TfheError::OtherKeys`], [`TfheError::WrongKey`].
    pub fn to_rotate(&self, a: &LweCiphertext) -> Result<(Vec<u64>, Option<KeyId>), TfheError> {
        let key_id = self.resting(&[("operand", a)])?;
        let half = match self.params.sizes().messages {
            Messages::Booleans => 0,
            Messages::Integers { .. } => {
                (self.params.coefficients()).fraction(1, bits(&self.params)? + 2)
            }
        };
        Ok((self.words(&[(1, a)], half)?, key_id))
    }

    /// Makes a ciphertext under the key of inputs and outputs ([`LweKey::resting`]) from its words, after a check.
    ///
    /// # Errors
    /// [`TfheError::Dimension`], [`TfheError::Residue`].
    pub fn rested(
        &self,
        words: Vec<u64>,
        key_id: Option<KeyId>,
    ) -> Result<LweCiphertext, TfheError> {
        let key = LweKey::resting(&self.params);
        let checked = LweCiphertext::new(&self.params, key, words)?;
        Ok(checked.with_key_id(key_id))
    }

    /// Returns `eighths` / 8 of the torus as a word modulo q.
    pub(super) fn eighths(&self, eighths: i8) -> u64 {
        let turns = eighths.rem_euclid(8) as u64;
        self.params.coefficients().fraction(turns, 3)
    }

    /// Computes the words of a constant of the torus plus a sum of ciphertexts times factors.
    ///
    /// # Errors
    /// [`TfheError::OutOfRange`] if there are no terms.
    pub(super) fn words(
        &self,
        terms: &[(i64, &LweCiphertext)],
        constant: u64,
    ) -> Result<Vec<u64>, TfheError> {
        let q = self.params.coefficients();
        let Some((_, first)) = terms.first() else {
            return Err(TfheError::OutOfRange {
                what: "the number of terms",
                expected: "at least 1".to_owned(),
                got: "0".to_owned(),
            });
        };
        let mut words = vec![0; first.words().len()];
        for &(factor, x) in terms {
            add_multiple(q, &mut words, factor, x.words())?;
        }
        if let Some(body) = words.last_mut() {
            *body = q.add(*body, constant);
        }
        Ok(words)
    }

    /// Computes a constant of the torus plus a sum of ciphertexts times factors. The caller has checked that all
    /// operands are under the key of inputs and outputs.
    pub(super) fn resting_sum(
        &self,
        terms: &[(i64, &LweCiphertext)],
        constant: u64,
        key_id: Option<KeyId>,
    ) -> Result<LweCiphertext, TfheError> {
        let words = self.words(terms, constant)?;
        let key = LweKey::resting(&self.params);
        Ok(LweCiphertext::trusted(&self.params, key, words, key_id))
    }

    /// Returns the identity of the secret key that all operands and the evaluation keys share, or an error if they
    /// differ. The identity is `None` if one of them has none.
    pub(super) fn agree(
        &self,
        operands: &[(&'static str, &LweCiphertext)],
    ) -> Result<Option<KeyId>, TfheError> {
        let own = [("evaluation keys", self.key_id)];
        let all = operands.iter().map(|&(name, x)| (name, x.key_id()));
        Ok(KeyId::common(own.into_iter().chain(all))?)
    }

    /// Returns the identity that [`Self::agree`] returns. Operands of other parameters are an error, and so are
    /// operands that are not under the key of inputs and outputs ([`LweKey::resting`]).
    pub(super) fn resting(
        &self,
        operands: &[(&'static str, &LweCiphertext)],
    ) -> Result<Option<KeyId>, TfheError> {
        let key = LweKey::resting(&self.params);
        operands
            .iter()
            .try_for_each(|(_, x)| x.check(&self.params, key))?;
        self.agree(operands)
    }

    /// Returns the identity that [`Self::resting`] returns for operands that are encrypted bits. Parameters for
    /// integers are an error.
    pub(crate) fn bits(
        &self,
        operands: &[(&'static str, &LweCiphertext)],
    ) -> Result<Option<KeyId>, TfheError> {
        match self.params.sizes().messages {
            Messages::Booleans => self.resting(operands),
            other => Err(TfheError::OtherMessages {
                expected: "booleans",
                got: other.name(),
            }),
        }
    }

    /// Returns the identity that [`Self::resting`] returns for operands that are encrypted integers. Parameters for
    /// booleans are an error.
    pub(super) fn integers(
        &self,
        operands: &[(&'static str, &LweCiphertext)],
    ) -> Result<Option<KeyId>, TfheError> {
        bits(&self.params)?;
        self.resting(operands)
    }
}
