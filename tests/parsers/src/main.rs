// SPDX-License-Identifier: Apache-2.0
//! Writes the seeds of every fuzz target below the folder in the argument, as `FOLDER/<parser>/<number>`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: ringmill-parsers FOLDER");
        return ExitCode::FAILURE;
    };
    for parser in ringmill_parsers::PARSERS {
        let target = folder.join(parser.name);
        let written = std::fs::create_dir_all(&target).and_then(|()| {
            (parser.seeds)()
                .iter()
                .enumerate()
                .try_for_each(|(i, seed)| std::fs::write(target.join(i.to_string()), seed))
        });
        if let Err(fault) = written {
            eprintln!("{}: {fault}", target.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
