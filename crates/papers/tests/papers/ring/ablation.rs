// SPDX-License-Identifier: Apache-2.0
//! Tests of Section 4.3.1: the time that the dyadic cores save.

use super::medha;

#[test]
#[ignore = "Medha's tables, a minute; `make full` runs it"]
fn dyadic_cores_save_time() {
    let rows = medha().reproduced.rows.iter();
    let saved: Vec<f64> = rows
        .filter(|r| r.table.starts_with("Section 4.3.1") && r.metric == "time saved")
        .map(|r| r.value().unwrap())
        .collect();
    assert_eq!(saved.len(), 2 * 3 - 1);
    assert!(saved.iter().all(|s| (0.0..60.0).contains(s)), "{saved:?}");
    // The slower the main cores, the more time the dyadic cores save.
    assert!(saved[0] > saved[2] && saved[2] > saved[1], "{saved:?}");
}
