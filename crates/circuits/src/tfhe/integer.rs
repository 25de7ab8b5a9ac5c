// SPDX-License-Identifier: Apache-2.0
//! The type of an encrypted integer, which says how its ciphertexts hold its bits.

use std::fmt::{self, Display, Formatter};

/// The type of an encrypted integer, and which of its bits its ciphertexts hold. Some bits of an output may be known
/// when its circuit is made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IntegerType {
    bits: u32,
    signed: bool,
    encrypted: u64,
    known: u64,
}

impl IntegerType {
    /// Makes a type of 1 to 64 bits; a width of 0 becomes 1, and a width above 64 becomes 64. `encrypted` has a 1 for
    /// each bit that a ciphertext holds, and `known` has the values of the other bits. Bits beyond the width are
    /// dropped, and so are bits of `known` that are encrypted.
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
