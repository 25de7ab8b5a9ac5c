// SPDX-License-Identifier: Apache-2.0
//! Generated files are fresh, and definition files that make no sense are refused.

use std::{fs, path::Path};

use ringmill_isa::macros::MacroOp;
use ringmill_isa::mid::Op;
use ringmill_isa::{codegen, micro};

#[test]
fn generated_files_are_fresh() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    for (level, module) in [("mid", "mid"), ("macro", "macros")] {
        let def = codegen::parse(&fs::read_to_string(
            root.join(format!("defs/{level}.toml")),
        )?)?;
        let mut files = vec![
            (
                root.join(format!("src/{module}/op.rs")),
                codegen::rust(&def),
            ),
            (
                root.join(format!("../../docs/isa/{level}.md")),
                codegen::markdown(&def),
            ),
        ];
        if !def.stages.is_empty() {
            let path = root.join(format!("src/{module}/stages.rs"));
            files.push((path, codegen::stages(&def)));
        }
        for (path, fresh) in files {
            assert!(
                fs::read_to_string(&path)? == fresh,
                "{} is stale: run isa-gen",
                path.display()
            );
        }
    }
    let def = micro::parse(&fs::read_to_string(root.join("defs/vector.toml"))?)?;
    for (path, fresh) in [
        ("src/vector/op.rs", micro::rust(&def)),
        ("../../docs/isa/vector.md", micro::markdown(&def)),
        (
            "../../rtl/vector/rm_vector_isa_pkg.sv",
            micro::package(&def),
        ),
    ] {
        let stale = fs::read_to_string(root.join(path))? != fresh;
        assert!(!stale, "{path} is stale: run isa-gen");
    }
    Ok(())
}

#[test]
fn mnemonics_round_trip() {
    for op in Op::ALL {
        assert_eq!(Op::from_mnemonic(op.mnemonic()), Some(op));
    }
    for op in MacroOp::ALL {
        assert_eq!(MacroOp::from_mnemonic(op.mnemonic()), Some(op));
    }
    assert_eq!(Op::from_mnemonic("add"), None);
    assert!(Op::Bext.is_composite() && Op::Dot.is_composite() && !Op::Mac.is_composite());
}

#[test]
fn bad_definitions_are_refused() {
    let entry = |mnemonic: &str, operands: &str, rule: &str, expansion: &str| {
        format!(
            "level = \"mid\"\n[[instruction]]\nmnemonic = \"{mnemonic}\"\noperands = [{operands}]\nresults = []\n\
             immediate = \"none\"\nrule = \"{rule}\"\nsemantics = \"\"\nexpansion = \"{expansion}\"\n\
             [rules]\nsame = \"\"\n[immediates]\nnone = \"\"\n"
        )
    };
    assert!(codegen::parse(&entry("ADD", "\"a\"", "same", "")).is_ok());
    for (bad, word) in [
        (entry("Add", "\"a\"", "same", ""), "capital letters"),
        (
            entry("ADD", "\"a\", \"b...\"", "same", ""),
            "repeating entry alone",
        ),
        (entry("ADD", "\"a\"", "Same", ""), "small letters"),
        (
            entry("ADD", "\"a\"", "same", "MUL"),
            "primitive instructions",
        ),
        (
            entry("ADD", "\"a\"", "same", "").replace("level =", "colour = 3\nlevel ="),
            "unknown field",
        ),
    ] {
        let error = codegen::parse(&bad).expect_err(word).to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn columns_are_checked_when_they_are_generated() {
    let entry = |stage: &str, size: &str, scheme: &str, immediate: &str| {
        format!(
            "level = \"macro\"\nstages = [\"early\", \"late\"]\n[[instruction]]\nmnemonic = \"ADD\"\noperands = []\n\
             results = []\nimmediate = \"{immediate}\"\nrule = \"same\"\nsemantics = \"\"\nschemes = [{scheme}]\n\
             columns = {{ {stage}{size} }}\n[rules]\nsame = \"\"\n[immediates]\nnone = \"\"\ncolour = \"\"\n\
             [schemes]\nall = \"\"\nbgv = \"\"\n[columns.stage]\nearly = \"\"\nlate = \"\"\nnever = \"\"\n[columns.size]\ntwo = \"\"\n"
        )
    };
    let (early, two) = ("stage = \"early\"", ", size = \"two\"");
    let good = codegen::parse(&entry(early, two, "\"all\"", "none")).unwrap();
    let rust = codegen::rust(&good);
    assert!(rust.contains("size: MacroSize::Two,") && rust.contains("schemes: &[\"all\"]"));
    assert!(codegen::stages(&good).contains("pub enum EarlyOp {"));
    for (bad, word) in [
        (entry(early, "", "\"all\"", "none"), "none in size"),
        (
            entry(early, ", size = \"three\"", "\"all\"", "none"),
            "three in size",
        ),
        (
            entry(
                early,
                ", size = \"two\", taste = \"two\"",
                "\"all\"",
                "none",
            ),
            "taste",
        ),
        (
            entry("stage = \"never\"", two, "\"all\"", "none"),
            "stages, found never",
        ),
        (entry(early, two, "\"tfhe\"", "none"), "found tfhe"),
        (
            entry(early, two, "\"all\", \"bgv\"", "none"),
            "found all bgv",
        ),
        (entry(early, two, "", "none"), "the schemes that it is of"),
        (
            entry(early, two, "\"all\"", "colour"),
            "visitors know, found colour",
        ),
    ] {
        let error = codegen::parse(&bad).expect_err(word).to_string();
        assert!(error.contains("ADD") && error.contains(word), "{error}");
    }
}
