//! The `ringmill` command; all of it is in the library, which the Python package calls too.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ringmill_cli::main(std::env::args_os()))
}
