// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill completion`: prints a script with which a shell completes commands and options.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::args::{Cli, CompletionArgs};
use crate::error::CliError;
use crate::output;

pub fn completion(args: &CompletionArgs) -> Result<(), CliError> {
    output::text(&script(args.shell))
}

/// Returns the completion script for a shell.
fn script(shell: Shell) -> String {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut out = Vec::new();
    generate(shell, &mut command, name, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}
