// SPDX-License-Identifier: Apache-2.0
//! Writes an RTL module with given parameters as stand-alone sources: parameter package, wrapper, the modules that
//! it needs, file list and tables.

use std::path::Path;

use crate::module::Interface;
use crate::{HdlError, Param, Sources, Top, top::packed};

/// One file of a module's stand-alone sources. Its name is relative to the directory that will hold
/// them all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Generated {
    pub name: String,
    pub text: String,
}

/// A table of words as a file, which a host loads into a module or which initialises a memory of
/// the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// What the words of the table are, as a comment at the head of the file.
    pub what: String,
    pub words: Vec<u64>,
    /// The number of bits of one of the table's `words`.
    pub width: u32,
}

/// Writes the module `top` with its parameters as stand-alone sources: a package of the parameters, a wrapper
/// `<module>_top` that sets them, and the modules that it needs. The file `<module>.f` lists these sources in the order
/// in which a tool must read them. If `table` is not `None`, its words become one more file, which is not in the list.
/// `origin` is a text that says where the parameters come from; the package has it as a comment. A parameter of `top`
/// that the module does not have is left out.
///
/// # Errors
/// [`HdlError::UnknownModule`] if no source has the module; [`HdlError::NoInterface`] if its ports cannot be read.
/// [`HdlError::BadIdentifier`] for a name that is not valid in Verilog; [`HdlError::BadText`] for a text with a quote,
/// a backslash, a comma or a character outside printable ASCII.
pub fn generate(
    sources: &Sources,
    top: &Top,
    origin: &str,
    table: Option<&Table>,
) -> Result<Vec<Generated>, HdlError> {
    top.validate()?;
    let module = &top.module;
    let interface = sources.interface(module)?;
    let mut files = Vec::new();
    for (path, text) in sources.closure(module)? {
        files.push(Generated {
            name: format!("rtl/{}", room_and_file(path)),
            text: text.to_owned(),
        });
    }
    files.push(Generated {
        name: format!("{module}_config_pkg.sv"),
        text: package(top, &interface, origin),
    });
    files.push(Generated {
        name: format!("{module}_top.sv"),
        text: wrapper(module, &interface),
    });
    // The package of parameters comes after the modules' files, because it may use their packages.
    let list: String = files.iter().map(|f| format!("{}\n", f.name)).collect();
    files.push(Generated {
        name: format!("{module}.f"),
        text: list,
    });
    if let Some(table) = table {
        files.push(Generated {
            name: format!("{module}_table.hex"),
            text: hexadecimal(table),
        });
    }
    Ok(files)
}

/// Returns the folder and the name of a file, such as `arith/rm_mod_mul.sv`.
fn room_and_file(path: &Path) -> String {
    let part =
        |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let room = part(path.parent().and_then(Path::file_name));
    format!("{room}/{}", part(path.file_name()))
}

/// Returns a SystemVerilog package with every parameter of the module's parameter list. The `localparam`s of the list
/// are included, because widths of ports depend on them.
fn package(top: &Top, interface: &Interface, origin: &str) -> String {
    let module = &top.module;
    let mut text = format!(
        "// Parameters of {module}, made by `ringmill rtl generate` and not to be edited, from\n//\n"
    );
    for line in origin.lines() {
        text += format!("//   {line}").trim_end();
        text.push('\n');
    }
    text += &format!("package {module}_config_pkg;\n\n");
    for import in &interface.imports {
        text += &format!("  import {import};\n\n");
    }
    for parameter in &interface.parameters {
        let set = top.params.iter().rfind(|(name, _)| *name == parameter.name);
        let value = set.map_or_else(|| parameter.default.clone(), |(_, value)| literal(value));
        let kind = match parameter.kind.as_str() {
            "" => String::new(),
            kind => format!("{kind} "),
        };
        text += &format!("  localparam {kind}{} = {value};\n", parameter.name);
    }
    text + "\nendpackage\n"
}

fn literal(value: &Param) -> String {
    match value {
        Param::Int(number) if *number < 1 << 31 => number.to_string(),
        Param::Int(number) => format!("64'h{number:x}"),
        Param::Ints(numbers) => packed(numbers),
        Param::Text(text) => format!("\"{text}\""),
    }
}

/// Returns a wrapper that instantiates the module with the package's parameters and has the module's ports.
fn wrapper(module: &str, interface: &Interface) -> String {
    let mut imports = interface.imports.clone();
    imports.push(format!("{module}_config_pkg::*"));
    let lines = |lines: Vec<String>| lines.join(",\n");
    let ports = interface.ports.iter();
    let declared = ports
        .map(|p| format!("    {} {}", p.declaration, p.name))
        .collect();
    let set = interface.settable();
    let passed: Vec<String> = set.map(|p| format!("      .{0}({0})", p.name)).collect();
    let parameters = if passed.is_empty() {
        String::new()
    } else {
        format!("#(\n{}\n  ) ", lines(passed))
    };
    let connected = interface
        .ports
        .iter()
        .map(|p| format!("      .{}", p.name))
        .collect();
    format!(
        "// {}.\n// In the configuration of {module}_config_pkg.\nmodule {module}_top\n  import {};\n(\n{}\n);\n\n  \
         {module} {parameters}u_{module} (\n{}\n  );\n\nendmodule\n",
        interface.title,
        imports.join(", "),
        lines(declared),
        lines(connected)
    )
}

/// Returns the table's words in hexadecimal, one on each line, as `$readmemh` reads them.
fn hexadecimal(table: &Table) -> String {
    let digits = table.width.div_ceil(4) as usize;
    let mut text = format!("// {}\n", table.what);
    for word in &table.words {
        text += &format!("{word:0digits$x}\n");
    }
    text
}
