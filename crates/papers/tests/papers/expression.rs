// SPDX-License-Identifier: Apache-2.0
//! Tests of the formulas in the sheets.

use ringmill_papers::PaperError;
use ringmill_papers::internals::{Value, number};

/// Returns the value of a letter of a paper's formulas, or of a name whose value is a formula.
fn letter(name: &str) -> Result<Option<Value>, PaperError> {
    let value = match name {
        "l" => 17.0,
        "k" => 3.0,
        "TP" => 32.0,
        "N" => 65536.0,
        "words" => return Ok(Some("l*k".into())),
        _ => return Ok(None),
    };
    Ok(Some(Value::number(value)))
}

#[test]
fn formulas_by_hand() {
    for (text, want) in [
        ("1", Some(1.0)),
        ("-", None),
        ("l^2 + 3*l + 1", Some(341.0)),
        ("l*(l-1)/2", Some(136.0)),
        ("l*(N*(l+1)/TP + N/TP)", Some(661_504.0)),
        ("(l+1)*l/2 + 1", Some(154.0)),
        ("words", Some(51.0)),
        ("words + 1", Some(52.0)),
        ("0.5*k", Some(1.5)),
        ("max(floor(l/2), k) - min(1, 2)", Some(7.0)),
        ("if(l > k, 'l', 'k')", Some(17.0)),
        ("if('a' == 'b', l, none)", None),
        ("absent?", None),
        ("or(absent?, 2)", Some(2.0)),
        ("1 + unmeasured", None),
    ] {
        assert_eq!(number(text, &letter).unwrap().known(), want, "{text}");
    }
    for text in ["", "l +", "(l", "x", "l l", "2 ^", "sine(l)", "1.2.3", "'l"] {
        assert!(number(text, &letter).is_err(), "{text}");
    }
}
