//! Reading and compiling the program that a command is given.

use num_complex::Complex64;
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
    compile_for(args, read(args)?, None)
}

/// A program that was read, compiled as the command line asks. The vectors it is to run on, one an input in order, are
/// the sample that predictions rest on where the command line names neither sample nor bound.
pub fn compile_for(
    args: &ProgramArgs,
    program: MacroProgram,
    inputs: Option<Vec<Vec<Complex64>>>,
) -> Result<Compiled, CliError> {
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
    let mut options = Options {
        params: choice,
        ..Options::default()
    };
    match (args.input_bound, args.samples.is_empty()) {
        (Some(bound), _) if !(bound.is_finite() && bound > 0.0) => {
            return Err(CliError::Usage(format!(
                "--input-bound is the largest absolute value of an input slot, a positive number, not {bound}"
            )));
        }
        (Some(bound), _) => options.input_bound = bound,
        (None, false) => options.sample = Some(sample(args, &program)?),
        (None, true) => options.sample = inputs,
    }
    Ok(ringmill_compiler::compile(program, &options)?)
}

/// The vectors of the --sample options in the order of the program's inputs.
fn sample(args: &ProgramArgs, program: &MacroProgram) -> Result<Vec<Vec<Complex64>>, CliError> {
    let mut files = inputs::parse_options("--sample", &args.samples)?;
    let mut vectors = Vec::with_capacity(program.inputs.len());
    for input in &program.inputs {
        let path = files.remove(&input.name).ok_or_else(|| {
            CliError::Usage(format!(
                "the sample lacks input `{0}`; give --sample {0}=FILE too, typical values of every input",
                input.name
            ))
        })?;
        vectors.push(inputs::read(&path, program.slots as usize)?);
    }
    inputs::all_known(&files, program)?;
    Ok(vectors)
}

/// Reads macro text.
pub fn read(args: &ProgramArgs) -> Result<MacroProgram, CliError> {
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
