//! Where generators come from.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use zeroize::Zeroizing;

use crate::{MathError, Prng};

/// Gives a fresh generator for everything that is made: each encryption, each key.
///
/// What outlives one operation holds a source and never a generator. A process can be forked, and a machine saved and
/// started twice: the copies of a generator then give the same numbers, and two encryptions under one mask give their
/// difference away. The usual source has no state that a copy could share; it asks the operating system every time.
pub struct PrngSource(Kind);

enum Kind {
    OperatingSystem,
    ReproducibleTestsOnly(Mutex<Prng>),
}

impl fmt::Debug for PrngSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::OperatingSystem => "PrngSource(operating system)",
            Kind::ReproducibleTestsOnly(_) => "PrngSource(reproducible, for tests only)",
        })
    }
}

impl PrngSource {
    /// Every generator is seeded by the operating system.
    pub const fn os() -> Self {
        Self(Kind::OperatingSystem)
    }

    /// The same generators in the same order on every run: for tests that must repeat, and for nothing else.
    pub fn from_seed_for_reproducible_tests_only(seed: [u8; 32]) -> Self {
        let prng = Prng::from_seed_for_reproducible_tests_only(seed);
        Self(Kind::ReproducibleTestsOnly(Mutex::new(prng)))
    }

    /// A generator for one operation.
    pub fn fresh(&self) -> Result<Prng, MathError> {
        match &self.0 {
            Kind::OperatingSystem => Prng::from_os(),
            Kind::ReproducibleTestsOnly(prng) => {
                let mut prng = prng.lock().unwrap_or_else(PoisonError::into_inner);
                let mut seed = Zeroizing::new([0; 32]);
                prng.fill_bytes(seed.as_mut());
                Ok(Prng::seeded(&seed))
            }
        }
    }
}
