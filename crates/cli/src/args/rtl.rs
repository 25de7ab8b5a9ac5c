// SPDX-License-Identifier: Apache-2.0
//! Defines the arguments of `ringmill rtl`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// List, check, simulate, synthesise, place and route the hardware description. All commands but `list` and `generate`
/// need the tools of `make hdl-tools`, or of `ringmill[rtl]` if the package is installed.
#[derive(Debug, Subcommand)]
pub enum RtlCommand {
    List(ListArgs),
    Generate(GenerateArgs),
    Lint(LintArgs),
    Sim(RtlSimArgs),
    Synth(SynthArgs),
    Pnr(PnrArgs),
    Timing(TimingArgs),
    Table(TableArgs),
}

impl RtlCommand {
    /// Returns whether the command line has `--json`. Results and errors are then printed as JSON.
    pub fn json(&self) -> bool {
        match self {
            Self::List(args) => args.json,
            Self::Generate(args) => args.json,
            Self::Lint(args) => args.json,
            Self::Sim(args) => args.json,
            Self::Synth(args) => args.json,
            Self::Pnr(args) => args.json,
            Self::Timing(args) => args.json,
            Self::Table(args) => args.json,
        }
    }
}

/// A machine or module of the hardware description, and the parameters that differ from its defaults.
#[derive(Debug, Args)]
pub struct DesignArgs {
    /// A machine (`polymul`, `basext`), a machine description file (.toml), or a module of the library
    /// (`rm_butterfly`). `ringmill rtl list` prints them all.
    #[arg(value_name = "MACHINE")]
    pub design: String,

    /// A value for a key of the machine's description (`units`, `max_log_n`, `beat`; `p` for units), or for a parameter
    /// of the module.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// List the machines and modules that have RTL, with the parameters that can be set.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill rtl list
  ringmill rtl list --json")]
pub struct ListArgs {
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// Write a configured machine as RTL sources of its own: parameter package, wrapper, the modules it needs, a file list,
/// tables.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill rtl generate polymul --set p=8 --out build/polymul8
  ringmill rtl generate polymul --set p=4 --degree 1024 --modulus 12289 --out build/polymul4
  ringmill rtl generate rm_fifo --set Depth=32 --out build/fifo

The parameters come from the machine's description alone; a module instantiated without them keeps its defaults.
The directory is for tools of your own: no other command of ringmill reads it. `ringmill rtl sim` takes the same --set
and builds the library's sources itself.")]
pub struct GenerateArgs {
    #[command(flatten)]
    pub design: DesignArgs,

    /// The directory to write to. It is made if it is missing, and files of the same names are replaced.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// Write also the stream that loads the tables for this ring degree.
    #[arg(long, value_name = "N", requires = "modulus")]
    pub degree: Option<usize>,

    /// The modulus of the table stream: a prime that is 1 mod 2N.
    #[arg(long, value_name = "Q", requires = "degree")]
    pub modulus: Option<u64>,

    /// Print a JSON object: the names of the files and of the top module.
    #[arg(long)]
    pub json: bool,
}

/// Check the RTL with Verilator, which treats every warning as an error.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill rtl lint polymul
  ringmill rtl lint polymul --set p=8 --set beat=8
  ringmill rtl lint rm_mod_mul --set Flavour=Solinas52 --set Width=52")]
pub struct LintArgs {
    #[command(flatten)]
    pub design: DesignArgs,

    /// Print a JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The technology that `ringmill rtl synth` synthesises for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Target {
    /// Xilinx 7-series FPGAs.
    Xc7,
    /// Xilinx UltraScale+ FPGAs.
    Xcup,
    /// Standard cells of an open library.
    Asic,
}

/// Synthesise a design with Yosys and count the resources that it takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill rtl synth rm_butterfly
  ringmill rtl synth rm_ram_2rw --set Width=72 --set Depth=4096 --set Style=ultra --target xcup
  ringmill rtl synth rm_butterfly --target asic
  ringmill rtl synth polymul --set p=4 --set max_log_n=9 --json

Counts are kept by content below target/hdl: a design that has not changed is not synthesised again. A whole machine
takes minutes the first time. No clock frequency is claimed for these parts; `ringmill rtl pnr` finds one on a part that
open tools route. Standard cells come from a liberty file: the one that `make hdl-tools` unpacks, or the one named in
RINGMILL_LIBERTY.")]
pub struct SynthArgs {
    #[command(flatten)]
    pub design: DesignArgs,

    /// The technology to synthesise for.
    #[arg(long, value_enum, default_value = "xc7")]
    pub target: Target,

    /// Print a JSON object: the counted resources with parameters and tool versions.
    #[arg(long)]
    pub json: bool,
}

/// Place and route a design for the largest ECP5 with nextpnr, for a clock frequency.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill rtl pnr rm_mod_add
  ringmill rtl pnr rm_butterfly --set WordMin=9 --set WordMax=13 --json
  ringmill rtl pnr polymul --set p=4 --set max_log_n=9 --mhz 100

The design gets a register at every port, so the frequency is that of paths from register to register. The same seed
gives the same frequency; results are kept by content below target/hdl.")]
pub struct PnrArgs {
    #[command(flatten)]
    pub design: DesignArgs,

    /// Clock frequency in MHz that the placer aims at.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub mhz: u32,

    /// Seed of the placer.
    #[arg(long, default_value_t = 1)]
    pub seed: u32,

    /// Print a JSON object: the frequency and counts with parameters and tool versions.
    #[arg(long)]
    pub json: bool,
}

/// The technology that `ringmill rtl timing` times paths for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TimingTarget {
    /// Xilinx 7-series FPGAs: levels of logic only.
    Xc7,
    /// Xilinx UltraScale+ FPGAs: levels of logic only.
    Xcup,
    /// Lattice ECP5 FPGAs, placed and routed.
    Ecp5,
    /// Lattice Nexus FPGAs, placed and routed.
    Nexus,
    /// Standard cells of an open library, without wires.
    Asic,
}

impl TimingTarget {
    /// Returns the technology's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Xc7 => "xc7",
            Self::Xcup => "xcup",
            Self::Ecp5 => "ecp5",
            Self::Nexus => "nexus",
            Self::Asic => "asic",
        }
    }
}

/// Find the worst paths of a design between registers: levels of logic and carry bits, slack and frequency if open
/// tools time it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill rtl timing rm_mod_add
  ringmill rtl timing rm_butterfly --target xc7,xcup,ecp5 --json
  ringmill rtl timing polymul --target xc7

Levels are counted in the netlist that `ringmill rtl synth` counts resources of, and kept with them: look-up tables, and
what else is worth as many by the 7-series' delays (each stage of a DSP block without a register behind it 2, the output of
a block RAM 3, of a shift register 2). Endpoints beyond the bar make no error; --json has `within_bar`. A path is printed
once for all bits of its registers and all copies of a unit. Lattice parts are placed and routed with the registers beside
DSP blocks moved into them; a design that does not fit is not timed.")]
pub struct TimingArgs {
    #[command(flatten)]
    pub design: DesignArgs,

    /// The technologies to time for, separated by commas.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "xc7,xcup,ecp5,nexus,asic"
    )]
    pub target: Vec<TimingTarget>,

    /// Clock frequency in MHz that slack is counted from and that the placer aims at.
    #[arg(long, default_value_t = ringmill_hdl::BAR_MHZ, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub mhz: u32,

    /// Seed of the placer.
    #[arg(long, default_value_t = 1)]
    pub seed: u32,

    /// Print a JSON object: every path that is kept, with parameters and tool versions.
    #[arg(long)]
    pub json: bool,
}

/// Print what every leaf module takes on each target, and how fast it is: the table of docs/rtl.md.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill rtl table rm_mod_add
  ringmill rtl table                                         every leaf: half an hour the first time, then nothing
  ringmill rtl table --json                                  one object a line, with parameters and tool versions")]
pub struct TableArgs {
    /// Print only the rows of this module.
    pub module: Option<String>,

    /// Print one JSON object a line, one for each row.
    #[arg(long)]
    pub json: bool,
}

/// Simulate a machine's RTL with Verilator on random data, in lockstep with its cycle model and the reference transform.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill rtl sim polymul --set p=4 --n 1024
  ringmill rtl sim polymul --set p=4 --op fpm --n 256 --modulus 7681 --seed 7 --stalls
  ringmill rtl sim polymul --set p=4 --op ntt --n 256 --waves ntt.vcd

Residues are compared one by one, and in every cycle whether the array issues. Exit status: 0 all agree, 1 they do not,
2 the request could not be carried out. The model is built once for each shape: about a minute for the paper's 32 units.
Waves are VCD, which GTKWave and Surfer open. The sources are the library's, built with what --set says: a directory
that `ringmill rtl generate` wrote is not read.")]
pub struct RtlSimArgs {
    #[command(flatten)]
    pub design: DesignArgs,

    /// The operation of the machine to simulate [default: every one].
    #[arg(long, value_enum)]
    pub op: Option<Operation>,

    /// The ring degree N [default: the machine's largest, at most 4096].
    #[arg(long)]
    pub n: Option<usize>,

    /// The modulus, a prime that is 1 modulo 2N [default: the largest that the machine takes].
    #[arg(long)]
    pub modulus: Option<u64>,

    /// Seed of the random data and of the stalls.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Let the input and the output stream stall at random in one cycle of two.
    #[arg(long)]
    pub stalls: bool,

    /// Write every signal of the simulation to a VCD file.
    #[arg(long, value_name = "FILE")]
    pub waves: Option<PathBuf>,

    /// Print a JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The operation of the polynomial multiplier that `ringmill rtl sim` simulates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Operation {
    /// Forward transform of a polynomial (NTT).
    Ntt,
    /// Inverse transform of a polynomial (INTT).
    Intt,
    /// Coefficient-wise product of two polynomials.
    Mul,
    /// Transform, product with a polynomial in evaluation form, inverse transform.
    Hpm,
    /// Product of two polynomials in coefficient form.
    Fpm,
    /// Coefficient-wise sum of two polynomials.
    Add,
    /// Coefficient-wise difference of two polynomials.
    Sub,
}
