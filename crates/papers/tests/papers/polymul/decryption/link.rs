// SPDX-License-Identifier: Apache-2.0
//! Tests of the sheet's formulas for the link to the machine and for SEAL's times.

use ringmill_papers::internals::{Figures, Record, SHEETS, Scope, Sheet, record};
use ringmill_papers::{Ours, PaperError, Row};

use crate::TABLES;

/// Records of one parameter set of degree 1024, at the paper's clock of 150 MHz, and no other records.
struct OneSet {
    /// The microseconds of a product on the host.
    host: f64,
    /// The microseconds of SEAL's decryption and of its transforms.
    seal: [f64; 2],
}

impl Figures for OneSet {
    fn records(&mut self, name: &str, _: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        if name != "decryptions" {
            return Ok(Vec::new());
        }
        let [decrypt, transforms] = self.seal;
        Ok(vec![record([
            ("set", 0.0.into()),
            ("n", 1024.0.into()),
            ("bits", 14.0.into()),
            ("simulator", "".into()),
            ("source", "model".into()),
            ("said", "SEAL of a test".into()),
            ("times.product", self.host.into()),
            ("times.extension", 1.0.into()),
            ("times.others", 2.84.into()),
            ("seals.decrypt", decrypt.into()),
            ("seals.transforms", transforms.into()),
            ("counts.load", 261.0.into()),
            ("counts.product", 397.5.into()),
            ("counts.unload", 264.0.into()),
            ("counts.tables", 300.0.into()),
            ("counts.table_words", 1040.0.into()),
            ("counts.steady", 930.0.into()),
            ("counts.first", 1500.0.into()),
            ("counts.period", 450.0.into()),
        ])])
    }
}

const LINKS: &str = "The slowest link";

fn row(set: OneSet, table: &str, metric: &str) -> Row {
    let mut sheets = SHEETS.into_iter();
    let (_, text) = sheets.find(|(name, _)| *name == "polymul").unwrap();
    let sheet = Sheet::read(text).unwrap();
    let mut set = set;
    let found = sheet.reproduce("polymul", &mut set, TABLES).unwrap();
    let mut rows = found.rows.into_iter();
    let row = rows.find(|row| row.table.starts_with(table) && row.metric == metric);
    row.unwrap()
}

/// Returns the records of a host whose product takes `host` microseconds. SEAL's times are plausible.
fn host(host: f64) -> OneSet {
    let seal = [5.0, 3.0];
    OneSet { host, seal }
}

/// Computes the microseconds of a call on a link of `gbps` Gbit/s by hand.
fn through(gbps: f64) -> f64 {
    let crossing = 1024.0 * 32.0 / (gbps * 1e3);
    f64::max(crossing, 1.74) + 2.65 + f64::max(crossing, 1.76)
}

#[test]
fn the_papers_link_takes_what_it_says() {
    let value = |table, metric| row(host(28.8), table, metric).value().unwrap();
    // Section 4.1's 732,420 inputs a second, and section 5's 1.3 us.
    assert_eq!(value("Section 4.1", "link, inputs alone") as u64, 732_421);
    let polynomial = value("Section 5: c1 s", "a polynomial on the link");
    assert!((polynomial - 1.365).abs() < 1e-3);
    assert!((value("Section 5: c1 s", "with load and unload") - through(24.0)).abs() < 1e-9);
}

#[test]
fn at_break_even_the_call_takes_as_long_as_the_host() {
    for us in [6.16, 6.17, 7.0, 28.8] {
        let link = row(host(us), LINKS, "one call, our host").value().unwrap();
        assert!((through(link) - us).abs() < 1e-9, "{us}");
        assert!(through(link * 0.9) > us, "{us}");
    }
    for us in [6.14, 3.0] {
        let row = row(host(us), LINKS, "one call, our host");
        assert_eq!(row.ours, Ours::None);
        let said = format!("take 6.15 us on any link, our host's product {us:.2} us");
        assert!(row.remark.unwrap().ends_with(&said));
    }
    // In a stream each call moves an operand and a result. The machine's period is 3 us, and the host's decryption
    // takes 3.84 us more than its product.
    let stream = |us| row(host(us), LINKS, "a stream, our host").value();
    let link = stream(6.16).unwrap();
    assert!((2.0 * 1024.0 * 32.0 / (link * 1e3) - 10.0).abs() < 1e-9);
    assert!(stream(-0.9).is_none());
}

/// The means of a part and of the whole are timed one after the other, so the part may come out longer.
#[test]
fn a_part_timed_longer_than_the_whole_leaves_no_rest() {
    let of = |seal| {
        let set = OneSet { host: 7.0, seal };
        row(set, "Section 5: a decryption", "SEAL here")
    };
    let (rest, none) = (of([5.0, 3.0]), of([5.0, 5.0]));
    assert!((rest.value().unwrap() - (2.0 + through(24.0))).abs() < 1e-9);
    assert_eq!(none.ours, Ours::None);
    assert!(none.remark.unwrap().contains("the processor was shared"));
}
