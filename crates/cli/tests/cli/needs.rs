// SPDX-License-Identifier: Apache-2.0
//! Tests of how the commands show the resources that machines need of their parts.

use crate::common::{MEAN, folder, ringmill};
use serde_json::Value;

fn said(arguments: &[&str]) -> String {
    let output = ringmill(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = ringmill(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Returns the words of the first line that begins with `start` after the comment sign.
fn line<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    let start = format!("#   {start}");
    let found = text.lines().find(|l| l.starts_with(&start));
    found
        .unwrap_or_else(|| panic!("no `{start}` in\n{text}"))
        .split_whitespace()
        .collect()
}

#[test]
fn a_description_is_shown_with_its_needs_and_the_papers() {
    let text = said(&["machine", "show", "ring"]);
    assert!(
        text.contains("the U250 (XCU250): each RPAU (of 10) and the machine"),
        "{text}"
    );
    assert_eq!(
        line(&text, "  RPM 0-7")[3..],
        [
            "32", "320", "32", "x", "4096", "x", "60", "bits,", "1", "read", "+", "1", "write"
        ]
    );
    assert_eq!(line(&text, "  key memory")[3..5], ["63", "630"]);
    let uram = &text[text.find("#   ultra RAM").unwrap()..];
    assert_eq!(line(uram, "  in all")[3..], ["102", "1,020", "1,280"]);
    assert_eq!(line(uram, "  the paper's")[3..], ["102", "930"]);
    let dsp = &text[text.find("#   DSP").unwrap()..];
    assert_eq!(line(dsp, "  in all")[3..], ["468", "4,680", "12,288"]);
    assert_eq!(line(dsp, "  the paper's")[3..], ["360", "3,600"]);
    assert!(
        text.contains("has 320 ultra RAM: room for 3 RPAU (the paper: 3)"),
        "{text}"
    );
    assert!(text.ends_with("# Fits the U250.\n"), "{text}");

    let text = said(&["machine", "show", "polymul"]);
    assert!(
        text.contains("the XC7VX485T: each processing unit (of 32)"),
        "{text}"
    );
    assert_eq!(line(&text, "  in all")[3..], ["3", "96", "1,030"]);
    assert_eq!(line(&text, "  the paper's")[3..], ["96"]);
    assert!(text.ends_with("# Fits the XC7VX485T.\n"), "{text}");

    let text = said(&["machine", "show", "basext"]);
    assert!(
        text.contains("the U280 (XCU280): each lane (of 32)"),
        "{text}"
    );
    assert_eq!(line(&text, "  in all")[3..], ["10.5", "338", "2,016"]);
    assert_eq!(line(&text, "  the paper's")[3..], ["384"]);
    assert!(text.ends_with("# Fits the U280.\n"), "{text}");
}

#[test]
fn what_is_shown_is_a_description_and_is_shown_again_as_it_is() {
    for name in [
        "ring",
        "ring-stored",
        "polymul",
        "basext",
        "basext-shared",
        "basext-card",
        "torus",
        "torus-paper",
        "torus-fit",
        "torus-wide",
        "torus-large",
        "vector",
        "vector-u250",
    ] {
        let text = said(&["machine", "show", name]);
        let file = folder("needs").join(format!("{name}.toml"));
        std::fs::write(&file, &text).unwrap();
        assert_eq!(said(&["machine", "show", file.to_str().unwrap()]), text);
    }
}

#[test]
fn needs_are_json_beside_the_fields() {
    let shown = said(&["machine", "show", "ring", "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["rpaus"], 10);
    let needs = &shown["needs"];
    assert_eq!(
        (&needs["part"], &needs["fits"]),
        (&"U250".into(), &true.into())
    );
    assert_eq!(needs["totals"][1]["used"], 1020.0);
    assert_eq!(needs["regions"]["room"], 3);
    assert_eq!(shown["paper_needs"][1]["used"], 930.0);
    // A report has the same needs.
    let report: Value = serde_json::from_str(&said(&["sim", MEAN, "--json"])).unwrap();
    assert_eq!(&report["fit"], needs);
}

/// Writes a description of the ring machine with a key memory too large for its part. Returns the file's path.
fn large(name: &str, statement: &str) -> String {
    let shown = said(&["machine", "show", "ring"]);
    let file = folder("needs").join(name);
    let text = shown.replacen("slots = 18", "slots = 40", 1);
    std::fs::write(&file, format!("{statement}{text}")).unwrap();
    file.to_str().unwrap().to_owned()
}

const STATEMENT: &str = "allow_more_than_the_part_has = \"keys of many rotations\"\n";

#[test]
fn a_report_says_on_top_that_its_machine_does_not_fit() {
    let path = large("stated.toml", STATEMENT);
    let shown = said(&["machine", "show", &path]);
    assert!(
        shown.contains("# DOES NOT FIT ITS PART, by explicit statement")
            && shown.contains("TOO MANY"),
        "{shown}"
    );
    let text = said(&["sim", MEAN, "--machine", &path]);
    assert!(
        text.starts_with("ring DOES NOT FIT ITS PART, by explicit statement: "),
        "{text}"
    );
    let detail = said(&["sim", MEAN, "--machine", &path, "--detail"]);
    for part in [
        "2,280 of 1,280 of the U250: TOO MANY",
        "320 of 1,280 ultra RAM",
    ] {
        assert!(detail.contains(part), "{part}: {detail}");
    }
    assert!(!said(&["sim", MEAN]).contains("DOES NOT FIT"));
}

#[test]
fn an_edited_description_that_exceeds_its_part_is_refused() {
    let path = large("silent.toml", "");
    let path = path.as_str();
    for arguments in [
        &["sim", MEAN, "--machine", path][..],
        &["machine", "show", path],
        &[
            "run",
            MEAN,
            "--random-inputs",
            "--device",
            &format!("sim:{path}"),
        ],
    ] {
        let fault = refused(arguments);
        for part in [
            "2,280 ultra RAM",
            "1,280",
            "key memory",
            "allow_more_than_the_part_has",
        ] {
            assert!(fault.contains(part), "{part}: {fault}");
        }
    }
    // With four RPAUs the machine fits, and the statement is refused.
    let silent = std::fs::read_to_string(path).unwrap();
    let four = silent.replace("rpaus = 10", "rpaus = 4");
    std::fs::write(path, &four).unwrap();
    assert!(said(&["machine", "show", path]).ends_with("# Fits the U250.\n"));
    assert!(!said(&["sim", MEAN, "--machine", path]).contains("DOES NOT FIT"));
    std::fs::write(path, format!("{STATEMENT}{four}")).unwrap();
    assert!(refused(&["machine", "show", path]).contains("take that statement away"));
    std::fs::write(path, silent.replace("\"U250\"", "\"U9\"")).unwrap();
    assert!(refused(&["machine", "show", path]).contains("U250, U280"));
}

#[test]
fn what_was_computed_before_is_taken_away_and_nothing_else() {
    let shown = said(&["machine", "show", "polymul"]);
    let at = shown.find("# ---- computed from the fields").unwrap();
    let (description, comment) = shown.split_at(at);
    let path = folder("needs").join("written.toml");
    let again = |text: &str| {
        std::fs::write(&path, text).unwrap();
        said(&["machine", "show", path.to_str().unwrap()])
    };
    for text in [
        &*format!("{shown}\n\n"),
        description,
        description.trim_end(),
    ] {
        assert_eq!(again(text), shown);
    }
    // The comment stays if a field follows it.
    let (before, last) = description.trim_end().rsplit_once('\n').unwrap();
    let inside = format!("{before}\n{comment}{last}");
    assert_eq!(again(&inside), format!("{inside}\n\n{comment}"));
}
