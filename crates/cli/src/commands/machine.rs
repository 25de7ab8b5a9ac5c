//! `ringmill machine show`, and how every command finds the machine it is given.

use std::path::Path;

use ringmill_machines::Machine;

use crate::args::MachineShowArgs;
use crate::error::CliError;
use crate::output;

/// Longest description read.
const LARGEST: u64 = 1 << 20;

/// A machine by name, or from a description file.
pub fn find(name: &str) -> Result<Box<dyn Machine>, CliError> {
    if !name.ends_with(".toml") {
        return Ok(ringmill_machines::open(name)?);
    }
    let text = crate::inputs::read_text(Path::new(name), LARGEST)?;
    ringmill_machines::load(&text).map_err(|fault| CliError::Input {
        path: name.into(),
        reason: fault.to_string(),
    })
}

pub fn show(args: &MachineShowArgs) -> Result<(), CliError> {
    let text = find(&args.name)?.description();
    if !args.json {
        return output::text(&text);
    }
    let fields: toml::Table = toml::from_str(&text).map_err(|fault| CliError::Input {
        path: args.name.clone().into(),
        reason: fault.to_string(),
    })?;
    output::json(&fields)
}
