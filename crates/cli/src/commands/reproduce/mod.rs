//! `ringmill reproduce`: the tables of a machine's paper, one row a figure.

pub(super) mod basext;
mod expression;
mod figure;
mod mapping;
pub(super) mod paper;
mod plot;
mod polymul;
mod ring;
mod row;
mod single;
pub mod torus;
mod vector;

use crate::args::ReproduceArgs;
use crate::error::CliError;
use crate::output;
use crate::progress::Bar;

/// Machines whose papers are known.
const KNOWN: [&str; 5] = ["ring", "polymul", "basext", "torus", "vector"];

/// Decryptions that the host's times are the mean of: as many as the paper's.
const RUNS: u32 = 1000;

pub fn reproduce(args: &ReproduceArgs) -> Result<(), CliError> {
    let sources = polymul::Sources {
        model: args.model,
        synthesis: !args.no_synth,
    };
    match args.machine.as_str() {
        "ring" if args.model || args.plot.is_some() || args.runs.is_some() => {
            Err(CliError::Usage(
                "--model is for `polymul` and `basext`: where their figures come from; --plot draws the former's \
                 Figure 4, --runs is for its study of decryption; cycles of `ring` are the model's"
                    .to_owned(),
            ))
        }
        "ring" => ring::print(sources.synthesis, args.json, &Bar::new()),
        "polymul" => {
            let figures = polymul::figures(sources, &Bar::new())?;
            if let Some(path) = &args.plot {
                let picture = plot::svg(&polymul::sweep::panels()?);
                output::whole_file(path, |out| {
                    Ok(std::io::Write::write_all(out, picture.as_bytes())?)
                })?;
            }
            let study = polymul::study(sources, args.runs.unwrap_or(RUNS), &Bar::new())?;
            if args.json {
                figures.iter().try_for_each(output::json)?;
                return study
                    .iter()
                    .try_for_each(|row| output::json(&row.json("polymul")));
            }
            let tables = figure::table(&figures) + &row::table(&study);
            output::text(&(tables + &polymul::notes(sources)))
        }
        "basext" if args.plot.is_some() || args.runs.is_some() => {
            Err(CliError::Usage(
                "--plot draws Figure 4 of `polymul`, --runs is for its study of decryption"
                    .to_owned(),
            ))
        }
        "basext" => basext::print(sources, args.json, &Bar::new()),
        "torus" if args.model || args.plot.is_some() || args.runs.is_some() => {
            Err(CliError::Usage(
                "--model, --plot and --runs are for other machines: cycles of `torus` are the model's".to_owned(),
            ))
        }
        "torus" => torus::print(sources.synthesis, args.json, &Bar::new()),
        "vector" if args.model || args.plot.is_some() || args.runs.is_some() => {
            Err(CliError::Usage(
                "--model, --plot and --runs are for other machines: cycles of `vector` are the model's".to_owned(),
            ))
        }
        "vector" => vector::print(sources.synthesis, args.json, &Bar::new()),
        other => Err(CliError::Usage(format!(
            "no paper is known for machine `{other}`; known: {}",
            KNOWN.join(", ")
        ))),
    }
}
