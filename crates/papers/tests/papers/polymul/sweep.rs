// SPDX-License-Identifier: Apache-2.0
//! Tests of Figure 4.

use ringmill_machines::polymul::TOP_LOG_N;
use ringmill_papers::internals::polymul::{ours, points};

/// The model's cycles obey the recurrence by which larger machines are extrapolated.
#[test]
fn doubling_units_and_degree_adds_a_stage() {
    for units in [16, 32, 64] {
        for log_n in 10..=TOP_LOG_N {
            let [whole, half, quarter] =
                [0, 1, 2].map(|by| ours(units >> by, log_n - by).unwrap().unwrap());
            assert_eq!(whole, 2 * half - quarter, "{units} units, 2^{log_n}");
        }
    }
}

#[test]
fn the_figure_is_whole() {
    let points = points().unwrap();
    assert_eq!(points.len(), 6 * 5);
    let lacking = points.iter().filter(|p| p.ours.is_none());
    let lacking: Vec<_> = lacking.map(|p| (p.units, p.log_n)).collect();
    assert_eq!(lacking, [(128, 8), (128, 9)]);
    let paper = points.iter().find(|p| (p.units, p.log_n) == (32, 10));
    assert_eq!(paper.map(|p| p.paper), Some(220.0));
}
