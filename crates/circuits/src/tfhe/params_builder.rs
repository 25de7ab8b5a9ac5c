// SPDX-License-Identifier: Apache-2.0
//! Builds parameter sets, and checks their security, the exactness of their products and their failure rate.

use std::sync::Arc;

use ringmill_math::primes::primes_one_mod;
use ringmill_math::torus::{Coefficients, Gadget, KeyShape, Lift, NarrowRing, TorusRing};
use ringmill_math::{MathError, Modulus};
use ringmill_schemes::scheme::identity;

use super::TfheError;
use super::exactness::{self, Exactness};
use super::noise::NoiseModel;
use super::params::{
    CiphertextModulus, Decomposition, FailureRate, Messages, ModulusSwitch, Order, Params, Sizes,
    Unrolling, identified,
};
use super::security::{Security, Wanted};

/// The primes that compute products modulo a power of two, all of them 1 modulo 2^12. A prime ciphertext modulus always
/// uses its own transform.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Transforms {
    /// The builder takes the fastest primes for which all sums of products are proven exact ([`Exactness`]). It tries
    /// them in this order: a prime of 50 bits, 2^52 - 2^12 + 1, two primes of 50 bits.
    #[default]
    Fastest,
    /// The builder takes the prime of Kong and Li's paper, 2^52 - 2^12 + 1. It refuses the parameters if sums of
    /// products may exceed the prime.
    Solinas,
    /// The builder takes the largest prime of 50 bits. It refuses the parameters if sums of products may exceed the
    /// prime.
    Prime50,
    /// The builder takes the two largest primes of 50 bits. It refuses the parameters if sums of products may exceed
    /// their product.
    TwoPrimes,
}

/// A builder of a parameter set: sizes, and the requirements that they must satisfy.
#[derive(Clone, Debug)]
pub struct ParamsBuilder {
    name: Option<&'static str>,
    sizes: Sizes,
    transforms: Transforms,
    rate: Option<FailureRate>,
    wanted: Wanted,
}

/// The number 2^12: all primes of the transforms are 1 modulo it, so that they serve rings of up to 2^11 coefficients.
const ORDER: u64 = 1 << 12;

impl ParamsBuilder {
    /// Makes a builder that demands 128 bits of security and failures below 2^-40.
    pub fn new(sizes: Sizes) -> Self {
        Self {
            name: None,
            sizes,
            transforms: Transforms::default(),
            rate: Some(FailureRate::default()),
            wanted: Wanted::Bits(128),
        }
    }

    pub(super) fn called(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// Returns the builder with sizes that `change` has altered. A set with changed sizes loses its name.
    fn with(mut self, change: impl FnOnce(&mut Sizes)) -> Self {
        let before = self.sizes;
        change(&mut self.sizes);
        if self.sizes != before {
            self.name = None;
        }
        self
    }

    pub fn sizes(self, change: impl FnOnce(&mut Sizes)) -> Self {
        self.with(change)
    }

    pub fn unrolling(self, unrolling: Unrolling) -> Self {
        self.with(|s| s.unrolling = unrolling)
    }

    pub fn order(self, order: Order) -> Self {
        self.with(|s| s.order = order)
    }

    pub fn modulus_switch(self, switch: ModulusSwitch) -> Self {
        self.with(|s| s.switch = switch)
    }

    pub fn modulus(self, modulus: CiphertextModulus) -> Self {
        self.with(|s| s.modulus = modulus)
    }

    pub fn bootstrap(self, bootstrap: Decomposition) -> Self {
        self.with(|s| s.bootstrap = bootstrap)
    }

    pub fn key_switch(self, key_switch: Decomposition) -> Self {
        self.with(|s| s.key_switch = key_switch)
    }

    pub fn messages(self, messages: Messages) -> Self {
        self.with(|s| s.messages = messages)
    }

    pub fn transforms(mut self, transforms: Transforms) -> Self {
        self.transforms = transforms;
        self
    }

    /// Sets the largest probability with which an operation may fail.
    pub fn failing(mut self, rate: FailureRate) -> Self {
        self.rate = Some(rate);
        self
    }

    /// Demands that the built set has at least `bits` bits of security by the security tables.
    pub fn secure(mut self, bits: u32) -> Self {
        self.wanted = Wanted::Bits(bits);
        self
    }

    /// Allows a set of any security to be built. Data encrypted under such parameters is not secret.
    pub fn allow_insecure_parameters_for_tests_only(mut self) -> Self {
        self.wanted = Wanted::NothingForTestsOnly;
        self
    }

    /// Allows operations of the built parameter set to fail with any probability. Such a set is for tests.
    pub fn allow_any_failure_rate_for_tests_only(mut self) -> Self {
        self.rate = None;
        self
    }

    /// Checks the sizes and makes the parameter set.
    ///
    /// # Errors
    /// [`TfheError::OutOfRange`] for sizes outside of their ranges, [`TfheError::Insecure`],
    /// [`TfheError::FailureRate`], [`TfheError::Overflow`] if the products do not fit the chosen transforms.
    /// [`TfheError::Math`] for digits that do not fit the ciphertext modulus. [`TfheError::Tables`] if the security
    /// tables cannot be read.
    pub fn build(self) -> Result<Arc<Params>, TfheError> {
        let sizes = self.sizes;
        check(&sizes)?;
        let q = coefficients(sizes.modulus)?;
        let security = Security::check(&sizes, q, self.wanted)?;
        let bootstrap = gadget(q, sizes.bootstrap)?;
        let key_switch = gadget(q, sizes.key_switch)?;
        digits_are_residues(&sizes, q)?;
        let (lift, exactness) = choose(self.transforms, &sizes, q)?;
        let ring = TorusRing::new(q, sizes.log_degree, lift)?;
        let shape = KeyShape::new(sizes.degree(), sizes.rows(), sizes.k.0 + 1)?;
        let (what, failure) = NoiseModel::new(&sizes).worst();
        if let Some(rate) = self.rate
            && failure > f64::from(rate.log2())
        {
            return Err(TfheError::FailureRate {
                what,
                got: failure,
                allowed: rate.log2(),
            });
        }
        Ok(Arc::new(Params {
            name: self.name,
            sizes,
            q,
            ring,
            narrow: NarrowRing::serving(q, shape)?,
            bootstrap,
            key_switch,
            shape,
            exactness,
            security,
            failure,
            id: identity(&identified(&sizes)),
        }))
    }
}

fn check(s: &Sizes) -> Result<(), TfheError> {
    let range = |what, got: usize, least: usize, most: usize| {
        if (least..=most).contains(&got) {
            return Ok(());
        }
        Err(TfheError::OutOfRange {
            what,
            expected: format!("{least} to {most}"),
            got: got.to_string(),
        })
    };
    range("LWE dimension", s.n.0, 1, 1 << 14)?;
    range("GLWE rank", s.k.0, 1, 7)?;
    range("log2 of the ring degree", s.log_degree.into(), 4, 11)?;
    range("digits of a bootstrap", s.bootstrap.levels, 1, 16)?;
    range("digits of a key switch", s.key_switch.levels, 1, 64)?;
    range(
        "log2 of a key switch's base",
        s.key_switch.log_base as usize,
        1,
        16,
    )?;
    if let Messages::Integers {
        message_bits,
        carry_bits,
    } = s.messages
    {
        range("bits of a message", message_bits as usize, 1, 8)?;
        range("bits of a carry", carry_bits as usize, 0, 8)?;
        let bits = (message_bits + carry_bits) as usize;
        range(
            "bits of a message and its carry",
            bits,
            1,
            s.log_degree.into(),
        )?;
    }
    for (what, std) in [("noise of LWE", s.lwe_std), ("noise of GLWE", s.glwe_std)] {
        if !(2f64.powi(-60)..0.25).contains(&std) {
            return Err(TfheError::OutOfRange {
                what,
                expected: "a standard deviation from 2^-60 to 1/4 of the torus".to_owned(),
                got: std.to_string(),
            });
        }
    }
    Ok(())
}

fn coefficients(modulus: CiphertextModulus) -> Result<Coefficients, TfheError> {
    Ok(match modulus {
        CiphertextModulus::Torus32 => Coefficients::word(32)?,
        CiphertextModulus::Torus64 => Coefficients::word(64)?,
        CiphertextModulus::Prime { bits } if (20..=52).contains(&bits) => {
            Coefficients::Prime(primes(bits, 1)?[0])
        }
        CiphertextModulus::Prime { bits } => {
            return Err(TfheError::OutOfRange {
                what: "bits of a prime ciphertext modulus",
                expected: "20 to 52".to_owned(),
                got: bits.to_string(),
            });
        }
    })
}

/// Returns the `count` largest primes of `bits` bits that have the roots of unity of every ring of up to 2^11
/// coefficients. The first of 52 bits is 2^52 - 2^12 + 1.
pub(super) fn primes(bits: u32, count: usize) -> Result<Vec<Modulus>, MathError> {
    let found = primes_one_mod(bits, ORDER, count, &[])?;
    found.into_iter().map(Modulus::new).collect()
}

fn gadget(q: Coefficients, d: Decomposition) -> Result<Gadget, TfheError> {
    Ok(Gadget::new(q, d.log_base, d.levels)?)
}

/// Refuses a base of digits that is as large as the prime q. Modulo a prime, digits are transformed as residues of the
/// prime, and a digit of such a base could exceed it.
fn digits_are_residues(sizes: &Sizes, q: Coefficients) -> Result<(), TfheError> {
    match q {
        Coefficients::Prime(_) if sizes.bootstrap.log_base >= q.bits() => {
            Err(TfheError::OutOfRange {
                what: "log2 of a bootstrap's base",
                expected: format!("fewer than the {} bits of the prime", q.bits()),
                got: sizes.bootstrap.log_base.to_string(),
            })
        }
        _ => Ok(()),
    }
}

/// Chooses the primes of the transforms that hold all products. Returns the lift from these primes to the ciphertext
/// modulus q, and the proof that the products are exact.
fn choose(
    transforms: Transforms,
    sizes: &Sizes,
    q: Coefficients,
) -> Result<(Lift, Exactness), TfheError> {
    if let Coefficients::Prime(_) = q {
        return Ok((Lift::Native, Exactness::CiphertextRing));
    }
    let fifty = || Ok::<_, TfheError>(Lift::One(primes(50, 1)?[0]));
    let solinas = || Ok::<_, TfheError>(Lift::One(Modulus::new(TorusRing::MAX_PRIME)?));
    let two = || {
        let both = primes(50, 2)?;
        Ok::<_, TfheError>(Lift::Two([both[0], both[1]]))
    };
    let candidates = match transforms {
        Transforms::Fastest => vec![fifty()?, solinas()?, two()?],
        Transforms::Solinas => vec![solinas()?],
        Transforms::Prime50 => vec![fifty()?],
        Transforms::TwoPrimes => vec![two()?],
    };
    let mut refused = None;
    for lift in candidates {
        match exactness::prove(sizes, q, lift) {
            Ok(proof) => return Ok((lift, proof)),
            Err(e) => refused = Some(e),
        }
    }
    Err(refused.unwrap_or_else(|| TfheError::Tables("no transforms were tried".to_owned())))
}
