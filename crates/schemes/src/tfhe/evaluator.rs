//! Gates, tables and key switches on ciphertexts, with public keys alone.

use std::sync::Arc;

use ringmill_math::torus::{SwitchRows, TransformedKey};

use super::bootstrap::{Workspace, blind_rotate};
use super::gates::{Form, Gate};
use super::keys::{BootstrapKey, KeySwitchKey};
use super::lwe::{LweCiphertext, LweKey};
use super::params::{Messages, Order, Params};
use super::tables::{LookupTable, bits, encode};
use super::{TfheError, steps};
use crate::identity::KeyId;

/// Computes on ciphertexts. Methods that bootstrap take a [`Workspace`] and allocate nothing but their result.
pub struct Evaluator {
    params: Arc<Params>,
    bootstrap: TransformedKey,
    switch: SwitchRows,
    key_id: Option<KeyId>,
    /// 1/8 in every coefficient.
    sign: Vec<u64>,
}

impl Evaluator {
    /// Expands both keys and transforms the bootstrapping key.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`], [`TfheError::OtherKeys`] where the keys do not belong together.
    pub fn new(
        params: Arc<Params>,
        bootstrap: &BootstrapKey,
        switch: &KeySwitchKey,
    ) -> Result<Self, TfheError> {
        let key_id = KeyId::common([
            ("bootstrapping key", bootstrap.key_id()),
            ("key-switching key", switch.key_id()),
        ])?;
        Ok(Self {
            bootstrap: bootstrap.transformed(&params)?,
            switch: switch.rows(&params)?,
            key_id,
            sign: vec![params.coefficients().fraction(1, 8); params.sizes().degree()],
            params,
        })
    }

    pub fn params(&self) -> &Arc<Params> {
        &self.params
    }

    /// Buffers for bootstraps with these parameters.
    pub fn workspace(&self) -> Workspace {
        Workspace::new(&self.params)
    }

    /// Bytes of the bootstrapping key in transform form and of the expanded key-switching key.
    pub fn key_bytes(&self) -> (usize, usize) {
        (self.bootstrap.bytes(), self.switch.bytes())
    }

    /// The gate of two bits, by one bootstrap.
    ///
    /// # Errors
    /// As all here: [`TfheError::OtherParams`], [`TfheError::OtherKeys`], [`TfheError::WrongKey`];
    /// [`TfheError::OtherMessages`] under parameters for integers.
    pub fn gate(
        &self,
        work: &mut Workspace,
        gate: Gate,
        a: &LweCiphertext,
        b: &LweCiphertext,
    ) -> Result<LweCiphertext, TfheError> {
        let key_id = self.bits(&[("first operand", a), ("second operand", b)])?;
        let Form { eighths, factor } = gate.form();
        let factor = factor.into();
        let sum = self.linear(&[(factor, a), (factor, b)], self.eighths(eighths))?;
        self.rotate(work, &sum, &self.sign)?;
        self.finish(work, key_id)
    }

    /// Not a, without a bootstrap: exact.
    pub fn not(&self, a: &LweCiphertext) -> Result<LweCiphertext, TfheError> {
        let key_id = self.bits(&[("operand", a)])?;
        self.resting_sum(&[(-1, a)], 0, key_id)
    }

    /// b where a is true, else c, by two bootstraps and one key switch.
    pub fn mux(
        &self,
        work: &mut Workspace,
        a: &LweCiphertext,
        b: &LweCiphertext,
        c: &LweCiphertext,
    ) -> Result<LweCiphertext, TfheError> {
        let key_id = self.bits(&[("condition", a), ("first choice", b), ("second choice", c)])?;
        let q = self.params.coefficients();
        let with = self.linear(&[(1, a), (1, b)], self.eighths(-1))?;
        let without = self.linear(&[(-1, a), (1, c)], self.eighths(-1))?;
        self.rotate(work, &with, &self.sign)?;
        let mut sum = work.large.clone();
        self.rotate(work, &without, &self.sign)?;
        q.add_assign(&mut sum, &work.large)?;
        if let Some(body) = sum.last_mut() {
            *body = q.add(*body, q.fraction(1, 8));
        }
        work.large.copy_from_slice(&sum);
        self.finish(work, key_id)
    }

    /// The table's entry of the message (with its carry), by one bootstrap.
    pub fn lookup(
        &self,
        work: &mut Workspace,
        table: &LookupTable,
        a: &LweCiphertext,
    ) -> Result<LweCiphertext, TfheError> {
        self.params.check("table", table.origin())?;
        let key_id = self.integers(&[("operand", a)])?;
        // Half an entry, so that an entry is around its message.
        let half = (self.params.coefficients()).fraction(1, 4 << bits(&self.params)?);
        let words = self.linear(&[(1, a)], half)?;
        self.rotate(work, &words, table.polynomial())?;
        self.finish(work, key_id)
    }

    /// a + b, carries included: without a bootstrap, so that noise adds up.
    pub fn add(&self, a: &LweCiphertext, b: &LweCiphertext) -> Result<LweCiphertext, TfheError> {
        let key_id = self.integers(&[("first operand", a), ("second operand", b)])?;
        self.resting_sum(&[(1, a), (1, b)], 0, key_id)
    }

    /// a + m for a known m.
    pub fn add_plain(&self, a: &LweCiphertext, message: u64) -> Result<LweCiphertext, TfheError> {
        let key_id = self.integers(&[("operand", a)])?;
        self.resting_sum(&[(1, a)], encode(&self.params, message)?, key_id)
    }

    /// m a for a known m: m times the noise.
    pub fn mul_plain(&self, a: &LweCiphertext, m: u64) -> Result<LweCiphertext, TfheError> {
        let key_id = self.integers(&[("operand", a)])?;
        let bound = 1 << bits(&self.params)?;
        if m >= bound {
            return Err(TfheError::Message { got: m, bound });
        }
        self.resting_sum(&[(m as i64, a)], 0, key_id)
    }

    /// The bit that a sum of bits is: whether its phase is between 0 and 1/2, by one bootstrap. Sums are
    /// to come out as odd eighths of the torus, or as 2 or -2 eighths.
    pub fn sign(
        &self,
        work: &mut Workspace,
        a: &LweCiphertext,
    ) -> Result<LweCiphertext, TfheError> {
        let key_id = self.bits(&[("operand", a)])?;
        self.rotate(work, a.words(), &self.sign)?;
        self.finish(work, key_id)
    }

    /// A constant plus a sum of multiples, modulo the torus: without a bootstrap, so that the noise of each counts with the
    /// square of its factor. The constant is in halves of a message for integers, in eighths of the torus for booleans.
    ///
    /// # Errors
    /// [`TfheError::OutOfRange`] for no terms.
    pub fn sum(
        &self,
        terms: &[(i64, &LweCiphertext)],
        constant: i64,
    ) -> Result<LweCiphertext, TfheError> {
        let operands: Vec<_> = terms.iter().map(|&(_, x)| ("term", x)).collect();
        let key_id = self.resting(&operands)?;
        let whole = match self.params.sizes().messages {
            Messages::Booleans => 8,
            Messages::Integers { .. } => 4i64 << bits(&self.params)?,
        };
        let turns = constant.rem_euclid(whole) as u64;
        let constant = self.params.coefficients().fraction(turns, whole as u64);
        self.resting_sum(terms, constant, key_id)
    }

    /// 2^message_bits a + b: two messages without carry in one ciphertext, for tables of two ([`LookupTable::of_two`]).
    pub fn pack(&self, a: &LweCiphertext, b: &LweCiphertext) -> Result<LweCiphertext, TfheError> {
        let shift = match self.params.sizes().messages {
            Messages::Integers {
                message_bits,
                carry_bits,
            } if carry_bits >= message_bits => 1 << message_bits,
            Messages::Integers { carry_bits, .. } => {
                return Err(TfheError::OutOfRange {
                    what: "bits of a carry that is to hold a message",
                    expected: "as many as a message".to_owned(),
                    got: carry_bits.to_string(),
                });
            }
            Messages::Booleans => 1, // refused below
        };
        self.add(&self.mul_plain(a, shift)?, b)
    }

    /// A ciphertext under the large key (as the public key gives it) brought under the key that ciphertexts rest under.
    pub fn bring_to_rest(&self, a: &LweCiphertext) -> Result<LweCiphertext, TfheError> {
        let key_id = self.agree(&[("ciphertext", a)])?;
        a.check(&self.params, LweKey::Large)?;
        if LweKey::resting(&self.params) == LweKey::Large {
            return Ok(a.clone());
        }
        let mut small = vec![0; self.params.sizes().n.0 + 1];
        let (mask, body) = a.parts();
        let gadget = self.params.key_switch_gadget();
        self.switch.switch(gadget, mask, body, &mut small)?;
        Ok(LweCiphertext::trusted(
            &self.params,
            LweKey::Small,
            small,
            key_id,
        ))
    }

    /// `eighths` / 8 of the torus.
    fn eighths(&self, eighths: i8) -> u64 {
        let turns = eighths.rem_euclid(8) as u64;
        self.params.coefficients().fraction(turns, 8)
    }

    /// The words of a constant of the torus plus a sum of multiples.
    ///
    /// # Errors
    /// [`TfheError::OutOfRange`] for no terms.
    fn linear(
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
            match factor {
                1 => q.add_assign(&mut words, x.words())?,
                -1 => q.sub_assign(&mut words, x.words())?,
                _ => {
                    let factor = q.from_i64(factor);
                    for (sum, &x) in words.iter_mut().zip(x.words()) {
                        *sum = q.add(*sum, q.mul(factor, x));
                    }
                }
            }
        }
        if let Some(body) = words.last_mut() {
            *body = q.add(*body, constant);
        }
        Ok(words)
    }

    /// The same as a ciphertext, of operands that were seen to rest.
    fn resting_sum(
        &self,
        terms: &[(i64, &LweCiphertext)],
        constant: u64,
        key_id: Option<KeyId>,
    ) -> Result<LweCiphertext, TfheError> {
        let words = self.linear(terms, constant)?;
        let key = LweKey::resting(&self.params);
        Ok(LweCiphertext::trusted(&self.params, key, words, key_id))
    }

    /// From a resting ciphertext to the extracted one in `work.large`.
    fn rotate(&self, work: &mut Workspace, words: &[u64], table: &[u64]) -> Result<(), TfheError> {
        let params = &*self.params;
        match params.sizes().order {
            Order::BootstrapFirst => steps::modulus_switch(params, words, &mut work.exponents),
            Order::KeySwitchFirst => {
                if let Some((&body, mask)) = words.split_last() {
                    let gadget = params.key_switch_gadget();
                    self.switch.switch(gadget, mask, body, &mut work.small)?;
                }
                steps::modulus_switch(params, &work.small, &mut work.exponents);
            }
        }
        let body = work.exponents[params.sizes().n.0];
        steps::start(params, table, body, &mut work.acc)?;
        blind_rotate(params, &self.bootstrap, work)?;
        steps::sample_extract(params, &work.acc, &mut work.large)?;
        Ok(())
    }

    /// From `work.large` to the resting ciphertext.
    fn finish(
        &self,
        work: &mut Workspace,
        key_id: Option<KeyId>,
    ) -> Result<LweCiphertext, TfheError> {
        let key = LweKey::resting(&self.params);
        let words = match key {
            LweKey::Large => work.large.clone(),
            LweKey::Small => {
                if let Some((&body, mask)) = work.large.split_last() {
                    let gadget = self.params.key_switch_gadget();
                    self.switch.switch(gadget, mask, body, &mut work.small)?;
                }
                work.small.clone()
            }
        };
        Ok(LweCiphertext::trusted(&self.params, key, words, key_id))
    }

    fn agree(
        &self,
        operands: &[(&'static str, &LweCiphertext)],
    ) -> Result<Option<KeyId>, TfheError> {
        let own = [("evaluation keys", self.key_id)];
        let all = operands.iter().map(|&(name, x)| (name, x.key_id()));
        Ok(KeyId::common(own.into_iter().chain(all))?)
    }

    fn resting(
        &self,
        operands: &[(&'static str, &LweCiphertext)],
    ) -> Result<Option<KeyId>, TfheError> {
        let key = LweKey::resting(&self.params);
        operands
            .iter()
            .try_for_each(|(_, x)| x.check(&self.params, key))?;
        self.agree(operands)
    }

    fn bits(
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

    fn integers(
        &self,
        operands: &[(&'static str, &LweCiphertext)],
    ) -> Result<Option<KeyId>, TfheError> {
        bits(&self.params)?;
        self.resting(operands)
    }
}
