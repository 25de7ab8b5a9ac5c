// SPDX-License-Identifier: Apache-2.0
//! Tests that a parameter file with another security table is refused, unless `--table` names that table.

use ringmill_schemes::ckks::{Params, ParamsBuilder, file};

use crate::common::{MEAN, folder, ringmill};

#[test]
fn a_file_by_the_2018_standard_is_accepted_by_name_alone() {
    let folder = folder("tables");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (set1, set2) = (path("set1.params"), path("set2.params"));
    let params = ParamsBuilder::named("set1").unwrap().build().unwrap();
    std::fs::write(&set1, file::write_params(&params)).unwrap();
    let params = Params::named("set2").unwrap();
    std::fs::write(&set2, file::write_params(&params)).unwrap();
    let accepted: [&[&str]; 5] = [
        &["params", &set1, "--table", "standard_2018"],
        &["params", &set1, "--table", "standard_2018.ternary"],
        &["params", &set2],
        &["params", &set2, "--table", "guidelines_2024"],
        &[
            "compile",
            MEAN,
            "--params",
            &set1,
            "--table",
            "standard_2018",
        ],
    ];
    for arguments in accepted {
        let done = ringmill(arguments);
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    }
    let refused: [(&[&str], &str); 6] = [
        (&["params", &set1], "--table standard_2018.ternary"),
        (
            &["compile", MEAN, "--params", &set1],
            "--table standard_2018.ternary",
        ),
        (
            &["params", &set1, "--table", "guidelines_2024"],
            "accepted are guidelines_2024.ternary",
        ),
        (
            &["params", &set2, "--table", "standard_2018"],
            "accepted are standard_2018.ternary",
        ),
        (
            &["params", &set2, "--table", "standard_2017"],
            "unknown security table",
        ),
        (
            &["params", &set2, "--security", "128"],
            "leave --security out",
        ),
    ];
    for (arguments, expected) in refused {
        let done = ringmill(arguments);
        let told = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        assert!(told.contains(expected), "{arguments:?}: {told}");
    }
}
