// SPDX-License-Identifier: Apache-2.0
//! Generated files are fresh, and definition files that make no sense are refused.

use std::{fs, path::Path};

use ringmill_isa::macros::MacroOp;
use ringmill_isa::micro::Field;
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
    for machine in micro::MACHINES {
        let text = fs::read_to_string(root.join(format!("defs/{machine}.toml")))?;
        for (path, fresh) in micro::files(&micro::parse(&text)?) {
            let stale = fs::read_to_string(root.join("../..").join(&path))? != fresh;
            assert!(!stale, "{path} is stale: run isa-gen");
        }
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

#[test]
fn bad_layouts_are_refused() {
    let good = "level = \"toy\"\n\
        [[codes]]\nname = \"Op\"\ntype = \"op_e\"\nbits = 2\nmeaning = \"\"\n\
        values = [{ name = \"Run\", code = 1, meaning = \"runs\" }, { name = \"Stop\", code = 3, meaning = \"stops\" }]\n\
        [[word]]\nname = \"Command\"\ntype = \"command_t\"\nbits = 8\nmeaning = \"\"\n\
        fields = [{ name = \"-\", bits = 2, meaning = \"\" }, { name = \"log_n\", bits = 4, meaning = \"\" }, \
        { name = \"op\", bits = 2, codes = \"Op\", meaning = \"\" }]\n\
        [[number]]\nname = \"queues\"\nvalue = 6\nmeaning = \"\"\n";
    let def = micro::parse(good).unwrap();
    let package = micro::package(&def);
    for line in [
        "    Run = 2'd1,\n    Stop = 2'd3\n  } op_e;\n",
        "    logic [1:0] zero_6;\n    logic [3:0] log_n;\n    op_e op;\n  } command_t;\n",
        "  localparam int unsigned Queues = 6;\n  localparam int unsigned LastOp = 3;\n",
        "  localparam int unsigned CommandLogNLow = 2;\n",
    ] {
        assert!(package.contains(line), "{line} in {package}");
    }
    assert!(micro::rust(&def).contains("pub const LOG_N: Field = Field::new(2, 4);"));
    assert!(micro::markdown(&def).contains("| 5-2 | log_n |"));
    for (from, to, word) in [
        ("code = 3", "code = 1", "each code once"),
        ("code = 3", "code = 4", "that its bits hold"),
        ("\"Stop\"", "\"stop\"", "each name"),
        ("\"Stop\"", "\"Run\"", "each name"),
        ("name = \"Op\"", "name = \"op\"", "like `Code`"),
        ("bits = 2\nmeaning", "bits = 0\nmeaning", "1 to 32 bits"),
        ("bits = 2\nmeaning", "bits = 64\nmeaning", "1 to 32 bits"),
        (
            "bits = 2\nmeaning",
            "bits = 3\nmeaning",
            "codes of as many bits",
        ),
        ("codes = \"Op\"", "codes = \"Ops\"", "found Ops"),
        ("bits = 8\n", "bits = 9\n", "those of its fields, found 8"),
        ("bits = 8\n", "bits = 72\n", "those of its fields"),
        ("bits = 4,", "bits = 4294967295,", "1 to 64 bits"),
        (
            "\"log_n\", bits = 4",
            "\"log_n\", bits = 0",
            "those of its fields",
        ),
        ("\"log_n\"", "\"LogN\"", "found LogN"),
        ("\"log_n\"", "\"op\"", "found op"),
        ("\"queues\"", "\"Queues\"", "found Queues"),
        ("\"Command\"", "\"command\"", "like `Word`"),
        ("bits = 4,", "bits = 4, colour = 3,", "unknown field"),
    ] {
        let error = micro::parse(&good.replacen(from, to, 1)).expect_err(word);
        assert!(error.to_string().contains(word), "{to}: {error}");
    }
}

#[test]
fn fields_hold_what_they_hold() {
    let field = Field::new(59, 5);
    assert_eq!((field.max(), field.put(63)), (31, 31 << 59));
    assert_eq!(field.get(field.put(22) | 7), 22);
    let all = Field::new(0, 64);
    assert_eq!(all.get(all.put(u64::MAX)), u64::MAX);
}
