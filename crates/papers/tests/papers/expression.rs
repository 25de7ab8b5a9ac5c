// SPDX-License-Identifier: Apache-2.0
//! Counts that papers print as formulas.

use ringmill_papers::internals::value;

#[test]
fn formulas_by_hand() {
    let letters = [("l", 17.0), ("k", 3.0), ("TP", 32.0), ("N", 65536.0)];
    for (text, want) in [
        ("1", Some(1.0)),
        ("-", None),
        ("l^2 + 3*l + 1", Some(341.0)),
        ("l*(l-1)/2", Some(136.0)),
        ("l*(N*(l+1)/TP + N/TP)", Some(661_504.0)),
        ("(l+1)*l/2 + 1", Some(154.0)),
        ("l*k", Some(51.0)),
    ] {
        assert_eq!(value(text, &letters).unwrap(), want, "{text}");
    }
    for text in ["", "l +", "(l", "x", "l l", "2 ^"] {
        assert!(value(text, &letters).is_err(), "{text}");
    }
}
