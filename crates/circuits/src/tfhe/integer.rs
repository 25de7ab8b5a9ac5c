// SPDX-License-Identifier: Apache-2.0
//! Encrypted integers: their ciphertexts, and the types that say how ciphertexts hold the bits of integers.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use super::lwe::LweCiphertext;
use super::seeded::SeededCiphertexts;

/// The ciphertexts of one or more encrypted integers, with the integers' types. Circuits fix how many ciphertexts hold an
/// integer's encrypted bits. The ciphertexts of the first integer come first.
#[derive(Clone, PartialEq, Debug)]
pub struct EncryptedIntegers {
    types: Option<Arc<[IntegerType]>>,
    ciphertexts: Ciphertexts,
}

#[derive(Clone, PartialEq, Debug)]
enum Ciphertexts {
    Computed(Vec<LweCiphertext>),
    Fresh(SeededCiphertexts),
}

impl EncryptedIntegers {
    /// Makes encrypted integers from ciphertexts of any origin. The types are `None` for integers from a file without
    /// types, which older versions wrote.
    pub fn new(types: Option<Arc<[IntegerType]>>, ciphertexts: Vec<LweCiphertext>) -> Self {
        Self {
            types,
            ciphertexts: Ciphertexts::Computed(ciphertexts),
        }
    }

    /// Makes encrypted integers from ciphertexts that share one seed. Their file holds the seed in the place of masks.
    pub fn fresh(types: Arc<[IntegerType]>, ciphertexts: SeededCiphertexts) -> Self {
        Self {
            types: Some(types),
            ciphertexts: Ciphertexts::Fresh(ciphertexts),
        }
    }

    pub fn types(&self) -> Option<&[IntegerType]> {
        self.types.as_deref()
    }

    pub fn ciphertexts(&self) -> &[LweCiphertext] {
        match &self.ciphertexts {
            Ciphertexts::Computed(all) => all,
            Ciphertexts::Fresh(all) => all.ciphertexts(),
        }
    }

    /// Returns the ciphertexts with their seed, or `None` if they do not share one.
    pub fn seeded(&self) -> Option<&SeededCiphertexts> {
        match &self.ciphertexts {
            Ciphertexts::Computed(_) => None,
            Ciphertexts::Fresh(all) => Some(all),
        }
    }

    pub fn into_ciphertexts(self) -> Vec<LweCiphertext> {
        match self.ciphertexts {
            Ciphertexts::Computed(all) => all,
            Ciphertexts::Fresh(all) => all.into_ciphertexts(),
        }
    }
}

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
