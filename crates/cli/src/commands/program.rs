//! Reading and compiling the program that a command is given.

use std::path::Path;

use num_complex::Complex64;
use ringmill_compiler::ckks::{Compiled, InputRange, Options, ParamsChoice, Wanted};
use ringmill_devices::report::SchemeReport;
use ringmill_isa::macros::{MacroProgram, text};
use ringmill_limits::Watch;

use crate::PythonTracer;
use crate::args::ProgramArgs;
use crate::commands::params;
use crate::error::CliError;
use crate::inputs;

/// Longest program text read: the longest that is parsed.
const LARGEST_TEXT: u64 = 1 << 28;

/// A compiled program's scheme, and why it is that one.
pub fn scheme(args: &ProgramArgs, compiled: &Compiled) -> SchemeReport {
    let why = match args.scheme {
        Some(_) => "named by --scheme",
        None => "the program names it",
    };
    SchemeReport {
        name: compiled.source.scheme.to_string(),
        why: why.to_owned(),
    }
}

/// Refuses a program of another scheme than the command line names.
fn check_scheme(args: &ProgramArgs, program: &MacroProgram) -> Result<(), CliError> {
    match args.scheme {
        Some(scheme) if scheme.name() != program.scheme.as_str() => Err(CliError::Usage(format!(
            "--scheme {}: the program {:?} is for the scheme {}; leave --scheme out, or write the program for {0}",
            scheme.name(),
            program.name,
            program.scheme
        ))),
        Some(_) | None => Ok(()),
    }
}

/// The program of the command line, compiled as it asks.
pub fn compile(
    args: &ProgramArgs,
    json: bool,
    python: Option<PythonTracer<'_>>,
    watch: &Watch,
) -> Result<Compiled, CliError> {
    if args.fill.is_some() && args.samples.is_empty() {
        return Err(CliError::Usage(
            "--fill is about the files of --sample, and none is given; leave it out".to_owned(),
        ));
    }
    compile_for(args, read(args, json, python, watch)?, None, json, watch)
}

/// A program that was read, compiled as the command line asks. The vectors it is to run on, one an input in order, are
/// the sample that predictions rest on where the command line names neither sample, range nor bound.
pub fn compile_for(
    args: &ProgramArgs,
    program: MacroProgram,
    inputs: Option<Vec<Vec<Complex64>>>,
    json: bool,
    watch: &Watch,
) -> Result<Compiled, CliError> {
    check_scheme(args, &program)?;
    let choice = match args.params.as_str() {
        "auto" => {
            let (table, level) = args.security.wanted()?;
            let default = Wanted::default();
            ParamsChoice::Choose(Wanted {
                precision_bits: args.precision.unwrap_or(default.precision_bits),
                integer_bits: args.integer_bits.unwrap_or(default.integer_bits),
                table,
                level,
            })
        }
        set => ParamsChoice::Given(params::find(set, &args.security)?),
    };
    let target = args.target.as_deref().map(ringmill_devices::target);
    let mut options = Options {
        params: choice,
        target: target.transpose()?,
        watch: watch.clone(),
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
        (None, true) if args.ranges.is_empty() => options.sample = inputs,
        (None, true) => {}
    }
    if let Some(margin) = args.margin {
        if options.sample.is_none() {
            return Err(CliError::Usage(
                "--margin is about a sample, and there is none; give --sample, or leave it out"
                    .to_owned(),
            ));
        }
        options.margin = margin;
    }
    options.ranges = ranges(args, &program)?;
    if !json && args.input_bound.is_none() && options.sample.is_none() {
        say_default(&program, &options.ranges);
    }
    if args.samples.is_empty() {
        // An input of zeros says nothing of its size.
        let zero = |v: &Vec<Complex64>| v.iter().all(|z| z.norm() == 0.0);
        let bound = InputRange::Disc {
            radius: options.input_bound,
        };
        for (range, values) in options
            .ranges
            .iter_mut()
            .zip(options.sample.iter().flatten())
        {
            if zero(values) {
                range.get_or_insert(bound);
            }
        }
    }
    Ok(ringmill_compiler::compile(program, &options)?)
}

/// Says on standard error which inputs must be small because nothing was said of their size.
fn say_default(program: &MacroProgram, ranges: &[Option<InputRange>]) {
    let unsaid = program.inputs.iter().zip(ranges);
    let unsaid: Vec<&str> = unsaid
        .filter(|(_, range)| range.is_none())
        .map(|(input, _)| input.name.as_str())
        .collect();
    if !unsaid.is_empty() {
        eprintln!(
            "note: absolute values of {} are taken to be at most 1; --range, --sample or --input-bound says otherwise",
            unsaid.join(", ")
        );
    }
}

/// The --range options in the order of the program's inputs.
pub fn ranges(
    args: &ProgramArgs,
    program: &MacroProgram,
) -> Result<Vec<Option<InputRange>>, CliError> {
    let mut ranges = vec![None; program.inputs.len()];
    for option in &args.ranges {
        let usage = |why: &str| CliError::Usage(format!("--range {option}: {why}"));
        let (name, ends) = option
            .split_once('=')
            .ok_or_else(|| usage("expected NAME=LOW:HIGH"))?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        let both = ends.split_once(':');
        let both = both.and_then(|(low, high)| Some((number(low)?, number(high)?)));
        let (lowest, highest) = both
            .filter(|(low, high)| low <= high)
            .ok_or_else(|| usage("expected two numbers, the smaller one first, as in x=-1:1"))?;
        let at = program.inputs.iter().position(|i| i.name == name);
        let known = || {
            let names: Vec<&str> = program.inputs.iter().map(|i| i.name.as_str()).collect();
            usage(&format!("the program's inputs are {}", names.join(", ")))
        };
        let range = at.and_then(|i| ranges.get_mut(i)).ok_or_else(known)?;
        if range
            .replace(InputRange::Real { lowest, highest })
            .is_some()
        {
            return Err(usage("this input has a range already"));
        }
    }
    Ok(ranges)
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
        vectors.push(inputs::read(&path, program.slots as usize, args.fill)?);
    }
    inputs::all_known(&files, program)?;
    Ok(vectors)
}

/// Refuses options that decide nothing, each with what decides instead.
fn check(args: &ProgramArgs) -> Result<(), CliError> {
    let refuse = |text: String| Err(CliError::Usage(text));
    let wishes = [
        ("--precision", args.precision.is_some()),
        ("--integer-bits", args.integer_bits.is_some()),
    ];
    if let Some((flag, _)) = wishes
        .iter()
        .find(|(_, given)| *given && args.params != "auto")
    {
        return refuse(format!(
            "{flag} decides `auto` parameters, and --params {} is given; leave one of them out",
            args.params
        ));
    }
    if args.slots.is_some() && !is_python(&args.program) {
        return refuse(format!(
            "--slots is the vector length of a program in a Python file; {} states its own: leave --slots out",
            args.program.display()
        ));
    }
    Ok(())
}

/// Whether a program is `FILE.py` or `FILE.py:NAME`.
fn is_python(program: &Path) -> bool {
    let spec = program.as_os_str().as_encoded_bytes();
    let file = spec.iter().rposition(|&b| b == b':').map_or(spec, |colon| {
        let file = &spec[..colon];
        if file.ends_with(b".py") { file } else { spec }
    });
    file.ends_with(b".py")
}

/// Reads macro text, or traces a Python program.
pub fn read(
    args: &ProgramArgs,
    json: bool,
    python: Option<PythonTracer<'_>>,
    watch: &Watch,
) -> Result<MacroProgram, CliError> {
    check(args)?;
    let path = &args.program;
    let content = match (is_python(path), python) {
        (true, Some(trace)) => trace(path, args.slots, json)?,
        (true, None) => {
            return Err(CliError::Usage(format!(
                "{}: Python programs need the `ringmill` command of the Python package; this binary takes macro text (.rmac)",
                path.display()
            )));
        }
        (false, _) => inputs::read_text(path, LARGEST_TEXT)?,
    };
    watch.admit(&path.display().to_string(), text::memory_for(&content))?;
    text::parse(&content).map_err(|e| CliError::Input {
        path: path.clone(),
        reason: e.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_files_are_known_by_their_name() {
        for (program, python) in [
            ("f.py", true),
            ("f.py:name", true),
            ("f.py:", true),
            ("folder.py/f.rmac", false),
            ("f.pyx", false),
            ("a:b.py", true),
            ("a.py:b.rmac", true),
            ("f.rmac", false),
            ("", false),
        ] {
            assert_eq!(is_python(Path::new(program)), python, "{program}");
        }
    }
}
