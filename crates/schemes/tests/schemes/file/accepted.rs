// SPDX-License-Identifier: Apache-2.0
//! Tests which security tables a reader of parameter files accepts.

use ringmill_schemes::file::AcceptedTables;
use ringmill_schemes::rlwe::{RlweError, SecurityTable};

#[test]
fn tables_are_accepted_by_default_or_by_name() {
    use SecurityTable as T;
    let accepted = |tables: AcceptedTables| T::ALL.map(|table| tables.accepts(table));
    let default = AcceptedTables::default();
    assert_eq!(accepted(default), [true, true, false, false, true]);
    let cases: [(&[&str], [bool; 5]); 7] = [
        (&["guidelines_2024"], [true, true, false, false, false]),
        (
            &["guidelines_2024.ternary"],
            [true, false, false, false, false],
        ),
        (&["standard_2018"], [false, false, true, false, false]),
        (&["estimator_2026"], [false, false, false, true, false]),
        (
            &["estimator_2026.sparse_ternary"],
            [false, false, false, false, true],
        ),
        (
            &["sparse_ternary_2026", "standard_2018.ternary"],
            [false, false, true, false, true],
        ),
        (
            &["standard_2018", "standard_2018"],
            [false, false, true, false, false],
        ),
    ];
    for (names, expected) in cases {
        let tables = AcceptedTables::named(names.iter().copied()).unwrap();
        assert_eq!(accepted(tables), expected, "{names:?}");
    }
    for wrong in [
        "",
        "standard",
        "2018",
        "guidelines_2024.",
        "ternary",
        "Standard_2018",
    ] {
        let refused = AcceptedTables::named([wrong]).unwrap_err();
        assert!(matches!(refused, RlweError::UnknownSecurityTable { .. }));
    }
    assert!(AcceptedTables::named([]).is_err());
    assert!(AcceptedTables::named(["standard_2018", "none"]).is_err());
}
