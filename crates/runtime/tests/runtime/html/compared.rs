// SPDX-License-Identifier: Apache-2.0
//! Tests HTML pages of comparisons.

use std::collections::BTreeMap;

use ringmill_device::report::seconds;
use ringmill_runtime::html::of_comparison;
use ringmill_runtime::report::compared::{Comparison, Row, Which};

use crate::report::report;

#[test]
fn a_page_holds_its_texts_escaped_and_a_bar_a_value() {
    let which = |case: &str| Which {
        case: case.to_owned(),
        machine: "ring".to_owned(),
        set: BTreeMap::new(),
    };
    let taking = |case: &str, taken: f64| {
        let mut row = Row::of(which(case), &report());
        let figures = row.figures.as_mut().unwrap();
        (figures.seconds, figures.threads) = (Some(taken), Some(4));
        row
    };
    let rows = vec![
        taking("a & b", 2.0),
        taking("<0.5>", 0.5),
        Row::refused(which("c"), "it's \"no\"".to_owned()),
    ];
    let comparison = Comparison::new("times", rows, vec!["a note".to_owned()]);
    let page = of_comparison(&comparison);
    let row = format!("<td>a &amp; b</td><td>{}</td><td>4</td>", seconds(2.0));
    for part in [
        &*row,
        "colspan=\"2\">refused: it&#39;s &quot;no&quot;</td>",
        "width=\"480.0\"",
        "width=\"120.0\"",
        "&lt;0.5&gt;",
        "<p>a note</p>",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    for outside in ["http:", "https:", "<script", "src="] {
        assert!(!page.contains(outside), "{outside}");
    }
}
