//! `ringmill reproduce`: the tables of a machine's paper, one row a figure.

mod application;
mod figure;
mod paper;
mod polymul;
mod ring;
mod single;

use crate::args::ReproduceArgs;
use crate::error::CliError;
use crate::output;
use crate::progress::Bar;

/// Machines whose papers are known.
const KNOWN: [&str; 2] = ["ring", "polymul"];

pub fn reproduce(args: &ReproduceArgs) -> Result<(), CliError> {
    let (figures, notes) = match args.machine.as_str() {
        "ring" if args.model || args.no_synth => {
            return Err(CliError::Usage(
                "--model and --no-synth choose where the figures of `polymul` come from; those of `ring` are the model's"
                    .to_owned(),
            ));
        }
        "ring" => (ring::figures(&Bar::new())?, String::new()),
        "polymul" => {
            let sources = polymul::Sources {
                model: args.model,
                synthesis: !args.no_synth,
            };
            let figures = polymul::figures(sources, &Bar::new())?;
            (figures, polymul::notes(sources))
        }
        other => {
            return Err(CliError::Usage(format!(
                "no paper is known for machine `{other}`; known: {}",
                KNOWN.join(", ")
            )));
        }
    };
    if args.json {
        return figures.iter().try_for_each(output::json);
    }
    output::text(&(figure::table(&figures) + &notes))
}
