// SPDX-License-Identifier: Apache-2.0
//! Tests of the bars: limits that the resources of `ring-stored` must not exceed.

use ringmill_device::progress::Silent;
use ringmill_papers::internals::{Figures, Record, SHEETS, Scope, Sheet, Value, record};
use ringmill_papers::{How, Ours, PaperError, Row, Sources};

use crate::{TABLES, reproduced};

const BARS: &str = "Table 3: bars";

#[test]
#[ignore = "synthesis of all modules at full size; `make full` runs it"]
fn every_bar_holds() {
    let sources = Sources {
        synthesis: true,
        ..TABLES
    };
    let whole = reproduced("ring", sources, None, &Silent);
    let bars = whole.rows.iter();
    let bars = bars.filter(|row| row.table.starts_with(BARS));
    let bars: Vec<_> = bars.collect();
    assert_eq!(bars.len(), 2 + 10 + 3);
    for row in bars {
        println!("{row:?}");
        assert_eq!(row.remark.as_deref(), Some("holds"), "{row:?}");
    }
}

/// Records of one RPAU with this number of block RAMs, and no other records.
struct BlockRams(f64);

impl Figures for BlockRams {
    fn records(&mut self, name: &str, _: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        if name != "modules" {
            return Ok(Vec::new());
        }
        let count = |value| Value::from(Ours::Is(value, How::Synthesis));
        Ok(vec![record([
            ("kind", "rpau".into()),
            ("part", "RPAU 0".into()),
            ("built", ", built for 60 bits".into()),
            ("area.places", count(7.0)),
            ("area.ff", count(0.0)),
            ("area.dsp", count(0.0)),
            ("area.bram", count(self.0)),
            ("area.uram", count(0.0)),
        ])])
    }
}

#[test]
fn a_bar_holds_up_to_itself() {
    let (_, text) = SHEETS
        .into_iter()
        .find(|(name, _)| *name == "ring")
        .unwrap();
    let sheet = Sheet::read(text).unwrap();
    for (taken, remark) in [
        (192.0, "holds"),
        (192.5, "does not hold: 0.5 too many, 0.3 %"),
    ] {
        let found = sheet
            .reproduce("ring", &mut BlockRams(taken), TABLES)
            .unwrap();
        let bars = found.rows.iter().filter(|row| row.table.starts_with(BARS));
        let bars: Vec<&Row> = bars.collect();
        assert_eq!(bars.len(), 1);
        assert_eq!(
            (bars[0].case.as_str(), bars[0].printed),
            ("RPAU 0", Some(192.0))
        );
        assert_eq!(bars[0].remark.as_deref(), Some(remark));
        let modules = found
            .rows
            .iter()
            .find(|row| row.metric == "LUT" && row.value() == Some(7.0));
        assert_eq!(modules.unwrap().case, "RPAU 0, built for 60 bits");
    }
}
