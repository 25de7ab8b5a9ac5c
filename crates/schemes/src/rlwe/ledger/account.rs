// SPDX-License-Identifier: Apache-2.0
//! The account of a secret key's shared decryptions, which decides whether further decryptions may be shared.

use std::num::{NonZeroU32, NonZeroU64};

use super::LedgerError;

/// The base-2 logarithm of the factor by which [`Account::spent`] is multiplied to be kept as an integer.
const UNIT_BITS: u32 = 96;

/// Decryptions that a secret key's holder is about to share with others, and the promise under which they are
/// shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Charge {
    /// The number of decryptions that are about to be shared.
    pub outputs: NonZeroU64,
    /// The number s of statistical bits of the promise: all results that are shared under the key are within the
    /// statistical distance 2^-s of results without errors.
    pub statistical_bits: NonZeroU32,
    /// The number q of the promise: with this charge, at most q decryptions have been shared under the key. A later
    /// charge may name another q.
    pub decryptions: u64,
    /// The caller's lower bound on the decryptions that were shared before, if there is one.
    pub decrypted_so_far: Option<u64>,
}

impl Charge {
    /// Returns the cost 1 / (q 4^s) of one shared decryption under a promise of s statistical bits for q
    /// decryptions. It is in units of 2^-96, rounded up.
    fn cost(&self) -> u128 {
        allowance(self.statistical_bits.get()).div_ceil(u128::from(self.decryptions.max(1)))
    }
}

/// Returns 4^-s, which the costs of all shared decryptions together may reach under a promise of s statistical bits, in
/// units of 2^-96. It is one unit for every s above 48.
fn allowance(statistical_bits: u32) -> u128 {
    let bits = UNIT_BITS.saturating_sub(statistical_bits.saturating_mul(2));
    1 << bits
}

/// The account of the decryptions under one secret key that were shared with others, by all programs together.
///
/// Let a decryption be shared under a promise of s statistical bits for q decryptions. It reveals at most 1 / (2 q
/// 4^s) about its error, as a Kullback-Leibler divergence. Divergences add up, whatever s and q each decryption
/// had. `spent` is twice their sum, and may reach 4^-s for the largest s that was promised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Account {
    /// The number of decryptions under the key that were shared with others.
    count: u64,
    /// Twice the sum of the Kullback-Leibler divergences that all shared decryptions may reveal, in units of 2^-96.
    spent: u128,
    /// The largest number s of statistical bits that was promised with a shared decryption, or 0 if no decryption
    /// was shared.
    statistical_bits: u32,
}

impl Account {
    /// The number of bytes that an account of shared decryptions takes in a file.
    pub const BYTES: usize = 28;

    /// Returns how many decryptions under the key were shared with others.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the account of shared decryptions as a file stores it: count (8 bytes), spent (16) and statistical bits
    /// (4), little endian.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let fields = self.count.to_le_bytes().into_iter();
        let fields = fields.chain(self.spent.to_le_bytes());
        let fields = fields.chain(self.statistical_bits.to_le_bytes());
        for (byte, field) in bytes.iter_mut().zip(fields) {
            *byte = field;
        }
        bytes
    }

    /// Reads an account of shared decryptions from a file, or returns `None` for bytes that no account has. If the
    /// count is 0, `spent` and the statistical bits must be 0 too; otherwise neither may be 0.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let (count, rest) = bytes.split_first_chunk()?;
        let (spent, rest) = rest.split_first_chunk()?;
        let account = Self {
            count: u64::from_le_bytes(*count),
            spent: u128::from_le_bytes(*spent),
            statistical_bits: u32::from_le_bytes(*rest.first_chunk()?),
        };
        let shared = account.count > 0;
        let agree = (account.spent > 0) == shared && (account.statistical_bits > 0) == shared;
        agree.then_some(account)
    }

    /// Joins two accounts of one key's shared decryptions, both of which may include the same decryptions. The result
    /// is the larger of each field.
    pub fn joined(self, other: Self) -> Self {
        Self {
            count: self.count.max(other.count),
            spent: self.spent.max(other.spent),
            statistical_bits: self.statistical_bits.max(other.statistical_bits),
        }
    }

    /// Returns the account after decryptions are added until its count is at least the one that the caller of the
    /// charge names. They count as shared under the promise of this charge.
    fn raised(self, charge: &Charge) -> Self {
        let named = charge.decrypted_so_far.unwrap_or(0);
        match named.saturating_sub(self.count) {
            0 => self,
            missing => self.with(missing, charge),
        }
    }

    fn with(self, decryptions: u64, charge: &Charge) -> Self {
        let cost = charge.cost().saturating_mul(decryptions.into());
        Self {
            count: self.count.saturating_add(decryptions),
            spent: self.spent.saturating_add(cost),
            statistical_bits: self.statistical_bits.max(charge.statistical_bits.get()),
        }
    }

    /// Returns the account with the shared decryptions of a charge added.
    ///
    /// # Errors
    /// [`LedgerError::Weaker`] for fewer statistical bits than a charge before had. [`LedgerError::Count`] if the count
    /// would exceed the number of decryptions that this charge names; the numbers of earlier charges do not count.
    /// [`LedgerError::Spent`] if the costs of all shared decryptions would exceed 4^-s for the s bits of this charge,
    /// but for rounding.
    pub fn charged(self, charge: &Charge) -> Result<Self, LedgerError> {
        let (asked, bits) = (charge.outputs.get(), charge.statistical_bits.get());
        if bits < self.statistical_bits {
            return Err(LedgerError::Weaker {
                promised: self.statistical_bits,
                got: bits,
            });
        }
        let before = self.raised(charge);
        let after = before.with(asked, charge);
        if after.count > charge.decryptions {
            return Err(LedgerError::Count {
                so_far: before.count,
                asked,
                limit: charge.decryptions,
            });
        }
        // The costs of q decryptions are rounded up by less than one unit each.
        let rounding = u128::from(charge.decryptions);
        if after.spent > allowance(bits).saturating_add(rounding) {
            return Err(LedgerError::Spent {
                so_far: before.count,
                asked,
                bits,
                limit: charge.decryptions,
            });
        }
        Ok(after)
    }
}
