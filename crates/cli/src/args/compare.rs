// SPDX-License-Identifier: Apache-2.0
//! Defines the arguments of `ringmill compare`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::RangedU64ValueParser;

use super::{CountedArgs, ProgramArgs};

/// Time a program on several machines, and on this computer's CPU, in one table.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill compare examples/mean.rmac --machine ring --machine vector        two machines beside the CPU
  ringmill compare examples/mean.rmac --machine ring --set rpaus=2,4,10      one machine in three sizes
  ringmill compare examples/mean.rmac --machine ring --machine ring-stored --set clock_mhz=200,250 --set ring:rpaus=4,10
  ringmill compare examples/mean.rmac --precision 6 --integer-bits 2 --machine ring --machine polymul
  ringmill compare examples/mean.rmac --machine ring --set rpaus=2,4,10 --html rpaus.html
  ringmill machine show ring                                 the fields that --set knows

All machines run the program at one set of parameters, the smallest that all of them take. Where there is none, each machine has
its own, the table says which differ, and a machine is compared with the CPU at its own parameters. --params and --target
fix them for all.
Machines are timed by their cycle models. The CPU encrypts random inputs (those of `run --random-inputs`), runs them with
fresh keys, and its outputs are checked: one run plans, and the median of up to three more counts. A machine that takes some
instructions only runs with the same data on one thread of the host, so that the host's part is measured; its row tells host,
link and machine apart.
A machine that refuses the program, or values that make no machine, have a row that says why; the command fails if all are
refused. Modular multipliers, DSP and memory blocks are counted from the descriptions.")]
pub struct CompareArgs {
    #[command(flatten)]
    pub program: ProgramArgs,

    /// A machine: a name or a description file (.toml). Give the option several times for several machines.
    #[arg(long = "machine", required = true, value_name = "MACHINE")]
    pub machines: Vec<String>,

    /// Values that a field of the machine descriptions takes in turn, by its dotted name, as in link.us_per_limb=60,125
    /// or memory.0.slots=4,8. With a machine's name in front, only its description changes. Several options make every
    /// combination.
    #[arg(long = "set", value_name = "[MACHINE:]FIELD=VALUE,...")]
    pub set: Vec<String>,

    #[command(flatten)]
    pub counted: CountedArgs,

    /// Threads of the CPU's run [default: one a core].
    #[arg(long, conflicts_with = "no_cpu", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub threads: Option<usize>,

    /// Leave out the CPU and everything that is measured. Then nothing is encrypted.
    #[arg(long)]
    pub no_cpu: bool,

    /// Write an HTML page with the table and a plot of it, which needs no other file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Print comma-separated values instead of text, the names of the columns first. Times are in seconds, sizes in
    /// bytes.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,

    /// Print JSON instead of text: one object for each row of the table, each on a line.
    #[arg(long)]
    pub json: bool,
}
