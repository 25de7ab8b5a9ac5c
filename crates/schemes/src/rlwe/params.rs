// SPDX-License-Identifier: Apache-2.0
//! The parameters that ring schemes share: ring degree, primes, digits, distributions and their security.

use std::ops::Range;
use std::sync::Arc;

use num_bigint::BigUint;
use ringmill_isa::mid::TableModulus;
use ringmill_isa::{Galois, Level};
use ringmill_math::{Modulus, Ring, is_short};

use super::distributions::{ErrorDistribution, SecretDistribution};
use super::error::RlweError;
use super::key::{KSwitchKey, KeyForm};
use super::params_builder::ParamsBuilder;
use super::security::SecurityRecord;
use crate::identity::{Origin, short_id};
use crate::scheme::{ParameterSet, SchemeTag, identity};
use ringmill_device::KeyId;
use ringmill_device::ParamsId;

/// Who, if anyone, allowed the parameters to be insecure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Insecure {
    #[default]
    Refused,
    /// The maker of the parameters allowed them to be insecure. This choice is part of the parameters' identity, so
    /// every reader of them learns it.
    AllowedByMaker,
    /// The reader of a parameter file allowed the parameters to be insecure, for example because they passed only
    /// earlier security tables. Their identity does not change.
    AllowedByReader,
}

/// A parameter set of a ring scheme. It contains a [`Params`], whose identity also covers the scheme's own choices.
pub trait RingParams: Send + Sync + 'static {
    fn ring_params(&self) -> &Arc<Params>;
}

impl<P: RingParams> ParameterSet for P {
    fn id(&self) -> &ParamsId {
        self.ring_params().id()
    }

    fn canonical(&self) -> Vec<u8> {
        self.ring_params().canonical()
    }

    fn log_n(&self) -> u8 {
        self.ring_params().log_n()
    }

    fn moduli(&self) -> &[u64] {
        self.ring_params().moduli()
    }

    fn level_primes(&self) -> &[u64] {
        self.ring_params().cipher_moduli()
    }

    fn table(&self) -> Vec<TableModulus> {
        self.ring_params().table().to_vec()
    }

    fn key_bytes(&self, keys: usize, seeded: bool) -> u64 {
        let form = if seeded {
            KeyForm::Seeded
        } else {
            KeyForm::Stored
        };
        keys as u64 * KSwitchKey::bytes_of(self.ring_params(), form)
    }

    fn summary(&self) -> String {
        self.ring_params().summary()
    }
}

/// The part of a checked parameter set that all ring schemes share. A scheme's own set holds one of these and the
/// scheme's own choices. The identity covers both, so every object made of limbs belongs to one set of one scheme.
#[derive(Clone, Debug)]
pub struct Params {
    pub(super) scheme: SchemeTag,
    pub(super) log_n: u8,
    pub(super) moduli: Vec<u64>,
    pub(super) reducers: Vec<Modulus>,
    /// The table of moduli: the primes of `moduli`, then all other moduli of the scheme's programs.
    pub(super) table: Vec<TableModulus>,
    pub(super) cipher_count: usize,
    /// For each key-switching digit, the indices of its ciphertext primes in the table of moduli.
    pub(super) digits: Vec<Range<usize>>,
    pub(super) secret: SecretDistribution,
    pub(super) error: ErrorDistribution,
    pub(super) security: SecurityRecord,
    pub(super) insecure: Insecure,
    /// The plaintext moduli of a scheme whose messages are in the low bits (BGV): t, then further ones, each a multiple
    /// of the one before. It is empty for other schemes.
    pub(super) low: Vec<Modulus>,
    /// Whether divisions by primes in operations compute modulo primes alone and never modulo the plaintext modulus t,
    /// for schemes whose messages are in the low bits (BGV).
    pub(super) primes_alone: bool,
    /// The bytes that the scheme adds to the canonical form of the parameters.
    pub(super) own: Vec<u8>,
    /// The choices of the scheme in words, for reports.
    pub(super) own_words: String,
    pub(super) id: ParamsId,
}

/// Compares parameter sets by their identity. Sets with one identity are equal, whoever allowed them to be
/// insecure.
impl PartialEq for Params {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Params {
    /// The most primes that a parameter set may have, ciphertext and special primes together.
    pub const MAX_PRIMES: usize = 128;
    /// The range of the base-2 logarithm of the ring degree N.
    pub const LOG_N: std::ops::RangeInclusive<u8> = 3..=Ring::MAX_LOG_N;

    /// Starts a parameter set of a ring scheme, with ring degree 2^`log_n`.
    pub fn builder(log_n: u8) -> ParamsBuilder {
        ParamsBuilder::new(log_n)
    }

    /// Returns what an object of these parameters belongs to: the scheme, the parameters, and the secret key
    /// `key_id`.
    pub fn origin(&self, key_id: Option<KeyId>) -> Origin {
        Origin {
            scheme: self.scheme,
            params_id: self.id,
            key_id,
        }
    }

    /// Returns the scheme to which these parameters belong.
    pub fn scheme(&self) -> SchemeTag {
        self.scheme
    }

    /// Returns the base-2 logarithm of the ring degree N.
    pub fn log_n(&self) -> u8 {
        self.log_n
    }

    /// Returns the ring degree N.
    pub fn degree(&self) -> usize {
        1 << self.log_n
    }

    pub fn ring(&self) -> Ring {
        Ring::full(self.log_n)
    }

    /// Returns the primes over which keys are made: the ciphertext primes q_0 ..= q_L in order, then the special
    /// primes.
    pub fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// Returns whether all primes are below 2^32. If so, ciphertexts, CKKS plaintexts and key-switching keys have words
    /// of 32 bits in memory. All other objects have words of 64 bits in any case.
    pub fn short_words(&self) -> bool {
        self.moduli.iter().all(|&q| is_short(q.into()))
    }

    /// Returns the number of bytes of one residue of a key-switching key, in memory and in files: 4 or 8.
    pub(crate) fn key_word_bytes(&self) -> usize {
        match self.short_words() {
            true => size_of::<u32>(),
            false => size_of::<u64>(),
        }
    }

    /// Returns the table of moduli. Programs refer to moduli by indices into this table. It has the primes of
    /// [`Params::moduli`], then the scheme's auxiliary moduli.
    pub fn table(&self) -> &[TableModulus] {
        &self.table
    }

    /// Returns entry `index` of [`Params::table`] as a [`Modulus`], which has arithmetic on residues.
    ///
    /// # Errors
    /// Fails for an index beyond the table, and for a modulus of 2^61 or more.
    pub(crate) fn any_reducer(&self, index: usize) -> Result<Modulus, RlweError> {
        let missing = || RlweError::Length {
            what: "modulus table",
            expected: index + 1,
            got: self.table.len(),
        };
        let modulus = self.table.get(index).ok_or_else(missing)?;
        Ok(modulus.arithmetic()?.below_61()?)
    }

    /// Returns the primes of [`Params::moduli`], each as a [`Modulus`], which has arithmetic on residues.
    pub fn reducers(&self) -> &[Modulus] {
        &self.reducers
    }

    /// Returns the residues of integers modulo the primes q_0 ... q_level. The residues of the first integer come
    /// first, and of those the one modulo q_0.
    pub fn residues(&self, integers: &[i64], level: Level) -> Vec<u64> {
        let primes = self.reducers.iter().take(level.primes());
        let of = |&integer: &i64| primes.clone().map(move |q| q.from_i64(integer));
        integers.iter().flat_map(of).collect()
    }

    /// Returns the number of ciphertext primes, L + 1.
    pub fn cipher_count(&self) -> usize {
        self.cipher_count
    }

    /// Returns the ciphertext primes q_0 ..= q_L in order.
    pub fn cipher_moduli(&self) -> &[u64] {
        self.moduli.get(..self.cipher_count).unwrap_or(&[])
    }

    /// Returns the special primes in order.
    pub fn special_moduli(&self) -> &[u64] {
        self.moduli.get(self.cipher_count..).unwrap_or(&[])
    }

    /// Returns the number of special primes. If a key-switching digit has more primes than that, the product of the
    /// special primes has at least as many bits as the product of the digit's primes.
    pub fn special_count(&self) -> usize {
        self.moduli.len() - self.cipher_count
    }

    /// Returns dnum, the number of key-switching digits at the highest level.
    pub fn dnum(&self) -> usize {
        self.digits.len()
    }

    /// Returns the highest level L, at which a ciphertext has all ciphertext primes.
    pub fn max_level(&self) -> Level {
        Level(self.cipher_count as u32 - 1)
    }

    /// Refuses a level above the highest level [`Params::max_level`].
    pub fn check_level(&self, level: Level) -> Result<(), RlweError> {
        let max = self.max_level();
        if level > max {
            Err(RlweError::Level { got: level, max })
        } else {
            Ok(())
        }
    }

    /// Returns the indices of the ciphertext primes of key-switching digit `digit` at `level`. The range is empty
    /// if the level does not use the digit.
    pub fn digit(&self, digit: usize, level: Level) -> Range<usize> {
        let end = level.primes().min(self.cipher_count);
        let own = self.digits.get(digit).cloned().unwrap_or(end..end);
        own.start.min(end)..own.end.min(end)
    }

    /// Returns the number of key-switching digits at `level`.
    pub fn digits_at(&self, level: Level) -> usize {
        let primes = level.primes();
        self.digits.partition_point(|digit| digit.start < primes)
    }

    pub fn secret_distribution(&self) -> SecretDistribution {
        self.secret
    }

    pub fn error_distribution(&self) -> ErrorDistribution {
        self.error
    }

    /// Returns the result of the security check of these parameters.
    pub fn security(&self) -> &SecurityRecord {
        &self.security
    }

    /// Returns whether the parameters may be insecure, because their maker took the opt-out of
    /// [`ParamsBuilder::allow_insecure_parameters_for_tests_only`] or the reader of their file allowed them to be so.
    /// They may be secure nevertheless.
    pub fn insecure_allowed(&self) -> bool {
        self.insecure != Insecure::Refused
    }

    /// Returns the identity of the parameters: the SHA-256 of [`Params::canonical`].
    pub fn id(&self) -> &ParamsId {
        &self.id
    }

    /// Returns Q at `level`: the product of the primes q_0 ... q_level.
    pub fn modulus(&self, level: Level) -> BigUint {
        self.moduli.iter().take(level.primes()).product()
    }

    /// Returns the base-2 logarithm of Q at `level`, the product of the primes q_0 ... q_level.
    pub fn log_q(&self, level: Level) -> f64 {
        self.moduli
            .iter()
            .take(level.primes())
            .map(|&q| (q as f64).log2())
            .sum()
    }

    /// Refuses an identity `id` that is not that of these parameters. `what` names the object in the error.
    pub fn check_id(&self, what: &'static str, id: &ParamsId) -> Result<(), RlweError> {
        if *id == self.id {
            return Ok(());
        }
        Err(RlweError::OtherParams {
            what,
            expected: short_id(&self.id),
            got: short_id(id),
        })
    }

    /// Returns the Galois element 3^`step` mod 2N, which moves slot i + `step` of a row of N / 2 slots to slot i. A
    /// negative step moves slots the other way.
    ///
    /// # Errors
    /// [`RlweError::RotationStep`] for a step of 0, and for one of N / 2 or more in absolute value.
    pub fn galois_element(&self, step: i64) -> Result<Galois, RlweError> {
        let row = self.degree() as i64 / 2;
        if step == 0 || step <= -row || step >= row {
            return Err(RlweError::RotationStep {
                step,
                max: (row - 1).max(0) as u32,
            });
        }
        let mask = 2 * self.degree() as u64 - 1;
        let (mut element, mut power, mut rest) = (1u64, 3u64, step.rem_euclid(row) as u64);
        while rest > 0 {
            if rest & 1 == 1 {
                element = (element * power) & mask;
            }
            power = (power * power) & mask;
            rest >>= 1;
        }
        Ok(Galois(element as u32))
    }

    /// Returns 2N - 1, the Galois element that takes each root of unity to its inverse. It conjugates complex slots, or
    /// swaps the two rows of integer slots.
    pub fn conjugation_element(&self) -> Galois {
        Galois(2 * self.degree() as u32 - 1)
    }

    /// Returns one line about the parameters for reports: the scheme, the ring, the primes, the scheme's own choices
    /// and the security.
    pub fn summary(&self) -> String {
        let own = match self.own_words.as_str() {
            "" => String::new(),
            words => format!(", {words}"),
        };
        format!(
            "{} {}{own}; {}",
            self.scheme.name,
            self.chain_summary(),
            self.security.summary()
        )
    }

    /// Returns the ring degree, the size of each prime in bits, and dnum in words, for reports.
    pub fn chain_summary(&self) -> String {
        let sizes = |q: &[u64]| {
            q.iter()
                .map(|&q| (64 - q.leading_zeros()).to_string())
                .collect::<Vec<_>>()
                .join(" ")
        };
        format!(
            "N = 2^{}, ciphertext primes of {} bits, special of {}, dnum {}",
            self.log_n,
            sizes(self.cipher_moduli()),
            sizes(self.special_moduli()),
            self.dnum(),
        )
    }

    /// Returns the canonical form of the parameters: the payload of a parameter file (docs/files.md), whose hash is the
    /// identity.
    pub fn canonical(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(16 + self.own.len() + 8 * self.moduli.len());
        out.push(self.log_n);
        out.push(self.cipher_count as u8);
        out.push(self.special_count() as u8);
        out.push(self.dnum() as u8);
        let (secret, weight) = match self.secret {
            SecretDistribution::Ternary => (0, 0),
            SecretDistribution::SparseTernary { weight } => (1, weight),
            SecretDistribution::Gaussian => (2, 0),
            SecretDistribution::Binary => (3, 0),
        };
        out.push(secret);
        out.push(match self.error {
            ErrorDistribution::CentredBinomial => 0,
            ErrorDistribution::Gaussian => 1,
        });
        out.push(self.security.table as u8);
        out.push(u8::from(self.insecure == Insecure::AllowedByMaker));
        out.extend((self.security.level.bits() as u16).to_le_bytes());
        out.extend([self.scheme.byte, u8::from(self.primes_alone)]);
        out.extend(weight.to_le_bytes());
        out.extend(&self.own);
        for q in &self.moduli {
            out.extend(q.to_le_bytes());
        }
        out
    }

    /// Returns the parameters with the auxiliary moduli `moduli`, which the scheme's programs need, in their table.
    /// They replace any auxiliary moduli that were there. These moduli follow from the scheme's choices, so the
    /// identity does not contain them.
    pub fn with_auxiliary(mut self, moduli: &[TableModulus]) -> Self {
        self.table.truncate(self.moduli.len());
        self.table.extend_from_slice(moduli);
        self
    }

    /// Returns the parameters for a scheme whose messages are in the low bits, such as BGV. There the phase modulo the
    /// plaintext modulus t is the message, times a correction factor. Errors are multiples of t, and a division by
    /// primes first subtracts a multiple of t.
    ///
    /// `plain` has t, then further plaintext moduli, each a multiple of the one before. The errors of key-switching
    /// keys are multiples of the last one, and so of each. In the table of moduli, `plain` follows [`Params::moduli`]
    /// in place of any auxiliary moduli. The scheme must add t to the canonical form ([`Params::with_own`]).
    ///
    /// # Errors
    /// Fails for a modulus that is 2^61 or more, shares a factor with a prime, or is no multiple of the one before.
    pub fn with_low_messages(self, plain: &[TableModulus]) -> Result<Self, RlweError> {
        let mut low: Vec<Modulus> = Vec::with_capacity(plain.len());
        for t in plain {
            let t = t.arithmetic()?.below_61()?;
            for q in &self.reducers {
                q.inv(q.reduce(t.value()))?;
                t.inv(t.reduce(q.value()))?;
            }
            if let Some(before) = low.last()
                && !t.value().is_multiple_of(before.value())
            {
                return Err(RlweError::Parameter {
                    what: "a further plaintext modulus",
                    expected: format!("a multiple of {before}", before = before.value()),
                    got: t.value().to_string(),
                });
            }
            low.push(t);
        }
        Ok(Self {
            low,
            ..self.with_auxiliary(plain)
        })
    }

    /// Returns whether divisions by primes in operations compute modulo primes alone and never modulo the plaintext
    /// modulus t ([`ParamsBuilder::divide_modulo_primes_alone`]). It concerns schemes whose messages are in the low
    /// bits (BGV).
    pub fn primes_alone(&self) -> bool {
        self.primes_alone
    }

    /// Returns the plaintext modulus t of a scheme whose messages are in the low bits (BGV). It is `None` for other
    /// schemes.
    pub fn low_modulus(&self) -> Option<Modulus> {
        self.low.first().copied()
    }

    /// Returns the plaintext moduli of a scheme whose messages are in the low bits (BGV): t, then further ones. There
    /// are none for other schemes.
    pub fn low_moduli(&self) -> &[Modulus] {
        &self.low
    }

    /// Returns the last of the plaintext moduli, of which the errors of key-switching keys are multiples. It is
    /// `None` unless messages are in the low bits (BGV).
    pub(crate) fn key_modulus(&self) -> Option<Modulus> {
        self.low.last().copied()
    }

    /// Returns the parameters with the bytes `own` that the scheme adds to the canonical form, and with the
    /// identity of the new form. `words` are the scheme's choices in words, for reports.
    pub fn with_own(mut self, own: Vec<u8>, words: impl Into<String>) -> Self {
        self.own = own;
        self.own_words = words.into();
        self.id = identity(&self.canonical());
        self
    }
}
