// SPDX-License-Identifier: Apache-2.0
//! Tests runs as sections of an HTML page.

use ringmill_device::timeline::{Lane, Timeline};
use ringmill_runtime::html::{Figure, Piece, of_runs};
use ringmill_runtime::report::{RunReport, Sources};

use crate::report::report;

#[test]
fn units_are_sorted_as_people_count() {
    let names = [
        "thread 10",
        "rpau2.main",
        "thread 9",
        "ring",
        "rpau10.dyadic",
        "rpau2.dyadic",
    ];
    let lane = |name: &str| Lane {
        name: name.to_owned(),
        events: Vec::new(),
    };
    let mut timeline = Timeline::new(100.0);
    timeline.lanes = names.map(lane).to_vec();
    let report = RunReport {
        timeline: Some(timeline),
        ..report()
    };
    let sections = of_runs(&[&report], None, &Sources::default());
    let pieces = sections.iter().flat_map(|section| &section.pieces);
    let mut drawn = pieces.filter_map(|piece| match piece {
        Piece::Figure(Figure::Lanes(lanes)) => Some(&lanes.names),
        _ => None,
    });
    assert_eq!(
        *drawn.next().unwrap(),
        [
            "ring",
            "rpau2.dyadic",
            "rpau2.main",
            "rpau10.dyadic",
            "thread 9",
            "thread 10"
        ]
    );
}
