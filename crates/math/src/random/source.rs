// SPDX-License-Identifier: Apache-2.0
//! Provides a fresh random generator for each operation.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use zeroize::Zeroizing;

use super::{KEY, keystream};
use crate::{MathError, Prng};

/// A source of random generators, which returns a fresh generator for each encryption and for each key.
///
/// A structure that outlives one operation holds a source and never a generator. A process can be forked, and a machine
/// saved and started twice. Both copies of a generator then return the same numbers, and two encryptions under one mask
/// reveal their difference. The usual source has no state that a copy could share: it asks the operating system every
/// time.
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

/// The party for which a seeded source makes generators. One seed gives each party different
/// generators. So a test may use one seed for a key and for an encryption under it. An encryption
/// with the randomness of its own secret key would have unusual noise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seeded {
    /// The party that makes a secret key and everything that is made with it.
    KeyHolder,
    /// The party that encrypts under a key.
    Encryptor,
}

impl PrngSource {
    /// Returns the source whose generators are all seeded by the operating system.
    pub const fn os() -> Self {
        Self(Kind::OperatingSystem)
    }

    /// Returns a source that gives the party `whose` the same generators in the same order on every run. It is
    /// for tests that must repeat, and for nothing else.
    pub fn from_seed_for_reproducible_tests_only(seed: [u8; 32], whose: Seeded) -> Self {
        let seed = match whose {
            Seeded::KeyHolder => seed,
            // The seed comes from a stream that no generator reads.
            Seeded::Encryptor => {
                let mut own = [0; KEY];
                keystream(&seed, 1, 0, &mut own);
                own
            }
        };
        let prng = Prng::from_seed_for_reproducible_tests_only(seed);
        Self(Kind::ReproducibleTestsOnly(Mutex::new(prng)))
    }

    /// Returns a fresh generator for one operation.
    ///
    /// # Errors
    /// [`MathError::OsRandom`] if the operating system gives no random bytes.
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
