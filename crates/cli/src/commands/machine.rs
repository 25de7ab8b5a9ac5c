// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill machine show`, and the search for the machine that `ringmill compile --machine` names.

use std::path::Path;

use ringmill_machines::fpga::Printed;
use ringmill_machines::{Machine, Registry};
use ringmill_papers::Papers;

use crate::args::MachineShowArgs;
use crate::commands::needs;
use crate::error::CliError;
use crate::output;

/// The most bytes of a machine description file that is read.
const LARGEST: u64 = 1 << 20;

/// Returns the machine of this name or description file.
///
/// # Errors
/// Fails if no shipped machine has the name, or if the file is no description.
pub fn find(name: &str) -> Result<Box<dyn Machine>, CliError> {
    Ok(described(name)?.0)
}

/// Returns the machine of this name or description file, and the text of its description.
fn described(name: &str) -> Result<(Box<dyn Machine>, String), CliError> {
    let machines = Registry::standard();
    if !name.ends_with(".toml") {
        let text = machines.description(name)?;
        return Ok((machines.load(text)?, text.to_owned()));
    }
    let text = crate::inputs::read_text(Path::new(name), LARGEST)?;
    let machine = machines.load(&text).map_err(|fault| CliError::Input {
        path: name.into(),
        reason: fault.to_string(),
    })?;
    Ok((machine, text))
}

/// Prints a machine's description, then the FPGA resources that the machine needs as comments, so that the whole is a
/// description file. With `--json` it prints both as one object.
///
/// # Errors
/// Fails as [`find`] does, or if standard output cannot be written.
pub fn show(args: &MachineShowArgs) -> Result<(), CliError> {
    let (machine, text) = described(&args.name)?;
    let fit = machine.fit();
    let fields: toml::Table = toml::from_str(&text).map_err(|fault| CliError::Input {
        path: args.name.clone().into(),
        reason: fault.to_string(),
    })?;
    let papers = Papers::standard();
    let paper = papers.of_machine(Registry::standard().kind_of(&text)?.name);
    let printed = paper.map_or_else(|| Ok(Printed::default()), |paper| paper.printed())?;
    if !args.json {
        let comment = needs::comment(fit, &printed);
        return output::text(&format!("{}\n\n{comment}", needs::written(&text)));
    }
    let mut object = serde_json::to_value(&fields)?;
    if let Some(object) = object.as_object_mut() {
        object.insert("needs".to_owned(), serde_json::to_value(fit)?);
        object.insert(
            "paper_needs".to_owned(),
            serde_json::to_value(&printed.uses)?,
        );
    }
    output::json(&object)
}
