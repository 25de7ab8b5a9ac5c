// SPDX-License-Identifier: Apache-2.0
//! What `ring-stored` must not exceed.

use ringmill_device::progress::Silent;
use ringmill_papers::Sources;
use ringmill_papers::internals::verdict;

use crate::{TABLES, reproduced};

#[test]
#[ignore = "synthesis of all modules at full size; `make full` runs it"]
fn every_bar_holds() {
    let sources = Sources {
        synthesis: true,
        ..TABLES
    };
    let whole = reproduced("ring", sources, None, &Silent);
    let bars = whole.rows.iter();
    let bars = bars.filter(|row| row.table.starts_with("Table 3: bars"));
    let bars: Vec<_> = bars.collect();
    assert_eq!(bars.len(), 2 + 10 + 3);
    for row in bars {
        println!("{row:?}");
        assert_eq!(row.remark.as_deref(), Some("holds"), "{row:?}");
    }
}

#[test]
fn a_bar_holds_up_to_itself() {
    assert_eq!(verdict(192.0, 192.0), "holds");
    assert_eq!(verdict(192.5, 192.0), "does not hold: 0.5 too many, 0.3 %");
}
