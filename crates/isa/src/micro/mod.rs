// SPDX-License-Identifier: Apache-2.0
//! Definition files of the binary interfaces of machines: their reader, and the generators of Rust
//! modules, reference pages and SystemVerilog packages.

mod codegen;
mod codes;
mod definition;
mod field;
mod layout;

pub use codegen::{markdown, package, rust};
pub use definition::{Definition, FieldDef, InstructionDef, parse};
pub use field::Field;
pub use layout::{CodeDef, CodesDef, NumberDef, WordDef};

/// The machines whose binary interface has a definition file, and the bus shell in which they stand.
pub const MACHINES: [&str; 6] = ["vector", "ring", "polymul", "torus", "basext", "shell"];

/// Returns the files that are generated from a definition, each as its path below the project's
/// root and its text.
pub fn files(def: &Definition) -> [(String, String); 3] {
    let name = &def.level;
    let (module, folder) = match name.as_str() {
        "vector" => ("crates/isa/src/vector/op.rs".to_owned(), "vector"),
        "shell" => ("crates/hdl/src/shell.rs".to_owned(), "bus"),
        name => (format!("crates/machines/src/{name}/isa.rs"), name),
    };
    [
        (module, rust(def)),
        (format!("docs/isa/{name}.md"), markdown(def)),
        (format!("rtl/{folder}/rm_{name}_isa_pkg.sv"), package(def)),
    ]
}
