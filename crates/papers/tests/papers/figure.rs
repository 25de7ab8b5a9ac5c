// SPDX-License-Identifier: Apache-2.0
//! Figures as JSON and as text.

use ringmill_papers::{Figure, How, Reproduced};

fn table(figure: &Figure) -> String {
    let figures = vec![figure.clone()];
    let whole = Reproduced {
        figures,
        ..Reproduced::default()
    };
    whole.text()
}

#[test]
fn json_has_the_agreed_fields() {
    let figure = Figure {
        machine: "ring".into(),
        table: "Table 2".into(),
        case: "Set-1".into(),
        metric: "add".into(),
        unit: "cycles".into(),
        paper: Some(1152.0),
        should_be: None,
        ours: 1100.0,
        how: How::Model,
        tool: None,
    };
    let want = r#"{"machine":"ring","table":"Table 2","case":"Set-1","metric":"add","unit":"cycles","paper":1152.0,"ours":1100.0,"how":"model"}"#;
    assert_eq!(serde_json::to_string(&figure).unwrap(), want);
    let text = table(&figure);
    assert!(text.contains("Table 2\n") && text.contains("1152") && text.contains("0.955"));
    let wrong = figure.but(1000.0);
    let json = serde_json::to_string(&wrong).unwrap();
    assert!(json.contains(r#""paper":1152.0,"paper_should_be":1000.0,"ours""#));
    let text = table(&wrong);
    assert!(text.contains("1.100") && text.contains("model; the paper's should be 1000"));
}
