// SPDX-License-Identifier: Apache-2.0
//! Tests of the tables of the base-extension paper.

mod unit;

use ringmill_device::progress::Silent;
use ringmill_papers::Row;

use crate::{MODEL, reproduced};

const ITERATIONS: &str = "Table 4.6";
const COMPARISON: &str = "Table 4.5";

const FOLDED: &str = "shenoy_kumaresan_folded";

/// Checks our claims: as many multipliers as the paper, cycles above its formula by at most a pipeline fill, at most
/// its DSPs a multiplier, and the corrections of its figures.
#[test]
fn what_we_claim_holds() {
    let reproduced = reproduced("basext", MODEL, None, &Silent);
    let rows = &reproduced.rows;
    let find = |table: &str, metric: &str| -> Vec<&Row> {
        let of = rows
            .iter()
            .filter(|row| row.table.starts_with(table) && row.metric == metric);
        of.collect()
    };
    for table in ["Table 4.7", "Table 4.8", "Table 4.9"] {
        let cycles = find(table, "cycles");
        assert_eq!(cycles.len(), 6);
        for row in cycles {
            let over = row.value().unwrap() - row.printed.unwrap();
            assert!((0.0..64.0).contains(&over), "{row:?}");
        }
        for row in find(table, "DSP") {
            let (ours, printed) = (row.value().unwrap(), row.printed.unwrap());
            assert!(ours <= printed, "{row:?}");
        }
        assert_eq!(
            find(table, "LUT")
                .iter()
                .filter(|r| r.value().is_none())
                .count(),
            6
        );
    }
    let folded = find(ITERATIONS, FOLDED);
    assert_eq!(folded.len(), 3);
    for row in folded {
        let ratio = row.value().unwrap() / row.printed.unwrap();
        assert!((1.0..1.2).contains(&ratio), "{row:?}");
    }
    // The pipelined units end a target with its last source. The other units transfer residues beside their iterations.
    let within = |architecture: &str, ratio: std::ops::Range<f64>| {
        let rows = find(ITERATIONS, architecture);
        assert_eq!(rows.len(), 3);
        for row in rows {
            let theirs = row.should_be.or(row.printed).unwrap();
            let found = row.value().unwrap() / theirs;
            assert!(ratio.contains(&found), "{row:?}: {found}");
        }
    };
    within("shenoy_kumaresan_pipelined", 0.95..1.0);
    within("cox_rower", 1.0..1.1);
    within("mixed_radix_iterative", 1.0..1.4);
    within("mixed_radix_pipelined", 1.0..1.04);
    let of = |metric: &str, architecture: &str| {
        let rows = find(COMPARISON, metric);
        let mut rows = rows.into_iter();
        rows.find(|row| row.case.starts_with(architecture)).unwrap()
    };
    for architecture in [FOLDED, "shenoy_kumaresan_pipelined", "cox_rower"] {
        for metric in ["modular multipliers", "modular adders"] {
            let row = of(metric, architecture);
            assert_eq!(row.value(), row.should_be.or(row.printed), "{row:?}");
        }
    }
    for architecture in [FOLDED, "shenoy_kumaresan_pipelined"] {
        let row = of("words stored", architecture);
        assert_eq!(row.value(), row.printed, "{row:?}");
    }
    // Weighted sums of digits need no constant |Q|_p, and no product with it.
    for (metric, less) in [
        ("words stored", 17.0),
        ("modular multipliers", 1.0),
        ("modular adders", 0.0),
    ] {
        let row = of(metric, "mixed_radix_pipelined");
        assert_eq!(row.value(), row.printed.map(|p| p - less), "{row:?}");
    }
    let times = find("Table 4.10", "accelerator at 200 MHz");
    let should_be: Vec<_> = times.iter().map(|row| row.should_be.unwrap()).collect();
    assert_eq!(should_be, [3307.52, 3686.4]);
    let times = find("Table 4.11", "accelerator at 200 MHz");
    assert_eq!(times.len(), 4);
    assert!(times.iter().all(|row| row.should_be.is_none()));
    for metric in ["modular adders", "iterations"] {
        let rows = find(COMPARISON, metric);
        assert!(rows.iter().any(|row| row.should_be.is_some()), "{metric}");
    }
    let recorded = |table| -> Vec<_> {
        let rows = find(table, "OpenFHE, one thread with AVX-512-IFMA");
        rows.iter().map(|row| row.value()).collect()
    };
    assert_eq!(recorded("Table 4.10"), [Some(66_700.0), None]);
    assert_eq!(recorded("Table 4.11"), [None, None, None, Some(4_300.0)]);
    let json = times[0].json("basext");
    assert_eq!(
        (json["how"].as_str(), json["paper"].as_f64()),
        (Some("model"), Some(61.44))
    );
    let text = reproduced.text();
    for said in [
        "not measured",
        "should be",
        "measured\n",
        "Known errors",
        "Tables 3.1",
    ] {
        assert!(text.contains(said), "{said}");
    }
}
