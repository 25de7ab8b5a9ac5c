// SPDX-License-Identifier: Apache-2.0
//! The parameters of bootstrapping: a sparse secret for encapsulated ciphertexts, the inner modulus under which it is
//! used, and the probability of failure.

use std::fmt;
use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_math::digits::Method;
use ringmill_math::slots::SlotStructure;
use ringmill_math::slots::linear::Shape;

use super::chance::log2_chance;
use super::error::BootstrapError;
use crate::bgv::{Noise, NoiseModel, Params, PrimePower};
use crate::rlwe::{RlweError, sparse};

/// The checked parameters of bootstrapping: the exponent e of the last plaintext modulus p^e, the inner modulus q,
/// and the weight of the sparse secret.
///
/// Messages are modulo p^r, so a bootstrap has e - r digits below the message. After the raising of the modulus, these
/// digits hold the quotient of the phase by q. The quotient counts as the sum of `weight` numbers uniform in
/// (-1/2, 1/2), rounded to the nearest integer.
#[derive(Clone, Debug)]
pub struct Bootstrapping {
    params: Arc<Params>,
    structure: SlotStructure,
    weight: u32,
    inner: Level,
    key_bits: u64,
    security: String,
    bound: u64,
    log2_chance: f64,
    /// The number of coefficients of a ciphertext in which a bootstrap removes digits: one for each slot, or all N.
    coefficients: usize,
    /// The number of stages of the map to coefficients and of the map to slots.
    depth: usize,
    /// The method by which a bootstrap removes the digits below the message.
    removal: Method,
}

impl Bootstrapping {
    /// The base-2 logarithm of the largest probability of failure that is accepted by default.
    pub const LOG2_CHANCE: f64 = -40.0;

    /// Chooses parameters for a sparse secret with `weight` coefficients other than 0. Each thin bootstrap then fails
    /// with a probability of at most 2^-40, if remainders are uniform (`docs/assumptions.md`).
    ///
    /// # Errors
    /// Fails for parameters with one plaintext modulus, with a plaintext modulus that is no power of an odd prime, with
    /// too few primes, or with a ring degree outside 2^3 to 2^16. Fails for a weight of 0 or above N, and for a sparse
    /// secret that is insecure under its modulus, unless the parameters may be insecure. Also fails for a larger
    /// probability of failure.
    pub fn new(params: Arc<Params>, weight: u32) -> Result<Self, BootstrapError> {
        Self::with_chance(params, weight, Self::LOG2_CHANCE)
    }

    /// Chooses parameters with which no thin bootstrap fails, whatever the ciphertext, by the rigorous bound in
    /// Equation 9 of the BASALISC paper. Noise bounds may still fail ([`Bootstrapping::is_certain`]).
    ///
    /// # Errors
    /// The errors of [`Bootstrapping::new`], and a weight for which the quotient by the inner modulus may need more
    /// digits than there are below the message.
    pub fn rigorous(params: Arc<Params>, weight: u32) -> Result<Self, BootstrapError> {
        Self::with_chance(params, weight, f64::NEG_INFINITY)
    }

    /// Chooses parameters for which each thin bootstrap fails with a probability of at most 2^`allowed`, if remainders
    /// are uniform.
    ///
    /// # Errors
    /// The errors of [`Bootstrapping::new`].
    pub fn with_chance(
        params: Arc<Params>,
        weight: u32,
        allowed: f64,
    ) -> Result<Self, BootstrapError> {
        Self::checked(params, weight, allowed, SlotStructure::slots)
    }

    /// Chooses parameters for which each bootstrap fails with a probability of at most 2^`log2_chance`, which was accepted
    /// before, or of at most the default one if that is larger. For minus infinity no bootstrap fails. NaN counts as the
    /// default.
    ///
    /// # Errors
    /// The errors of [`Bootstrapping::rigorous`].
    pub fn accepting(
        params: Arc<Params>,
        weight: u32,
        log2_chance: f64,
    ) -> Result<Self, BootstrapError> {
        if log2_chance == f64::NEG_INFINITY {
            Self::rigorous(params, weight)
        } else if log2_chance.is_nan() || log2_chance <= Self::LOG2_CHANCE {
            Self::new(params, weight)
        } else {
            Self::with_chance(params, weight, log2_chance.min(0.0))
        }
    }

    /// Chooses parameters for general bootstrapping
    /// ([`Bootstrapper::bootstrap_general`](super::Bootstrapper::bootstrap_general)). The probability of failure
    /// counts all N coefficients of a ciphertext.
    ///
    /// # Errors
    /// The errors of [`Bootstrapping::new`].
    pub fn general(params: Arc<Params>, weight: u32) -> Result<Self, BootstrapError> {
        let all = SlotStructure::ring_degree;
        Self::checked(params, weight, Self::LOG2_CHANCE, all)
    }

    fn checked(
        params: Arc<Params>,
        weight: u32,
        allowed: f64,
        coefficients: fn(&SlotStructure) -> usize,
    ) -> Result<Self, BootstrapError> {
        let reason = |reason: String| BootstrapError::Parameters { reason };
        let power = params.prime_power()?;
        let structure = SlotStructure::new(params.log_n().into(), power.prime())?;
        if params.last_plain() == 0 {
            return Err(reason("they have one plaintext modulus".into()));
        }
        if weight == 0 || weight as usize > params.degree() {
            return Err(reason(format!("a secret of weight {weight}, not 1 to N")));
        }
        let below = power.with_exponent(params.last_plain().into())?.value() as f64;
        let (inner, noise) = inner_level(&params, weight, below).ok_or_else(|| {
            reason("no level's modulus is large enough for a switched ciphertext".into())
        })?;
        if inner >= params.max_level() {
            return Err(reason(format!(
                "level {inner} is the highest, and what is bootstrapped to"
            )));
        }
        let key_bits = sparse::key_bits(&params, inner)?;
        let security = sparse::security(&params, weight, key_bits);
        let security = security.map_err(|reason| BootstrapError::Secret { reason })?;
        // rho is the sum of `weight` numbers rounded to an integer. The fast base extension of k primes may move it k /
        // b further, for a prime b above 2^20, and noise moves it by `noise`.
        let slack = inner.primes() as f64 / 2f64.powi(20);
        let spread = 1.0 + 2.0 * slack;
        let chance = |bound: u64| {
            let limit = bound as f64 + 0.5 - noise - slack;
            log2_chance(spread, weight, coefficients(&structure), limit)
        };
        // The fewer values rho has, the shorter are the polynomials that remove it. So this takes the least bound that
        // fails rarely enough, else the largest that the digits hold.
        let largest = (below as u64 - 1) / 2;
        let enough = allowed.min(Self::LOG2_CHANCE);
        let bound = (1..largest).find(|&bound| chance(bound) <= enough);
        let bound = bound.unwrap_or(largest);
        let log2 = chance(bound);
        if log2 > allowed {
            return Err(BootstrapError::Chance { log2, allowed });
        }
        Ok(Self {
            coefficients: coefficients(&structure),
            params,
            structure,
            weight,
            inner,
            key_bits,
            security,
            bound,
            log2_chance: log2,
            depth: 1,
            removal: Method::default(),
        })
    }

    /// Sets the number of stages, at least 1, of the map to coefficients and of the map to slots. If there are many
    /// slots, a map of more stages needs far fewer constants, but each stage takes a level or more.
    #[must_use]
    pub fn with_map_depth(self, depth: usize) -> Self {
        let depth = depth.max(1);
        Self { depth, ..self }
    }

    /// Sets the method by which digits are removed. The integers of the result stay the same; its level may change.
    #[must_use]
    pub fn with_removal(self, removal: Method) -> Self {
        Self { removal, ..self }
    }

    /// Returns the method by which a bootstrap removes the digits below the message.
    pub fn removal(&self) -> Method {
        self.removal
    }

    /// Returns whether the probability of failure counts all N coefficients of a ciphertext, as general bootstrapping
    /// needs. It does for [`Bootstrapping::general`], and also for thin bootstrapping with N slots.
    pub fn is_general(&self) -> bool {
        self.coefficients == self.params.degree()
    }

    /// Returns the number of stages of the map to coefficients and of the map to slots, and the costs by which the
    /// stages are laid out.
    pub fn shape(&self) -> Shape {
        Shape {
            depth: self.depth,
            ..Shape::default()
        }
    }

    /// Refuses a ciphertext at the inner level under the sparse secret whose noise bound is larger than the
    /// probability of failure allows for.
    pub(super) fn check(&self, noise: Noise) -> Result<(), BootstrapError> {
        let below = self.params.prime_power()?;
        let below = below
            .with_exponent(self.params.last_plain().into())?
            .value() as f64;
        let level = self.inner;
        if below.log2() + noise.log2() - self.params.log_q(level) < PART.log2() {
            return Ok(());
        }
        let step = "encapsulation";
        Err(BootstrapError::NoRoom { step, level })
    }

    /// Returns the lowest level from which thin bootstrapping can bootstrap a ciphertext. The map to coefficients uses
    /// the primes above the inner level.
    ///
    /// # Errors
    /// Fails if the parameters have too few primes.
    pub fn start(&self) -> Result<Level, BootstrapError> {
        let (params, slots) = (&self.params, self.structure.slots() as f64);
        let t = params.prime_power()?.value() as f64;
        // Each stage sums as many terms as there are slots. A term is a product with a constant of at most two
        // coefficients for each slot.
        let mut bits = self.depth as f64 * (slots * slots * 2.0 * t / 2.0).log2();
        let mut start = self.inner;
        while bits > 0.0 {
            start = Level(start.0 + 1);
            let prime = params.cipher_moduli().get(start.index());
            let prime = prime.ok_or_else(|| BootstrapError::Parameters {
                reason: format!(
                    "the map to coefficients needs primes above level {}",
                    self.inner
                ),
            })?;
            bits -= (*prime as f64).log2();
        }
        Ok(start)
    }

    pub fn params(&self) -> &Arc<Params> {
        &self.params
    }

    /// Returns the structure of the slots that hold messages.
    pub fn structure(&self) -> &SlotStructure {
        &self.structure
    }

    /// Returns the level whose primes are the inner modulus q.
    pub fn inner(&self) -> Level {
        self.inner
    }

    /// Returns the weight of the sparse secret: the number of its coefficients other than 0.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// Returns p^e, the last of the plaintext moduli, which a bootstrap uses after the raising of the modulus.
    ///
    /// # Errors
    /// None, as the parameters were checked.
    pub fn top(&self) -> Result<PrimePower, RlweError> {
        let power = self.params.prime_power()?;
        power.with_exponent(power.exponent() + u32::from(self.params.last_plain()))
    }

    /// Returns the largest absolute value of the quotient by the inner modulus q that a bootstrap removes. The
    /// quotient is larger only with the probability of failure.
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// Returns the base-2 logarithm of a bound on the probability that a bootstrap fails.
    pub fn log2_chance(&self) -> f64 {
        self.log2_chance
    }

    /// Returns whether no bootstrap can fail, whatever the ciphertext, by the rigorous bound in Equation 9 of the
    /// BASALISC paper. The noise bounds themselves may still fail, with a probability of their own.
    pub fn is_certain(&self) -> bool {
        self.log2_chance == f64::NEG_INFINITY
    }

    /// Returns the bits of the modulus under which the sparse secret must be secure: the inner modulus q times as
    /// many special primes as q has primes.
    pub fn key_bits(&self) -> u64 {
        self.key_bits
    }

    /// Returns one line about the security table by which the sparse secret is secure, an estimate
    /// (`docs/assumptions.md`). If the parameters may be insecure, the line may begin with `INSECURE` and give the
    /// reason.
    pub fn security(&self) -> &str {
        &self.security
    }
}

impl fmt::Display for Bootstrapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chance = match self.is_certain() {
            true => "never fails".to_owned(),
            false => format!(
                "fails with a chance of at most 2^{:.1}, remainders taken as uniform (docs/assumptions.md)",
                self.log2_chance
            ),
        };
        let power = self.params.prime_power().map_err(|_| fmt::Error)?;
        write!(
            f,
            "vectors of {} slots, integers modulo {}^{}, e = {}, quotients up to {}, {chance}; inner level {}; encapsulated secret of weight {}: {}",
            self.structure.columns(),
            power.prime(),
            power.exponent(),
            power.exponent() + u32::from(self.params.last_plain()),
            self.bound,
            self.inner,
            self.weight,
            self.security,
        )
    }
}

/// The largest fraction of the inner modulus q that p^(e - r) times the phase may have when the modulus is raised.
/// Messages are modulo p^r, and the last plaintext modulus is p^e.
const PART: f64 = 0.25;

/// Returns the lowest level whose modulus q is more than 8 times `below` times a bound on a ciphertext's phase, and
/// the constant [`PART`]. `below` is p^(e - r), for messages modulo p^r and the last plaintext modulus p^e.
///
/// The ciphertext was just divided down to the level and switched to a sparse secret of weight `weight`. [`PART`]
/// is the fraction of q that `below` times the phase may later have.
fn inner_level(params: &Params, weight: u32, below: f64) -> Option<(Level, f64)> {
    let model = NoiseModel::new(params);
    let levels = Level::LOWEST.to(params.max_level());
    levels
        .map(|level| {
            let noise = model.encapsulate(model.floor(), level, weight);
            (
                level,
                (below.log2() + noise.log2() - params.log_q(level)).exp2(),
            )
        })
        .find(|&(_, part)| part < PART / 2.0)
        .map(|(level, _)| (level, PART))
}
