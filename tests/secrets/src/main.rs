// SPDX-License-Identifier: Apache-2.0
//! Runs the operations in the arguments, or all. Prints for each how many times valgrind saw a branch or an address
//! depend on a secret. Without arguments, the operations with planted faults do not run.

use std::process::ExitCode;

use ringmill_secrets::operations::{self, PLANTED};
use ringmill_secrets::valgrind;

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| asked.iter().any(|asked| asked == name);
    let planted = PLANTED.iter().filter(|operation| wanted(operation.name));
    let real = operations::all().filter(|operation| asked.is_empty() || wanted(operation.name));
    for operation in real.chain(planted) {
        let before = valgrind::errors();
        if let Err(error) = (operation.run)() {
            eprintln!("{}: {error}", operation.name);
            return ExitCode::FAILURE;
        }
        println!("{}\t{}", operation.name, valgrind::errors() - before);
    }
    ExitCode::SUCCESS
}
