// SPDX-License-Identifier: Apache-2.0
//! What was shared of decryptions under a secret key, and whether more may be.

use super::LedgerError;

/// log2 of how many units make 1 in [`Account::spent`].
const UNIT_BITS: u32 = 96;

/// Decryptions that are about to be shared, and what they are shared for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Charge {
    /// How many.
    pub outputs: u64,
    /// s: all that is shared under the key is within 2^-s of what errors have no part in.
    pub statistical_bits: u32,
    /// q: the most that are shared under the key.
    pub decryptions: u64,
    /// How many were shared before, at least, where the caller says so.
    pub decrypted_so_far: Option<u64>,
}

impl Charge {
    /// What one decryption takes of 1, in units, rounded up: 1 / (q 4^s).
    fn cost(&self) -> u128 {
        allowance(self.statistical_bits).div_ceil(u128::from(self.decryptions.max(1)))
    }
}

/// What all decryptions together may take: 4^-s of 1, in units.
fn allowance(statistical_bits: u32) -> u128 {
    let bits = UNIT_BITS.saturating_sub(statistical_bits.saturating_mul(2));
    1 << bits
}

/// What was shared of decryptions under one secret key, by all programs.
///
/// A decryption that is shared with s bits for q decryptions shows at most 1 / (2 q 4^s) of its error, as a
/// Kullback-Leibler divergence. Divergences add up, whatever s and q each decryption had. `spent` is twice their sum, and
/// may reach 4^-s for the largest s that was promised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Account {
    /// How many decryptions.
    count: u64,
    /// In units of 2^-96.
    spent: u128,
    /// The largest s that was promised; 0 where nothing was shared.
    statistical_bits: u32,
}

impl Account {
    /// Bytes of an account in a file.
    pub const BYTES: usize = 28;

    /// How many decryptions were shared.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Count (8 bytes), spent (16), bits (4), little endian.
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

    /// `None` for bytes that no account has: those of a key of which something was shared say how much, and what was
    /// promised, and those of others say nothing.
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

    /// What was shared by at least one of two accounts of one key, where both may know of the same decryptions.
    pub fn joined(self, other: Self) -> Self {
        Self {
            count: self.count.max(other.count),
            spent: self.spent.max(other.spent),
            statistical_bits: self.statistical_bits.max(other.statistical_bits),
        }
    }

    /// With as many decryptions as the caller says were shared before, taken to have been shared as these are to be.
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
            statistical_bits: self.statistical_bits.max(charge.statistical_bits),
        }
    }

    /// The account after a charge.
    ///
    /// # Errors
    /// [`LedgerError::Weaker`], [`LedgerError::Count`], [`LedgerError::Spent`]: a promise would be broken, this one or an
    /// earlier one.
    pub fn charged(self, charge: &Charge) -> Result<Self, LedgerError> {
        if charge.statistical_bits < self.statistical_bits {
            return Err(LedgerError::Weaker {
                promised: self.statistical_bits,
                got: charge.statistical_bits,
            });
        }
        let before = self.raised(charge);
        let after = before.with(charge.outputs, charge);
        if after.count > charge.decryptions {
            return Err(LedgerError::Count {
                so_far: before.count,
                asked: charge.outputs,
                limit: charge.decryptions,
            });
        }
        // The costs of q decryptions are rounded up by less than a unit each.
        let rounding = u128::from(charge.decryptions);
        if after.spent > allowance(charge.statistical_bits).saturating_add(rounding) {
            return Err(LedgerError::Spent {
                so_far: before.count,
                asked: charge.outputs,
                bits: charge.statistical_bits,
                limit: charge.decryptions,
            });
        }
        Ok(after)
    }
}
