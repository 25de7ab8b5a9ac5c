// SPDX-License-Identifier: Apache-2.0
//! A program that writes files from the definition files of the instruction sets: Rust modules,
//! reference pages and SystemVerilog packages.

use std::path::Path;
use std::{error::Error, fs};

use ringmill_isa::{codegen, micro};

fn main() -> Result<(), Box<dyn Error>> {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = crate_root.join("../../docs/isa");
    fs::create_dir_all(&docs)?;
    for (level, module) in [("mid", "mid"), ("macro", "macros")] {
        let def = codegen::parse(&fs::read_to_string(
            crate_root.join(format!("defs/{level}.toml")),
        )?)?;
        fs::write(
            crate_root.join(format!("src/{module}/op.rs")),
            codegen::rust(&def),
        )?;
        fs::write(docs.join(format!("{level}.md")), codegen::markdown(&def))?;
        if !def.stages.is_empty() {
            let path = crate_root.join(format!("src/{module}/stages.rs"));
            fs::write(path, codegen::stages(&def))?;
        }
    }
    for machine in micro::MACHINES {
        let text = fs::read_to_string(crate_root.join(format!("defs/{machine}.toml")))?;
        for (path, text) in micro::files(&micro::parse(&text)?) {
            fs::write(crate_root.join("../..").join(path), text)?;
        }
    }
    Ok(())
}
