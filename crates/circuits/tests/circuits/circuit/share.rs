// SPDX-License-Identifier: Apache-2.0
//! Tests lookups that share a blind rotation.

use ringmill_circuits::circuit::Graph;
use ringmill_circuits::circuit::small::Lookups;
use ringmill_circuits::circuit::sum::{Sum, Wire};
use ringmill_limits::Watch;

/// Returns a circuit that looks up u / 4, u % 4 and u = 7 for one operand u. A further lookup reads u % 4 times
/// `factor`.
fn graph(factor: i64, limit: u64) -> Graph {
    let mut l = Lookups::new(limit, &Watch::default());
    let u = l.input(15);
    let high = l.lookup(&[(1, &u)], |u| u / 4).unwrap();
    let low = l.lookup(&[(1, &u)], |u| u % 4).unwrap();
    let seven = l.lookup(&[(1, &u)], |u| i64::from(u == 7)).unwrap();
    let odd = l.lookup(&[(factor, &low)], |x| x & 1).unwrap();
    l.finish(
        [&high, &low, &seven, &odd]
            .map(|x| x.sum().clone())
            .to_vec(),
    )
    .unwrap()
}

#[test]
fn lookups_of_one_operand_share_a_rotation_where_noise_allows_it() {
    // The noise of u % 4 is the sum of the squared factors of its table, in halves of a message. Twelve entries differ
    // by 2 and three by -6 from the entry before, and the first factor is 6: 12 * 4 + 4 * 36 = 192.
    let all = graph(1, 192);
    assert_eq!((all.cost().bootstraps, all.cost().tables), (2, 4));
    assert_eq!(all.norm(&all.lookups[3].operand), 192);
    assert_eq!(all.rotations(), [vec![0, 1, 2], vec![3]]);
    // The lookup of u % 4 has too much noise to share, and the other two still share.
    for (factor, limit) in [(1, 191), (3, 9 * 192 - 1)] {
        let two = graph(factor, limit);
        assert_eq!(two.rotations(), [vec![0, 2], vec![1], vec![3]]);
    }
    assert_eq!(graph(3, 9 * 192).cost().bootstraps, 2);
    assert_eq!(graph(1, 3).cost().bootstraps, 4);
    for u in 0..16 {
        let expected = [u / 4, u % 4, i64::from(u == 7), u & 1];
        for graph in [graph(1, 192), graph(1, 191), graph(1, 3)] {
            assert_eq!(graph.evaluate(&[u as u64]).unwrap(), expected);
        }
    }
}

/// Tests that u - 4 (u / 4) - u % 4 is 0 and that its noise cancels, as entries of one blind rotation are not
/// independent.
#[test]
fn sums_of_entries_that_share_are_entries_of_sums() {
    let graph = graph(1, 192);
    let wire = |at: u32| Sum::wire(Wire(graph.inputs + at));
    let u = wire(0).plus(3, &wire(0)).plus(1, &wire(1));
    // The table of u itself has 15 factors of one message, and the first factor is the sum 15 of its ends.
    assert_eq!(graph.norm(&u), 4 * (15 + 15 * 15));
    assert_eq!(graph.norm(&wire(1).plus(-1, &wire(1))), 0);
    assert_eq!(graph.norm(&Sum::wire(Wire(0)).plus(1, &u)), 961);
}
