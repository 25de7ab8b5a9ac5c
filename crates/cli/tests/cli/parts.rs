// SPDX-License-Identifier: Apache-2.0
//! Tests of `sim --by`, which shows the time of operations at a level of the compiler.

use crate::common::{MEAN, ringmill};

fn said(arguments: &[&str]) -> String {
    let output = ringmill(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the microseconds of a row.
fn us(line: &str) -> f64 {
    let words: Vec<&str> = line.split_whitespace().collect();
    words[words.len() - 2].parse().unwrap()
}

#[test]
fn a_levels_operations_add_up() {
    let sim = ["sim", MEAN, "--target", "vector", "--machine", "vector"];
    let mut wholes = Vec::new();
    for (level, names) in [
        (
            "macro",
            &["LOAD ", "MORPH ", "KSW ", "ADD ", "under way"][..],
        ),
        ("mid", &["NTT ", "MULI", "AUTO", "HCF"]),
        ("micro", &["NTT2", "LOAD", "MORPH", "HCF"]),
    ] {
        let text = said(&[&sim[..], &["--by", level]].concat());
        for name in names {
            assert!(text.contains(name), "{name}:\n{text}");
        }
        let rows: Vec<f64> = text.lines().skip(1).map(us).collect();
        let (all, parts) = rows.split_last().unwrap();
        let sum: f64 = parts.iter().sum();
        assert!((sum - all).abs() < 1e-3 * parts.len() as f64, "{sum} {all}");
        wholes.push(*all);
    }
    assert!(wholes[0] > 0.0 && wholes.iter().all(|whole| *whole == wholes[0]));
    let other = ringmill(&["sim", MEAN, "--machine", "ring", "--by", "mid"]);
    assert_eq!(other.status.code(), Some(2));
    let said = String::from_utf8(other.stderr).unwrap();
    assert!(said.contains("--by: ring does not tell"), "{said}");
}
