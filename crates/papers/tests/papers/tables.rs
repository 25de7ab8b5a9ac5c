// SPDX-License-Identifier: Apache-2.0
//! Tests of reading the printed figures.

use ringmill_papers::tables::read;
use serde::Deserialize;

#[test]
fn a_table_is_found_by_its_name_or_refused() {
    #[derive(Deserialize, Debug)]
    struct Printed {
        cells: Vec<f64>,
    }
    let text = "[one]\ncells = [1, 2.5]\n[two]\ncells = 3";
    let printed: Printed = read(text, "one").unwrap();
    assert_eq!(printed.cells, [1.0, 2.5]);
    for (text, name, reason) in [
        (text, "three", "no table `three`"),
        (text, "two", "sequence"),
        ("[one", "one", "TOML"),
    ] {
        let fault = read::<Printed>(text, name).unwrap_err().to_string();
        assert!(fault.contains(reason), "{fault}");
    }
}
