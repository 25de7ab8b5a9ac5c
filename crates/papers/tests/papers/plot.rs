// SPDX-License-Identifier: Apache-2.0
//! Tests of the picture of curves.

use ringmill_papers::internals::{Curve, Panel, svg};

#[test]
fn each_curve_is_a_line_within_the_picture() {
    let curve = |dashed| Curve {
        name: "c".to_owned(),
        dashed,
        points: vec![(8.0, 10.0), (9.0, 1000.0)],
    };
    let panel = Panel {
        title: "t".to_owned(),
        curves: vec![curve(true), curve(false)],
    };
    let text = svg(&[panel]);
    assert_eq!(text.matches("<polyline").count(), 2);
    assert_eq!(text.matches("stroke-dasharray").count(), 1);
    // The lowest point is on the axis, and the highest is at the top.
    assert_eq!(
        text.matches("points=\"60.0,330.0 360.0,30.0\"").count(),
        2,
        "{text}"
    );
}
