// SPDX-License-Identifier: Apache-2.0
//! Tests of the engines for the 128-bit set.

use std::collections::BTreeSet;

use super::torus;

/// Every engine takes more cycles than its floors. A ciphertext's share of interleaved bootstraps takes fewer cycles
/// than a bootstrap alone.
#[test]
#[ignore = "ten seconds; `make full` runs it"]
fn engines_of_the_set_are_above_their_floors() {
    let rows = torus().rows.iter();
    let rows: Vec<_> = rows
        .filter(|row| row.table.starts_with("The 128-bit set:"))
        .collect();
    let engines: BTreeSet<&str> = rows.iter().map(|row| row.case.as_str()).collect();
    assert_eq!(engines.len(), 9);
    for engine in engines {
        let of = |metric: &str| {
            let mut found = rows.iter();
            let row = found.find(|row| row.case == engine && row.metric == metric);
            row.and_then(|row| row.value())
        };
        let (alone, floor) = (of("bootstrap alone"), of("floor of the rotation"));
        assert!(
            floor < of("run alone") && of("run alone") < alone,
            "{}",
            engine
        );
        assert!(of("floor of the masks") < of("switch alone"), "{}", engine);
        if let Some(each) = of("bootstrap, each interleaved") {
            assert!(floor < Some(each) && Some(each) < alone, "{}", engine);
        }
    }
}
