//! The `ringmill` command as a library, so that the Python package's command and the binary are one.

mod args;
mod commands;
mod error;
mod inputs;
mod output;
mod progress;
mod trace;

use std::ffi::OsString;

use clap::Parser;

pub use error::CliError;
pub use progress::Bar;
pub use trace::run_on;

use args::{Cli, Command, MachineCommand};
use commands::{compile, devices, machine, params, reproduce, rtl, run, sim};

/// Runs the command with its arguments, the first being its own name, and gives the exit status: 0 done, 1 results
/// disagree, 2 the request could not be carried out (the reason is on standard error).
pub fn main(args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way too, with code 0; a closed pipe is no reason to fail.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let done = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Compile(args) => compile::compile(&args),
        Command::Sim(args) => sim::sim(&args),
        Command::Params(args) => params::params(&args),
        Command::Devices(args) => devices::devices(&args),
        Command::Machine(MachineCommand::Show(args)) => machine::show(&args),
        Command::Rtl(command) => rtl::rtl(&command),
        Command::Reproduce(args) => reproduce::reproduce(&args),
    };
    match done {
        Ok(()) => 0,
        Err(error) if error.reader_left() => 0,
        Err(error) => {
            eprintln!("ringmill: {error}");
            error.exit_code()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_argument_definitions_hold_together() {
        super::Cli::command().debug_assert();
    }

    #[test]
    fn every_command_teaches_by_example_and_offers_json() {
        fn check(command: &clap::Command) {
            for sub in command.get_subcommands().filter(|c| c.get_name() != "help") {
                if sub.has_subcommands() {
                    check(sub);
                    continue;
                }
                let help = sub
                    .get_after_help()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                assert!(
                    help.contains("ringmill "),
                    "{} has no example",
                    sub.get_name()
                );
                assert!(
                    sub.get_arguments().any(|a| a.get_id() == "json"),
                    "{} has no --json",
                    sub.get_name()
                );
            }
        }
        check(&super::Cli::command());
    }
}
