// SPDX-License-Identifier: Apache-2.0
//! Identifies a run by a keyed digest of its program and inputs.
//!
//! Inputs are few and easy to guess, and a hash without a key lets a reader try all of them. The key lies beside the
//! secret key, and the digest tells nothing without it.

use hmac::{Hmac, Mac};
use ringmill_math::Prng;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::error::CliError;

/// The key of the digest that identifies a run, wiped on drop.
pub struct Key(Zeroizing<[u8; Key::BYTES]>);

impl Key {
    pub const BYTES: usize = 32;

    /// Draws a digest key from the operating system's randomness.
    ///
    /// # Errors
    /// Fails if the operating system gives no randomness.
    pub fn draw() -> Result<Self, CliError> {
        Ok(Self(Zeroizing::new(Prng::from_os()?.next_seed())))
    }

    /// Makes a digest key from the bytes of [`Key::bytes`], or returns `None` for another number of bytes.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.try_into().ok()?;
        Some(Self(Zeroizing::new(bytes)))
    }

    pub fn bytes(&self) -> &[u8] {
        &*self.0
    }
}

/// A digest of a run's program and inputs, part by part. More parts can be added to it.
pub struct Asked(Hmac<Sha256>);

impl Asked {
    pub fn under(key: &Key) -> Result<Self, CliError> {
        let digest = Hmac::new_from_slice(key.bytes());
        Ok(Self(digest.map_err(|e| CliError::Internal(e.to_string()))?))
    }

    /// Adds one more named part of the program or its inputs to the digest.
    pub fn with(mut self, name: &str, bytes: &[u8]) -> Self {
        for part in [name.as_bytes(), bytes] {
            self.0.update(&(part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
        self
    }

    pub fn tag(&self) -> Vec<u8> {
        self.0.clone().finalize().into_bytes().to_vec()
    }

    /// Returns whether the digest of a run's program and inputs equals `tag`, a digest that was kept before. It takes
    /// constant time.
    pub fn is(&self, tag: &[u8]) -> bool {
        self.0.clone().verify_slice(tag).is_ok()
    }
}
