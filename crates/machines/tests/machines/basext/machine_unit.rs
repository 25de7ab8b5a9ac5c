// SPDX-License-Identifier: Apache-2.0
//! Cycles of extensions without sources or targets, for both kinds of unit.

use ringmill_machines::basext::{Extension, MachineUnit, Rate, Shape, Shared, Word};

#[test]
fn nothing_takes_no_cycles() {
    let shape = Shape::new(Word::Bits32, 4, 8..=9, 4, 4).unwrap();
    for unit in [shape.into(), Shared::new(shape, 2).unwrap().into()] {
        let unit: MachineUnit = unit;
        for (l, k, none) in [(0, 1, true), (1, 0, true), (1, 1, false), (4, 4, false)] {
            for rate in [Rate::unbounded(), Rate::new(2, 3)] {
                for extension in [Extension::Exact, Extension::Fast] {
                    let cycles = unit.extend_cycles(rate, extension, (l, k), 8);
                    assert_eq!(cycles == 0, none, "{unit:?} {l} {k}");
                }
            }
        }
    }
}
