// SPDX-License-Identifier: Apache-2.0
//! Adds to a machine's refusal of a program the option that would help.

use ringmill_compiler::{Compiled, Options};
use ringmill_machines::MachineError;
use ringmill_runtime::Served;

use crate::args::ProgramArgs;
use crate::error::CliError;

/// Returns the refusal, with the option that cures it if the program suits the machine once it is compiled for it.
pub fn of_refusal<S: Served>(
    refused: CliError,
    machine: &str,
    args: &ProgramArgs,
    compiled: &Compiled<S>,
    options: &Options<S>,
) -> CliError {
    let by_machine =
        matches!(&refused, CliError::Device(why) if why.as_own::<MachineError>().is_some());
    if !by_machine || args.target.is_some() {
        return refused;
    }
    let Ok(target) = ringmill_sim::target(machine) else {
        return refused;
    };
    let options = Options {
        target: Some(target),
        ..options.clone()
    };
    match ringmill_compiler::compile(compiled.source.clone(), &options) {
        Ok(_) => CliError::Usage(format!(
            "{refused}; the program was not compiled for this machine: --target {machine} does that"
        )),
        Err(_) => refused,
    }
}
