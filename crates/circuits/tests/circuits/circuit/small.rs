// SPDX-License-Identifier: Apache-2.0
//! Tests lookups of sums: tables of more than half the torus, and operands that are refreshed.

use ringmill_limits::Watch;

use ringmill_circuits::circuit::small::{Lookups, tabulate};

/// Tests that every f of 17 to 32 values with constant f(u) + f(u - 16) has a table, and no other f.
#[test]
fn tables_of_more_than_half_the_torus() {
    let carry: Vec<i64> = (0..32).map(|x| i64::from(x >= 16)).collect();
    assert_eq!(tabulate(&carry), Some((-16, 1, [1; 16])));
    let equal: Vec<i64> = (-15..=15).map(|x| i64::from(x == 0)).collect();
    let (first, middle, table) = tabulate(&equal).unwrap();
    assert_eq!((first, middle), (-15, 0));
    assert_eq!(table[0], 2);
    assert!(table[1..].iter().all(|&x| x == 0));
    assert!(tabulate(&(0..17).collect::<Vec<_>>()).is_some());
    assert!(tabulate(&(0..18).collect::<Vec<_>>()).is_none());
    assert!(tabulate(&[0; 33]).is_none());
}

#[test]
fn noisy_operands_are_refreshed() {
    let mut l = Lookups::new(40, &Watch::default());
    let (a, b) = (l.input(1), l.input(3));
    let x = l.total(&[(4, &a), (1, &b)]).unwrap();
    assert!(l.lookup(&[(6, &x)], |x| x & 1).is_err()); // the range is 0 to 42
    let y = l.lookup(&[(1, &x), (-3, &a)], |x| x & 1).unwrap(); // the value is a + b
    let graph = l.finish(vec![y.sum().clone()]).unwrap();
    assert_eq!(graph.lookups.len(), 1);
    // 2 x has 68 times the noise variance of a wire, above the limit of 40, so x is refreshed.
    let mut l = Lookups::new(40, &Watch::default());
    let (a, b) = (l.input(1), l.input(3));
    let x = l.total(&[(4, &a), (1, &b)]).unwrap();
    let y = l.lookup(&[(2, &x)], |x| x / 2).unwrap();
    let graph = l.finish(vec![y.sum().clone()]).unwrap();
    assert_eq!(graph.lookups.len(), 2);
    assert_eq!(graph.evaluate(&[1, 2]).unwrap(), [6]);
    for beyond in [1 << 62, 1 << 63, u64::MAX] {
        assert!(graph.evaluate(&[1, beyond]).is_err());
    }
    // Seven times a wire has 49 times its noise variance, above the limit, and a refresh does not help.
    assert!(
        Lookups::new(40, &Watch::default())
            .total(&[(7, &a)])
            .is_err()
    );
}
