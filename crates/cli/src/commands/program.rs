// SPDX-License-Identifier: Apache-2.0
//! Reads and compiles the program that a command names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ringmill_compiler::arrays::{Arrays, Lengths};
use ringmill_compiler::saved::{self, Recipe};
use ringmill_compiler::{Compiled, KeyWishes, Options, ParamsChoice, Prefer};
use ringmill_isa::macros::{MacroProgram, text};
use ringmill_limits::Watch;
use ringmill_runtime::report::SchemeReport;
use ringmill_runtime::{Known, Served};
use ringmill_schemes::file::InsecureParams;

use crate::args::{Preference, ProgramArgs, SecurityArgs};
use crate::commands::params;
use crate::error::CliError;
use crate::inputs::{self, Room};
use crate::numbers;
use crate::waiting::Waiting;
use crate::{PythonTracer, Trace, TracedFile};

/// The value of `--params` for which the compiler chooses parameters.
const AUTO: &str = "auto";
/// The most bytes of a program text that is read and parsed.
const LARGEST_TEXT: u64 = 1 << 28;

/// A program that the command has read: its scheme, and the known properties of its inputs.
pub struct Read {
    pub program: MacroProgram,
    pub scheme: Known,
    /// The reason why the program has this scheme, for the report.
    why: String,
    /// The name, least and largest value of each input whose type determines its range.
    ends: Vec<(String, i128, i128)>,
    /// The lengths of the array arguments and results of the traced function, as far as they are known.
    pub arrays: Arrays,
    /// The comment line of a saved program that says how it was compiled, or `None` for a program without such a line.
    saved: Option<String>,
}

impl Read {
    /// Returns the program's scheme, and the reason for it, for the report.
    pub fn report(&self) -> SchemeReport {
        SchemeReport {
            name: self.scheme.name().to_owned(),
            why: self.why.clone(),
        }
    }

    /// Returns whether the text says that Ringmill saved the program, with the options of its compilation.
    pub fn is_saved(&self) -> bool {
        self.saved.is_some()
    }
}

/// Returns the program's scheme, and checks it against the scheme that the command line names.
fn scheme(args: &ProgramArgs, program: &MacroProgram) -> Result<Known, CliError> {
    if let Some(scheme) = args.scheme
        && scheme.name() != program.scheme.as_str()
    {
        return Err(CliError::Usage(format!(
            "--scheme {}: the program {:?} is for the scheme {}; leave --scheme out, or write the program for {0}",
            scheme.name(),
            program.name,
            program.scheme
        )));
    }
    Known::of_name(program.scheme.as_str()).ok_or_else(|| {
        CliError::Usage(format!(
            "the program {:?} is for the scheme {}, which is not among those here: {}",
            program.name,
            program.scheme,
            Known::names()
        ))
    })
}

/// Reads the program of a command that takes no inputs, such as `ringmill compile`.
///
/// # Errors
/// Returns [`CliError::Usage`] for `--fill` without `--sample`, and else fails as [`read`] does.
pub fn read_alone(
    args: &ProgramArgs,
    json: bool,
    python: Option<PythonTracer<'_>>,
    watch: &Watch,
) -> Result<Read, CliError> {
    if args.fill.is_some() && args.samples.is_empty() {
        return Err(CliError::Usage(
            "--fill is about the files of --sample, and none is given; leave it out".to_owned(),
        ));
    }
    read(args, json, python, watch)
}

/// The way in which a program is compiled.
pub enum Plan<S: Served> {
    /// Compilation with the options with which the program was saved.
    AsSaved(Recipe<S>),
    /// Compilation with the options of the command line.
    Anew(Options<S>),
}

/// Compiles a program by its plan, and returns it with the options for saving it.
///
/// # Errors
/// Fails as [`plan`] does, or if the compiler refuses the program.
pub fn compile<S: Served>(
    args: &ProgramArgs,
    read: Read,
    inputs: Option<Vec<S::Message>>,
    json: bool,
    watch: &Watch,
) -> Result<(Compiled<S>, Options<S>), CliError> {
    let plan = plan::<S>(args, &read, inputs, json, watch)?;
    let _waiting = Waiting::new(format!("compiling {:?}", read.program.name));
    match plan {
        Plan::AsSaved(recipe) => Ok(recipe.compile(read.program, watch)?),
        Plan::Anew(options) => {
            let compiled = ringmill_compiler::compile(read.program, &options)?;
            Ok((compiled, options))
        }
    }
}

/// Decides how a program is compiled.
///
/// A saved program is compiled with the options that it was saved with, unless the command line has options of
/// compilation. Otherwise `inputs`, the vectors of the run in the order of the program's inputs, may serve as the
/// sample from which the compiler predicts. They do so if the command line names neither sample, range nor bound.
///
/// # Errors
/// Returns [`CliError::Usage`] for options of compilation beside a saved program that bootstraps. Also fails if the
/// saved options cannot be read, or if an option is refused.
pub fn plan<S: Served>(
    args: &ProgramArgs,
    read: &Read,
    inputs: Option<Vec<S::Message>>,
    json: bool,
    watch: &Watch,
) -> Result<Plan<S>, CliError> {
    let asked = asked(args);
    if let (Some(line), Some(option)) = (read.saved.as_deref(), asked)
        && saved::bootstraps(line)
    {
        return Err(CliError::Usage(format!(
            "{option} says how to compile, and {} bootstraps: it is compiled as it was saved; leave {option} out, or compile it from \
             its source with `bootstrapping=` in Python",
            args.program.display()
        )));
    }
    match read.saved.as_deref().filter(|_| asked.is_none()) {
        Some(line) => {
            let recipe = recipe::<S>(line).map_err(|reason| CliError::Input {
                path: args.program.clone(),
                reason,
            })?;
            Ok(Plan::AsSaved(recipe))
        }
        None => Ok(Plan::Anew(options::<S>(args, read, inputs, json, watch)?)),
    }
}

fn recipe<S: Served>(line: &str) -> Result<Recipe<S>, String> {
    let recipe = saved::recipe(line, InsecureParams::Refuse).map_err(|fault| fault.to_string())?;
    recipe.ok_or_else(|| "the line that says how it was compiled is missing".to_owned())
}

/// Returns the first command-line option that changes how the program is compiled, or `None`.
fn asked(args: &ProgramArgs) -> Option<&'static str> {
    // Every field is named, so that a new one cannot be forgotten.
    let ProgramArgs {
        program: _,
        scheme: _, // can but agree with the program's
        params,
        target,
        digits,
        precision,
        integer_bits,
        prefer,
        keys,
        ranges,
        input_bound,
        margin,
        samples,
        fill: _, // of samples
        security: SecurityArgs { table, security },
        slots: _, // of programs in Python
    } = args;
    let given = [
        ("--params", params != AUTO),
        ("--target", target.is_some()),
        ("--digits", digits.is_some()),
        ("--precision", precision.is_some()),
        ("--integer-bits", integer_bits.is_some()),
        ("--prefer", prefer.is_some()),
        ("--keys", keys.is_some()),
        ("--range", !ranges.is_empty()),
        ("--sample", !samples.is_empty()),
        ("--input-bound", input_bound.is_some()),
        ("--margin", margin.is_some()),
        ("--table", table.is_some()),
        ("--security", security.is_some()),
    ];
    given
        .into_iter()
        .find(|&(_, given)| given)
        .map(|(name, _)| name)
}

/// Returns what the command line asks of evaluation keys: whether their size counts more than speed (`--prefer`), and
/// their largest size (`--keys`).
fn key_wishes(args: &ProgramArgs) -> KeyWishes {
    KeyWishes {
        prefer: match args.prefer {
            Some(Preference::Keys) => Prefer::Keys,
            Some(Preference::Speed) | None => Prefer::Speed,
        },
        most_bytes: args.keys.map(|limits| limits.memory),
    }
}

fn options<S: Served>(
    args: &ProgramArgs,
    read: &Read,
    inputs: Option<Vec<S::Message>>,
    json: bool,
    watch: &Watch,
) -> Result<Options<S>, CliError> {
    let choice = match args.params.as_str() {
        AUTO => ParamsChoice::Choose(numbers::wanted::<S>(args)?),
        set => ParamsChoice::Given(params::find::<S>(set, &args.security)?),
    };
    let target = args.target.as_deref().map(ringmill_sim::target);
    let mut options = Options::<S> {
        params: choice,
        keys: key_wishes(args),
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
        (Some(bound), _) => {
            numbers::bounded::<S>(bound)?;
            options.input_bound = bound;
        }
        (None, false) => options.sample = sample::<S>(args, read)?,
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
    options.ranges = ranges::<S>(args, read)?;
    if args.input_bound.is_none() && options.sample.is_none() {
        let unsaid = read.program.inputs.iter().zip(&options.ranges);
        let unsaid = unsaid.filter(|(_, range)| range.is_none());
        let unsaid: Vec<&str> = unsaid.map(|(input, _)| input.name.as_str()).collect();
        if !unsaid.is_empty() {
            numbers::unsaid(&unsaid, S::NUMBERS, json)?;
        }
    }
    if args.samples.is_empty() {
        // An input of zeros says nothing about its size.
        for (range, values) in options
            .ranges
            .iter_mut()
            .zip(options.sample.iter().flatten())
        {
            if range.is_none() && numbers::is_zero(&S::values(values.clone())) {
                *range = Some(numbers::bounded::<S>(options.input_bound)?);
            }
        }
    }
    Ok(options)
}

/// Returns the declared range of each input in order: from a --range option, from the input's type, or from the saved
/// program. An input without any of these has `None`.
///
/// # Errors
/// Returns [`CliError::Usage`] for a malformed `--range`, an unknown input, an input with two ranges, or an altered
/// line of a saved program.
pub fn ranges<S: Served>(
    args: &ProgramArgs,
    read: &Read,
) -> Result<Vec<Option<S::Range>>, CliError> {
    let program = &read.program;
    let mut ranges = vec![None; program.inputs.len()];
    let place = |name: &str| program.inputs.iter().position(|i| i.name == name);
    for option in &args.ranges {
        let usage = |why: &str| CliError::Usage(format!("--range {option}: {why}"));
        let (name, ends) = option
            .split_once('=')
            .ok_or_else(|| usage("expected NAME=LOW:HIGH"))?;
        let ends = ends.split_once(':');
        let declared = ends
            .and_then(|(low, high)| numbers::range::<S>(low, high))
            .ok_or_else(|| usage("expected two numbers, the smaller one first, as in x=-1:1"))?;
        let known = || {
            let names: Vec<&str> = program.inputs.iter().map(|i| i.name.as_str()).collect();
            usage(&format!("the program's inputs are {}", names.join(", ")))
        };
        let range = place(name)
            .and_then(|i| ranges.get_mut(i))
            .ok_or_else(known)?;
        if range.replace(declared).is_some() {
            return Err(usage("this input has a range already"));
        }
    }
    for (name, low, high) in &read.ends {
        if let Some(range) = place(name).and_then(|i| ranges.get_mut(i))
            && range.is_none()
        {
            *range = numbers::typed_range::<S>(*low, *high);
        }
    }
    let kept = read.saved.as_deref().map(numbers::kept_ranges::<S>);
    let kept = kept.transpose()?;
    for (range, kept) in ranges.iter_mut().zip(kept.into_iter().flatten()) {
        if range.is_none() && args.input_bound.is_none() && args.samples.is_empty() {
            *range = kept;
        }
    }
    Ok(ranges)
}

/// Returns the vectors of the --sample options in the order of the program's inputs, or `None` without such options.
///
/// # Errors
/// Fails if an option is malformed, an input has no sample, a name belongs to no input, or a file is refused.
pub fn sample<S: Served>(
    args: &ProgramArgs,
    read: &Read,
) -> Result<Option<Vec<S::Message>>, CliError> {
    if args.samples.is_empty() {
        return Ok(None);
    }
    let (program, lengths) = (&read.program, &read.arrays.lengths);
    let mut files = inputs::parse_options("--sample", &args.samples)?;
    let mut vectors = Vec::with_capacity(program.inputs.len());
    for (number, input) in program.inputs.iter().enumerate() {
        let path = files.remove(&input.name).ok_or_else(|| {
            CliError::Usage(format!(
                "the sample lacks input `{0}`; give --sample {0}=FILE too, typical values of every input",
                input.name
            ))
        })?;
        let room = Room::new(program.slots, lengths.input(number));
        vectors.push(numbers::read::<S>(&path, room, args.fill)?);
    }
    inputs::all_known(&files, program)?;
    Ok(Some(vectors))
}

/// Refuses command-line options without effect on this program. Each error says what decides instead.
fn check(args: &ProgramArgs) -> Result<(), CliError> {
    let refuse = |text: String| Err(CliError::Usage(text));
    let wishes = [
        ("--digits", args.digits.is_some()),
        ("--precision", args.precision.is_some()),
        ("--integer-bits", args.integer_bits.is_some()),
        ("--prefer", args.prefer.is_some()),
        ("--keys", args.keys.is_some()),
    ];
    if let Some((flag, _)) = wishes
        .iter()
        .find(|(_, given)| *given && args.params != AUTO)
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

/// Returns whether a program's argument has the form `FILE.py` or `FILE.py:NAME`.
fn is_python(program: &Path) -> bool {
    python_file(program).is_some()
}

/// Returns the file of a program's argument `FILE.py` or `FILE.py:NAME`, or `None` for another program.
pub fn python_file(program: &Path) -> Option<PathBuf> {
    let spec = program.as_os_str();
    // A `:NAME` is only recognised in a file name that is text.
    let file = spec.to_str().and_then(|text| text.rsplit_once(':'));
    let file = file.map(|(file, _)| OsStr::new(file));
    let file = file.filter(|file| file.as_encoded_bytes().ends_with(b".py"));
    let file = file.unwrap_or(spec);
    let python = file.as_encoded_bytes().ends_with(b".py");
    python.then(|| PathBuf::from(file))
}

/// Reads a program from macro text, or traces it in a Python file.
///
/// # Errors
/// Fails if options contradict each other, or if the file cannot be read, parsed or traced.
pub fn read(
    args: &ProgramArgs,
    json: bool,
    python: Option<PythonTracer<'_>>,
    watch: &Watch,
) -> Result<Read, CliError> {
    check(args)?;
    let path = &args.program;
    let traced = match (is_python(path), python) {
        (true, Some(trace)) => trace(Trace {
            program: path,
            slots: args.slots,
            scheme: args.scheme.map(Known::name),
            json,
        })?,
        (true, None) => {
            return Err(CliError::Usage(format!(
                "{}: Python programs need the `ringmill` command of the Python package; this binary takes macro text (.rmac)",
                path.display()
            )));
        }
        (false, _) => TracedFile {
            text: inputs::read_text(path, LARGEST_TEXT)?,
            ends: Vec::new(),
            lengths: Lengths::default(),
        },
    };
    let content = &traced.text;
    watch.admit(&path.display().to_string(), text::memory_for(content))?;
    let fault = |reason: String| CliError::Input {
        path: path.clone(),
        reason,
    };
    let program = text::parse(content).map_err(|e| fault(e.to_string()))?;
    let mut arrays = saved::arrays(content, &program).map_err(|e| fault(e.to_string()))?;
    if !traced.lengths.are_slots() {
        traced.lengths.check(&program).map_err(fault)?;
        arrays.lengths = traced.lengths;
    }
    let why = match args.scheme {
        Some(_) => "named by --scheme",
        None => "the program names it",
    };
    let line = || content.lines().next().unwrap_or_default().to_owned();
    Ok(Read {
        scheme: scheme(args, &program)?,
        program,
        why: why.to_owned(),
        ends: traced.ends,
        arrays,
        saved: saved::is_saved(content).then(line),
    })
}
