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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn charge(outputs: u64, statistical_bits: u32, decryptions: u64) -> Charge {
        Charge {
            outputs,
            statistical_bits,
            decryptions,
            decrypted_so_far: None,
        }
    }

    #[test]
    fn as_many_as_were_asked_for_and_no_more() {
        for (bits, decryptions) in [(1, 1), (16, 3), (16, 7), (20, 1000), (35, 1), (1, 1 << 34)] {
            let mut account = Account::default();
            let step = (decryptions / 7).max(1);
            let mut left = decryptions;
            while left > 0 {
                let now = step.min(left);
                account = account.charged(&charge(now, bits, decryptions)).unwrap();
                left -= now;
            }
            let refused = account.charged(&charge(1, bits, decryptions)).unwrap_err();
            let expected = LedgerError::Count {
                so_far: decryptions,
                asked: 1,
                limit: decryptions,
            };
            assert_eq!(refused, expected);
        }
    }

    #[test]
    fn a_count_that_is_named_is_never_lower_than_one_that_is_known() {
        let named = |so_far, outputs| Charge {
            decrypted_so_far: Some(so_far),
            ..charge(outputs, 10, 8)
        };
        let account = Account::default().charged(&named(3, 2)).unwrap();
        assert_eq!(account.count(), 5);
        // The same words again, with what was counted since.
        let account = account.charged(&named(3, 1)).unwrap();
        assert_eq!(account.count(), 6);
        assert!(account.charged(&named(3, 3)).is_err());
        assert!(account.charged(&named(7, 2)).is_err());
        assert!(account.charged(&named(u64::MAX, 1)).is_err());
        assert!(account.charged(&charge(u64::MAX, 10, 8)).is_err());
    }

    #[test]
    fn no_later_decryption_breaks_an_earlier_promise() {
        let account = Account::default().charged(&charge(1, 16, 4)).unwrap();
        let weaker = account.charged(&charge(1, 15, 4)).unwrap_err();
        let (promised, got) = (16, 15);
        assert_eq!(weaker, LedgerError::Weaker { promised, got });
        // What was shared with few bits leaves nothing for more of them, and half of what was promised for 4 is half.
        let spent = |refused| matches!(refused, Err(LedgerError::Spent { .. }));
        assert!(spent(account.charged(&charge(1, 20, 4))));
        let half = account.charged(&charge(1, 16, 4)).unwrap();
        let next = half.charged(&charge(4, 16, 8)).unwrap();
        assert!(spent(next.charged(&charge(1, 16, 8))));
    }

    #[test]
    fn accounts_go_through_files() {
        let account = Account::default().charged(&charge(5, 16, 9)).unwrap();
        for account in [Account::default(), account] {
            assert_eq!(Account::from_bytes(&account.to_bytes()), Some(account));
        }
        // A count without anything spent, or without anything promised.
        for cleared in [8..24, 24..28] {
            let mut bytes = account.to_bytes();
            bytes[cleared].fill(0);
            assert_eq!(Account::from_bytes(&bytes), None);
        }
    }

    proptest! {
        /// Whatever is asked for in whatever order, what is granted keeps each promise that was given, the sampler's
        /// share of it too.
        #[test]
        fn every_promise_holds_for_the_sum(asked in prop::collection::vec((1..4u64, 1..20u32, 1..40u64), 1..40)) {
            let mut account = Account::default();
            let mut granted: Vec<(u64, u32, u64)> = Vec::new();
            for (outputs, bits, decryptions) in asked {
                let Ok(after) = account.charged(&charge(outputs, bits, decryptions)) else { continue };
                account = after;
                granted.push((outputs, bits, decryptions));
                let sum = |power: f64| -> f64 {
                    let one = |&(n, s, q): &(u64, u32, u64)| n as f64 / q as f64 * (-power * f64::from(s)).exp2();
                    granted.iter().map(one).sum()
                };
                for &(_, bits, _) in &granted {
                    let promised = f64::from(bits);
                    prop_assert!(sum(2.0) <= (-2.0 * promised).exp2() * (1.0 + 1e-9));
                    prop_assert!(sum(1.0) <= (-promised).exp2() * (1.0 + 1e-9));
                }
                let count: u64 = granted.iter().map(|g| g.0).sum();
                prop_assert_eq!(count, account.count());
                prop_assert!(count <= decryptions);
            }
        }
    }
}
