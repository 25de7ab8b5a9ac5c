// SPDX-License-Identifier: Apache-2.0
//! What tells runs apart: a digest of all that a run was asked, under a key that lies beside the secret one. Inputs are few and
//! guessable, and a hash without a key lets whoever reads it try all of them; this one tells nothing without the key.

use hmac::{Hmac, Mac};
use ringmill_math::Prng;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::error::CliError;

/// The key of a folder's digest. Wiped on drop.
pub struct Key(Zeroizing<[u8; Key::BYTES]>);

impl Key {
    pub const BYTES: usize = 32;

    /// From the operating system's randomness.
    pub fn draw() -> Result<Self, CliError> {
        Ok(Self(Zeroizing::new(Prng::from_os()?.next_seed())))
    }

    /// What [`Key::bytes`] gave; nothing where it is no key.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.try_into().ok()?;
        Some(Self(Zeroizing::new(bytes)))
    }

    pub fn bytes(&self) -> &[u8] {
        &*self.0
    }
}

/// A digest on its way.
pub struct Asked(Hmac<Sha256>);

impl Asked {
    pub fn under(key: &Key) -> Result<Self, CliError> {
        let digest = Hmac::new_from_slice(key.bytes());
        Ok(Self(digest.map_err(|e| CliError::Internal(e.to_string()))?))
    }

    /// With one thing more that was asked.
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

    /// Whether this is the digest's tag, in constant time.
    pub fn is(&self, tag: &[u8]) -> bool {
        self.0.clone().verify_slice(tag).is_ok()
    }
}
