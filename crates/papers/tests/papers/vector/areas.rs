// SPDX-License-Identifier: Apache-2.0
//! Tests of Tables 4 and 6: areas.

use ringmill_papers::Row;
use ringmill_papers::internals::vector::areas;

use crate::text;

#[test]
fn without_synthesis_the_papers_figures_stand_alone() {
    let rows = areas(false).unwrap().rows;
    assert!(rows.len() > 1 && rows.iter().all(|row| row.value().is_none()));
    let said = text(&rows);
    assert!(said.contains("synthesis was not asked for"), "{said}");
}

#[test]
#[ignore = "synthesises every leaf of the units, minutes; `make full` runs it"]
fn savings_of_every_element() {
    let rows = areas(true).unwrap().rows;
    println!("{}", text(&rows));
    for (what, least) in [
        ("reduction", 55.0),
        ("multiplier", 35.0),
        ("butterfly", 30.0),
    ] {
        let saved = |row: &&Row| row.case == what && row.metric == "saved, stages as short";
        let row = rows.iter().find(saved).unwrap();
        assert!(row.value().unwrap() > least, "{row:?}");
    }
    // A lane of the multiply-accumulate unit has about the area of a multiplier and its registers. A transform unit has
    // 3 x 512 multipliers.
    for (name, less, more) in [("mac", 0.3, 3.0), ("permutation", 0.01, 1.0)] {
        let share = |row: &&Row| row.case == name && row.metric == "of the transforms";
        let share = rows.iter().find(share).unwrap().value().unwrap();
        assert!(less < share && share < more, "{name}: {share}");
    }
}
