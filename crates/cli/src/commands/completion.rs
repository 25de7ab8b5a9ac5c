// SPDX-License-Identifier: Apache-2.0
//! `ringmill completion`: what makes a shell complete the command's words.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::args::{Cli, CompletionArgs};
use crate::error::CliError;
use crate::output;

pub fn completion(args: &CompletionArgs) -> Result<(), CliError> {
    output::text(&script(args.shell))
}

/// The script that a shell reads.
fn script(shell: Shell) -> String {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut out = Vec::new();
    generate(shell, &mut command, name, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of all commands, those of commands of commands too, and their long options.
    fn words(command: &clap::Command, names: &mut Vec<String>) {
        for sub in command.get_subcommands() {
            names.push(sub.get_name().to_owned());
            let shown = sub
                .get_arguments()
                .filter(|argument| !argument.is_hide_set());
            names.extend(shown.filter_map(|a| a.get_long().map(str::to_owned)));
            words(sub, names);
        }
    }

    #[test]
    fn every_shell_knows_all_commands_and_options() {
        let mut names = Vec::new();
        words(&Cli::command(), &mut names);
        assert!(names.contains(&"compare".to_owned()) && names.contains(&"synth".to_owned()));
        assert!(names.contains(&"random-inputs".to_owned()));
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell);
            assert!(script.contains("ringmill"));
            for name in &names {
                assert!(script.contains(name.as_str()), "{shell}: {name}");
            }
        }
    }
}
