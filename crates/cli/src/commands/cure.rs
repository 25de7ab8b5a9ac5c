// SPDX-License-Identifier: Apache-2.0
//! Adds to a machine's refusal of a program the command-line option that would help.

use ringmill_compiler::{Compiled, Options};
use ringmill_machines::MachineError;
use ringmill_runtime::Served;

use crate::error::CliError;

/// Returns the error of a machine that refuses a program. If the machine could run the program compiled with
/// `--target`, the error names that option.
pub fn of_refusal<S: Served>(
    refused: CliError,
    machine: &str,
    compiled: &Compiled<S>,
    options: &Options<S>,
) -> CliError {
    let by_machine =
        matches!(&refused, CliError::Device(why) if why.as_own::<MachineError>().is_some());
    if !by_machine {
        return refused;
    }
    let suits = ringmill_sim::target(machine)
        .is_ok_and(|target| compiled.suits_once_compiled_for(target, options));
    if !suits {
        return refused;
    }
    CliError::Usage(format!(
        "{refused}; the program was not compiled for this machine: --target {machine} does that"
    ))
}
