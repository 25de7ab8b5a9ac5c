// SPDX-License-Identifier: Apache-2.0
//! Defines the arguments of `ringmill circuit`.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};

/// The text that `ringmill circuit --emit` prints in the place of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum CircuitLevel {
    /// The circuit: sums of ciphertexts and table look-ups. Each look-up is a bootstrap, or shares one with others.
    Macro,
    /// One bootstrap as limb programs: its key switch, its rotation, and, for look-ups that share one, the rotation
    /// alone.
    Mid,
}

/// Print the cost of a netlist of gates under TFHE, and run the netlist on encrypted bits.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill circuit examples/adder.blif                       bootstraps, depth, set, failures: nothing is encrypted
  ringmill circuit examples/adder.blif --run a=3 b=2         with fresh keys, checked against the clear
  ringmill circuit examples/adder.blif --random-inputs --params circuit_bits --json | jq .run
  ringmill circuit examples/adder.blif --emit macro          the bootstraps, each on a sum of wires

A netlist is flat and combinational, of simple gates or tables, in BLIF or in the JSON that Yosys writes:
  yosys -p 'read_verilog FILE.v; synth -flatten; abc -g simple; opt_clean -purge; write_blif -icells FILE.blif'
Each bootstrap looks up four bits under `circuits`, and is a gate under the sets for booleans; by default the set that takes
less work is taken. Work is counted from sizes, in bytes that operations go over, so that every computer chooses the same.
Exit status: 0 done, 1 the decrypted outputs are not those of the clear, 2 not carried out, 130 interrupted.")]
pub struct CircuitArgs {
    /// The netlist file: BLIF, or Yosys' JSON if the file begins with a brace.
    pub netlist: PathBuf,

    /// The TFHE parameter set: `circuits`, `circuit_bits`, another that docs/tfhe.md lists for booleans or 2 + 2 bits,
    /// or `auto` for the one of the first two that takes less work.
    #[arg(long, value_name = "SET", default_value = "auto")]
    pub params: String,

    /// log2 of the largest probability with which one bootstrap may fail.
    #[arg(
        long,
        value_name = "LOG2",
        default_value_t = -64.0,
        allow_hyphen_values = true
    )]
    pub failure: f64,

    /// Print the compiled netlist, and run nothing: `macro` the sums and look-ups, `mid` the limb programs of one
    /// bootstrap.
    #[arg(long, value_enum, value_name = "LEVEL", conflicts_with_all = ["run", "random_inputs", "json"])]
    pub emit: Option<CircuitLevel>,

    /// Run the netlist under encryption with fresh keys, on these values of its inputs. For an input of more than 64
    /// bits give its words of 64 bits, the lowest first, as a=0x11,5.
    #[arg(long, value_name = "NAME=VALUE", num_args = 1..)]
    pub run: Option<Vec<String>>,

    /// Run the netlist under encryption, on random values of the inputs that are not given.
    #[arg(long)]
    pub random_inputs: bool,

    /// Seed of the random inputs [default: 1]. Keys and encryption always draw from the operating system.
    #[arg(long, requires = "random_inputs")]
    pub seed: Option<u64>,

    /// Number of threads that a run under encryption uses [default: one a core].
    #[arg(long, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub threads: Option<usize>,

    /// Keep the run in a folder. The command saves the run there between two bootstraps, and when it is interrupted,
    /// and the same command continues from there. Keys and inputs are kept with the run, the secret key among them,
    /// until the run is complete.
    #[arg(long, value_name = "FOLDER", conflicts_with = "emit")]
    pub checkpoint: Option<PathBuf>,

    /// Least number of seconds between two savings of the run.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 30,
        requires = "checkpoint"
    )]
    pub checkpoint_every: u32,

    /// Use small parameters of the same kind, which keep nothing secret.
    #[arg(long, hide = true)]
    pub toy_for_tests_only: bool,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}
