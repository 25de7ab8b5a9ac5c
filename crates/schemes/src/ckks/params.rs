//! CKKS parameters: ring degree, primes, digits, distributions and their security.

use std::sync::Arc;

use ringmill_math::{Modulus, Ring};
use sha2::{Digest, Sha256};

use super::error::{CkksError, short_id};
use super::params_builder::ParamsBuilder;
use super::security::SecurityRecord;

/// Identity of a parameter set: SHA-256 of its canonical form ([`Params::canonical`]).
pub type ParamsId = [u8; 32];

/// Distribution of the secret key's coefficients.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SecretDistribution {
    /// Uniform in {-1, 0, 1}.
    #[default]
    Ternary,
    /// Exactly `weight` coefficients of 1 or -1; no security table covers it, so it needs the opt-out.
    SparseTernary { weight: u32 },
    /// The rounded Gaussian of standard deviation 3.2.
    Gaussian,
}

/// Distribution of the encryption and key errors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ErrorDistribution {
    /// Difference of two sums of 21 bits, standard deviation 3.24 (SEAL's default).
    #[default]
    CentredBinomial,
    /// Rounded Gaussian of standard deviation 3.2.
    Gaussian,
}

impl ErrorDistribution {
    /// Standard deviation, rounded up.
    pub const fn std_dev(self) -> f64 {
        match self {
            Self::CentredBinomial => 3.2404,
            Self::Gaussian => 3.2,
        }
    }
}

/// A checked parameter set. Made by [`Params::builder`] or [`Params::named`]; shared as `Arc<Params>`.
///
/// ```
/// use ringmill_schemes::ckks::Params;
/// let params = Params::named("set2").unwrap();
/// assert_eq!((params.degree(), params.cipher_count(), params.special_count()), (1 << 15, 9, 1));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Params {
    pub(super) log_n: u8,
    pub(super) moduli: Vec<u64>,
    pub(super) reducers: Vec<Modulus>,
    pub(super) cipher_count: usize,
    pub(super) dnum: usize,
    pub(super) default_scale: f64,
    pub(super) secret: SecretDistribution,
    pub(super) error: ErrorDistribution,
    pub(super) security: SecurityRecord,
    pub(super) insecure_allowed: bool,
    pub(super) id: ParamsId,
}

impl Params {
    /// Most primes a parameter set may have.
    pub const MAX_PRIMES: usize = 64;
    /// Smallest and largest log2 of the ring degree.
    pub const LOG_N: std::ops::RangeInclusive<u8> = 3..=Ring::MAX_LOG_N;
    /// The sparse 60-bit prime 2^59 + 2^25 + 2^22 - 2^20 + 1 of the ring paper, appendix A.
    pub const SPARSE_60: u64 = 576_460_752_340_123_649;

    /// Starts a parameter set of ring degree 2^`log_n`.
    pub fn builder(log_n: u8) -> ParamsBuilder {
        ParamsBuilder::new(log_n)
    }

    /// The ring paper's parameter sets: `set1` (N = 2^14, 7 + 1 primes) and `set2` (N = 2^15, 9 + 1 primes): the sparse
    /// 60-bit prime, then 54-bit primes, largest first, the last one special. `set1` needs the 2018 table.
    pub fn named(name: &str) -> Result<Arc<Self>, CkksError> {
        ParamsBuilder::named(name)?.build()
    }

    /// log2 of the ring degree N.
    pub fn log_n(&self) -> u8 {
        self.log_n
    }

    /// N.
    pub fn degree(&self) -> usize {
        1 << self.log_n
    }

    /// N / 2.
    pub fn slots(&self) -> usize {
        self.degree() / 2
    }

    pub fn ring(&self) -> Ring {
        Ring::full(self.log_n)
    }

    /// Ciphertext primes q_0 ..= q_L in order, then the special primes. Mid-level moduli index this table.
    pub fn moduli(&self) -> &[u64] {
        &self.moduli
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

    /// Number of special primes, alpha: also the number of ciphertext primes a digit.
    pub fn special_count(&self) -> usize {
        self.moduli.len() - self.cipher_count
    }

    /// Number of key-switching digits.
    pub fn dnum(&self) -> usize {
        self.dnum
    }

    /// The highest level L; a fresh ciphertext is there.
    pub fn max_level(&self) -> u32 {
        self.cipher_count as u32 - 1
    }

    /// Refuses a level above [`Params::max_level`].
    pub fn check_level(&self, level: u32) -> Result<(), CkksError> {
        let max = self.max_level();
        if level > max {
            Err(CkksError::Level { got: level, max })
        } else {
            Ok(())
        }
    }

    /// Indices of the ciphertext primes of digit `digit` at `level`; empty when that digit is not used there.
    pub fn digit(&self, digit: usize, level: u32) -> std::ops::Range<usize> {
        let alpha = self.special_count();
        let end = (level as usize + 1).min(self.cipher_count);
        let start = (digit * alpha).min(end);
        start..(start + alpha).min(end)
    }

    /// Number of digits at `level`.
    pub fn digits_at(&self, level: u32) -> usize {
        (level as usize + 1).div_ceil(self.special_count())
    }

    /// The scale fresh values are encoded at unless another is asked for.
    pub fn default_scale(&self) -> f64 {
        self.default_scale
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

    /// Whether the opt-out of [`ParamsBuilder::allow_insecure_parameters_for_tests_only`] was taken.
    pub fn insecure_allowed(&self) -> bool {
        self.insecure_allowed
    }

    /// SHA-256 of [`Params::canonical`].
    pub fn id(&self) -> &ParamsId {
        &self.id
    }

    /// log2(q_0 ... q_level).
    pub fn log_q(&self, level: u32) -> f64 {
        self.moduli
            .iter()
            .take(level as usize + 1)
            .map(|&q| (q as f64).log2())
            .sum()
    }

    /// Refuses `id` unless it is this set's.
    pub fn check_id(&self, what: &'static str, id: &ParamsId) -> Result<(), CkksError> {
        if *id == self.id {
            return Ok(());
        }
        Err(CkksError::OtherParams {
            what,
            expected: short_id(&self.id),
            got: short_id(id),
        })
    }

    /// The Galois element 3^`step` mod 2N that moves slot i + step to slot i; negative steps go the other way.
    pub fn galois_element(&self, step: i64) -> Result<u32, CkksError> {
        let slots = self.slots() as i64;
        if step == 0 || step <= -slots || step >= slots {
            return Err(CkksError::RotationStep {
                step,
                max: (slots - 1).max(0) as u32,
            });
        }
        let mask = 2 * self.degree() as u64 - 1;
        let (mut element, mut power, mut rest) = (1u64, 3u64, step.rem_euclid(slots) as u64);
        while rest > 0 {
            if rest & 1 == 1 {
                element = (element * power) & mask;
            }
            power = (power * power) & mask;
            rest >>= 1;
        }
        Ok(element as u32)
    }

    /// 2N - 1, the Galois element of complex conjugation.
    pub fn conjugation_element(&self) -> u32 {
        2 * self.degree() as u32 - 1
    }

    /// One line for reports.
    pub fn summary(&self) -> String {
        let sizes = |q: &[u64]| {
            q.iter()
                .map(|&q| (64 - q.leading_zeros()).to_string())
                .collect::<Vec<_>>()
                .join(" ")
        };
        format!(
            "CKKS N = 2^{}, ciphertext primes of {} bits, special of {}, dnum {}, scale 2^{:.2}; {}",
            self.log_n,
            sizes(self.cipher_moduli()),
            sizes(self.special_moduli()),
            self.dnum,
            self.default_scale.log2(),
            self.security.summary()
        )
    }

    /// The canonical form: the payload of a parameter file (docs/files.md) and what the identity hashes.
    pub fn canonical(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32 + 8 * self.moduli.len());
        out.push(self.log_n);
        out.push(self.cipher_count as u8);
        out.push(self.special_count() as u8);
        out.push(self.dnum as u8);
        let (secret, weight) = match self.secret {
            SecretDistribution::Ternary => (0, 0),
            SecretDistribution::SparseTernary { weight } => (1, weight),
            SecretDistribution::Gaussian => (2, 0),
        };
        out.push(secret);
        out.push(match self.error {
            ErrorDistribution::CentredBinomial => 0,
            ErrorDistribution::Gaussian => 1,
        });
        out.push(self.security.table as u8);
        out.push(u8::from(self.insecure_allowed));
        out.extend((self.security.level.bits() as u16).to_le_bytes());
        out.extend([0; 2]);
        out.extend(weight.to_le_bytes());
        out.extend(self.default_scale.to_bits().to_le_bytes());
        for q in &self.moduli {
            out.extend(q.to_le_bytes());
        }
        out
    }

    pub(super) fn with_id(mut self) -> Self {
        self.id = Sha256::digest(self.canonical()).into();
        self
    }
}
