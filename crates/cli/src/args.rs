//! What the command takes. The help texts teach: every command ends with examples that run as they stand.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::rtl::args::RtlCommand;

/// Programs on encrypted data: compile them, run them on the CPU, and see what hardware would take.
#[derive(Debug, Parser)]
#[command(
    name = "ringmill",
    version,
    propagate_version = true,
    after_help = "\
A program is a Python file with an @rm.program function (with the pip-installed command) or macro text (.rmac).

Start here:
  ringmill devices                                           what programs can run on
  ringmill run examples/mean.rmac --random-inputs            encrypt random data, run, decrypt, check, report
  ringmill run examples/mean.rmac --random-inputs --device sim:ring
  ringmill reproduce ring                                    the tables of the ring machine's paper beside our figures
  ringmill rtl list                                          the hardware description: lint it, synthesise it"
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(RunArgs),
    Compile(CompileArgs),
    Sim(SimArgs),
    Params(ParamsArgs),
    Devices(DevicesArgs),
    #[command(subcommand)]
    Machine(MachineCommand),
    #[command(subcommand)]
    Rtl(RtlCommand),
    Reproduce(ReproduceArgs),
}

/// A program and how to compile it.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// The program: macro text (.rmac), or with the pip-installed command a Python file (FILE.py, FILE.py:NAME).
    pub program: PathBuf,

    /// Parameters: a named set (`set1`, `set2`), `auto` for the smallest secure ones, or a parameter file.
    #[arg(long, default_value = "auto")]
    pub params: String,

    /// Bits of precision after the binary point asked of the outputs; decides `auto` parameters.
    #[arg(long, default_value_t = 20, value_name = "BITS")]
    pub precision: u32,

    /// Absolute values of outputs stay below 2^BITS; decides `auto` parameters.
    #[arg(long, default_value_t = 5, value_name = "BITS")]
    pub integer_bits: u32,

    /// Largest absolute value in an input slot, which the predicted precision rests on [default: 1].
    #[arg(long, value_name = "VALUE")]
    pub input_bound: Option<f64>,

    /// Typical values of an input (.npy, .csv or .json); one for every input. The predicted precision then rests on how
    /// large values get on them, doubled, which is far sharper than a bound.
    #[arg(
        long = "sample",
        value_name = "NAME=FILE",
        conflicts_with = "input_bound"
    )]
    pub samples: Vec<String>,

    /// Security table parameters are checked against (`guidelines_2024` or `standard_2018`).
    #[arg(long, default_value = "guidelines_2024")]
    pub table: String,

    /// Classical security level in bits (128, 192 or 256).
    #[arg(long, default_value_t = 128, value_name = "BITS")]
    pub security: u32,

    /// Vector length of a program given as a Python file: a power of two [default there: 4096]. Macro text states its own.
    #[arg(long)]
    pub slots: Option<u32>,
}

/// Encrypt inputs, run a program, decrypt, check against the computation in the clear, and report.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill run examples/mean.rmac --random-inputs --seed 7
  ringmill run examples/mean.rmac --input x=data.csv --device cpu --device sim:ring --trace run.json
  ringmill run examples/mean.rmac --random-inputs --json | jq .reports[0]
  ringmill run examples/mean.rmac --random-inputs --precision 6 --integer-bits 2 --device cpu --device rtl:polymul

Inputs: a .npy array, a .csv of numbers (row after row) or a .json list, of at most as many values as the program has
slots (the rest is filled with zeros). Random inputs are uniform in [-1, 1]. When every input comes from a file, and
neither --sample nor --input-bound is given, the inputs are the sample that the predicted precision rests on.
Several --device options run the same ciphertexts on each; all must give the same bits, and the command fails if not.
The keys live as long as the command. A trace file opens in Perfetto's viewer (ui.perfetto.dev), one lane a unit.
Exit status: 0 all outputs agree, 1 they do not, 2 the request could not be carried out.")]
pub struct RunArgs {
    #[command(flatten)]
    pub program: ProgramArgs,

    /// An input of the program, by name.
    #[arg(long = "input", value_name = "NAME=FILE")]
    pub inputs: Vec<String>,

    /// Fill the inputs that are not given with random numbers.
    #[arg(long)]
    pub random_inputs: bool,

    /// Seed of the random inputs. Keys and encryption draw from the operating system whatever it is.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Where to run: `cpu`, `cpu:THREADS`, `sim:MACHINE`, `rtl:MACHINE` or either with FILE.toml; may be given several times.
    #[arg(long = "device", default_value = "cpu", value_name = "DEVICE")]
    pub devices: Vec<String>,

    /// Let values that do not fit a machine's memory wait in host memory; the report says what that costs.
    #[arg(long)]
    pub spill: bool,

    /// Write a Perfetto trace of the run on the last --device.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Write the decrypted outputs as JSON.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// What `compile` prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Emit {
    /// The program on ciphertexts after the compiler's passes: levels, scales, relinearisation, rescaling.
    Macro,
    /// The program on limbs: one procedure an operation and level, and the calls of them.
    Mid,
    /// The machine's own instruction words.
    Micro,
}

/// Compile a program and print it at a level.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill compile examples/mean.rmac                        what the passes made of it
  ringmill compile examples/mean.rmac --emit mid | less      every limb instruction
  ringmill compile examples/mean.rmac --emit micro --machine ring -o mean.micro
  ringmill compile examples/mean.rmac --sample x=typical.csv --json | jq .outputs")]
pub struct CompileArgs {
    #[command(flatten)]
    pub program: ProgramArgs,

    /// The level to print.
    #[arg(long, value_enum, default_value = "macro")]
    pub emit: Emit,

    /// The machine of `--emit micro`: a name or a description file (.toml).
    #[arg(long, default_value = "ring")]
    pub machine: String,

    /// Write to a file instead of standard output; it appears whole or not at all.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Print a JSON object: parameters, keys needed, instruction counts, predicted precision, and the text.
    #[arg(long)]
    pub json: bool,
}

/// Time a program on a machine without data: the cycle model alone.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill sim examples/mean.rmac                            cycles, time, utilisation, memory, link traffic
  ringmill sim examples/mean.rmac --machine ring-stored --trace mean.json
  ringmill machine show ring > mine.toml; edit it; ringmill sim examples/mean.rmac --machine mine.toml

Programs on encrypted data take the same time whatever the data, so timing needs none.")]
pub struct SimArgs {
    #[command(flatten)]
    pub program: ProgramArgs,

    /// The machine: a name or a description file (.toml).
    #[arg(long, default_value = "ring")]
    pub machine: String,

    /// Let values that do not fit the machine's memory wait in host memory; the report says what that costs.
    #[arg(long)]
    pub spill: bool,

    /// Count the transfer of evaluation keys; otherwise they are on the machine before the program starts.
    #[arg(long)]
    pub send_keys: bool,

    /// Write a Perfetto trace, one lane a unit.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// Show parameter sets: primes, sizes, security; or what a set of your own would be.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill params                                            the named sets
  ringmill params set1 --table standard_2018                 one set, every prime
  ringmill params --log-n 14 --bits 60,54,54,54,54,54,54     your own; the last is the special prime")]
pub struct ParamsArgs {
    /// A named set or a parameter file; all named sets when left out.
    pub set: Option<String>,

    /// log2 of the ring degree of a set of your own.
    #[arg(long, requires = "bits", conflicts_with = "set")]
    pub log_n: Option<u8>,

    /// Sizes of its primes in bits, the special prime last.
    #[arg(long, value_delimiter = ',', requires = "log_n")]
    pub bits: Vec<u32>,

    /// Security table (`guidelines_2024` or `standard_2018`).
    #[arg(long, default_value = "guidelines_2024")]
    pub table: String,

    /// Classical security level in bits (128, 192 or 256).
    #[arg(long, default_value_t = 128, value_name = "BITS")]
    pub security: u32,

    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// List what programs can run on.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill devices
  ringmill devices --json")]
pub struct DevicesArgs {
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// Machine descriptions: the files simulated machines are made from.
#[derive(Debug, Subcommand)]
pub enum MachineCommand {
    Show(MachineShowArgs),
}

/// Print a machine's description file; edit it and pass it as --machine FILE or --device sim:FILE.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill machine show ring
  ringmill machine show ring-stored --json")]
pub struct MachineShowArgs {
    /// The machine's name, or a description file to check.
    pub name: String,

    /// Print JSON instead of TOML.
    #[arg(long)]
    pub json: bool,
}

/// Print the tables of a machine's paper, one row a figure: the paper's, ours, and how ours was obtained.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill reproduce ring
  ringmill reproduce polymul                                 minutes the first time: it simulates and synthesises the RTL
  ringmill reproduce polymul --model --no-synth              at once, needs no hardware tools
  ringmill reproduce ring --json                             one object a line

How: `rtl` counted in the simulated hardware description, `synthesis` after its synthesis, `model` from the cycle model,
`measured` on this computer, `stated` by the machine's description.
CPU rows are this computer's time beside the time that the paper measured for SEAL on its own.")]
pub struct ReproduceArgs {
    /// Whose paper: `ring` or `polymul`.
    pub machine: String,

    /// Take cycles from the cycle model instead of the RTL (`polymul`).
    #[arg(long)]
    pub model: bool,

    /// Leave out resources, which need synthesis (`polymul`).
    #[arg(long)]
    pub no_synth: bool,

    /// Print one JSON object a line.
    #[arg(long)]
    pub json: bool,
}
