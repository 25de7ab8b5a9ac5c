//! What `ringmill rtl` takes.

use clap::{Args, Subcommand, ValueEnum};

/// The hardware description: list, lint and synthesise it. Needs the tools of `make hdl-tools`.
#[derive(Debug, Subcommand)]
pub enum RtlCommand {
    List(ListArgs),
    Lint(LintArgs),
    Synth(SynthArgs),
}

/// A machine or module, and what differs from its defaults.
#[derive(Debug, Args)]
pub struct DesignArgs {
    /// A machine (`polymul`), a machine description file (.toml), or a module of the library (`rm_butterfly`);
    /// `ringmill rtl list` prints them all.
    #[arg(value_name = "MACHINE")]
    pub design: String,

    /// A key of the machine's description (`units`, `max_log_n`, `beat`; `p` for units), or a parameter of the module.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// List the machines and modules that there is RTL of, with what can be set.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill rtl list
  ringmill rtl list --json")]
pub struct ListArgs {
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// Check the RTL with Verilator: every warning is an error.
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

/// What to synthesise for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Target {
    /// Xilinx 7-series.
    Xc7,
    /// Xilinx UltraScale+.
    Xcup,
}

/// Synthesise with Yosys and count what the design takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill rtl synth rm_butterfly
  ringmill rtl synth rm_ram_2rw --set Width=72 --set Depth=4096 --set Style=ultra --target xcup
  ringmill rtl synth polymul --set p=4 --set max_log_n=9 --json

Counts are kept by content below target/hdl: a design that has not changed is not synthesised again. A whole machine
takes minutes the first time. No clock frequency is claimed for these parts.")]
pub struct SynthArgs {
    #[command(flatten)]
    pub design: DesignArgs,

    /// What to synthesise for.
    #[arg(long, value_enum, default_value = "xc7")]
    pub target: Target,

    /// Print a JSON object: the counts with parameters and tool versions.
    #[arg(long)]
    pub json: bool,
}
