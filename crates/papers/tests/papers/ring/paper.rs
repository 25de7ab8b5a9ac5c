// SPDX-License-Identifier: Apache-2.0
//! What the paper prints.

use ringmill_papers::internals::ring::ring;

#[test]
fn the_figures_are_the_papers() {
    let ring = ring().unwrap();
    assert_eq!(
        (
            ring.set1.mult_relin,
            ring.set2.rescale,
            ring.logistic_regression.cycles
        ),
        (99448.0, 75464.0, 1.3e6)
    );
    assert_eq!((ring.taken.uram, ring.rpau_60.uram), (930.0, 102.0));
}
