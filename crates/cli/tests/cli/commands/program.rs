// SPDX-License-Identifier: Apache-2.0
//! Tests of how a program's file name tells its language.

use std::path::Path;

use ringmill_cli::internals::python_file;

#[test]
fn python_files_are_known_by_their_name() {
    for (program, python) in [
        ("f.py", true),
        ("f.py:name", true),
        ("f.py:", true),
        ("folder.py/f.rmac", false),
        ("f.pyx", false),
        ("a:b.py", true),
        ("a.py:b.rmac", true),
        ("f.rmac", false),
        ("", false),
    ] {
        assert_eq!(
            python_file(Path::new(program)).is_some(),
            python,
            "{program}"
        );
    }
}
