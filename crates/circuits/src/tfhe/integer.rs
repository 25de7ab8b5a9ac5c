// SPDX-License-Identifier: Apache-2.0
//! What an encrypted integer is, beside its ciphertexts.

use std::fmt::{self, Display, Formatter};

/// The type of an encrypted integer, and which of its bits its ciphertexts hold: an output's may be known when its circuit is
/// made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IntegerType {
    bits: u32,
    signed: bool,
    encrypted: u64,
    known: u64,
}

impl IntegerType {
    /// Of 1 to 64 bits; `encrypted` has a 1 for each bit that a ciphertext holds, `known` are the others. What lies beyond is
    /// left out.
    pub fn new(bits: u32, signed: bool, encrypted: u64, known: u64) -> Self {
        let bits = bits.clamp(1, 64);
        let all = u64::MAX >> (64 - bits);
        let encrypted = encrypted & all;
        Self {
            bits,
            signed,
            encrypted,
            known: known & all & !encrypted,
        }
    }

    pub fn bits(self) -> u32 {
        self.bits
    }

    pub fn signed(self) -> bool {
        self.signed
    }

    pub fn encrypted(self) -> u64 {
        self.encrypted
    }

    pub fn known(self) -> u64 {
        self.known
    }
}

impl Display for IntegerType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = if self.signed { "sint" } else { "uint" };
        write!(f, "{kind}({})", self.bits)?;
        if self.encrypted == u64::MAX >> (64 - self.bits) {
            return Ok(());
        }
        write!(
            f,
            ", of which the bits {:#x} are encrypted and the others {:#x}",
            self.encrypted, self.known
        )
    }
}
