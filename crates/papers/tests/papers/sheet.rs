// SPDX-License-Identifier: Apache-2.0
//! Tests of the sheets: every name of a printed figure or of one of ours must be known.

use ringmill_papers::Sources;
use ringmill_papers::internals::{Figures, Record, SHEETS, Scope, Sheet, Value, model, record};
use ringmill_papers::{How, Ours, PaperError};

#[test]
fn every_name_of_every_sheet_is_known() {
    for (name, text) in SHEETS {
        let sheet = Sheet::read(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let found = sheet.check(name).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(found.rows.len() + found.figures.len() > 20, "{name}");
        let printed = found.rows.iter().filter(|row| row.printed.is_some());
        assert!(printed.count() > 5, "{name}");
        sheet
            .printed(name)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

/// A small sheet with figures of the `basext` paper.
const SMALL: &str = r#"
figures = { lanes = ["lanes", "cycles"] }
[[tables]]
table = "Table {1+1}"
each = [{ figures = "lanes" }, [{ l = 2 }, { l = 3 }]]
case = "l = {l}"
let = { right = "l*8" }
rows = [
  { metric = "cycles of {lanes} lanes", unit = "cycles", printed = "accelerator_period_ns", ours = "cycles*l", but = "if(printed == 5, right, none)" },
  { metric = "period", when = "l > 2", ours = "unmeasured", remark = "{cycles/3:.2}" },
]
[[notes]]
when = "model"
text = "of the model"
"#;

struct Lanes(Value);

impl Figures for Lanes {
    fn records(&mut self, _: &str, _: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        Ok(vec![record([
            ("lanes", 4.0.into()),
            ("cycles", self.0.clone()),
        ])])
    }
}

const MODEL: Sources = Sources {
    model: true,
    synthesis: false,
};

#[test]
fn a_row_is_data() {
    let sheet = Sheet::read(SMALL).unwrap();
    let found = sheet.reproduce("basext", &mut Lanes(model(10.0)), MODEL);
    let found = found.unwrap();
    let rows: Vec<_> = found
        .rows
        .iter()
        .map(|r| (r.case.as_str(), r.ours))
        .collect();
    assert_eq!(
        rows,
        [
            ("l = 2", Ours::Is(20.0, How::Model)),
            ("l = 3", Ours::Is(30.0, How::Model)),
            ("l = 3", Ours::NotMeasured),
        ]
    );
    assert_eq!(found.rows[0].table, "Table 2");
    assert_eq!(found.rows[0].metric, "cycles of 4 lanes");
    assert_eq!(found.rows[0].should_be, Some(16.0));
    assert_eq!(found.rows[2].remark.as_deref(), Some("3.33"));
    assert_eq!(found.notes, "of the model");
}

#[test]
fn names_that_are_not_known_are_refused() {
    let refusal = |text: &str, cycles: Value| {
        let sheet = Sheet::read(text).unwrap();
        let found = sheet.reproduce("basext", &mut Lanes(cycles), MODEL);
        found.unwrap_err().to_string()
    };
    for (from, to, said) in [
        (
            "accelerator_period_ns",
            "accelerator_ns",
            "`accelerator_ns`",
        ),
        ("figures = \"lanes\"", "figures = \"laps\"", "`laps`"),
        ("\"cycles\"] }", "\"cycle\"] }", "`cycle`"),
        ("cycles*l", "cycles*m", "`m`"),
        ("l = {l}", "l = {l", "open brace"),
    ] {
        let said_of = refusal(&SMALL.replace(from, to), model(10.0));
        assert!(said_of.contains(said), "{to}: {said_of}");
    }
    // A figure of ours must tell how it was obtained.
    let said = refusal(SMALL, Value::number(10.0));
    assert!(said.contains("how our figure was obtained"), "{said}");
    let fault = Sheet::read("tabels = []").err().unwrap().to_string();
    assert!(fault.contains("tabels"), "{fault}");
}
