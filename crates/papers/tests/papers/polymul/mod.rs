// SPDX-License-Identifier: Apache-2.0
//! Tests of the tables of the polynomial multiplier's paper.

mod decryption;
mod sweep;

use std::sync::LazyLock;

use ringmill_device::progress::Silent;
use ringmill_papers::{Reproduced, Row};

use crate::{MODEL, TABLES, reproduced};

const TABLE_2: &str = "Table 2: clock cycles, 32 processing units";
const TABLE_5: &str = "Table 5: latency at the paper's clock";

/// The number of decryptions that a time is the mean of.
const RUNS: Option<u32> = Some(3);

/// Returns the whole paper, reproduced with the RTL's cycles.
fn rtl() -> &'static Reproduced {
    static RTL: LazyLock<Reproduced> =
        LazyLock::new(|| reproduced("polymul", TABLES, RUNS, &Silent));
    &RTL
}

/// Returns the whole paper, reproduced with the model's cycles.
fn model() -> &'static Reproduced {
    static OF_MODEL: LazyLock<Reproduced> =
        LazyLock::new(|| reproduced("polymul", MODEL, RUNS, &Silent));
    &OF_MODEL
}

/// The RTL takes at most the paper's cycles in every cell of Table 2, with at most its butterflies. The full product is
/// near its floor.
#[test]
fn the_figures_we_claim_to_beat_are_beaten() {
    let rtl = &rtl().figures;
    let cells: Vec<&Row> = rtl
        .iter()
        .filter(|f| f.table == TABLE_2 && f.unit == "cycles")
        .collect();
    assert_eq!(cells.len(), 6 * 4);
    for cell in &cells {
        assert!(cell.value().unwrap() <= cell.printed.unwrap(), "{cell:?}");
        assert_eq!(cell.how(), "rtl");
    }
    let find = |table: &str, metric: &str| -> Vec<&Row> {
        let of = rtl
            .iter()
            .filter(|f| f.table == table && f.metric == metric);
        of.collect()
    };
    let butterflies = find(TABLE_2, "butterflies (multipliers)");
    assert!(butterflies.len() == 1 && butterflies[0].value() <= butterflies[0].printed);
    let over = find(TABLE_2, "FPM over its floor");
    assert_eq!(over.len(), 6);
    for row in over {
        let most = match row.case.split([' ', ',']).nth(2).unwrap().parse().unwrap() {
            256 | 512 => continue,
            1024 => 1.25,
            n if n >= 2048 => 1.15,
            n => panic!("n = {n}"),
        };
        assert!(
            row.value().unwrap() >= 1.0 && row.value().unwrap() <= most,
            "{row:?}"
        );
    }
    let latencies = find(TABLE_5, "Pol.Mul.");
    assert_eq!(latencies.len(), 6);
    assert!(
        latencies
            .iter()
            .all(|f| f.value().unwrap() <= f.printed.unwrap())
    );

    // The model gives the same figures, and names itself as their source.
    let figures = &model().figures;
    assert_eq!(figures.len(), rtl.len());
    for (model, rtl) in figures.iter().zip(rtl) {
        assert_eq!(
            (model.value().unwrap(), &model.metric),
            (rtl.value().unwrap(), &rtl.metric)
        );
        assert!(["model", "stated"].contains(&model.how()));
        assert!(model.how() == rtl.how() || rtl.how() == "rtl");
    }
    assert!(model().notes.contains("--no-synth"));
}
