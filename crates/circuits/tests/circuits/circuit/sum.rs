// SPDX-License-Identifier: Apache-2.0
//! Tests sums of wires.

use ringmill_circuits::circuit::sum::{Sum, Wire};

#[test]
fn terms_merge_and_vanish() {
    let (a, b) = (Sum::wire(Wire(1)), Sum::wire(Wire(0)));
    let x = a.plus(4, &b).shifted(3);
    assert_eq!(x.terms(), [(Wire(0), 4), (Wire(1), 1)]);
    assert_eq!((x.norm(), x.halves()), (17, 3));
    assert_eq!(x.value(|w| i64::from(w.0) + 1), 4 + 2 + 3);
    let y = x.plus(-4, &b);
    assert_eq!(y, a.clone().shifted(3));
    assert!(x.plus(-1, &x).is_constant());
}
