// SPDX-License-Identifier: Apache-2.0
//! Defines the arguments of `ringmill reproduce`; its help lists the papers.

use std::path::PathBuf;

use clap::Args;
use ringmill_papers::Papers;

/// Print the tables of a machine's paper, one row for each figure: the paper's, ours, and how ours was obtained.
#[derive(Debug, Args)]
#[command(after_help = examples_and_papers())]
pub struct ReproduceArgs {
    #[arg(help = whose_paper())]
    pub machine: String,

    /// Take cycles from the cycle model instead of the RTL (`polymul`, `basext`).
    #[arg(long)]
    pub model: bool,

    /// Leave out FPGA resources and areas, which need synthesis.
    #[arg(long)]
    pub no_synth: bool,

    /// Draw the paper's Figure 4 with our curves beside the paper's, as an SVG file (`polymul`).
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,

    /// Number of decryptions over which each of the host's times is the mean (`polymul`) [default: 1000].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub runs: Option<u32>,

    /// Print one JSON object a line, one for each row of the tables.
    #[arg(long)]
    pub json: bool,
}

/// Returns the help text of the paper's argument, which lists the papers.
fn whose_paper() -> String {
    let names: Vec<String> = Papers::standard()
        .names()
        .map(|name| format!("`{name}`"))
        .collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => {
            format!("Whose paper: {} or {last}", rest.join(", "))
        }
        _ => format!("Whose paper: {}", names.concat()),
    }
}

/// Returns the text below the options of `ringmill reproduce`: examples, and the papers with their titles.
fn examples_and_papers() -> String {
    let papers = Papers::standard();
    let lines = papers
        .all()
        .map(|paper| format!("\n  {:<8} {}", paper.name(), paper.title()));
    format!(
        "{REPRODUCE_EXAMPLES}\n\nPapers:{}",
        lines.collect::<String>()
    )
}

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  ringmill reproduce ring                                    half an hour the first time: it synthesises the RTL
  ringmill reproduce ring --no-synth                         seconds, needs no hardware tools
  ringmill reproduce polymul                                 minutes the first time: it simulates and synthesises the RTL
  ringmill reproduce polymul --model --no-synth              seconds, needs no hardware tools
  ringmill reproduce ring --json                             one object a line

How: `rtl` counted in the simulated hardware description, `synthesis` after its synthesis, `model` from the cycle model,
`lockstep` from it too, and the hardware description at that size has run the same words in the same cycles (`make full`),
`measured` on this computer, `recorded` once on another, `stated` by the machine's description, `counted` in our program.
CPU rows are this computer's time beside the time that the paper measured for SEAL on its own.";
