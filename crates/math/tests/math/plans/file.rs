// SPDX-License-Identifier: Apache-2.0
//! Tests files of choices: a written file is read again, and a file of another form is ignored.

use std::collections::BTreeMap;
use std::path::Path;

use ringmill_math::internals::{read, text, write};

/// The most bytes of a file of choices.
const LONGEST: usize = 64 << 10;

/// Writes a file with this text and returns the choices that are read from it.
fn parse(text: &str, head: &str) -> Option<BTreeMap<String, String>> {
    let name = format!("ringmill-plans-of-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    write(&path, text).unwrap();
    let kept = read(&path, head);
    std::fs::remove_file(&path).unwrap();
    kept
}

#[test]
fn what_is_written_is_read_and_anything_else_is_none() {
    let head = "ringmill plans 1, 0\na processor, avx2\n";
    let kept: BTreeMap<_, _> = [
        ("forward 64 60 14", "avx512 60 whole"),
        ("inverse 32 30 10", "avx2"),
    ]
    .map(|(shape, kernel)| (shape.to_owned(), kernel.to_owned()))
    .into();
    let whole = text(head, &kept);
    assert_eq!(parse(&whole, head), Some(kept));
    assert_eq!(parse(head, head), Some(BTreeMap::new()));
    for other in [
        "",
        "ringmill plans 1",
        "\0",
        &whole[1..],
        &format!("{whole}no colon"),
    ] {
        assert_eq!(parse(other, head), None, "{other:?}");
    }
    assert_eq!(parse(&whole, "ringmill plans 2\nanother processor\n"), None);
}

#[test]
fn folders_and_long_files_are_none() {
    let folder = std::env::temp_dir();
    assert_eq!(read(&folder, ""), None);
    // A device is never replaced by a file, even if the user may do so.
    let device = Path::new("/dev/null");
    if device.exists() {
        assert!(write(device, "").is_err());
        assert!(!std::fs::metadata(device).unwrap().is_file());
    }
    let long = folder.join(format!("ringmill-plans-{}", std::process::id()));
    write(&long, &"a: b\n".repeat(LONGEST / 5)).unwrap();
    assert!(read(&long, "").is_some());
    write(&long, &"a: b\n".repeat(LONGEST / 5 + 1)).unwrap();
    assert_eq!(read(&long, ""), None);
    std::fs::remove_file(&long).unwrap();
}
