// SPDX-License-Identifier: Apache-2.0
//! Tests of the tables that come with a procedure.

use ringmill_hdl::ring::Tables;
use ringmill_isa::Galois;

#[test]
fn inverses_are_inverses() {
    let odd: Vec<Galois> = (1..1000).step_by(2).map(Galois).collect();
    let tables = Tables {
        galois: &odd,
        ..Tables::default()
    };
    let entries = tables.entries(0);
    assert_eq!(entries.len(), 2 * odd.len());
    for (&g, entries) in odd.iter().zip(entries.as_chunks().0) {
        let [[_, element], [_, inverse]] = *entries;
        assert_eq!(element, u64::from(g));
        assert_eq!(inverse.wrapping_mul(element), 1);
    }
}
