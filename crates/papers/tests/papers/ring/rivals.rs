// SPDX-License-Identifier: Apache-2.0
//! Tests of the paper's comparisons of its machine with others.

use ringmill_papers::internals::{Figures, Record, SHEETS, Scope, Sheet, model, record};
use ringmill_papers::{PaperError, Sources};

const TABLE_4: &str = "Table 4: latency of other works, and how much faster Medha is";
const TABLE_5: &str = "Table 5: other accelerators";
const HEAX: &str = "Section 5.3: HEAX, Set-1";
const F1: &str = "Section 5.3: F1, Set-1";
const GPU: &str = "Section 5.3: GPUs, Set-1";

/// Records of one machine with the times of its operations, and no other records.
struct Latencies;

impl Figures for Latencies {
    fn records(&mut self, name: &str, at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        let polynomials = f64::from(42 * 8 * (1 << 14));
        Ok(match name {
            "machines" => vec![record([
                ("machine", "ring-stored".into()),
                ("own_mhz", 200.0.into()),
                ("multipliers", model(36.0)),
                ("dyadic_percent", model(12.5)),
            ])],
            "operation" => {
                let us = match (at.text("id")?.as_str(), at.text("key")?.as_str()) {
                    ("set1", "add") => 5.0,
                    ("set1", "mult_relin") => 250.0,
                    ("set1", "rescale") => 60.0,
                    ("set2", "add") => 13.0,
                    ("set2", "mult_relin") => 730.0,
                    ("set2", "rescale") => 140.0,
                    other => panic!("{other:?}"),
                };
                vec![record([
                    ("how", "model".into()),
                    ("run.cycles", (200.0 * us).into()),
                    ("run.seconds", (us / 1e6).into()),
                    ("run.end_to_end.seconds", 5500e-6.into()),
                    ("run.link.bytes_in", polynomials.into()),
                    ("run.link.bytes_out", 0.0.into()),
                ])]
            }
            _ => Vec::new(),
        })
    }
}

#[test]
fn every_printed_figure_is_there_and_the_wrong_ones_are_set_right() {
    let (_, text) = SHEETS
        .into_iter()
        .find(|(name, _)| *name == "ring")
        .unwrap();
    let sources = Sources {
        model: false,
        synthesis: false,
    };
    let sheet = Sheet::read(text).unwrap();
    let rows = sheet
        .reproduce("ring", &mut Latencies, sources)
        .unwrap()
        .rows;
    let find = |table: &str, case: &str, metric: &str| {
        let mut all = rows.iter();
        let row = all.find(|r| r.table == table && r.case == case && r.metric == metric);
        row.unwrap_or_else(|| panic!("no row {case}: {metric}"))
            .clone()
    };
    // Table 4 has 14 latencies, and eight speed-ups.
    let table_4: Vec<_> = rows.iter().filter(|r| r.table == TABLE_4).collect();
    assert_eq!(table_4.len(), 14 + 8);
    let wrong: Vec<f64> = table_4.iter().filter_map(|r| r.should_be).collect();
    assert_eq!(wrong, [64.27, 43.57]);
    let row = find(
        TABLE_4,
        "Set-1, HEAX",
        "multiply + relinearise: speed-up, ring-stored",
    );
    assert_eq!(
        (row.printed, row.value()),
        (Some(2.37), Some(1182.27 / 250.0))
    );
    assert_eq!(
        rows.iter().filter(|r| r.table == TABLE_5).count(),
        6 * 4 + 4 * 5 + 2
    );
    let row = find(HEAX, "cycles", "multiply + relinearise, ring-stored");
    assert_eq!(
        (row.printed, row.should_be, row.value()),
        (Some(358_400.0), Some(354_681.0), Some(50_000.0))
    );
    let row = find(
        F1,
        "200 MHz, one cluster",
        "multiply + relinearise, ring-stored",
    );
    assert_eq!((row.should_be, row.value()), (Some(6250.0), Some(4000.0)));
    let row = find(
        GPU,
        "eight V100 (log Q = 360)",
        "add: speed-up, ring-stored",
    );
    assert_eq!((row.printed, row.value()), (Some(6.9), Some(8.0)));
}
