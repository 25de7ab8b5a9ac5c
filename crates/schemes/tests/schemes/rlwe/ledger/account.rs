// SPDX-License-Identifier: Apache-2.0
//! Tests which shared decryptions an account allows.

use proptest::prelude::*;
use ringmill_schemes::rlwe::ledger::{Account, Charge, LedgerError};

fn charge(outputs: u64, statistical_bits: u32, decryptions: u64) -> Charge {
    Charge {
        outputs: outputs.try_into().unwrap(),
        statistical_bits: statistical_bits.try_into().unwrap(),
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
    // The caller names the same count again, which is now below the account's.
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
    // Decryptions that were shared with few statistical bits leave no room for more bits. Two of four promised
    // decryptions leave room for half of the next promise.
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
    // An account with a count and nothing spent, or with a count and no promised bits, is refused.
    for cleared in [8..24, 24..28] {
        let mut bytes = account.to_bytes();
        bytes[cleared].fill(0);
        assert_eq!(Account::from_bytes(&bytes), None);
    }
}

proptest! {
    /// Charges in any order keep each promise that was given before: the sum of the divergences stays below it, and so
    /// does the sum of the sampler's distances.
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
