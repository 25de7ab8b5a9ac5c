// SPDX-License-Identifier: Apache-2.0
//! Tests of the names and values that a top module's parameters may have.

use std::path::Path;

use ringmill_hdl::{HdlError, Top, generate, sources};

#[test]
fn names_and_texts_are_checked() {
    let sources = sources(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let made = |top: &Top| generate(&sources, top, "", None);
    assert!(made(&Top::new("rm_fifo").int("Depth", 4)).is_ok());
    let m = || Top::new("m");
    for top in [
        Top::new("a b"),
        Top::new(""),
        m().once("n; delete"),
        m().apart("n; delete"),
        m().int("0x", 1),
    ] {
        let refused = made(&top).err();
        assert!(matches!(refused, Some(HdlError::BadIdentifier(_))), "{top}");
    }
    for text in ["a\" --exe evil.cpp", "a\nb"] {
        let refused = made(&m().text("F", text)).err();
        assert!(matches!(refused, Some(HdlError::BadText(_))), "{text}");
    }
}

#[test]
fn wide_numbers_are_sized() {
    let top = Top::new("m")
        .int("W", 54)
        .int("Q", 0x3f_ffff_ffca_0001)
        .text("S", "block");
    assert_eq!(
        top.to_string(),
        "m #(W=54, Q=64'h3fffffffca0001, S=\"block\")"
    );
}
