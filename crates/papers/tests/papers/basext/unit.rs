// SPDX-License-Identifier: Apache-2.0
//! Tests of a unit's cycles, from the RTL and from the model.

use std::path::Path;

use ringmill_hdl::Hdl;
use ringmill_machines::basext::{Shape, Word};
use ringmill_papers::internals::exact;
use ringmill_papers::{How, Ours};

/// Both sources give the same cycles for a small unit, and the result names its source.
#[test]
fn the_rtl_takes_the_models_cycles() {
    let hdl = Hdl::find(Path::new(".")).unwrap();
    let unit = Shape::new(Word::Bits32, 2, 8..=8, 3, 2).unwrap();
    let from = |rtl| exact(rtl, unit, 3, 2, 8).unwrap();
    let (rtl, model) = (from(Some(&hdl)), from(None));
    let Ours::Is(cycles, How::Model) = model else {
        panic!("{model:?}");
    };
    assert_eq!(rtl, Ours::Is(cycles, How::Rtl));
}
