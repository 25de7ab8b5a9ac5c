// SPDX-License-Identifier: Apache-2.0
//! Tests of Table 3: memory and multipliers.

use ringmill_machines::fpga::Resource;
use ringmill_machines::ring::OF_THE_PAPERS_SIZE;
use ringmill_papers::Row;

use super::medha;

/// The RPAUs take at most the paper's ultra RAM and DSPs, and at most 1.5 times its block RAM.
#[test]
#[ignore = "Medha's tables, a minute; `make full` runs it"]
fn rpaus_take_what_the_paper_has() {
    let figures = medha().reproduced.figures.iter();
    let figures: Vec<_> = figures
        .filter(|f| f.table == "Table 3: memory and multipliers")
        .collect();
    assert_eq!(figures.len(), OF_THE_PAPERS_SIZE.len() * 9);
    let totals = |f: &&Row| f.case == "all RPAUs, 1 of 60 bits and 9 of 54";
    let totals: Vec<_> = figures.into_iter().filter(totals).collect();
    assert_eq!(totals.len(), OF_THE_PAPERS_SIZE.len() * 3);
    for f in totals {
        let more = if f.metric == Resource::BlockRam.name() {
            1.5
        } else {
            1.0
        };
        assert!(
            f.value().unwrap() <= more * f.printed.unwrap(),
            "{} {}: {}",
            f.machine,
            f.metric,
            f.value().unwrap()
        );
    }
}
