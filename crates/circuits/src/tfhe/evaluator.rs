// SPDX-License-Identifier: Apache-2.0
//! Computes on ciphertexts with evaluation keys alone: gates, tables and key switches.

use std::sync::Arc;

use ringmill_device::KeyId;
use ringmill_isa::mid::Verified;
use ringmill_math::torus::KeyShape;

use super::gates::{Form, Gate};
use super::keys::{BootstrapKey, KeySwitchKey};
use super::linear::LinearEvaluator;
use super::lwe::{LweCiphertext, LweKey};
use super::mid::{self, Ending};
use super::params::{Messages, Order, Params};
use super::plan::{Given, Keys, Memory, Plan};
use super::tables::{LookupTable, bits, encode};
use super::{TfheError, keys, shared, steps};

/// An evaluator of TFHE ciphertexts on the CPU, which holds the evaluation keys. Methods that bootstrap take a
/// [`Workspace`] with the buffers of a bootstrap, and allocate only ciphertexts: sums of operands and results.
pub struct Evaluator {
    params: Arc<Params>,
    linear: LinearEvaluator,
    keys: Keys,
    /// The compiled program that rotates a table's polynomial by the exponents of a ciphertext. It gives an
    /// accumulator.
    turn: Plan,
    /// The compiled program that extracts the LWE ciphertext of coefficient 0, under the large key, from an
    /// accumulator.
    extract: Plan,
    /// The compiled program that switches a ciphertext from the large key to the small one.
    switch: Plan,
    /// The polynomial that a blind rotation shared by several tables turns ([`shared::flat`]). Under parameters for
    /// bits it is the table of the sign.
    flat: Vec<u64>,
}

/// The memory that one bootstrap on the CPU uses: the values of its compiled programs, the exponents of the blind
/// rotation, and two buffers for tables that share a rotation. It is allocated once and serves many bootstraps.
pub struct Workspace {
    /// The exponents of the blind rotation: one for the body, and one for each mask coefficient.
    exponents: Vec<usize>,
    turn: Memory,
    extract: Memory,
    switch: Memory,
    /// The buffers of a blind rotation that several tables share: one turned polynomial
    /// (`turned`), and the accumulator of one table (`weighed`).
    turned: Vec<u64>,
    weighed: Vec<u64>,
}

impl Evaluator {
    /// Makes an evaluator: expands both evaluation keys, and transforms the bootstrapping key.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`] for keys of other parameters; [`TfheError::OtherKeys`] if the keys are of different
    /// secret keys; [`TfheError::Math`] for keys that memory does not hold; [`TfheError::Program`] for sizes beyond the
    /// limits of limb programs.
    pub fn new(
        params: Arc<Params>,
        bootstrap: &BootstrapKey,
        switch: &KeySwitchKey,
    ) -> Result<Self, TfheError> {
        let key_id = keys::common(bootstrap, switch)?;
        let verified = |program| Ok::<_, TfheError>(Verified::new(program)?);
        let turned = mid::rotation_inputs(&params, Ending::Accumulator);
        Ok(Self {
            keys: Keys {
                rotation: bootstrap.transformed(&params)?,
                switch: switch.rows(&params)?,
            },
            turn: Plan::of(&params, &verified(mid::turn(&params)?)?, &turned)?,
            extract: Plan::of(&params, &verified(mid::extract(&params)?)?, &[])?,
            switch: Plan::of(&params, &verified(mid::switch(&params)?)?, &[])?,
            linear: LinearEvaluator::new(Arc::clone(&params), key_id),
            flat: shared::flat(&params),
            params,
        })
    }

    pub fn params(&self) -> &Arc<Params> {
        &self.params
    }

    /// Returns the evaluator of sums of ciphertexts, which need no keys.
    pub fn linear(&self) -> &LinearEvaluator {
        &self.linear
    }

    /// Allocates the buffers of bootstraps with the evaluator's parameters.
    pub fn workspace(&self) -> Workspace {
        let s = self.params.sizes();
        Workspace {
            exponents: vec![0; s.n.0 + 1],
            turn: self.turn.memory(&self.params),
            extract: self.extract.memory(&self.params),
            switch: self.switch.memory(&self.params),
            turned: vec![0; s.degree()],
            weighed: vec![0; (s.k.0 + 1) * s.degree()],
        }
    }

    /// Returns the bytes of the bootstrapping key in transform form, and of the expanded key-switching key.
    pub fn key_bytes(&self) -> (usize, usize) {
        (self.keys.rotation.bytes(), self.keys.switch.bytes())
    }

    /// Computes a gate of two bits, by one bootstrap.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`], [`TfheError::OtherKeys`]; [`TfheError::WrongKey`] for an operand that is not under
    /// the key of inputs and outputs; [`TfheError::OtherMessages`] under parameters for integers.
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

    /// Computes not a, for an encrypted bit, exactly and without a bootstrap.
    ///
    /// # Errors
    /// As for [`Evaluator::gate`].
    pub fn not(&self, a: &LweCiphertext) -> Result<LweCiphertext, TfheError> {
        let key_id = self.linear.bits(&[("operand", a)])?;
        self.linear.resting_sum(&[(-1, a)], 0, key_id)
    }

    /// Returns the encrypted bit b if the encrypted bit a is true, else c, by two blind rotations. If ciphertexts rest
    /// under the small key, one key switch serves both rotations; otherwise each rotation begins with its own.
    ///
    /// # Errors
    /// As for [`Evaluator::gate`].
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
        let mut sum = self.extract.outputs(&work.extract).to_vec();
        self.rotate(work, &without, &self.flat)?;
        q.add_assign(&mut sum, self.extract.outputs(&work.extract))?;
        if let Some(body) = sum.last_mut() {
            *body = q.add(*body, q.fraction(1, 3));
        }
        self.rest(&sum, &mut work.switch, key_id)
    }

    /// Looks up the table's entry for the message (with its carry) of one ciphertext, by one bootstrap.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`] for a table or ciphertext of other parameters; [`TfheError::OtherKeys`];
    /// [`TfheError::WrongKey`] for a ciphertext that is not under the key of inputs and outputs.
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

    /// Looks up the entries of several tables for the message of one ciphertext, by one blind rotation. The noise
    /// variance that the rotation leaves in a result is [`shared::noise_factor`] times the noise variance of a single
    /// lookup's rotation. The noises of the results are not independent.
    ///
    /// # Errors
    /// As for [`Evaluator::lookup`].
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
            let acc = self.turn.outputs(&work.turn);
            let (turned, weighed) = (&mut work.turned, &mut work.weighed);
            shared::weigh(&self.params, table, acc, turned, weighed)?;
            self.extracted(weighed, &mut work.extract)?;
            outputs.push(self.finish(work, key_id)?);
        }
        Ok(outputs)
    }

    /// Computes a + b of two messages, carries included. It takes no bootstrap, so the noise of a and that of b add up.
    /// The caller ensures that the sum is below 2^(message_bits + carry_bits). Decryption reduces a larger sum modulo
    /// this number, and a lookup gives the negative of the entry at the reduced sum.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`], [`TfheError::OtherKeys`], [`TfheError::WrongKey`]; [`TfheError::OtherMessages`]
    /// under parameters for booleans.
    pub fn add(&self, a: &LweCiphertext, b: &LweCiphertext) -> Result<LweCiphertext, TfheError> {
        let key_id = self
            .linear
            .integers(&[("first operand", a), ("second operand", b)])?;
        self.linear.resting_sum(&[(1, a), (1, b)], 0, key_id)
    }

    /// Computes a + m of an encrypted message and a known m, without a bootstrap. The caller bounds the sum as for
    /// [`Evaluator::add`].
    ///
    /// # Errors
    /// As for [`Evaluator::add`]; [`TfheError::Message`] for an m beyond the message and its carry.
    pub fn add_plain(&self, a: &LweCiphertext, message: u64) -> Result<LweCiphertext, TfheError> {
        let key_id = self.linear.integers(&[("operand", a)])?;
        self.linear
            .resting_sum(&[(1, a)], encode(&self.params, message)?, key_id)
    }

    /// Computes m a of an encrypted message and a known m, without a bootstrap. The caller bounds the product as
    /// [`Evaluator::add`] bounds a sum. The standard deviation of the noise grows by the factor m.
    ///
    /// # Errors
    /// As for [`Evaluator::add_plain`].
    pub fn mul_plain(&self, a: &LweCiphertext, m: u64) -> Result<LweCiphertext, TfheError> {
        let key_id = self.linear.integers(&[("operand", a)])?;
        let bound = 1 << bits(&self.params)?;
        if m >= bound {
            return Err(TfheError::Message { got: m, bound });
        }
        self.linear.resting_sum(&[(m as i64, a)], 0, key_id)
    }

    /// Returns an encrypted bit that tells whether the phase of a sum of encrypted bits lies between 0 and 1/2 of the
    /// torus. It takes one bootstrap. The sum without noise must be an odd number of eighths of the torus, or 2 or -2
    /// eighths.
    ///
    /// # Errors
    /// As for [`Evaluator::gate`].
    pub fn sign(
        &self,
        work: &mut Workspace,
        a: &LweCiphertext,
    ) -> Result<LweCiphertext, TfheError> {
        let key_id = self.linear.bits(&[("operand", a)])?;
        self.rotate(work, a.words(), &self.flat)?;
        self.finish(work, key_id)
    }

    /// Computes 2^message_bits a + b: packs two messages into one ciphertext, for tables of two
    /// ([`LookupTable::of_two`]). The caller ensures that both messages are below 2^message_bits, so that their carries
    /// are 0.
    ///
    /// # Errors
    /// As for [`Evaluator::add`]; [`TfheError::OutOfRange`] if the carry has fewer bits than a message.
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

    /// Switches a ciphertext under the large key, as the public key gives it, to the key of inputs and outputs
    /// ([`super::LweKey::resting`]).
    ///
    /// # Errors
    /// [`TfheError::OtherParams`], [`TfheError::OtherKeys`]; [`TfheError::WrongKey`] for a ciphertext under the small
    /// key.
    pub fn bring_to_rest(&self, a: &LweCiphertext) -> Result<LweCiphertext, TfheError> {
        let key_id = self.linear.agree(&[("ciphertext", a)])?;
        a.check(&self.params, LweKey::Large)?;
        if LweKey::resting(&self.params) == LweKey::Large {
            return Ok(a.clone());
        }
        let mut memory = self.switch.memory(&self.params);
        self.rest(a.words(), &mut memory, key_id)
    }

    /// Turns a table's polynomial by the phase of a ciphertext, given by its words, and extracts
    /// the table's entry. The result lies in `work.extract`, under the large key.
    fn rotate(&self, work: &mut Workspace, words: &[u64], table: &[u64]) -> Result<(), TfheError> {
        self.turn(work, words, table)?;
        self.extracted(self.turn.outputs(&work.turn), &mut work.extract)
    }

    /// Rotates a table's polynomial by the phase of a ciphertext, under encryption. The accumulator lies in
    /// `work.turn`.
    fn turn(&self, work: &mut Workspace, words: &[u64], table: &[u64]) -> Result<(), TfheError> {
        let small = match self.params.sizes().order {
            Order::BootstrapFirst => words,
            Order::KeySwitchFirst => {
                self.run(&self.switch, &[words], &[], &mut work.switch)?;
                self.switch.outputs(&work.switch)
            }
        };
        steps::exponents(&self.params, small, &mut work.exponents);
        self.run(&self.turn, &[table], &work.exponents, &mut work.turn)
    }

    /// Extracts the LWE ciphertext of an accumulator's coefficient 0. The result lies in `memory`.
    fn extracted(&self, acc: &[u64], memory: &mut Memory) -> Result<(), TfheError> {
        let mut limbs: [&[u64]; KeyShape::MAX_COLS] = Default::default();
        let mut count = 0;
        for (limb, x) in limbs
            .iter_mut()
            .zip(acc.chunks(self.params.sizes().degree()))
        {
            (*limb, count) = (x, count + 1);
        }
        let limbs = limbs.get(..count).unwrap_or_default();
        self.run(&self.extract, limbs, &[], memory)
    }

    fn run(
        &self,
        plan: &Plan,
        inputs: &[&[u64]],
        exponents: &[usize],
        memory: &mut Memory,
    ) -> Result<(), TfheError> {
        let given = Given {
            inputs,
            exponents,
            keys: &self.keys,
        };
        plan.run(&self.params, &given, memory)
    }

    /// Returns the result of a bootstrap from the extracted ciphertext, after a key switch if inputs and outputs are
    /// under the small key ([`super::Order`]).
    fn finish(
        &self,
        work: &mut Workspace,
        key_id: Option<KeyId>,
    ) -> Result<LweCiphertext, TfheError> {
        self.rest(
            self.extract.outputs(&work.extract),
            &mut work.switch,
            key_id,
        )
    }

    /// Returns a ciphertext of the given words under the large key as one under the key of inputs and outputs, with a
    /// key switch if the keys differ.
    fn rest(
        &self,
        large: &[u64],
        memory: &mut Memory,
        key_id: Option<KeyId>,
    ) -> Result<LweCiphertext, TfheError> {
        let key = LweKey::resting(&self.params);
        let words = match key {
            LweKey::Large => large,
            LweKey::Small => {
                self.run(&self.switch, &[large], &[], memory)?;
                self.switch.outputs(memory)
            }
        };
        Ok(LweCiphertext::trusted(
            &self.params,
            key,
            words.to_vec(),
            key_id,
        ))
    }
}
