// SPDX-License-Identifier: Apache-2.0
//! Gates, tables and key switches on ciphertexts, with public keys alone.

use std::sync::Arc;

use ringmill_device::KeyId;
use ringmill_math::torus::SwitchRows;

use super::bootstrap::{RotationKey, Workspace, blind_rotate};
use super::gates::{Form, Gate};
use super::keys::{BootstrapKey, KeySwitchKey};
use super::linear::LinearEvaluator;
use super::lwe::{LweCiphertext, LweKey};
use super::params::{Messages, Order, Params};
use super::tables::{LookupTable, bits, encode};
use super::{TfheError, keys, shared, steps};

/// Computes on ciphertexts. Methods that bootstrap take a [`Workspace`] and allocate nothing but their result.
pub struct Evaluator {
    params: Arc<Params>,
    linear: LinearEvaluator,
    bootstrap: RotationKey,
    switch: SwitchRows,
    /// [`shared::flat`]: of bits, the sign's table.
    flat: Vec<u64>,
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
        let key_id = keys::common(bootstrap, switch)?;
        Ok(Self {
            bootstrap: bootstrap.transformed(&params)?,
            switch: switch.rows(&params)?,
            linear: LinearEvaluator::new(Arc::clone(&params), key_id),
            flat: shared::flat(&params),
            params,
        })
    }

    pub fn params(&self) -> &Arc<Params> {
        &self.params
    }

    /// What needs no keys.
    pub fn linear(&self) -> &LinearEvaluator {
        &self.linear
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
        let key_id = self
            .linear
            .bits(&[("first operand", a), ("second operand", b)])?;
        let Form { eighths, factor } = gate.form();
        let factor = factor.into();
        let sum = self
            .linear
            .words(&[(factor, a), (factor, b)], self.linear.eighths(eighths))?;
        self.rotate(work, &sum, &self.flat)?;
        self.finish(work, key_id)
    }

    /// Not a, without a bootstrap: exact.
    pub fn not(&self, a: &LweCiphertext) -> Result<LweCiphertext, TfheError> {
        let key_id = self.linear.bits(&[("operand", a)])?;
        self.linear.resting_sum(&[(-1, a)], 0, key_id)
    }

    /// b where a is true, else c, by two bootstraps and one key switch.
    pub fn mux(
        &self,
        work: &mut Workspace,
        a: &LweCiphertext,
        b: &LweCiphertext,
        c: &LweCiphertext,
    ) -> Result<LweCiphertext, TfheError> {
        let key_id =
            self.linear
                .bits(&[("condition", a), ("first choice", b), ("second choice", c)])?;
        let q = self.params.coefficients();
        let with = self
            .linear
            .words(&[(1, a), (1, b)], self.linear.eighths(-1))?;
        let without = self
            .linear
            .words(&[(-1, a), (1, c)], self.linear.eighths(-1))?;
        self.rotate(work, &with, &self.flat)?;
        let mut sum = work.large.clone();
        self.rotate(work, &without, &self.flat)?;
        q.add_assign(&mut sum, &work.large)?;
        if let Some(body) = sum.last_mut() {
            *body = q.add(*body, q.fraction(1, 3));
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
        table.check(&self.params)?;
        let (words, key_id) = self.linear.to_rotate(a)?;
        self.rotate(work, &words, table.polynomial())?;
        self.finish(work, key_id)
    }

    /// The entries of several tables, by one blind rotation: each has [`shared::noise_factor`] times the noise of one that is
    /// looked up alone, and their noises are not independent.
    pub fn lookup_all(
        &self,
        work: &mut Workspace,
        tables: &[&LookupTable],
        a: &LweCiphertext,
    ) -> Result<Vec<LweCiphertext>, TfheError> {
        tables
            .iter()
            .try_for_each(|table| table.check(&self.params))?;
        let (words, key_id) = self.linear.to_rotate(a)?;
        self.turn(work, &words, &self.flat)?;
        let mut outputs = Vec::with_capacity(tables.len());
        for table in tables {
            work.weigh(&self.params, table)?;
            steps::sample_extract(&self.params, &work.weighed, &mut work.large)?;
            outputs.push(self.finish(work, key_id)?);
        }
        Ok(outputs)
    }

    /// a + b, carries included: without a bootstrap, so that noise adds up.
    pub fn add(&self, a: &LweCiphertext, b: &LweCiphertext) -> Result<LweCiphertext, TfheError> {
        let key_id = self
            .linear
            .integers(&[("first operand", a), ("second operand", b)])?;
        self.linear.resting_sum(&[(1, a), (1, b)], 0, key_id)
    }

    /// a + m for a known m.
    pub fn add_plain(&self, a: &LweCiphertext, message: u64) -> Result<LweCiphertext, TfheError> {
        let key_id = self.linear.integers(&[("operand", a)])?;
        self.linear
            .resting_sum(&[(1, a)], encode(&self.params, message)?, key_id)
    }

    /// m a for a known m: m times the noise.
    pub fn mul_plain(&self, a: &LweCiphertext, m: u64) -> Result<LweCiphertext, TfheError> {
        let key_id = self.linear.integers(&[("operand", a)])?;
        let bound = 1 << bits(&self.params)?;
        if m >= bound {
            return Err(TfheError::Message { got: m, bound });
        }
        self.linear.resting_sum(&[(m as i64, a)], 0, key_id)
    }

    /// The bit that a sum of bits is: whether its phase is between 0 and 1/2, by one bootstrap. Sums are
    /// to come out as odd eighths of the torus, or as 2 or -2 eighths.
    pub fn sign(
        &self,
        work: &mut Workspace,
        a: &LweCiphertext,
    ) -> Result<LweCiphertext, TfheError> {
        let key_id = self.linear.bits(&[("operand", a)])?;
        self.rotate(work, a.words(), &self.flat)?;
        self.finish(work, key_id)
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
        let key_id = self.linear.agree(&[("ciphertext", a)])?;
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

    /// From a resting ciphertext to the extracted one in `work.large`.
    fn rotate(&self, work: &mut Workspace, words: &[u64], table: &[u64]) -> Result<(), TfheError> {
        self.turn(work, words, table)?;
        steps::sample_extract(&self.params, &work.acc, &mut work.large)
    }

    /// From a resting ciphertext to the turned table in `work.acc`.
    fn turn(&self, work: &mut Workspace, words: &[u64], table: &[u64]) -> Result<(), TfheError> {
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
        blind_rotate(params, &self.bootstrap, work)
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
}
