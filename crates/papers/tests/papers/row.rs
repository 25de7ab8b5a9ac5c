// SPDX-License-Identifier: Apache-2.0
//! Tests of rows as JSON and as text.

use ringmill_papers::{How, Ours, Reproduced, Row};

fn table(row: &Row) -> String {
    let whole = Reproduced {
        figures: vec![row.clone()],
        ..Reproduced::default()
    };
    whole.text()
}

#[test]
fn json_has_the_agreed_fields() {
    let ours = Ours::Is(1100.0, How::Model);
    let row = Row {
        machine: "ring".into(),
        ..Row::new("Table 2", "Set-1", "add", "cycles", Some(1152.0), ours)
    };
    let want = r#"{"machine":"ring","table":"Table 2","case":"Set-1","metric":"add","unit":"cycles","paper":1152.0,"ours":1100.0,"how":"model"}"#;
    assert_eq!(serde_json::to_string(&row.of_machine()).unwrap(), want);
    let text = table(&row);
    assert!(text.contains("Table 2\n") && text.contains("1152") && text.contains("0.955"));
    let wrong = Row {
        should_be: Some(1000.0),
        ..row
    };
    let json = serde_json::to_string(&wrong.of_machine()).unwrap();
    assert!(json.contains(r#""paper":1152.0,"paper_should_be":1000.0,"ours""#));
    let text = table(&wrong);
    assert!(text.contains("1.100") && text.contains("model; the paper's should be 1000"));
}
