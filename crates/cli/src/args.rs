// SPDX-License-Identifier: Apache-2.0
//! Defines the arguments of the `ringmill` command. Their doc comments are the texts of the command's help.

pub mod circuit;
pub mod compare;
pub mod reproduce;
pub mod rtl;

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use ringmill_limits::Limits;
use ringmill_runtime::Known;
use ringmill_runtime::shown::Simulated;

use circuit::CircuitArgs;
use compare::CompareArgs;
use reproduce::ReproduceArgs;
use rtl::RtlCommand;

/// Compile programs on encrypted data, run them on the CPU, and see what hardware would take.
#[derive(Debug, Parser)]
#[command(
    name = "ringmill",
    version,
    propagate_version = true,
    after_help = "\
A program is a Python file with an @rm.program function (with the pip-installed command) or macro text (.rmac).

Exit status of every command: 0 done, 1 outputs differ, 2 not carried out. Under --json an error is one object on
standard error: {\"error\": what was wrong, \"status\": 1 or 2}; so is what a Python file prints: {\"printed\": text}.

Start here:
  ringmill devices                                           what programs can run on
  ringmill run examples/mean.rmac --random-inputs            encrypt random data, run, decrypt, check, report
  ringmill run examples/mean.rmac --random-inputs --device sim:ring
  ringmill compare examples/mean.rmac --machine ring --machine vector        one table, the CPU measured beside
  ringmill reproduce ring                                    the tables of the ring machine's paper beside our figures
  ringmill rtl list                                          the hardware description: lint it, synthesise it"
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// Most memory in bytes that the work may take, as in 4G or 512MiB [default: four fifths of the available memory].
    #[arg(long, global = true, value_name = "SIZE", value_parser = Limits::parse)]
    pub max_memory: Option<Limits>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(RunArgs),
    Compile(CompileArgs),
    Sim(SimArgs),
    Compare(CompareArgs),
    Circuit(CircuitArgs),
    Params(ParamsArgs),
    Devices(DevicesArgs),
    Plans(PlansArgs),
    #[command(subcommand)]
    Machine(MachineCommand),
    #[command(subcommand)]
    Rtl(RtlCommand),
    Reproduce(ReproduceArgs),
    Completion(CompletionArgs),
}

impl Command {
    /// Returns whether the command line has `--json`. Results and errors are then printed as JSON.
    pub fn json(&self) -> bool {
        match self {
            Self::Run(args) => args.json,
            Self::Compile(args) => args.json,
            Self::Sim(args) => args.json,
            Self::Compare(args) => args.json,
            Self::Circuit(args) => args.json,
            Self::Params(args) => args.json,
            Self::Devices(args) => args.json,
            Self::Plans(args) => args.json,
            Self::Machine(MachineCommand::Show(args)) => args.json,
            Self::Rtl(command) => command.json(),
            Self::Reproduce(args) => args.json,
            Self::Completion(_) => false,
        }
    }
}

/// Returns a parser of the scheme names that programs can be compiled for.
fn schemes() -> impl TypedValueParser<Value = Known> {
    let named = |scheme: Known| PossibleValue::new(scheme.name()).help(scheme.about());
    let known = |name: String| Known::of_name(&name).ok_or("there is no such scheme");
    PossibleValuesParser::new(Known::ALL.map(named)).try_map(known)
}

/// The arguments that name a program, and how to compile it.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// The program: macro text (.rmac), or with the pip-installed command a Python file (FILE.py, FILE.py:NAME).
    pub program: PathBuf,

    /// The scheme of the program. Macro text must name this scheme, and a program in a Python file is compiled for it
    /// [default: the one that the text names, or the first that takes the types of the arguments].
    #[arg(long, value_parser = schemes())]
    pub scheme: Option<Known>,

    /// The parameter set: a named set (`set1`, `set2`), `auto` for the smallest secure parameters, or a parameter file.
    #[arg(long, default_value = "auto")]
    pub params: String,

    /// The machine that the program is compiled for: a name or a description file. `auto` parameters keep the machine's
    /// limits. If no parameters do, or given ones do not, the error names the field of the description.
    #[arg(long, value_name = "MACHINE")]
    pub target: Option<String>,

    /// Decimal digits that outputs must have right, relative to the output's largest magnitude on the sample, or to its
    /// bound without a sample. They decide `auto` parameters [default: 6].
    #[arg(long, value_name = "COUNT", conflicts_with = "precision")]
    pub digits: Option<u32>,

    /// Bits of precision after the binary point that outputs must have, in place of digits. They decide `auto`
    /// parameters.
    #[arg(long, value_name = "BITS")]
    pub precision: Option<u32>,

    /// Least bits of the outputs' integer part. `auto` parameters have more if the inputs' ranges call for more
    /// [default: 0].
    #[arg(long, value_name = "BITS")]
    pub integer_bits: Option<u32>,

    /// The quantity that `auto` parameters make least: the time of a run, or the size of evaluation keys [default: speed].
    #[arg(long, value_name = "WHAT")]
    pub prefer: Option<Preference>,

    /// The most bytes that evaluation keys may take, such as 2GiB. Use it with `auto` parameters.
    #[arg(long, value_name = "SIZE", value_parser = Limits::parse)]
    pub keys: Option<Limits>,

    /// The least and the largest value of an input. A program whose values may then outgrow their level is refused.
    /// Give one option for each input. --input-bound or a sample holds for the other inputs.
    #[arg(
        long = "range",
        value_name = "NAME=LOW:HIGH",
        allow_hyphen_values = true
    )]
    pub ranges: Vec<String>,

    /// Largest absolute value in a slot of those inputs that have no range [default: 1].
    #[arg(long, value_name = "VALUE")]
    pub input_bound: Option<f64>,

    /// Factor by which inputs may lie further from zero than in the sample, rounded up to a power of two. Values may be
    /// as many times larger for the wanted precision [default: 2].
    #[arg(long, value_name = "FACTOR")]
    pub margin: Option<f64>,

    /// Typical values of an input (.npy, .csv or .json), one file for every input. They declare the ranges of inputs
    /// without one: from the least to the largest real value, or up to the largest absolute value of complex ones, each
    /// end times the margin and up to a power of two.
    #[arg(
        long = "sample",
        value_name = "NAME=FILE",
        conflicts_with = "input_bound"
    )]
    pub samples: Vec<String>,

    /// The values that follow those of a file with fewer values than the program has slots. Without this option such a
    /// file is refused.
    #[arg(long, value_enum, value_name = "WITH")]
    pub fill: Option<Fill>,

    #[command(flatten)]
    pub security: SecurityArgs,

    /// Vector length of a program in a Python file, a power of two [default: 4096]. Macro text states its own.
    #[arg(long)]
    pub slots: Option<u32>,
}

/// The values that follow those of a file with too few values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Fill {
    /// Zeros in the remaining slots.
    Zeros,
    /// The file's values again and again. Their number must divide the slots.
    Repeat,
}

/// The quantity that chosen parameters make least.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Preference {
    /// The time of a run.
    Speed,
    /// The size of the evaluation keys.
    Keys,
}

/// The security table and level that parameters must reach. A parameter file states its own level.
#[derive(Debug, Args)]
pub struct SecurityArgs {
    /// Security table that parameters are checked against: `guidelines_2024`, `standard_2018` or `estimator_2026`
    /// [default: guidelines_2024]. A parameter file names its own, and is refused if that is another than this [default
    /// there: guidelines_2024, and sparse_ternary_2026 for sparse secrets].
    #[arg(long)]
    pub table: Option<String>,

    /// Classical security level in bits that parameters must reach: 128, 192 or 256 [default: 128].
    #[arg(long, value_name = "BITS")]
    pub security: Option<u32>,
}

/// Encrypt inputs, run a program, decrypt its outputs, check them against the computation without encryption, and
/// report.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill run examples/mean.rmac --random-inputs --seed 7
  ringmill run examples/mean.rmac --input x=data.csv --device cpu --device sim:ring --trace run.json
  ringmill run examples/mean.rmac --random-inputs --json | jq .reports[0]
  ringmill run examples/mean.rmac --random-inputs --device cpu --device sim:ring --profile --html run.html
  ringmill run examples/mean.rmac --random-inputs --precision 6 --integer-bits 2 --device cpu --device rtl:polymul

Inputs: a .npy array, a .csv of numbers (row after row) or a .json list, of as many values as the program has slots, or
fewer with --fill zeros or --fill repeat; for a program of whole numbers they are integers, in .npy of any width, and
floats are refused. Random inputs are uniform in the input's --range, or in [-1, 1] within --input-bound. When every input comes from a file, and none of --sample, --range and --input-bound is given, the inputs
are the sample that declares the ranges and that a wanted precision is for. A saved program without options that say how to compile runs as it was
compiled, with the parameters that it keeps; one that bootstraps takes no such options.
Several --device options run the same ciphertexts on each; all must give the same bits, and the command fails if not.
The keys live as long as the command. A trace file opens in Perfetto's viewer (ui.perfetto.dev), one lane a unit.
The size of the keys is printed before they are made; what takes more than --max-memory (or RINGMILL_MAX_MEMORY) is refused.
Ctrl-C stops at once and keeps the reports, and the outputs, of the devices that were done.
Exit status: 0 all outputs agree, 1 they do not, 2 the request could not be carried out, 130 interrupted.")]
pub struct RunArgs {
    #[command(flatten)]
    pub program: ProgramArgs,

    /// An input of the program by name, and the file with its values.
    #[arg(long = "input", value_name = "NAME=FILE")]
    pub inputs: Vec<String>,

    /// Fill the inputs that are not given with random numbers.
    #[arg(long)]
    pub random_inputs: bool,

    /// Seed of the random inputs [default: 1]. Keys and encryption always draw from the operating system.
    #[arg(long, requires = "random_inputs")]
    pub seed: Option<u64>,

    /// The device to run on: `cpu`, `cpu:THREADS`, `sim:MACHINE`, `rtl:MACHINE`, or the last two with FILE.toml. It may
    /// be given several times.
    #[arg(long = "device", default_value = "cpu", value_name = "DEVICE")]
    pub devices: Vec<String>,

    /// Refuse a program whose values do not fit a machine's memory. Otherwise values wait in host memory, and the
    /// report says what that cost.
    #[arg(long)]
    pub no_spill: bool,

    /// Print every figure after the summary: instructions, units, memory, link.
    #[arg(long, conflicts_with = "json")]
    pub detail: bool,

    /// Print the most expensive lines of the program after the summary: their share, operations, level, procedure and
    /// source text. JSON has them as `by_line`.
    #[arg(long, conflicts_with = "json")]
    pub profile: bool,

    /// Keep the run in a folder. The command saves the run there between two operations, and when it is interrupted,
    /// and the same command continues from there. Keys and inputs are kept with the run, the secret key among them,
    /// until the run is complete.
    #[arg(long, value_name = "FOLDER")]
    pub checkpoint: Option<PathBuf>,

    /// Least number of seconds between two savings of the run.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 30,
        requires = "checkpoint"
    )]
    pub checkpoint_every: u32,

    /// Most memory in bytes that expanded keys and encoded constants may take, as in 4G or 512MiB. Those that are
    /// dropped are made again when they are read, to the same bits [default: all are kept]. Machines that run only a
    /// part of a program refuse this option.
    #[arg(long, value_name = "SIZE", value_parser = Limits::parse)]
    pub expanded_bytes: Option<Limits>,

    /// Write a Perfetto trace of the run on the last --device to a file.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Write the report as one HTML page: time, units, memory, the most expensive lines of the program, precision,
    /// security. It opens in any browser and loads nothing.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write the decrypted outputs as a JSON file.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The form of the program that `ringmill compile` prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Emit {
    /// The program on ciphertexts after the compiler's passes: levels, scales, relinearisation, rescaling.
    Macro,
    /// The program on limbs: one procedure for each operation and level, and the calls of the procedures.
    Mid,
    /// The program in the machine's own instruction words.
    Micro,
    /// The program before compilation, with the options of its compilation: what `Compiled.save` writes and
    /// `ringmill.load` reads. It holds no data.
    Saved,
}

/// Compile a program and print it in one of its forms.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill compile examples/mean.rmac                        what the passes made of it
  ringmill compile examples/mean.rmac --explain              levels, keys, what each decision costs, what would help
  ringmill compile examples/mean.rmac --emit mid | less      every limb instruction
  ringmill compile examples/mean.rmac --emit micro --machine ring -o mean.micro
  ringmill compile examples/mean.rmac --sample x=typical.csv --json | jq .outputs
  ringmill compile examples/mean.rmac --sample x=typical.csv --emit saved -o saved.rmac    for ringmill.load
  ringmill compile old.rmac -o new.rmac                      a saved program, without the sample that it may hold

A saved program without options is compiled as it was, with the parameters that it keeps, and written as a saved program.
With options it is compiled anew, as they say. Files name sources by their file names, without folders.")]
pub struct CompileArgs {
    #[command(flatten)]
    pub program: ProgramArgs,

    /// The form to print [default: macro, or saved for a saved program].
    #[arg(long, value_enum)]
    pub emit: Option<Emit>,

    /// Print what the compiler decided in place of the program: levels and the lines that take them, digits, keys, what each decision
    /// costs, and changes that were tried and make the program cheaper. With --json it is one JSON object.
    #[arg(long, conflicts_with_all = ["emit", "machine", "with_sample"])]
    pub explain: bool,

    /// Keep the sample in a saved program, every value of it, in a file that only its owner may read (mode 0600).
    #[arg(long, requires = "output")]
    pub with_sample: bool,

    /// The machine of `--emit micro`: a name or a description file (.toml) [default: ring].
    #[arg(long)]
    pub machine: Option<String>,

    /// Write the text or the JSON to a file instead of standard output. The file appears whole or not at all.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Write the report as one HTML page: predictions for outputs, levels along the program, instructions, security. It
    /// opens in any browser and loads nothing.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Print a JSON object: parameters, keys needed, instruction counts, predicted precision, and the program's text.
    #[arg(long)]
    pub json: bool,
}

/// Time a program on a machine without data, by its cycle model alone.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill sim examples/mean.rmac                            the time, its parts, what bounds it, what would help
  ringmill sim examples/mean.rmac --detail                   with instructions, units, memory, link traffic
  ringmill sim examples/mean.rmac --machine ring-stored --trace mean.json
  ringmill sim examples/mean.rmac --profile --html mean.html  the hottest lines; a page with figures
  ringmill sim examples/mean.rmac --target vector --machine vector --by mid    what each kind of limb instruction takes
  ringmill machine show ring > mine.toml; edit it; ringmill sim examples/mean.rmac --machine mine.toml

Programs on encrypted data take the same time whatever the data, so timing needs none.")]
pub struct SimArgs {
    #[command(flatten)]
    pub program: ProgramArgs,

    /// The machine to time: a name or a description file (.toml).
    #[arg(long, default_value = "ring")]
    pub machine: String,

    #[command(flatten)]
    pub counted: CountedArgs,

    /// Print every figure after the summary: instructions, units, memory, link.
    #[arg(long, conflicts_with = "json")]
    pub detail: bool,

    /// Print the most expensive lines of the program after the summary: their share, operations, level, procedure and
    /// source text. JSON has them as `by_line`.
    #[arg(long, conflicts_with = "json")]
    pub profile: bool,

    /// Print the time of the operations at this level, by kind, on the vector machine. They add up to the whole. JSON
    /// has those of all three levels, the macro level's by their procedures.
    #[arg(long, value_name = "LEVEL", conflicts_with_all = ["json", "detail"])]
    pub by: Option<ByLevel>,

    /// Write a Perfetto trace to a file, with one lane for each unit.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Write the report as one HTML page: time, units, memory, the most expensive lines of the program, security. It
    /// opens in any browser and loads nothing.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The options that decide what counts into a machine's time.
#[derive(Debug, Args)]
pub struct CountedArgs {
    /// Refuse a program whose values do not fit the machine's memory. Otherwise values wait in host memory, and the
    /// report says what that cost.
    #[arg(long)]
    pub no_spill: bool,

    /// Count the transfer of evaluation keys; otherwise they are on the machine before the program starts.
    #[arg(long)]
    pub send_keys: bool,
}

impl CountedArgs {
    /// Returns the request to time a program with these options, without data. `trace` is the file that the Perfetto
    /// trace is written to, or `None`.
    pub fn asked<'a>(&self, trace: Option<&'a Path>) -> Simulated<'a> {
        Simulated {
            spill: !self.no_spill,
            resident_keys: !self.send_keys,
            trace,
            timeline: false,
        }
    }
}

/// The level whose operations `ringmill sim --by` prints the time of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ByLevel {
    /// Homomorphic operations: macro instructions.
    Macro,
    /// Mid-level instructions, each on a whole limb.
    Mid,
    /// Micro instructions, each on a chunk of a limb.
    Micro,
}

/// Show parameter sets: primes, sizes, security. Show also what a set of your own sizes would be.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill params                                            the named sets
  ringmill params set1 --table standard_2018                 one set, every prime
  ringmill params my.params --table standard_2018            a file whose parameters rest on that table
  ringmill params --log-n 14 --bits 60,54,54,54,54,54,54     your own; the last is the special prime")]
pub struct ParamsArgs {
    /// A named set or a parameter file [default: all named sets].
    pub set: Option<String>,

    /// log2 of the ring degree of a set of your own.
    #[arg(long, requires = "bits", conflicts_with = "set")]
    pub log_n: Option<u8>,

    /// Sizes in bits of the primes of a set of your own, the special primes last.
    #[arg(long, value_delimiter = ',', requires = "log_n")]
    pub bits: Vec<u32>,

    /// Number of special primes among those of `--bits`.
    #[arg(long, value_name = "COUNT", default_value_t = 1, requires = "bits")]
    pub special: usize,

    /// Number of key-switching digits [default: each digit has as many primes as there are special ones].
    #[arg(long, value_name = "COUNT", requires = "bits")]
    pub dnum: Option<usize>,

    #[command(flatten)]
    pub security: SecurityArgs,

    /// Write the report as one HTML page: primes, and the security bound that they are checked against. It opens in any
    /// browser and loads nothing.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Print one JSON object a line instead of text, one for each set.
    #[arg(long)]
    pub json: bool,
}

/// List the devices that programs can run on.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill devices
  ringmill devices --json")]
pub struct DevicesArgs {
    /// Print one JSON list instead of text.
    #[arg(long)]
    pub json: bool,
}

/// Show which kernel each transform uses on this computer, found by timing all that could, and by how much it leads.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill plans                                             2^10 to 2^16, primes of 30, 50 and 60 bits
  ringmill plans --log-n 14 --bits 54,60                     what a program of that size would use
  RINGMILL_PLANS=avx2 ringmill plans --log-n 14              as on a processor with no more than AVX2
  RINGMILL_PLANS_FILE=plans.txt ringmill plans               keep the choices for the commands that follow
  ringmill plans --json | jq '.shapes[] | {task, log_n, kernel}'

Every kernel gives the same bits; a choice is made once in a process, when a shape is first met, in about a millisecond.
Primes below 2^32 have words of 32 bits too. `forward-from` is a forward transform that reads residues of another prime.
Times are the best of a few calls: beside other work they differ from run to run, and so may a choice between two that
are near each other. RINGMILL_PLANS=first fixes all choices, random:SEED draws them, a level (scalar, avx2, avx512,
avx512ifma) bounds them; a level and one of these may stand together, with a comma.")]
pub struct PlansArgs {
    /// log2 of the lengths of the transforms to show.
    #[arg(long, value_name = "LOG2", value_delimiter = ',', default_value = "10,11,12,13,14,15,16",
        value_parser = clap::value_parser!(u8).range(1..=17))]
    pub log_n: Vec<u8>,

    /// Sizes in bits of the primes of the transforms to show.
    #[arg(long, value_name = "BITS", value_delimiter = ',', default_value = "30,50,60",
        value_parser = clap::value_parser!(u32).range(4..=61))]
    pub bits: Vec<u32>,

    /// Print one JSON object instead of text: every candidate kernel with its time.
    #[arg(long)]
    pub json: bool,
}

/// Print a script that makes a shell complete commands and options.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  source <(ringmill completion bash)                         for this shell; in ~/.bashrc for all
  ringmill completion zsh > ~/.zfunc/_ringmill               in a folder of fpath
  ringmill completion fish > ~/.config/fish/completions/ringmill.fish")]
pub struct CompletionArgs {
    /// The shell that the script is for.
    pub shell: Shell,
}

/// Show machine descriptions, the files that simulated machines are made from.
#[derive(Debug, Subcommand)]
pub enum MachineCommand {
    Show(MachineShowArgs),
}

/// Print a machine's description file. Below it, as comments, are the resources that it needs of its FPGA part and its
/// paper's figures. Edit the file and pass it as --machine FILE or --device sim:FILE.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill machine show ring
  ringmill machine show ring-stored --json")]
pub struct MachineShowArgs {
    /// The machine's name, or a description file to check.
    pub name: String,

    /// Print one JSON object instead of TOML.
    #[arg(long)]
    pub json: bool,
}
