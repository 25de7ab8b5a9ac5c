// SPDX-License-Identifier: Apache-2.0
//! Tests of the completion scripts for shells.

use clap::CommandFactory;
use ringmill_cli::internals::Cli;

use crate::common::ringmill;

/// Collects the names of all commands and subcommands, and their long options that are not hidden.
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
    for shell in ["bash", "zsh", "fish"] {
        let script = ringmill(&["completion", shell]);
        let script = String::from_utf8(script.stdout).unwrap();
        assert!(script.contains("ringmill"));
        for name in &names {
            assert!(script.contains(name.as_str()), "{shell}: {name}");
        }
    }
}
