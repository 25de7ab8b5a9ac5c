// SPDX-License-Identifier: Apache-2.0
//! Tests of how synthesised cells are counted as resources.

use ringmill_hdl::Resources;

#[test]
fn cells_are_classed() {
    let cells = [
        ("LUT3", 2),
        ("INV", 1),
        ("RAMB36E1", 1),
        ("RAMB18E1", 1),
        ("RAMB36E2", 1),
        ("URAM288", 3),
        ("RAM32M16", 2),
        ("LDCE", 4),
    ];
    let cells = cells.map(|(name, n)| (name.to_owned(), n)).into();
    let got = Resources::count(&cells);
    assert_eq!((got.lut, got.bram18, got.uram), (3, 5, 3));
    assert_eq!(got.lut_memory, 16);
    assert_eq!(got.other, [("LDCE".to_owned(), 4)].into());
}
