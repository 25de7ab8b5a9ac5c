//! Reading and compiling the program that a command is given.

use ringmill_compiler::{Compiled, Options, ParamsChoice, Wanted};
use ringmill_isa::macros::{MacroProgram, text};
use ringmill_schemes::ckks::{SecurityLevel, SecurityTable};

use crate::args::ProgramArgs;
use crate::commands::params;
use crate::error::CliError;
use crate::inputs;

/// Longest program text read.
const LARGEST_TEXT: u64 = 1 << 30;

/// The program of the command line, compiled as it asks.
pub fn compile(args: &ProgramArgs) -> Result<Compiled, CliError> {
    let table = SecurityTable::from_name(&args.table)?;
    let level = SecurityLevel::from_bits(args.security)?;
    let choice = match args.params.as_str() {
        "auto" => ParamsChoice::Choose(Wanted {
            precision_bits: args.precision,
            integer_bits: args.integer_bits,
            table,
            level,
        }),
        set => ParamsChoice::Given(params::find(set, table, level)?),
    };
    let options = Options {
        params: choice,
        input_bound: args.input_bound,
        ..Options::default()
    };
    Ok(ringmill_compiler::compile(read(args)?, &options)?)
}

/// Reads macro text.
fn read(args: &ProgramArgs) -> Result<MacroProgram, CliError> {
    let path = &args.program;
    if path.extension().is_some_and(|e| e == "py") || path.to_string_lossy().contains(".py:") {
        return Err(CliError::Usage(format!(
            "{}: Python programs need the `ringmill` command of the Python package; this binary takes macro text (.rmac)",
            path.display()
        )));
    }
    let content = inputs::read_text(path, LARGEST_TEXT)?;
    text::parse(&content).map_err(|e| CliError::Input {
        path: path.clone(),
        reason: e.to_string(),
    })
}
