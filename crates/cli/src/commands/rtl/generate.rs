// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill rtl generate`: writes a configured machine as stand-alone RTL sources.

use ringmill_hdl::Table;
use ringmill_machines::polymul::{Description, Tables, WIDTH};
use serde_json::json;

use super::{design, sources};
use crate::args::rtl::GenerateArgs;
use crate::error::CliError;
use crate::output;

pub fn generate(args: &GenerateArgs) -> Result<(), CliError> {
    let sources = sources()?;
    let design = design::find(&sources, &args.design)?;
    let (origin, table) = match &design.machine {
        Some(machine) => (origin(machine)?, table(machine, args)?),
        None if args.degree.is_some() => {
            return Err(CliError::Usage(format!(
                "--degree and --modulus are for machines of the kind polymul; `{}` has no tables",
                design.name
            )));
        }
        None => (design.top.to_string(), None),
    };
    let files = ringmill_hdl::generate(&sources, &design.top, &origin, table.as_ref())?;
    for file in &files {
        let path = args.out.join(&file.name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|source| CliError::File {
                path: parent.to_owned(),
                source,
            })?;
        }
        output::whole_file(&path, |out| {
            Ok(std::io::Write::write_all(out, file.text.as_bytes())?)
        })?;
    }
    let module = &design.top.module;
    if args.json {
        let names: Vec<_> = files.iter().map(|file| &file.name).collect();
        return output::json(&json!({
            "design": design.name, "machine": design.machine, "top": format!("{module}_top"), "files": names,
        }));
    }
    output::text(&format!(
        "{} files in {}: {module}_config_pkg.sv holds the parameters, {module}_top.sv is the top, {module}.f lists the \
         sources in order (`verilator --lint-only -Wall -f {module}.f` there)\n",
        files.len(),
        args.out.display()
    ))
}

/// Returns a comment with the configuration that the written sources have: a line with the machine's sizes, then the
/// machine's description.
fn origin(machine: &Description) -> Result<String, CliError> {
    let text = design::text(machine)?;
    Ok(format!(
        "# {} processing units, degrees up to 2^{}, {} residues a cycle on each stream.\n{text}",
        machine.units, machine.max_log_n, machine.beat
    ))
}

/// Returns the stream that loads the tables of twiddles for a ring degree and modulus, or `None` if the command line
/// names none.
fn table(machine: &Description, args: &GenerateArgs) -> Result<Option<Table>, CliError> {
    let (Some(n), Some(q)) = (args.degree, args.modulus) else {
        return Ok(None);
    };
    let shape = machine.shape()?;
    let words = Tables::new(shape, n, q)?.words(shape);
    Ok(Some(Table {
        what: format!(
            "table stream of Z_{q}[x] / (x^{n} + 1): a beat of {} words that begins with q and R^2 mod q, then twiddles",
            shape.beat()
        ),
        words: words.into_iter().map(u64::from).collect(),
        width: WIDTH,
    }))
}
