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

/// Whether parameters may be insecure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Insecure {
    #[default]
    Refused,
    /// As a part of their identity: every reader is told.
    AllowedByMaker,
    /// By who reads a file that says nothing of it, as one that passed the tables of its day: their identity stays.
    AllowedByReader,
}

/// A parameter set of a ring scheme: what is below it is a [`Params`], with the scheme's own choices in its identity.
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

/// What ring schemes share of a checked parameter set. A scheme's own set holds one of these and its own choices, which
/// its identity covers: so whatever is made of limbs is of one scheme's one set.
#[derive(Clone, Debug)]
pub struct Params {
    pub(super) scheme: SchemeTag,
    pub(super) log_n: u8,
    pub(super) moduli: Vec<u64>,
    pub(super) reducers: Vec<Modulus>,
    /// The primes of `moduli`, then what else the scheme's programs compute modulo.
    pub(super) table: Vec<TableModulus>,
    pub(super) cipher_count: usize,
    /// The ciphertext primes of each key-switching digit.
    pub(super) digits: Vec<Range<usize>>,
    pub(super) secret: SecretDistribution,
    pub(super) error: ErrorDistribution,
    pub(super) security: SecurityRecord,
    pub(super) insecure: Insecure,
    /// Of a scheme whose messages are low t, then what else its plaintexts are modulo: multiples of it, each of the one
    /// before.
    pub(super) low: Vec<Modulus>,
    /// Divisions that keep low messages compute modulo primes alone.
    pub(super) primes_alone: bool,
    /// What the scheme adds to the canonical form.
    pub(super) own: Vec<u8>,
    /// The same in words.
    pub(super) own_words: String,
    pub(super) id: ParamsId,
}

/// Sets of one identity are one set, whoever allowed them to be insecure.
impl PartialEq for Params {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Params {
    /// Most primes a parameter set may have. Files count them in one byte.
    pub const MAX_PRIMES: usize = 128;
    /// Smallest and largest log2 of the ring degree.
    pub const LOG_N: std::ops::RangeInclusive<u8> = 3..=Ring::MAX_LOG_N;

    /// Starts a parameter set of ring degree 2^`log_n`.
    pub fn builder(log_n: u8) -> ParamsBuilder {
        ParamsBuilder::new(log_n)
    }

    /// What an object of these parameters and that secret key belongs to.
    pub fn origin(&self, key_id: Option<KeyId>) -> Origin {
        Origin {
            scheme: self.scheme,
            params_id: self.id,
            key_id,
        }
    }

    /// The scheme whose parameters these are.
    pub fn scheme(&self) -> SchemeTag {
        self.scheme
    }

    /// log2 of the ring degree N.
    pub fn log_n(&self) -> u8 {
        self.log_n
    }

    /// N.
    pub fn degree(&self) -> usize {
        1 << self.log_n
    }

    pub fn ring(&self) -> Ring {
        Ring::full(self.log_n)
    }

    /// Ciphertext primes q_0 ..= q_L in order, then the special primes: what keys are over.
    pub fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// Whether all these primes are below 2^32, so that ciphertexts, plaintexts and switching keys are held in words of 32 bits.
    pub fn short_words(&self) -> bool {
        self.moduli.iter().all(|&q| is_short(q.into()))
    }

    /// Bytes of a residue of a switching key, in memory and in files.
    pub(crate) fn key_word_bytes(&self) -> usize {
        match self.short_words() {
            true => size_of::<u32>(),
            false => size_of::<u64>(),
        }
    }

    /// What mid-level moduli are indices into: [`Params::moduli`], then the scheme's auxiliary ones.
    pub fn table(&self) -> &[TableModulus] {
        &self.table
    }

    /// Entry `index` of [`Params::table`], ready for reduction.
    pub(crate) fn any_reducer(&self, index: usize) -> Result<Modulus, RlweError> {
        let missing = || RlweError::Length {
            what: "modulus table",
            expected: index + 1,
            got: self.table.len(),
        };
        let modulus = self.table.get(index).ok_or_else(missing)?;
        Ok(modulus.arithmetic()?.below_61()?)
    }

    /// The same, ready for reduction.
    pub fn reducers(&self) -> &[Modulus] {
        &self.reducers
    }

    /// Number of ciphertext primes, L + 1.
    pub fn cipher_count(&self) -> usize {
        self.cipher_count
    }

    /// The ciphertext primes in order.
    pub fn cipher_moduli(&self) -> &[u64] {
        self.moduli.get(..self.cipher_count).unwrap_or(&[])
    }

    /// The special primes in order.
    pub fn special_moduli(&self) -> &[u64] {
        self.moduli.get(self.cipher_count..).unwrap_or(&[])
    }

    /// Number of special primes. Their product has at least the bits of a digit's, unless the digits have as many primes.
    pub fn special_count(&self) -> usize {
        self.moduli.len() - self.cipher_count
    }

    /// Number of key-switching digits.
    pub fn dnum(&self) -> usize {
        self.digits.len()
    }

    /// The highest level L; a fresh ciphertext is there.
    pub fn max_level(&self) -> Level {
        Level(self.cipher_count as u32 - 1)
    }

    /// Refuses a level above [`Params::max_level`].
    pub fn check_level(&self, level: Level) -> Result<(), RlweError> {
        let max = self.max_level();
        if level > max {
            Err(RlweError::Level { got: level, max })
        } else {
            Ok(())
        }
    }

    /// Indices of the ciphertext primes of digit `digit` at `level`; empty when that digit is not used there.
    pub fn digit(&self, digit: usize, level: Level) -> Range<usize> {
        let end = level.primes().min(self.cipher_count);
        let own = self.digits.get(digit).cloned().unwrap_or(end..end);
        own.start.min(end)..own.end.min(end)
    }

    /// Number of digits at `level`.
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

    /// What the security check found.
    pub fn security(&self) -> &SecurityRecord {
        &self.security
    }

    /// Whether the opt-out of [`ParamsBuilder::allow_insecure_parameters_for_tests_only`] was taken, by who made the
    /// parameters or by who read them.
    pub fn insecure_allowed(&self) -> bool {
        self.insecure != Insecure::Refused
    }

    /// SHA-256 of [`Params::canonical`].
    pub fn id(&self) -> &ParamsId {
        &self.id
    }

    /// q_0 ... q_level.
    pub fn modulus(&self, level: Level) -> BigUint {
        self.moduli.iter().take(level.primes()).product()
    }

    /// log2(q_0 ... q_level).
    pub fn log_q(&self, level: Level) -> f64 {
        self.moduli
            .iter()
            .take(level.primes())
            .map(|&q| (q as f64).log2())
            .sum()
    }

    /// Refuses `id` unless it is this set's.
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

    /// The Galois element 3^`step` mod 2N that moves slot i + step of a row of N / 2 slots to slot i; negative steps go
    /// the other way.
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

    /// 2N - 1, the Galois element that takes each root of unity to its inverse: complex conjugation, or a swap of rows.
    pub fn conjugation_element(&self) -> Galois {
        Galois(2 * self.degree() as u32 - 1)
    }

    /// One line for reports: the scheme, the ring and the primes, what the scheme adds, security.
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

    /// The ring and the primes in words.
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

    /// The canonical form: the payload of a parameter file (docs/files.md) and what the identity hashes.
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

    /// The same with further moduli that the scheme's programs compute modulo. They follow from the scheme's choices,
    /// so that they are no part of the identity.
    pub fn with_auxiliary(mut self, moduli: &[TableModulus]) -> Self {
        self.table.truncate(self.moduli.len());
        self.table.extend_from_slice(moduli);
        self
    }

    /// The same for a scheme whose messages are low, as BGV's: residues modulo t of the phase itself. Errors are then
    /// multiples of t, and a division by primes takes a multiple of t off before. t is the first entry of the table after
    /// [`Params::moduli`], and part of what the scheme adds to the canonical form.
    ///
    /// Where ciphertexts may have other plaintext moduli, these follow t: each is a multiple of the one before, so that a
    /// multiple of the last, as the errors of switching keys are, is one of each.
    ///
    /// # Errors
    /// A modulus of 2^61 or more, one that shares a factor with a prime, or that is no multiple of the one before.
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

    /// Whether divisions that keep low messages compute modulo primes alone
    /// ([`ParamsBuilder::divide_modulo_primes_alone`]).
    pub fn primes_alone(&self) -> bool {
        self.primes_alone
    }

    /// t of a scheme whose messages are residues modulo t of the phase itself.
    pub fn low_modulus(&self) -> Option<Modulus> {
        self.low.first().copied()
    }

    /// t, then the further plaintext moduli.
    pub fn low_moduli(&self) -> &[Modulus] {
        &self.low
    }

    /// What the errors of switching keys are multiples of: the last of the plaintext moduli.
    pub(crate) fn key_modulus(&self) -> Option<Modulus> {
        self.low.last().copied()
    }

    /// The same with what the scheme adds to the canonical form, also in `words` for reports, and the identity of both.
    pub fn with_own(mut self, own: Vec<u8>, words: impl Into<String>) -> Self {
        self.own = own;
        self.own_words = words.into();
        self.id = identity(&self.canonical());
        self
    }
}
